"""Records that are copied as a whole: the widths that nvcc moves, as machine code of nvcc 13.0 (sm_90) has
them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from instructions import compiled, needs_nvcc

from smemlint.evaluate import Grade, evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.score import score_all
from smemlint.source import source_from_bytes

RECORDS = {
    "double x; float y, z;": {8: 2},
    "unsigned n; float v; unsigned long long k;": {8: 2},
    "double v; int i;": {8: 2},
    "int i; double v;": {16: 1},
    "float *p; int n;": {8: 2},
    "double a, b;": {16: 1},
    "float2 p; double d;": {8: 2},
    "float2 a; float b, c;": {16: 1},
    "double x; short a, b; int c;": {8: 2},
    "double s[3]; int n;": {16: 1, 8: 2},
    "double a; int i, j; double b, c;": {16: 1, 8: 2},
    "long long a; int b, c; long long d; int e, f;": {8: 4},
    "double a; float b[6];": {16: 1, 8: 2},
    "struct { int i; double x; } p; double y;": {8: 3},
    "struct { double x; int i; } p[2];": {8: 4},
    "union { int i; double d; } u; int a, b;": {8: 2},
    "double a; char c; short s; int i;": {16: 1},
    "double a; int x : 10, y : 22; int z;": {8: 2},
    "float4 v; double d, e;": {16: 2},
}
"""Members of a record -> width and number of the stores, and of the loads, of one copy."""
NARROW = {
    "double e; short a;": ({8: 1, 4: 2}, {8: 1, 4: 1, 2: 2}),
    "double a, b; int i, j, k;": ({16: 1, 8: 1, 4: 2}, {16: 2}),
}
"""Those of which stores and loads are not alike."""
ALIGNED = {"double x; float y, z;": {16: 1}, "double a, b, c; int n;": {16: 2}}
"""The same, aligned to 16 bytes."""
COPY = "s[t] = in[t]; __syncthreads(); out[t] = s[t ^ 1];"
KERNEL = (
    '{record} extern "C" __global__ void k{n}(const R{n} *in, R{n} *out) {{'
    " __shared__ R{n} s[64]; int t = threadIdx.x; {body} }}\n"
)

Widths = dict[int, int]


def text(members: str, n: int = 0, body: str = COPY, align: str = "") -> str:
    """A kernel that copies records to shared memory and back."""
    return KERNEL.format(record=f"struct {align} R{n} {{ {members} }};", n=n, body=body)


def told(source: str) -> tuple[Widths, Widths]:
    """Width -> stores, and loads, of one warp."""
    (module,) = load(source_from_bytes("k.cu", source.encode()))
    found: dict[str, Counter[int]] = {"store": Counter(), "load": Counter()}
    for t in evaluate(module, module.kernels()[0], Launch((32, 1, 1))).traces:
        found[t.site.op][t.joined or t.site.width] += int(t.weights.sum())
    return +found["store"], +found["load"]


@pytest.mark.parametrize("members", RECORDS)
def test_a_number_of_8_bytes_joins_its_like_and_no_words(members: str) -> None:
    assert told(text(members)) == (RECORDS[members], RECORDS[members])


@pytest.mark.parametrize("members", NARROW)
def test_what_lies_behind_the_last_member_goes_with_it(members: str) -> None:
    assert told(text(members)) == NARROW[members]


@pytest.mark.parametrize("members", ALIGNED)
def test_an_alignment_of_16_bytes_lets_a_record_go_whatever_it_holds(members: str) -> None:
    assert told(text(members, align="alignas(16)")) == (ALIGNED[members], ALIGNED[members])


@pytest.mark.parametrize(
    ("members", "loads"),
    [
        ("double key; int val;", {8: 1, 4: 1}),
        ("int val; double key;", {8: 1, 4: 1}),
        ("double key; int pad, val;", {8: 1, 4: 1}),
    ],
)
def test_members_that_are_used_one_by_one_join_no_number_of_8_bytes(members: str, loads: Widths) -> None:
    by_name = "s[t] = in[t]; __syncthreads(); out[t].key = s[t ^ 1].key; out[t].val = s[t ^ 1].val;"
    copied = "s[t] = in[t]; __syncthreads(); R0 v = s[t ^ 1]; out[t].key = v.key; out[t].val = v.val;"
    assert told(text(members, body=by_name))[1] == loads
    assert told(text(members, body=copied))[1] == loads


@pytest.mark.parametrize(
    "members",
    [
        "unsigned short a; float2 b; float c; double d;",
        "int2 c; float3 b; double a;",
        "double2 v; char d; float *p; float2 e; int i;",
    ],
)
def test_what_nvcc_copies_of_bytes_of_no_member_beside_classes_is_a_range(members: str) -> None:
    """nvcc 13.0 moves 16, 4 and 8 bytes of the first, without its gap; of `int i; double v;` all."""
    (module,) = load(source_from_bytes("k.cu", text(members).encode()))
    costs = score_all(evaluate(module, module.kernels()[0], Launch((32, 1, 1))))
    assert any(c.grade is Grade.BOUND for c in costs)


@needs_nvcc
def test_these_are_the_widths_of_machine_code(tmp_path: Path) -> None:
    every = {**{m: (w, w) for m, w in RECORDS.items()}, **NARROW}
    cases = [(m, "", widths) for m, widths in every.items()]
    cases += [(m, "alignas(16)", (w, w)) for m, w in ALIGNED.items()]
    code = compiled("".join(text(m, n, align=align) for n, (m, align, _) in enumerate(cases)), tmp_path)
    for n, (members, _, (stores, loads)) in enumerate(cases):
        found = {op: {w: k for (o, w), k in code[f"k{n}"].items() if o == op} for op in ("store", "load")}
        assert found == {"store": stores, "load": loads}, members
