"""Records with whole words that belong to no member: which widths nvcc moves, from the machine code that
nvcc 13.0 makes of these kernels for sm_90."""

from __future__ import annotations

from collections import Counter

import pytest

from smemlint.api import Job, analyse_file

PAIR = "struct Pair { float v; long long i; };"
"""Padding between the members."""
BEST = "struct Best { double v; int i; };"
"""Padding behind the last."""
THREE = "struct Three { int a; double v; int i; };"
RUN = "{types} __global__ void k({of} *in, {of} *out, int x) {{ __shared__ {of} s[256]; {body} }}"
LAUNCH = " void go({of} *a, {of} *b, int x) {{ k<<<1, 256>>>(a, b, x); }}"
BACK = "__syncthreads(); out[threadIdx.x] = s[threadIdx.x ^ 1];"
APART = "__syncthreads(); {of} b = s[threadIdx.x ^ 1]; out[threadIdx.x] = {{b.v * 2, b.i}};"


def widths(of: str, body: str) -> tuple[list[int], list[int]]:
    """Bytes of each store and each load, of one warp's way through the kernel."""
    types = " ".join((PAIR, BEST, THREE))
    text = RUN.format(types=types, of=of, body=body) + LAUNCH.format(of=of)
    found: dict[str, Counter[int]] = {"store": Counter(), "load": Counter()}
    for kernel in analyse_file(Job("k.cu", text=text)).kernels:
        for a in kernel.accesses:
            assert a.executions is not None and a.ideal is not None
            width = 4 * a.ideal // a.executions  # a wavefront has 4 bytes for each lane
            found[a.op][width] += a.executions // 8
    return sorted(found["store"].elements()), sorted(found["load"].elements())


@pytest.mark.parametrize(
    ("of", "body", "stores"),
    [
        ("Pair", f"s[threadIdx.x] = {{0.f, -1}}; {BACK}", [4, 8]),
        ("Pair", f"Pair v = {{x * 2.f, x}}; s[threadIdx.x] = v; {BACK}", [4, 8]),
        ("Best", f"Best v; v.v = x * 2.5; v.i = x; s[threadIdx.x] = v; {BACK}", [4, 8]),
        ("Best", f"Best v = in[threadIdx.x]; v.i += 1; s[threadIdx.x] = v; {BACK}", [8, 8]),
        ("Best", f"s[threadIdx.x] = {{0., -1}}; {BACK}", [8, 8]),
        ("Three", f"Three v = {{1, 0., -1}}; s[threadIdx.x] = v; {BACK}", [4, 8, 8]),
    ],
)
def test_a_record_that_is_made_goes_member_by_member(of: str, body: str, stores: list[int]) -> None:
    assert widths(of, body)[0] == stores


def test_a_record_that_is_copied_goes_as_a_whole() -> None:
    assert widths("Pair", f"Pair v = in[threadIdx.x]; s[threadIdx.x] = v; {BACK}") == ([16], [16])


@pytest.mark.parametrize(("of", "loads"), [("Best", [8, 8]), ("Three", [4, 8, 8])])
def test_a_variable_whose_members_are_used_alone_is_loaded_in_parts(of: str, loads: list[int]) -> None:
    body = f"{of} v = in[threadIdx.x]; s[threadIdx.x] = v; __syncthreads(); {of} b = s[threadIdx.x ^ 1];"
    assert widths(of, body + "if (b.i > v.i) v = b; out[threadIdx.x] = v;") == (loads, loads)


def test_what_is_copied_to_a_reference_is_used_whole() -> None:
    types = f"{PAIR} __device__ void better(Pair next, Pair &acc) {{ if (acc.v < next.v) acc = next; }}"
    body = "s[threadIdx.x] = in[threadIdx.x]; __syncthreads();\nbetter(s[threadIdx.x ^ 1], s[threadIdx.x]);"
    text = RUN.format(types=types, of="Pair", body=body + BACK) + LAUNCH.format(of="Pair")
    (kernel,) = analyse_file(Job("k.cu", text=text)).kernels
    assert sorted(a.width for a in kernel.accesses if a.place.line == 2 and a.op == "load") == [4, 8, 8]
