"""Register-blocked products: elements that inner loops load again are loaded once, and the loop around them
has copies after their number. The widths are those of nvcc 13's machine code."""

from __future__ import annotations

import pytest

from smemlint.evaluate import Grade, Trace, evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.source import source_from_bytes

KERNEL = """__global__ void k(float *out, const float *in, const float *g, int n) {{
    __shared__ float As[{a}];
    __shared__ float Bs[{b}];
    int t = threadIdx.x, tx = t % 8, ty = t / 8;
    float acc[{tm}][{tn}] = {{0}};
    for (int k0 = 0; k0 < n; k0 += {bk}) {{
        __syncthreads();
        for (int e = t; e < {bk} * {tm} * 4; e += 32) As{fill} = in[k0 + e];
        for (int e = t; e < {bk} * {tn} * 8; e += 32) ((float *)Bs)[e] = g[k0 + e];
        __syncthreads();
        {pragma}
        for (int k = 0; k < {bk}; k++) {{ {body} }}
    }}
    for (int i = 0; i < {tm}; i++)
        for (int j = 0; j < {tn}; j++) out[(t * {tm} + i) * {tn} + j] = acc[i][j];
}}"""
EACH = "for (int i = 0; i < TM; i++) for (int j = 0; j < TN; j++) "
SUM = f"{EACH} acc[i][j] += As[ty * TM + i][k] * Bs[k][tx * TN + j];"
TURNED = "for (int j = 0; j < TN; j++) for (int i = 0; i < TM; i++) " + SUM[len(EACH) :]
NAMED = """for (int i = 0; i < TM; i++) { float v = As[ty * TM + i][k];
for (int j = 0; j < TN; j++) acc[i][j] += v * Bs[k][tx * TN + j]; }"""
FLAT = f"{EACH} acc[i][j] += As[(ty * TM + i) * BK + k] * Bs[k * (8 * TN) + tx * TN + j];"


def loads(tm: int, tn: int, bk: int, body: str, pragma: str = "") -> list[Trace]:
    flat = body is FLAT
    text = KERNEL.format(
        a=f"{tm * 4 * bk}" if flat else f"{tm * 4}][{bk}",
        b=f"{tn * 8 * bk}" if flat else f"{bk}][{tn * 8}",
        fill="[e]" if flat else f"[e / {bk}][e % {bk}]",
        tm=tm,
        tn=tn,
        bk=bk,
        pragma=pragma,
        body=body.replace("TM", str(tm)).replace("TN", str(tn)).replace("BK", str(bk)),
    )
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    (kernel,) = module.kernels()
    traces = evaluate(module, kernel, Launch((32, 1, 1), arguments={"n": 128})).traces
    return [t for t in traces if t.site.op == "load" and t.weights.sum()]


def widths(tm: int, tn: int, bk: int, body: str, pragma: str = "") -> dict[str, set[int]]:
    """By array: the bytes of its loads."""
    found: dict[str, set[int]] = {}
    for t in loads(tm, tn, bk, body, pragma):
        assert t.grade is Grade.EXACT
        found.setdefault(t.site.array.split("@")[0], set()).add(t.joined or t.site.width)
    return found


@pytest.mark.parametrize("body", [SUM, TURNED, NAMED])
@pytest.mark.parametrize(
    ("tm", "tn", "bk", "a", "b"),
    [
        (2, 2, 64, 16, 8),
        (2, 4, 32, 16, 16),
        (4, 2, 32, 16, 8),
        (4, 8, 8, 16, 16),
        (8, 8, 8, 4, 16),
    ],
)
def test_a_product_has_copies_after_the_elements_that_it_loads(
    body: str, tm: int, tn: int, bk: int, a: int, b: int
) -> None:
    assert widths(tm, tn, bk, body) == {"As": {a}, "Bs": {b}}


def test_the_optimiser_counts_an_element_in_each_round_of_an_outer_loop() -> None:
    """Of nine sums of three and three elements it makes two copies, of those in registers four."""
    apart = """float ra[3], rb[3];
    for (int i = 0; i < 3; i++) ra[i] = As[ty * 3 + i][k];
    for (int j = 0; j < 3; j++) rb[j] = Bs[k][tx * 3 + j];
    for (int i = 0; i < 3; i++) for (int j = 0; j < 3; j++) acc[i][j] += ra[i] * rb[j];"""
    assert widths(3, 3, 32, SUM)["As"] == {8}
    assert widths(3, 3, 32, apart)["As"] == {16}


def test_the_rounds_that_one_stands_for_are_lined_up_as_those_before() -> None:
    assert widths(2, 4, 128, SUM) == {"As": {16}, "Bs": {16}}
    assert widths(4, 8, 32, SUM, "#pragma unroll") == {"As": {16}, "Bs": {16}}


def test_an_index_without_rows_is_larger() -> None:
    assert widths(2, 2, 64, FLAT) == {"As": {16}, "Bs": {8}}


@pytest.mark.parametrize("body", [FLAT, SUM.replace("tx * TN + j", "tx + j * 8")])
def test_near_a_limit_either_is_told(body: str) -> None:
    """Machine code has ten rounds in a line of `FLAT`, and eight of the other."""
    tm, tn = (2, 4) if body is FLAT else (5, 2)
    reasons = {t.reason.code for t in loads(tm, tn, 64, body) if t.reason is not None}
    assert reasons == {"joined-or-not"}
