"""Records with whole words that belong to no member: which widths nvcc moves, from the machine code that
nvcc 13.0 makes of these kernels for sm_90."""

from __future__ import annotations

from collections import Counter

import pytest

from smemlint.api import Job, analyse_file
from smemlint.evaluate import evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.score import score_all
from smemlint.source import source_from_bytes

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


HEAD = """struct Flag { float v; bool ok; }; struct Kind { float v; short k; };
struct Run { unsigned first; unsigned char num; unsigned nnz; unsigned char scale; };
struct Best { float x; int i; }; struct Item { float key, a, b, c; };
__device__ Best higher(const Best &a, const Best &b) { return a.x > b.x ? a : b; }
__device__ Best first(const Best &a, const Best &b) { if (a.x > b.x) return a; return b; }
__device__ Best value(Best a, Best b) { return a.x > b.x ? a : b; }
__device__ Item greater(const Item &a, const Item &b) { return a.key > b.key ? a : b; }
"""


def moved(of: str, body: str) -> tuple[dict[str, int], set[str]]:
    """'load 4' -> instructions of one warp, and which of loads and stores are told as a range."""
    head = f"__global__ void k(float w, {of} *out) {{ __shared__ {of} s[512];"
    text = f"{HEAD}{head} int t = threadIdx.x; {body} }}"
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    (kernel,) = module.kernels()
    found: Counter[str] = Counter()
    trace = evaluate(module, kernel, Launch((32, 1, 1)))
    for t in trace.traces:
        found[f"{t.site.op} {t.joined or t.site.width}"] += int(t.weights.sum())
    ranges = {c.site.op for c in score_all(trace) if c.wavefronts != c.wavefronts_low}
    return {key: n for key, n in found.items() if n}, ranges


@pytest.mark.parametrize(
    ("of", "body", "found"),
    [
        ("Flag", "s[t + 64] = s[t];", {"load 8": 1, "store 8": 1}),
        (
            "Flag",
            "Flag a = s[t]; if (a.v > 0) w = 3; out[t].v = w; s[t + 64] = a;",
            {"load 8": 1, "store 8": 1},
        ),
        ("Flag", "s[t] = {w, true}; out[t].v = s[t ^ 1].v;", {"load 4": 1, "store 8": 1}),
        ("Flag", "s[t] = {w, w > 3}; out[t].v = s[t ^ 1].v;", {"load 4": 1, "store 4": 1, "store 1": 1}),
        ("Kind", "s[t + 64] = s[t];", {"load 4": 1, "load 2": 2, "store 4": 2}),
        ("Run", "s[t + 64] = s[t];", {"load 16": 1, "load 4": 1, "store 16": 1}),
    ],
)
def test_bytes_behind_the_last_member_go_with_it_and_a_word_in_part_goes_alone(
    of: str, body: str, found: dict[str, int]
) -> None:
    assert moved(of, body) == (found, set())


def test_a_record_whose_members_are_used_is_stored_member_by_member_up_to_the_last() -> None:
    """nvcc 13.0 stores 4, 1 and 8 bytes, and loads 16 and 1 of one whose members it uses in no branch."""
    found, ranges = moved("Run", "Run a = s[t]; out[t].nnz = a.first; s[t + 64] = a;")
    assert {key: n for key, n in found.items() if key.startswith("store")} == {
        "store 4": 1, "store 1": 1, "store 8": 1,
    }  # fmt: skip
    assert ranges == {"load"}


@pytest.mark.parametrize(
    "body",
    [
        "s[t + 64] = higher(s[t], s[t + 32]);",
        "s[t] = first(s[t], s[t + 32]);",
        "s[t + 64] = s[t].x > s[t + 32].x ? s[t] : s[t + 32];",
        "Best a = s[t], b = s[t + 32]; s[t + 64] = a.x > b.x ? a : b;",
        "Best a = s[t], b = s[t + 32]; a = higher(a, b); s[t] = a;",
        "Best a = s[t]; if (s[t + 32].x > a.x) a = s[t + 32]; s[t] = a;",
        "Best a = s[t]; if (s[t + 32].x > a.x) { a.x = s[t + 32].x; a.i = s[t + 32].i; } s[t] = a;",
    ],
)
def test_of_records_of_which_a_condition_chooses_one_the_rest_may_be_loaded_alone(body: str) -> None:
    """nvcc 13.0: two loads of 4 bytes for the condition, and one of the chosen record, each with 2 ways."""
    assert moved("Best", body)[1] == {"load"}


@pytest.mark.parametrize(
    "body",
    [
        "s[t] = value(s[t], s[t + 32]);",
        "Best a = {w, t}; a = higher(a, s[t + 32]); s[t] = a;",
        "Best a = s[t]; for (int i = 1; i < 4; i++) a = higher(a, s[t + 32 * i]); s[t] = a;",
    ],
)
def test_records_that_are_loaded_before_the_condition_are_loaded_whole(body: str) -> None:
    found, ranges = moved("Best", body)
    assert set(found) == {"load 8", "store 8"}
    assert not ranges


@pytest.mark.parametrize(
    ("members", "sure"),
    [
        ("unsigned char a, b; unsigned short c; unsigned d;", False),  # STS twice; LDS.U16 twice, LDS
        ("unsigned d; unsigned char a, b; unsigned short c;", False),  # the same
        ("unsigned char a, b, c, e; unsigned d;", True),  # STS.64, LDS.64
        ("unsigned short a, b; unsigned d;", True),  # STS.64, LDS.64
        ("unsigned short a, b, c, d;", True),  # STS.64, LDS.64
    ],
)
def test_a_word_of_bytes_and_of_a_short_may_be_moved_alone(members: str, sure: bool) -> None:
    text = f"struct R {{ {members} }};" + RUN.format(
        types="", of="R", body=f"s[threadIdx.x] = in[threadIdx.x]; {BACK}"
    )
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    found = score_all(evaluate(module, module.kernels()[0], Launch((256, 1, 1))))
    assert [c.wavefronts == c.wavefronts_low for c in found if c.ideal] == [sure, sure]
    assert {c.ways_low for c in found if c.ideal} == {1}
