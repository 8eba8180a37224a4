"""What a variable holds where ways meet: every way out takes along what was set before it.

`s[x]` with x = t * k is a k-way access for k up to 32 (a power of two), so the ways are the factor that the
kernel gave.
"""

from __future__ import annotations

import pytest

from smemlint.evaluate import Grade, evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.score import Conflict, score_all
from smemlint.source import source_from_bytes

HELPERS = """
__device__ int pick(int m, int t) { if (m == 0) return t * 32; if (m == 1) return t * 4; return t * 2; }
__device__ void by_reference(int &x, int m, int t) {
if (m == 0) { x = t * 32; return; } x = t * 2; if (m) return; x = t; }
__device__ void by_pointer(int *x, int m, int t) { if (m == 0) { *x = t * 32; return; } *x = t * 2; }
__device__ bool found(int &x, int m, int t) {
if (m == 1) { x = t * 32; return true; } x = t * 2; return m == 2; }
__device__ int clamp(int v, int lo, int hi) { if (v < lo) return lo; if (v > hi) return hi; return v; }
"""


def last(body: str) -> Conflict:
    """The last access of a kernel of one warp."""
    text = (
        f"{HELPERS}__global__ void k(const int *in, int mode, int n) {{\n"
        f"__shared__ int s[4096]; int t = threadIdx.x, x = t;\n{body}\n}}"
    )
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    return score_all(evaluate(module, module.kernels()[0], Launch((32, 1, 1))))[-1]


def ends(body: str) -> tuple[float | None, float | None]:
    conflict = last(body)
    return conflict.ways_low, conflict.ways


UNIFORM = {
    "the end of a case": ("switch (mode) { case 0: x = t * 32; break; case 1: x = t * 2; }", 1, 32),
    "a default in the middle": (
        "switch (mode) { case 0: x = t * 32; break; default: x = t * 4; break; case 1: x = t * 2; }",
        2,
        32,
    ),
    "falling through": (
        "switch (mode) { case 0: x = t * 4; case 1: x = x * 2; break; case 2: x = 0; }",
        1,
        8,
    ),
    "a default that falls through": ("switch (mode) { default: x = t * 2; case 3: x += x; }", 2, 4),
    "a return in a case": ("switch (mode) { case 0: x = t * 32; return; case 1: x = t * 8; }", 1, 8),
    "a chain of conditions": (
        "if (mode == 0) x = t * 32; else if (mode == 1) x = t * 2; else if (mode == 2) x = t * 4;"
        " else if (mode == 3) x = t * 8; else if (mode == 4) x = t * 16; else x = t * 2;",
        2,
        32,
    ),
    "early returns of a value": ("x = pick(mode, t);", 2, 32),
    "an early return, set by reference": ("by_reference(x, mode, t);", 2, 32),
    "an early return, set by pointer": ("by_pointer(&x, mode, t);", 2, 32),
    "an early return of a lambda": (
        "auto f = [&](int m) { if (m) { x = t * 32; return; } x = t * 2; }; f(n);",
        2,
        32,
    ),
    "a side of &&": ("bool b = n > 3 && found(x, mode, t);", 1, 32),
    "a side of ?:": ("x = n > 3 ? pick(mode, t) : t * 8;", 2, 32),
    "break under a condition": (
        "for (int i = 0; i < 8; i++) { if (in[i]) { x = t * 32; break; } x = t * 2; }",
        2,
        32,
    ),
    "break in both arms": (
        "for (int i = 0; i < 4; i++) { if (mode == i) { x = t * 2; break; } else if (n == i) { x ="
        " t * 32; break; }"
        " x = t * 8; }",
        2,
        32,
    ),
    "continue": ("for (int i = 0; i < 2; i++) { if (in[i]) { x = t * 4; continue; } x = t * 2; }", 2, 4),
    "break of an inner loop": (
        "for (int i = 0; i < 2; i++) for (int j = 0; j < 2; j++) { if (in[i + j]) { x = t * 16;"
        " break; } x = t * 2; }",
        2,
        16,
    ),
    "no iteration": ("for (int i = 0; i < n - 3; i++) x = t * 32;", 1, 32),
    "no iteration of while": ("int i = mode; while (i < 2) { x = t * 32; i++; }", 1, 32),
    "do": ("int i = 0; do { x = t * 2; if (in[i]) break; x = t * 4; i++; } while (i < mode);", 2, 4),
    "a loop that only break leaves": (
        "int i = 0; while (true) { if (in[i]) { x = t * 8; break; } if (++i > 2) { x = t * 2; break; } }",
        2,
        8,
    ),
    "goto": ("if (mode == 1) { x = t * 32; goto done; } x = t * 2; done:", 2, 32),
    "goto out of loops": (
        "for (int i = 0; i < 2; i++) for (int j = 0; j < 2; j++) { x = t * 2 << i; if (in[j]) goto out; }"
        " x = t * 32; out:",
        2,
        32,
    ),
    "a sign that nobody knows": ("if (mode - 2 < 0) x = t * 32;", 1, 32),
    "a number that is compared": ("int w = n > 20 ? 8 : n > 3 ? 4 : 2; x = t * w;", 2, 8),
    "a number and what it is held against": ("x = t * (n > 4 ? 3 : n);", 1, 32),
    "what is computed of a choice": ("int w = mode == 1 ? 2 : 4; x = t * ((1 << w) / 2);", 2, 8),
}


