"""A layout becomes the edit that an author would have made, or a refusal that says why not."""

from __future__ import annotations

from smemlint.fix.edits.apply import apply
from smemlint.fix.edits.build import build
from smemlint.fix.edits.helpers import swizzle_formula
from smemlint.fix.model import Refusal
from smemlint.fix.search.candidates import Exchange, Padding, Shape, Swizzle
from smemlint.fix.text.constants import Constants
from smemlint.fix.text.declared import Edited, declared
from smemlint.fix.text.source import Source
from smemlint.ir import Launch

TILE = """\
// Transposes.
__global__ void transpose(float *out) {
    __shared__ float tile[TILE_DIM][TILE_DIM];
    tile[threadIdx.y][threadIdx.x] = out[0];
    out[0] = tile[threadIdx.x][threadIdx.y + j];
}
"""
FLAT = """\
#define BK 16
__global__ void gemm(float *out) {
    __shared__ float As[BM * BK], Bs[256];
    As[threadIdx.y * BK + threadIdx.x] = 0;
    out[0] = As[threadIdx.x * BK + k] + Bs[threadIdx.x * 16];
}
"""


def edited(
    text: str, name: str, layout: Padding | Exchange | Swizzle, dims: int = 2, pitch: str | None = None
) -> str | Refusal:
    data = text.encode()
    source = Source("a.cu", data)
    at = declared(source, name, data.index(b"__shared__"), 0, dims, frozenset({"As", "Bs", "tile"} - {name}))
    if isinstance(at, Refusal):
        return at
    rows = 64 if name == "As" else 16
    result = build(layout, at, pitch, set(source.names()), Shape((rows, 16), 4, flat=dims == 1))
    return apply(result.edits, data).decode() if isinstance(result, Edited) else result


def refusal(*args: object, **kwargs: object) -> str:
    result = edited(*args, **kwargs)  # type: ignore[arg-type]
    assert isinstance(result, Refusal), result
    return result.code


def test_padding_edits_the_declaration_as_written() -> None:
    result = edited(TILE, "tile", Padding(1, 1))
    assert result == TILE.replace("[TILE_DIM][TILE_DIM]", "[TILE_DIM][TILE_DIM + 1]")


def test_padding_keeps_crlf_tabs_and_a_comment_in_the_extent() -> None:
    text = TILE.replace("[TILE_DIM][TILE_DIM]", "[TILE_DIM][ TILE_DIM /* é */\t]").replace("\n", "\r\n")
    result = edited(text, "tile", Padding(1, 1))
    assert result == text.replace("/* é */", "/* é */ + 1")


def test_padding_is_refused_where_the_size_is_taken() -> None:
    assert refusal(TILE.replace("out[0];", "sizeof(tile);"), "tile", Padding(1, 1)) == "size-elsewhere"


def test_padding_is_refused_where_the_extents_are_part_of_a_type() -> None:
    assert refusal(TILE.replace("out[0];", "sum(tile);"), "tile", Padding(1, 1)) == "passed-on"


def test_a_row_that_is_passed_on_makes_padding_unsafe() -> None:
    text = TILE.replace("out[0];", "sum(tile[1]);")
    source = Source("a.cu", text.encode())
    at = declared(source, "tile", text.index("__shared__"), 0, 2)
    assert not isinstance(at, Refusal)
    result = build(Padding(1, 1), at, None, set(), Shape((32, 32), 4))
    assert isinstance(result, Edited) and "passed on as a pointer" in result.unsafe


def test_a_padding_that_is_taken_back_goes_with_its_macro() -> None:
    text = "#define PAD 2\n" + TILE.replace("[TILE_DIM][TILE_DIM]", "[TILE_DIM][TILE_DIM + PAD]")
    source = Source("a.cu", text.encode())
    at = declared(source, "tile", text.index("__shared__"), 0, 2)
    assert not isinstance(at, Refusal)
    value = Constants([source], Launch((16, 16, 1))).value
    for extra, extents in ((-2, "[TILE_DIM][TILE_DIM]"), (-1, "[TILE_DIM][TILE_DIM + PAD - 1]")):
        result = build(Padding(1, extra), at, None, set(), Shape((16, 18), 4), value)
        assert isinstance(result, Edited) and result.code == "tile" + extents


