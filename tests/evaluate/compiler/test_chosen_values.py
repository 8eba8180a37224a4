"""Values that both arms of a condition load, where nvcc chooses the address: the number of LDS in the arms is
that of nvcc 13.0 for sm_90. Where all lanes go the same way the cost is that of the one arm or the other."""

from __future__ import annotations

import pytest

from smemlint.evaluate import Grade, evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.score import score_all
from smemlint.score.model import Conflict
from smemlint.source import source_from_bytes

HEAD = """__global__ void k(const float *in, const int *data, float *out, int n) {
__shared__ float s[1024], q[1024]; int t = threadIdx.x; s[t] = in[t]; q[t] = in[t + 99];
float v = in[t + 7], w = in[t + 8], u = 1; int d = data[t]; __syncthreads();
"""


def told(body: str) -> list[Conflict]:
    """The loads of the body that run."""
    text = f"{HEAD}{body}\nout[t + n] = v * u + w; }}"
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    found = score_all(evaluate(module, module.kernels()[0], Launch((32, 1, 1))))
    return [c for c in found if c.site.op == "load" and c.wavefronts]


def passes(words: list[int]) -> int:
    return max(len({w for w in words if w % 32 == bank}) for bank in range(32))


@pytest.mark.parametrize(
    ("body", "number"),
    [
        ("if (n > 3) v = s[2 * t]; else v = s[31 - t];", 1),
        ("if (n > 3) v += s[2 * t]; else v += s[31 - t];", 1),
        ("v = n > 3 ? s[2 * t] : s[31 - t];", 1),
        ("if (n > 3) { v = s[2 * t]; u = 3; } else { v = s[31 - t]; u = 5; }", 1),
        ("if (n > 3) { out[t] = w; v = s[2 * t]; } else v = s[31 - t];", 1),
        ("if (n > 3) v = s[2 * t]; else if (n > 2) v = s[3 * t]; else v = s[31 - t];", 1),
        (
            "switch (n) { case 0: v = s[2 * t]; break; case 1: v = s[3 * t]; break; default: v = s[9 - t]; }",
            1,
        ),
        ("switch (n & 1) { case 0: v += s[2 * t]; break; case 1: v += s[31 - t]; }", 1),
        ("if (n > 3) v = s[2 * t]; else v = q[31 - t];", 1),
        ("if (n > 3) { v = s[2 * t]; out[t] = w; } else v = s[31 - t];", 2),  # a load does not pass a store
        ("if (n > 3) v += s[2 * t]; else v -= s[31 - t];", 2),
        ("if (n > 3) v = s[2 * t] + 2; else v = s[31 - t] + 3;", 2),
        ("if (n > 3) { v = s[2 * t]; u = v + 3; } else v = s[31 - t];", 2),
        ("if (n > 3) v = s[2 * t] * q[t]; else v = s[31 - t] * q[3 * t];", 4),
        ("if (n > 3) v = fmaxf(v, s[2 * t]); else v = fmaxf(v, s[31 - t]);", 2),
        ("switch (n) { case 0: v = s[2 * t]; break; case 1: v = s[31 - t]; }", 2),  # or neither
        ("switch (n) { case 0: v = s[2 * t]; case 1: v += s[3 * t]; break; default: v = s[31 - t]; }", 3),
    ],
)
def test_on_a_condition_of_all_lanes_one_value_is_one_load(body: str, number: int) -> None:
    loads = told(body)
    exact = [c for c in loads if c.grade is Grade.EXACT]
    assert len(loads) == number
    assert len(exact) == (number if number > 1 else 0)


@pytest.mark.parametrize(
    ("body", "number"),
    [
        ("if (d > 3) { if (n > 3) v = s[2 * t]; else v = s[31 - t]; }", 2),
        ("if (d > 3) u = 2; else if (n > 3) v = s[2 * t]; else v = s[31 - t];", 2),
        ("if (d > 3) { u = s[5 * t]; v = 0; } else { if (n > 3) v = s[2 * t]; else v = s[31 - t]; }", 3),
        ("if (d > 3) { if (n > 3) v = s[2 * t]; else v = s[31 - t]; u = v * v; }", 1),
        ("if (n > 9) { if (n & 4) v = s[2 * t]; else v = s[31 - t]; } else v = s[3 * t];", 1),
        ("if (n > 9) { if (n & 4) v = s[2 * t]; else v = s[31 - t]; } else { v = s[3 * t]; u = 2; }", 1),
        ("if (d > 9) { if (n > 3) v = s[2*t]; else if (n > 1) v = s[31-t]; else v = s[3*t]; }", 3),
        ("if (d > 3) { if (n > 3) { v = s[2 * t]; u = 2; } else { v = s[31 - t]; u = 3; } }", 2),
        ("if (d > 3) { if (n > 3) v = s[2 * t] * w; else v = s[31 - t] * w; }", 2),
    ],
)
def test_a_way_that_meets_both_arms_behind_them_and_brings_no_element_keeps_them_apart(
    body: str, number: int
) -> None:
    assert len(told(body)) == number


def test_what_the_first_rounds_do_not_do_is_not_said_to_be_never_done() -> None:
    """An anti-diagonal sweep, whose later rounds one stands for."""
    busy = "if (data[i + j] > 1) { q[t] += in[i]; if (in[j] < q[t ^ 1]) q[t] = u; }"
    later = "v = s[t + 1]; if (i == 513) u = s[t]; else u = s[8 * t & 1023];"
    body = f"for (int i = 1; i < 1024; i++) {{ for (int j = 0; j < 16; j++) {busy}"
    body += f" if (i <= 512) {{ u = s[t]; }} else {{ {later} }} w += u; }}"
    assert any(c.ways == 8 for c in told(body))