@pytest.mark.parametrize(("body", "low", "high"), UNIFORM.values(), ids=UNIFORM)
def test_what_all_lanes_do_alike_is_a_range_over_the_ways(body: str, low: int, high: int) -> None:
    assert last(f"{body}\ns[x & 4095] = 1;").grade is Grade.BOUND
    assert ends(f"{body}\ns[x & 4095] = 1;") == (low, high)


EXACT = {
    "the condition is asked again": ("if (mode == 0) x = t * 32; if (mode == 0)", 32),
    "and does not hold": ("if (mode == 0) x = t * 32; if (mode != 0)", 1),
    "others left": ("if (mode == 0) { x = t * 32; if (n) return; x = t * 2; }\nif (mode == 0)", 2),
    "lanes that are known": ("switch (t & 1) { case 0: x = t * 2; break; default: x = t * 2; }", 2),
    "lanes leave a loop one by one": ("for (int i = 0; i < 40; i++) { x = i * 8; if (i == t) break; }", 8),
    "a machine of states": (
        "int q = mode; for (int i = 0; i < 3; i++) switch (q) { case 0: x = t * 4; q = 1; break;"
        " case 1: x = t * 4;"
        " q = 2; break; default: x = t * 4; q = 0; }",
        4,
    ),
    "all ways set the same": ("switch (mode) { case 0: x = t * 4; break; default: x = t * 4; }", 4),
    "a jump back": ("int i = 0; again: x = t * (1 << i); if (++i < 4) goto again;", 8),
    "a helper that clamps": ("x = t + clamp(mode, 0, 63);", 1),
}


@pytest.mark.parametrize(("body", "ways"), EXACT.values(), ids=EXACT)
def test_what_the_ways_have_in_common_is_exact(body: str, ways: int) -> None:
    conflict = last(f"{body} s[x] = 1;")
    assert (conflict.grade, conflict.ways) == (Grade.EXACT, ways)


LANES = {
    "a case for each lane": "switch (in[t] & 3) { case 0: x = t; break; case 1: x = t * 2; break;"
    " default: x = t * 32; }",
    "an early return for each lane": "by_reference(x, in[t], t);",
    "break for each lane": "for (int i = 0; i < 4; i++) { if (in[i * 32 + t]) { x = t * 32; break;"
    " } x = t; }",
    "no iteration in some lanes": "for (int i = t; i < in[t]; i += 32) x = t * 32;",
    "a lane and a choice": "if (t == 0 || mode == 1) x = t * 32;",
    "the rest of a division": "x = (t % n) * 32;",
    "the smaller of a lane and a size": "x = min(t, n) * 32;",
    "a difference that is not negative": "x = max(t - n, 0) * 32;",
    "a choice by the size": "x = t < n ? t * 32 : t;",
}