def test_a_swizzle_adds_a_helper_and_wraps_every_use() -> None:
    result = edited(TILE, "tile", Swizzle(5, 0, 0))
    assert result == (
        "// Column of tile, swizzled to spread the lanes over the banks; its own inverse.\n"
        "__device__ __forceinline__ int swizzle_tile(int row, int col) { return col ^ (row & 31); }\n\n"
        + TILE.replace(
            "[threadIdx.y][threadIdx.x]", "[threadIdx.y][swizzle_tile(threadIdx.y, threadIdx.x)]"
        ).replace(
            "[threadIdx.x][threadIdx.y + j]", "[threadIdx.x][swizzle_tile(threadIdx.x, threadIdx.y + j)]"
        )
    )


def test_a_helper_never_takes_a_name_that_is_in_use() -> None:
    result = edited(TILE + "int swizzle_tile;\n", "tile", Swizzle(5, 0, 0))
    assert isinstance(result, str) and "int swizzle_tile2(int row" in result


def test_a_linear_swizzle_wraps_the_index() -> None:
    result = edited(FLAT, "Bs", Swizzle(4, 0, 5, linear=True), dims=1)
    assert isinstance(result, str)
    assert "Bs[swizzle_Bs(threadIdx.x * 16)]" in result
    assert "int swizzle_Bs(int i) { return i ^ ((i >> 5) & 15); }" in result


def test_swizzle_formulas_are_as_short_as_they_can_be() -> None:
    assert swizzle_formula(Swizzle(3, 1, 1)) == "col ^ (row & 14)"
    assert swizzle_formula(Swizzle(3, 2, 0)) == "col ^ ((row << 2) & 28)"
    assert swizzle_formula(Swizzle(2, 0, 3)) == "col ^ ((row >> 3) & 3)"


def test_a_swizzle_is_all_uses_or_none() -> None:
    assert refusal(TILE.replace("out[0];", "f(tile);"), "tile", Swizzle(5, 0, 0)) == "passed-on"
    assert refusal("#define T tile[0][0]\n" + TILE, "tile", Swizzle(5, 0, 0)) == "used-in-macro"
    effect = TILE.replace("tile[threadIdx.y]", "tile[row++]")
    assert refusal(effect, "tile", Swizzle(5, 0, 0)) == "side-effect"
    nested = TILE.replace("tile[threadIdx.y]", "tile[Bs[0]]")
    assert refusal(nested, "tile", Swizzle(5, 0, 0)) == "nested-use"
    shared = "__shared__ float tile[32][32];\nvoid k() { tile[0][1] = 0; }\nvoid *l = tile;\n"
    assert refusal(shared, "tile", Swizzle(5, 0, 0)) == "several-kernels"


def test_exchanged_dimensions_change_places_at_every_use() -> None:
    result = edited(TILE.replace("[TILE_DIM][TILE_DIM]", "[BM][BK]"), "tile", Exchange(0))
    assert isinstance(result, str)
    assert "tile[BK][BM]" in result
    assert "tile[threadIdx.x][threadIdx.y] = " in result
    assert "tile[threadIdx.y + j][threadIdx.x];" in result


def test_a_flat_pitch_becomes_a_named_constant() -> None:
    result = edited(FLAT, "As", Padding(1, 4), dims=1, pitch="BK")
    assert result == (
        FLAT.replace(
            "    __shared__ float As[BM * BK]",
            "    constexpr int AS_PITCH = BK + 4;\n    __shared__ float As[BM * AS_PITCH]",
        )
        .replace("As[threadIdx.y * BK", "As[threadIdx.y * AS_PITCH")
        .replace("As[threadIdx.x * BK", "As[threadIdx.x * AS_PITCH")
    )


def test_a_flat_pitch_in_literals_is_folded() -> None:
    result = edited(FLAT, "Bs", Padding(1, 1), dims=1, pitch="16")
    assert isinstance(result, str)
    assert "constexpr int BS_PITCH = 17;" in result
    assert "Bs[16 * BS_PITCH];" in result
    assert "Bs[threadIdx.x * BS_PITCH]" in result


def test_a_declaration_made_by_a_macro_is_refused() -> None:
    assert refusal("__shared__ MAKE(int);", "tile", Padding(1, 1)) == "declared-in-macro"