def test_a_load_of_either_place_costs_what_the_one_or_the_other_does() -> None:
    (one,) = told("if (n > 3) v = s[4 * t]; else v = s[31 - t];")
    costs = [passes([4 * t for t in range(32)]), passes([31 - t for t in range(32)])]
    assert (one.wavefronts_low, one.wavefronts) == (min(costs), max(costs))


def test_where_both_places_cost_as_much_the_number_is_exact() -> None:
    (one,) = told("if (n > 3) v = s[2 * t]; else v = s[62 - 2 * t];")
    assert (one.grade, one.wavefronts) == (Grade.EXACT, 2)


@pytest.mark.parametrize("switch", ["n", "t & 3"])
@pytest.mark.parametrize(
    ("cases", "number"),
    [
        (
            "v=s[2*t]; u=s[3*t]; break; case 1: v=s[4*t]; u=s[5*t]; break; default: v=s[t]; u=s[6*t];",
            2,
        ),
        (
            "v=s[2*t]; u=s[3*t]; break; case 1: v=s[4*t]; u=s[5*t]; break; default: u=s[t]; v=s[6*t];",
            2,
        ),
        (
            "{ float x=s[2*t]; v = x; break; } case 1: { float x=s[4*t]; v = x; break; } default: v=s[t];",
            1,
        ),
        (
            "v=s[2*t]; u=s[3*t]; break; case 1: v=s[4*t]; u = 7; break; default: v=s[t]; u=s[6*t];",
            3,
        ),
        (
            "v=s[2*t]; u = sinf(w); break; case 1: v=s[4*t]; u = w; break; default: v=s[t]; u = w * 3;",
            3,
        ),
    ],
)
def test_cases_that_load_several_variables_load_each_once(switch: str, cases: str, number: int) -> None:
    assert len(told(f"switch ({switch}) {{ case 0: {cases} }}")) == number


def test_lanes_of_all_cases_load_at_once() -> None:
    """Which places: by the words that each lane's case names."""
    cases = "case 0: v=s[2*t]; u = w; break; case 1: v=s[4*t]; u = 7; break; default: v=s[t]; u = 9;"
    (one,) = told(f"switch (t & 3) {{ {cases} }}")
    words = [{0: 2, 1: 4}.get(t & 3, 1) * t for t in range(32)]
    assert (one.grade, one.wavefronts) == (Grade.EXACT, passes(words))


@pytest.mark.parametrize("empty", ["case 2: {}", "case 2:", "case 2: {} case 3: {}"])
def test_a_case_of_nothing_falls_into_the_next(empty: str) -> None:
    (one,) = told(f"switch (t & 3) {{ {empty} case 1: {{ v = s[4 * t]; break; }} default: {{ v = s[t]; }} }}")
    falls = {1, 2, 3} if "3" in empty else {1, 2}
    words = [4 * t if t & 3 in falls else t for t in range(32)]
    assert (one.grade, one.wavefronts) == (Grade.EXACT, passes(words))


@pytest.mark.parametrize(
    ("then", "otherwise"),
    [
        ("v += s[2 * t]; u = q[3 * t];", "v += s[31 - t];"),
        ("u = q[3 * t]; v += s[2 * t];", "v += s[31 - t];"),
        ("v = s[2 * t]; u = in[t + 64];", "v = s[31 - t]; u = 5 * w;"),
    ],
)
def test_lanes_meet_in_the_value_that_both_arms_give(then: str, otherwise: str) -> None:
    """One LDS for it, and one for what the first arm alone loads."""
    loads = told(f"if (t & 1) {{ {then} }} else {{ {otherwise} }}")
    costs = [passes([2 * t if t & 1 else 31 - t for t in range(32)])]
    costs += [passes([3 * t for t in range(1, 32, 2)])] if "q[" in then else []
    assert sorted(c.wavefronts or 0 for c in loads) == sorted(costs)


@pytest.mark.parametrize("condition", ["t & 1", "d > 3"])
@pytest.mark.parametrize(
    ("then", "otherwise"),
    [
        ("v = s[2 * t] + 1;", "v = s[31 - t] + 2;"),  # 1 LDS, or 2, by what follows
        ("v += s[2 * t] * w;", "v += s[31 - t] * 3;"),  # 1
        ("v = s[t] + 4;", "v = s[t + 5] + 2;"),  # 2
        ("v = s[2 * t] + 5; u = v * 5;", "v = s[31 - t] + 7; u = v * 7;"),  # 1
    ],
)
def test_arms_that_differ_in_numbers_as_well_may_be_one(condition: str, then: str, otherwise: str) -> None:
    arms = told(f"if ({condition}) {{ {then} }} else {{ {otherwise} }}")
    first, second = (
        (lambda t: t, lambda t: t + 5) if "t + 5" in otherwise else (lambda t: 2 * t, lambda t: 31 - t)
    )
    own = [passes([first(t) for t in range(1, 32, 2)]), passes([second(t) for t in range(0, 32, 2)])]
    chosen = passes([first(t) if t & 1 else second(t) for t in range(32)])
    assert len(arms) == 2
    for arm, alone in zip(arms, own, strict=True):
        assert arm.wavefronts_low is not None and arm.wavefronts is not None
        assert arm.wavefronts_low <= min(alone, chosen) <= max(alone, chosen) <= arm.wavefronts