@pytest.mark.parametrize("body", LANES.values(), ids=LANES)
def test_what_lanes_do_each_by_itself_is_bounded(body: str) -> None:
    conflict = last(f"{body}\ns[x] = 1;")
    assert conflict.grade is Grade.BOUND
    assert conflict.ways_low == 1 and conflict.ways == 32


def test_variables_that_were_set_together_stay_together() -> None:
    body = (
        "int a, b; switch (mode) { case 0: a = 32; b = 0; break; default: a = 0; b = 2; } s[t * (a + b)] = 1;"
    )
    assert ends(body) == (2, 32)
    body = (
        "int a, b; switch (mode) { case 0: a = 3; b = 1; break; default: a = 1; b = 3; } s[t * (a + b)] = 1;"
    )
    assert ends(body) == (4, 4)


def test_a_coordinate_of_a_block_in_the_middle_is_not_negative() -> None:
    body = "int at = (32 - 2 * n) * blockIdx.x - n; int low = at < 0 ? -at : 0; if (t >= low) s[t * 4] = 1;"
    conflict = last(body)
    assert (conflict.grade, conflict.ways) == (Grade.EXACT, 4)


@pytest.mark.parametrize(
    "test", ["p >= 64", "p >= n", "p * 8 / 64 * 8 >= 512", "!(p < n)", "p > n - 1", "(int)p >= n"]
)
def test_a_loop_over_tiles_that_a_break_ends_is_run(test: str) -> None:
    body = f"for (unsigned p = blockIdx.x;; p += gridDim.x) {{ if ({test}) break; s[t * 2] = in[p]; }}"
    conflict = last(body)
    assert (conflict.ways_low, conflict.ways) == (2, 2)


@pytest.mark.parametrize("test", ["p * 16 >= (n + 15) / 16", "p >= n", "(long)p * 16 >= n", "p > 63"])
def test_a_block_in_the_middle_is_not_sent_home(test: str) -> None:
    conflict = last(f"unsigned p = blockIdx.y; if ({test}) return; s[t * 2] = in[p];")
    assert (conflict.ways_low, conflict.ways) == (2, 2)


PARTED = {
    "some lanes of an arm return": "if (mode) { if (t & 1) return; }",
    "and some of the other arm": "if (mode) { if (t & 1) return; } else { if ((t & 1) == 0) return; }",
    "some lanes meet an early return": "if (t & 1) { if (mode) return; }",
    "in a loop": "for (int i = 0; i < 3; i++) { if (mode) { if (t & 1) return; } }",
    "in a case": "switch (mode) { case 0: if (t & 1) return; break; case 1: x = t; }",
    "on to the next iteration": "for (int i = 0; i < 1; i++) { if (t & 1) { if (mode) continue; }",
}


@pytest.mark.parametrize("body", PARTED.values(), ids=PARTED)
def test_lanes_that_may_have_left_alone_are_not_sure(body: str) -> None:
    """Each odd lane is a word apart from the lane before it, in its bank."""
    end = "}" if body.count("{") > body.count("}") else ""
    conflict = last(f"{body}\ns[t + (t & 1) * 31] = 1;{end}")
    alone = last("if (t & 1) return; s[t + (t & 1) * 31] = 1;")
    everyone = last("s[t + (t & 1) * 31] = 1;")
    assert (alone.ways, everyone.ways) == (1, 2)
    assert conflict.grade is Grade.BOUND
    assert conflict.ways_low == 1 and conflict.ways == 2


TOGETHER = {
    "everybody left, in two steps": "if (mode) { if (t & 1) return; x = t; return; }",
    "whole warps": "if (t >= 32) { if (mode) return; }",
    "those that are left": "if (t & 1) return; if (mode) return;",
    "out of a loop that they all pass": "for (int i = 0; i < 3; i++) { if (mode) { if (t & 1) break; } }",
}


@pytest.mark.parametrize("body", TOGETHER.values(), ids=TOGETHER)
def test_lanes_that_leave_together_leave_none_in_doubt(body: str) -> None:
    assert last(f"{body}\ns[t * 2] = 1;").grade is Grade.EXACT