def test_a_second_declaration_in_the_scope_is_refused() -> None:
    twice = TILE.replace("    out[0]", "    { int tile[2][2]; }\n    out[0]")
    assert refusal(twice, "tile", Padding(1, 1)) == "declared-twice"


def test_constants_come_from_the_launch_and_the_text() -> None:
    text = (
        b"#define A (B * 2) // two\nconstexpr int B = 4;\nenum { C = A + 1, D };\nconst unsigned int E{3};\n"
    )
    constants = Constants([Source("a.cu", text)], Launch((8, 4, 1), template={"N": 5}))
    assert [constants.value(n) for n in ("A", "B", "C", "N", "blockDim.y", "Z")] == [8, 4, 9, 5, 4, None]


def test_constants_that_are_defined_twice_or_by_themselves_stay_open() -> None:
    text = b"#define A 1\n#define A 2\n#define B C\n#define C B\n#define D 3\n#define D (2 + 1)\n"
    constants = Constants([Source("a.cu", text)], Launch((8, 4, 1)))
    assert [constants.value(n) for n in "ABD"] == [None, None, 3]


NARROW = """__global__ void k(const float4* A, float4* C) {
    __shared__ float4 tile[2][16 * 32];
    float4 r = A[threadIdx.x];
    *((float*)&tile[0][0] + threadIdx.x + 0 * 128) = r.x;
    *((float*)&tile[1][0] + threadIdx.x + 3 * 128) = r.w;
    __syncthreads();
    C[threadIdx.x] = tile[0][threadIdx.x / 16];
}
"""
WIDE = """__global__ void k(const int4* A, int4* C) {
    __shared__ half tile[16][16];
    int row = threadIdx.x / 2;
    *((int4 *)(&tile[row][0]) + threadIdx.x % 2) = A[0];
    reinterpret_cast<int4 *>(&tile[row][8])[threadIdx.x % 2] = A[1];
    C[threadIdx.x] = *(int4 *)&tile[row][threadIdx.x / 16 * 8];
}
"""


def viewed(text: str, layout: Swizzle, shape: Shape) -> list[str]:
    source = Source("a.cu", text.encode())
    at = declared(source, "tile", text.index("__shared__"), 0, 2)
    assert not isinstance(at, Refusal)
    result = build(layout, at, None, set(source.names()), shape)
    assert isinstance(result, Edited), result
    after = apply(result.edits, text.encode()).decode().splitlines()
    return [line.strip() for line in after if line not in text.splitlines() and "threadIdx" in line]


def test_a_swizzle_goes_through_views_of_other_types() -> None:
    narrow = viewed(NARROW, Swizzle(2, 1, 7, linear=True), Shape((2, 512), 16))
    assert narrow == [
        "*((float*)&tile[0][swizzle_tile((threadIdx.x + 0 * 128) / 4)] + (threadIdx.x + 0 * 128) % 4) = r.x;",
        "*((float*)&tile[1][swizzle_tile((threadIdx.x + 3 * 128) / 4)] + (threadIdx.x + 3 * 128) % 4) = r.w;",
        "C[threadIdx.x] = tile[0][swizzle_tile(threadIdx.x / 16)];",
    ]
    wide = viewed(WIDE, Swizzle(1, 3, 2), Shape((16, 16), 2))
    assert wide == [
        "*((int4 *)(&tile[row][swizzle_tile(row, (threadIdx.x % 2) * 8)])) = A[0];",
        "reinterpret_cast<int4 *>(&tile[row][swizzle_tile(row, 8 + (threadIdx.x % 2) * 8)])[0] = A[1];",
        "C[threadIdx.x] = *(int4 *)&tile[row][swizzle_tile(row, threadIdx.x / 16 * 8)];",
    ]


def test_no_second_layout_is_put_on_top_of_a_first() -> None:
    once = edited(TILE, "tile", Swizzle(4, 0, 0))
    assert isinstance(once, str) and "swizzle_tile(threadIdx.y, threadIdx.x)" in once
    for layout in (Swizzle(4, 0, 0), Padding(1, 1), Exchange(0)):
        data = once.encode()
        at = declared(Source("a.cu", data), "tile", data.index(b"__shared__"), 0, 2)
        assert not isinstance(at, Refusal)
        again = build(layout, at, None, set(), Shape((16, 16), 4))
        assert isinstance(again, Refusal) and again.text.startswith("`tile` is laid out by `swizzle_tile`")
