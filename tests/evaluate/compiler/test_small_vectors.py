"""Small vectors, masked sums and parts of integers, as the machine code of nvcc 13.0 (sm_90) loads them."""

from __future__ import annotations

from collections import Counter

import pytest

from smemlint.evaluate import evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.score import score_all
from smemlint.source import source_from_bytes

KERNEL = """struct Box {{ float3 lo, hi; }};
__global__ void k(float *o, int n, float w) {{ {} int t = threadIdx.x; {}
o[t] = r; }}"""


def loads(array: str, body: str) -> tuple[dict[int, int], bool]:
    """Width -> loads of one warp, and whether they are told as a range."""
    (module,) = load(source_from_bytes("k.cu", KERNEL.format(array, body).encode()))
    trace = evaluate(module, module.kernels()[0], Launch((32, 1, 1)))
    found: Counter[int] = Counter()
    for t in trace.traces:
        if t.site.op == "load":
            found[t.joined or t.site.width] += int(t.weights.sum())
    costs = [c for c in score_all(trace) if c.site.op == "load"]
    return {w: n for w, n in found.items() if n}, any(c.wavefronts != c.wavefronts_low for c in costs)


@pytest.mark.parametrize(
    ("body", "runs"),
    [
        ("r = a.x * b.x - a.y;", {16: 1}),
        ("r = a.y * b.x - b.y;", {16: 1}),
        ("r = a.x * a.y - b.y;", {16: 1}),
        ("r = a.x * b.x;", {4: 2}),
        ("r = a.y * b.x;", {4: 2}),
    ],
)
@pytest.mark.parametrize("type_", ["float2", "int2"])
def test_a_part_of_a_vector_joins_one_that_is_loaded_whole(
    type_: str, body: str, runs: dict[int, int]
) -> None:
    text = f"s[t ^ 5] = {type_}(); __syncthreads(); float r; {type_} a = s[2 * t], b = s[2 * t + 1]; {body}"
    assert loads(f"__shared__ {type_} s[256];", text) == (runs, False)


@pytest.mark.parametrize(
    ("array", "body", "runs"),
    [
        (
            "__align__(16) float s[512]",
            "float2 b = *(float2 *)&s[4 * t + 2]; r = s[4 * t] * b.x - b.y;",
            {16: 1},
        ),
        (
            "float s[512]",
            "float2 b = *(float2 *)&s[4 * t + 2]; r = s[4 * t]; s[256 + t] = w; r *= s[4 * t + 1] - b.x * b.y"
            ";",
            {16: 1, 4: 1},
        ),
        ("double s[256]", "float b = *(float *)&s[2 * t + 1]; r = s[2 * t] * b;", {8: 1, 4: 1}),
    ],
)
def test_a_word_joins_two_words_but_no_number_of_64_bits(array: str, body: str, runs: dict[int, int]) -> None:
    assert loads(f"__shared__ {array};", f"s[t ^ 5] = n; __syncthreads(); float r; {body}") == (runs, False)


SUM = "__syncthreads(); float r = 0; for (int i = 0; i < 4; i++)"


@pytest.mark.parametrize(
    ("first", "range_"), [("s[t]", True), ("s[t ^ 5]", False), ("s[t + 32]", False), ("s[2 * t + 64]", False)]
)
@pytest.mark.parametrize(("type_", "count"), [("float2", 2), ("uchar4", 4), ("short2", 4), ("int2", 2)])
def test_a_vector_is_addressed_from_an_earlier_one(type_: str, count: int, first: str, range_: bool) -> None:
    """Behind `s[t]` nvcc makes the address of `s[2 * t]` from that one, and joins no neighbours."""
    body = f"{first} = {type_}(); __syncthreads(); float r = 0;"
    body += f" for (int i = 0; i < {count}; i++) {{ {type_} v = s[{count} * t + i]; r += v.x * v.y; }}"
    found, told = loads(f"__shared__ {type_} s[256];", body)
    assert found == {16: 1}
    assert told is range_


@pytest.mark.parametrize(
    ("index", "range_"),
    [
        ("(4 * t + i) & 127", True),
        ("(4 * t + i) % 128u", True),
        ("(4 * t & 127) + i", False),
        ("((4 * t) ^ 8) + i", False),
        ("32 * (4 * n + 1 & 3) + 4 * t + i", False),
        ("4 * t + i", False),
    ],
)
def test_a_sum_that_is_masked_may_be_no_neighbour(index: str, range_: bool) -> None:
    """nvcc loads one of four by itself, or all of them."""
    found, told = loads("__shared__ float s[128];", f"s[t ^ 5] = n; {SUM} r += s[{index}];")
    assert found == {16: 1}
    assert told is range_


