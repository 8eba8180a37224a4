"""What lanes outside the mask hold is nothing to those inside."""

from __future__ import annotations

import pytest

from smemlint.evaluate import Grade, KernelTrace, evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.score import score
from smemlint.source import source_from_bytes


def evaluated(body: str) -> KernelTrace:
    """What a kernel of two warps does."""
    source = (
        "__global__ void k(float *in, float *out, int n) {\n"
        "__shared__ float s[256]; int t = threadIdx.x; s[t] = in[t]; __syncthreads(); float x = 0;\n"
        f"{body}\n__syncthreads(); out[t] = x; }}"
    )
    (module,) = load(source_from_bytes("k.cu", source.encode()))
    return evaluate(module, module.kernels()[0], Launch((64, 1, 1)))


def grades(body: str) -> set[Grade]:
    """Grades of its loads on s."""
    return {t.grade for t in evaluated(body).traces if t.site.op == "load"}


def test_a_counter_that_some_lanes_left_unset_counts_in_the_others() -> None:
    body = """int i = t, j;
    for (int k = 0; k < n; k++) {
        while (i < 20) {
            for (j = 0; j < 100; j++) x += s[j] * in[k];
            i += 64;
        }
        i = t;
        __syncthreads();
    }"""
    assert grades(body) == {Grade.EXACT}


def test_a_number_from_memory_in_other_lanes_does_not_blur_the_address() -> None:
    assert grades("int i = in[t]; if (t < 16) { i = 2 * t; x = s[i]; }") == {Grade.EXACT}
    assert grades("int i = in[t]; if (t < 16) i = 2 * t; if (t < 20) x = s[i];") == {Grade.BOUND}


def test_an_assignment_to_itself_in_some_lanes_proves_nothing_of_the_others() -> None:
    body = "for (int k = 0; k < 4; k++) { x += s[i]; if (t % 3 == 1) { i = i; continue; } i += 4; }"
    (load,) = (t for t in evaluated(f"int i = t; {body}").traces if t.site.op == "load")
    assert load.weights.sum() == 4 * 2  # in each round of each warp lanes load what they did not load before


def test_a_continue_that_nobody_can_decide_leaves_the_number_of_rounds_as_it_is() -> None:
    body = "for (float *p = s + t; p < s + 139; p += 33) { x += *p; if (n == 3) continue; x *= 2; }"
    (load,) = (t for t in evaluated(body).traces if t.site.op == "load")
    rounds = [max(len(range(t, 139, 33)) for t in range(first, first + 32)) for first in (0, 32)]
    assert load.weights.sum() == sum(rounds)


def test_lanes_that_others_left_under_a_condition_go_on_without_them() -> None:
    """Of case 2 lanes from 8 on may come to the store, and those below never do."""
    body = """switch (n & 3) { case 2: if ((n & 4) && t >= 8) break; continue; default: t += 21; }"""
    traces = evaluated(f"for (int i = 0; i < 4; i++) {{ {body}\ns[t & 255] = i; }}").traces
    store = [t for t in traces if t.site.op == "store"][-1]
    assert store.maybe is not None and store.maybe.all()


RING = "for (int k = 0; k < n; k++) { s[k % 3 * 64 + 2 * (t & 31)] = k; __syncwarp(); }"


def stored(body: str) -> list[tuple[Grade, float | None]]:
    """Grade and ways of its stores on the third line."""
    scored = [score(t) for t in evaluated(body).traces if t.site.op == "store" and t.site.place.line == 3]
    return [(c.grade, c.ways) for c in scored]


@pytest.mark.parametrize(
    "body",
    [
        f"if (t < 32) {RING}",  # the other warp has no k
        f"if (t >= 32) {RING}",
        RING.replace("int k = 0", "int k = t / 32"),  # each warp has its own
    ],
)
def test_a_remainder_that_a_warp_agrees_on_moves_all_of_its_lanes(body: str) -> None:
    assert stored(body) == [(Grade.EXACT, 2)]


def test_a_remainder_that_differs_within_a_warp_is_a_range() -> None:
    ((grade, _),) = stored(RING.replace("int k = 0", "int k = t / 16"))
    assert grade is Grade.BOUND