BEHIND = {
    "the rest of the body": "for (int i = 0; i < 2; i++) { s[(t << (5 * i)) & 1023] = 1;"
    " if (t > 40) continue; if (mode & 1) break; }",
    "behind a way on that is sure": "for (int i = t & 1; i <= (t & 1) + 1; i++) {"
    " s[(t << (5 * (i - (t & 1)))) & 1023] = 1; if (mode & 1) break; continue; }",
}


@pytest.mark.parametrize("body", BEHIND.values(), ids=BEHIND)
def test_an_iteration_behind_a_way_out_need_not_run(body: str) -> None:
    """The first store is a 1-way access and the second a 32-way one, which runs where nobody left."""
    found = last(body)
    assert found.grade is Grade.BOUND
    assert (found.ways_low, found.ways) == (1, 16.5)


def test_a_warp_that_may_have_left_need_not_run() -> None:
    """Of two warps the second returns where mode is not 3; its store is a 32-way access."""
    text = (
        "__global__ void k(int mode) { __shared__ int s[4096]; int t = threadIdx.x;"
        " if (mode != 3) { if (t >= 32) return; } s[t < 32 ? t : t * 32] = 1; }"
    )
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    (found,) = score_all(evaluate(module, module.kernels()[0], Launch((64, 1, 1))))
    assert found.grade is Grade.BOUND
    assert (found.ways_low, found.ways) == (1, 16.5)


def test_who_stays_where_one_condition_is_asked_again_is_told_alike() -> None:
    """In all three iterations the same condition decides: all three stores run, or none does."""
    body = "for (int i = 0; i < 3; i++) { if (mode & 1) continue; s[(t << i) & 1023] = 1; }"
    assert last(body).grade is Grade.EXACT


def test_lanes_part_at_one_time_on_one_way() -> None:
    """Where mode is 0, odd lanes leave the switch by the first break and even ones by the second."""
    body = "switch (mode) { case 0: x = t + 63; if (t & 1) break; x = t + 65; break; case 2: x = 0; }"
    told = last(f"{body} s[x] = 1;")
    banks = [(t + (63 if t & 1 else 65)) % 32 for t in range(32)]
    assert len(set(banks)) == 32
    assert (told.ways_low, told.ways) == (1, 1)


def test_who_falls_through_to_a_label_may_come_alone() -> None:
    """Where mode is 1, only lane 24 is left; for any other mode all lanes are here."""
    told = last("switch (mode) { case 1: if (t != 24) break; default: s[x * 32] = 1; }")
    assert told.grade is Grade.BOUND
    assert (told.wavefronts_low, told.wavefronts) == (1, 32)
    told = last("switch (mode) { case 1: if (n) break; default: s[x * 32] = 1; }")
    assert told.grade is Grade.EXACT and told.ways == 32


def test_lanes_may_go_one_way_while_others_go_another() -> None:
    """mode and n both set: even lanes by the first way, odd ones by the second, all to words of their own of
    one bank."""
    body = "[&] { if (mode) { if (t & 1) { x = t * 32; return; } } if (n) { x = t * 32; return; } x = t; }();"
    told = last(f"{body} s[x & 4095] = 1;")
    assert told.ways_low == 1 and told.ways == 32


BY_DATA = {
    "a byte is no size": "unsigned char *b = (unsigned char *)(s + 64); int d = b[0]; x = t > d ? 32 : 0;",
    "below zero an unsigned number is large": "int d = in[t] & t; x = (0u - d >= 1) * 32;",
    "lanes that read two arrays read two values": "__shared__ int q[64]; int *p = t & 1 ? q : s + 1024;"
    " x = p[4] > 1 ? 32 : 0;",
}


@pytest.mark.parametrize("body", BY_DATA.values(), ids=BY_DATA)
def test_what_each_lane_finds_in_memory_is_its_own(body: str) -> None:
    """An odd lane shares the word of the lane before it, or with 32 lies one row further in its bank."""
    told = last(f"{body} s[x * (t & 1) + (t >> 1) * 33] = 1;")
    assert told.grade is Grade.BOUND
    assert (told.ways_low, told.ways) == (1, 2)