def test_a_pair_whose_sum_is_masked_joins_unless_by_a_remainder() -> None:
    pair = "__syncthreads(); float r = 0; for (int i = 0; i < 2; i++)"
    array = "__shared__ float s[128];"
    assert loads(array, f"s[t ^ 5] = n; {pair} r += s[(2 * t + i) & 63];") == ({8: 1}, False)
    assert loads(array, f"s[t ^ 5] = n; {pair} r += s[(2 * t + i) % 64u];") == ({8: 1}, True)


def test_a_sum_of_which_an_int_remainder_is_taken_has_no_neighbours() -> None:
    for index, count in (("(4 * t + i) % 128", 4), ("(2 * t + i) % 64", 2)):
        body = f"__syncthreads(); float r = 0; for (int i = 0; i < {count}; i++) r += s[{index}];"
        assert loads("__shared__ float s[128];", f"s[t ^ 5] = n; {body}") == ({4: count}, False)


@pytest.mark.parametrize(
    ("type_", "use", "found", "range_"),
    [
        ("unsigned", "(a & 0xffff) + (b >> 16)", {2: 2}, False),
        ("unsigned", "(a & 0xff) + (a >> 8) + (b & 0xff)", {4: 1, 1: 1}, False),
        ("int", "(a >> 16 & 0xff) + (b >> 8 & 0xff)", {1: 2}, False),
        ("int", "((a << 16) >> 16) * ((b << 24) >> 24)", {2: 1, 1: 1}, False),
        ("unsigned", "a % 65536 + b % 256", {2: 1, 1: 1}, False),
        ("int", "a % 65536 + b % 256", {8: 1}, False),
        ("unsigned", "(a >> 8 & 0xffff) + (b >> 16 & 0xffff)", {4: 1, 2: 1}, False),
        ("int", "(short)a * (short)b", {2: 2}, False),
        ("unsigned", "(a & 0xff) * 3 + (a & 0xff) + b", {8: 1}, False),
        ("unsigned", "__uint_as_float(a << 16) * __uint_as_float(b << 16)", {8: 1}, False),
        ("unsigned", "(a & 0xff) * 4 + (b & 0xff) * 8", {8: 1}, True),  # LDS.64: the mask comes last
        ("unsigned", "o[a & 0xff] + o[b & 0xff]", {8: 1}, True),
    ],
)
def test_so_it_is_of_one_that_a_variable_holds(
    type_: str, use: str, found: dict[int, int], range_: bool
) -> None:
    body = f"s[t ^ 5] = n; __syncthreads(); float r; {type_} a = s[2 * t], b = s[2 * t + 1]; r = {use};"
    assert loads(f"__shared__ {type_} s[256];", body) == (found, range_)


@pytest.mark.parametrize(
    ("type_", "use", "found"),
    [
        ("int", "s[4 * t + i] & 0xff", {1: 4}),
        ("int", "s[4 * t + i] & 0xffff", {2: 4}),
        ("int", "(unsigned char)s[4 * t + i]", {1: 4}),
        ("unsigned", "s[4 * t + i] >> 16", {2: 4}),
        ("int", "s[4 * t + i] >> 24", {16: 1}),
        ("int", "(s[4 * t + i] & 0xff) + (s[4 * t + i] >> 8)", {16: 1}),
        ("char2", "s[4 * t + i].x + 0", {1: 4}),
    ],
)
def test_of_an_integer_of_which_a_part_is_used_no_more_is_loaded(
    type_: str, use: str, found: dict[int, int]
) -> None:
    start = "s[t ^ 5] = char2();" if type_ == "char2" else "s[t ^ 5] = n;"
    assert loads(f"__shared__ {type_} s[256];", f"{start} {SUM} r += {use};") == (found, False)


def test_two_bytes_that_are_used_apart_are_loaded_as_they_lie() -> None:
    body = f"s[t ^ 5] = char2(); {SUM} {{ char2 v = s[4 * t + i]; r += v.x + v.y; }}"
    assert loads("__shared__ char2 s[256];", body) == ({2: 4}, False)


def test_members_of_members_are_loaded_by_themselves() -> None:
    body = "Box b; b.lo = float3(); b.hi = float3(); s[t] = b; __syncthreads(); Box c = s[t ^ 1];"
    assert loads("__shared__ Box s[64];", body + "float r = c.lo.x + c.hi.y * c.lo.z;")[0] == {4: 3}
