"""The row pitch of a flattened array is read off its index expressions."""

from __future__ import annotations

from smemlint.fix.text import flat
from smemlint.fix.text.source import Source, Use


def index(text: str) -> list[list[str]]:
    return [[f.text for f in t.factors] for t in flat.terms(Source("a.cu", text.encode()), 0, len(text))]


def uses_of(data: str, name: str) -> tuple[Source, list[Use], tuple[int, int]]:
    source = Source("a.cu", data.encode())
    declaration = source.find_declaration(name, data.index("__shared__"), 0)
    assert declaration is not None
    scope = source.scope_of(declaration)
    assert scope is not None
    found = (declaration + 1, scope[1])
    return source, list(source.uses(name, *found, 1)), found


def test_an_index_is_a_sum_of_products() -> None:
    assert index("r * BK + c") == [["r", "BK"], ["c"]]
    assert index("(r + 1) * BK + (c + j)") == [["(r+1)", "BK"], ["c"], ["j"]]
    assert index("(z * H + y) * W + x - 1") == [["(z*H+y)", "W"], ["x"], ["1"]]
    assert index("threadIdx.y * blockDim.x + -k") == [["threadIdx.y", "blockDim.x"], ["k"]]


def test_what_is_no_product_is_one_factor() -> None:
    assert index("r << 4 | c") == [["r<<4|c"]]
    assert index("t / 4 + 1") == [["t/4"], ["1"]]
    assert index("a[i * 3] + 1") == [["a[i*3]"], ["1"]]


def test_what_stands_behind_a_quotient_is_a_factor() -> None:
    assert index("t / 8 * P + t % 8 * 4") == [["t/8", "P"], ["t%8", "4"]]
    assert index("(t / 8) * P + t % 8") == [["(t/8)", "P"], ["t%8"]]
    assert index("P * t / 8") == [["P*t/8"]]
    assert index("a % (b * c) * d * e") == [["a%(b*c)", "d", "e"]]


def test_comments_are_not_part_of_a_factor() -> None:
    assert index("r /* row */ * BK // x\n") == [["r", "BK"]]


KERNEL = """__global__ void k() {
    __shared__ float As[BM * BK];
    int idx = threadIdx.y * BK + threadIdx.x;
    As[idx] = 0;
    As[(threadIdx.x + 1) * BK + j] = As[idx + 1];
}"""


def test_a_local_index_is_followed_one_level() -> None:
    source, uses, scope = uses_of(KERNEL, "As")
    indices, _ = flat.index_texts(source, uses, scope)
    assert [i.local for i in indices if i.local] == ["idx"]
    assert len(flat.occurrences(indices, "BK")) == 2


def test_a_local_that_serves_elsewhere_is_not_opened() -> None:
    source, uses, scope = uses_of(KERNEL.replace("= 0;", "= in[idx];"), "As")
    indices, shared = flat.index_texts(source, uses, scope)
    assert shared == "the index `idx` is also used on line 4"
    assert not any(i.local for i in indices) and len(flat.occurrences(indices, "BK")) == 1


def test_a_local_that_is_assigned_again_is_not_followed() -> None:
    source, _, scope = uses_of(KERNEL.replace("As[idx] = 0;", "As[idx] = 0; idx += 2;"), "As")
    assert flat.local_definition(source, "idx", scope) is None


def test_the_likeliest_pitch_is_the_declared_one() -> None:
    source, uses, scope = uses_of(KERNEL, "As")
    indices, _ = flat.index_texts(source, uses, scope)
    start = KERNEL.index("BM *")
    size = flat.terms(source, start, start + 7)
    assert flat.pitches(indices, size, {"BK": 16, "BM": 64}.get) == ["BK"]


def test_pitches_that_are_alike_stand_as_in_the_text() -> None:
    names = [f"N{n}" for n in range(20)]
    text = f"{' * '.join(names)} + threadIdx.x"
    source, uses, scope = uses_of(f"{{ __shared__ float s[N]; s[{text}] = 0; }}", "s")
    indices, _ = flat.index_texts(source, uses, scope)
    assert flat.pitches(indices, (), lambda _: 8) == names


def test_the_declared_size_takes_the_new_pitch() -> None:
    def resized(extent: str, whole: int) -> str | None:
        source = Source("a.cu", extent.encode())
        size = flat.terms(source, 0, len(extent))
        return flat.new_size(extent, size, 0, "BK", "P", whole, 16)

    assert resized("BM * BK", 1024) == "BM * P"
    assert resized("2 * BM * BK + BK", 1024) == "2 * BM * P + P"
    assert resized("256", 256) == "256 / BK * P"  # whatever BK is in another instance
    assert resized("100", 100) is None
    assert resized("SIZE", 256) == "SIZE / BK * P"
    assert resized("2 * SIZE", 256) == "2 * SIZE / BK * P"
    assert resized("SIZE + 16", 256) == "(SIZE + 16) / BK * P"


def test_the_declared_size_is_divided_by_what_can_be_written_there() -> None:
    def resized(extent: str, pitch: str, said: str) -> str | None:
        source = Source("a.cu", extent.encode())
        size = flat.terms(source, 0, len(extent))
        return flat.new_size(extent, size, 0, pitch, "P", 256, 16, said)

    assert resized("256", "16", "16") == "16 * P"
    assert resized("256", "BK", "16") == "16 * P"
    assert resized("SIZE", "(W + 1)", "W + 1") == "SIZE / (W + 1) * P"
