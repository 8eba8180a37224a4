"""Stores of one address with which both arms of a condition end."""

from __future__ import annotations

from pathlib import Path

import pytest
from instructions import compiled, needs_nvcc

from smemlint.evaluate import Grade, evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.score import score_all
from smemlint.source import source_from_bytes

IF = "if (%s) { %s } else { %s }"
DATA, ALL = "in[t] > 3", "n > 3"
ONE, BOTH = (False, True), (True, True)

NEW = {
    "lanes part": (IF % (DATA, "s[2 * t] = w;", "s[2 * t] = w * 7;"), ONE),
    "a condition of all lanes": (IF % (ALL, "s[2 * t] = w;", "s[2 * t] = w * 7;"), BOTH),
    "a condition of all lanes, both begin with the address": (
        IF % (ALL, "s[2 * t] = 1;", "s[2 * t] = w;"),
        ONE,
    ),
    "the second is a number, both begin with the address": (
        IF % (DATA, "s[2 * t] = w;", "s[2 * t] = 0;"),
        ONE,
    ),
    "the second is a number, the first is computed": (
        IF % (DATA, "s[2 * t] = w * 7;", "s[2 * t] = 0;"),
        BOTH,
    ),
    "an arm loads from there": (
        IF % (DATA, "x = s[2 * t]; s[2 * t] = w;", "x = w; s[2 * t] = x * 3;"),
        BOTH,
    ),
    "an arm has a loop": (
        IF % (DATA, "s[2 * t] = w * 3;", "for (int i = 0; i < n; i++) x += in[i]; s[2 * t] = x;"),
        BOTH,
    ),
    "an arm has a branch": (
        IF % (DATA, "s[2 * t] = w * 3;", "if (w > 9) x = in[3 * t]; s[2 * t] = x;"),
        BOTH,
    ),
    "an arm has a choice": (
        IF % (DATA, "s[2 * t] = w * 3;", "if (w > 9) x = w * 5; s[2 * t] = x;"),
        ONE,
    ),
    "a function with branches": (IF % (DATA, "s[2 * t] = w * 3;", "s[2 * t] = sinf(w);"), BOTH),
    "a function without": (IF % (DATA, "s[2 * t] = fmaxf(w, 3);", "s[2 * t] = w * 2;"), ONE),
    "variables are set behind": (IF % (DATA, "s[2 * t] = w; x = 7;", "s[2 * t] = w * 7; x = w;"), ONE),
    "another address was used": ("s[t] = w; " + IF % (ALL, "s[t + 1] = w;", "s[t + 1] = w * 7;"), BOTH),
}
AT_HAND = {
    "stored to in front, behind a barrier": "s[2 * t] = w; __syncthreads(); ",
    "loaded in front": "in[t + 5] = s[2 * t]; ",
}
ENDS = {
    "a condition of all lanes": IF % (ALL, "s[2 * t] = w;", "s[2 * t] = w * 7;"),
    "the second is a number": IF % (DATA, "s[2 * t] = in[t + 9];", "s[2 * t] = 0;"),
    "an arm has a loop": IF
    % (DATA, "s[2 * t] = w * 3;", "for (int i = 0; i < n; i++) x += in[i]; s[2 * t] = x;"),
    "a function with branches": IF % (ALL, "s[2 * t] = w * 3;", "s[2 * t] = sinf(w);"),
    "an arm loads from there": IF % (DATA, "x += s[2 * t]; s[2 * t] = w;", "s[2 * t] = x * 3;"),
}


def source(body: str, name: str = "k") -> str:
    return f"""extern "C" __global__ void {name}(float *in, int n) {{
    __shared__ float s[1024]; int t = threadIdx.x; float w = in[t + 7], x = in[n];
    {body}
    __syncthreads(); in[t] = x + s[t * 3]; }}
"""


def _stores(body: str) -> list[tuple[bool, Grade]]:
    (module,) = load(source_from_bytes("k.cu", source(body).encode()))
    found = score_all(evaluate(module, module.kernels()[0], Launch((32, 1, 1))))
    return [(bool(c.ideal), c.grade) for c in found if c.site.op == "store"]


@pytest.mark.parametrize(("body", "runs"), NEW.values(), ids=NEW)
def test_an_address_of_the_arms_alone_goes_with_the_store_where_nvcc_moves_it(
    body: str, runs: tuple[bool, bool]
) -> None:
    """As nvcc 13.0 compiles it for sm_90: one STS behind the arms, or one in each."""
    assert tuple(there for there, _ in _stores(body))[-2:] == runs


@pytest.mark.parametrize("front", AT_HAND.values(), ids=AT_HAND)
@pytest.mark.parametrize("body", ENDS.values(), ids=ENDS)
def test_an_address_that_was_needed_in_front_is_stored_to_once(front: str, body: str) -> None:
    """As nvcc 13.0 compiles it for sm_90: one STS behind the arms."""
    stores = _stores(front + body)
    assert [there for there, _ in stores][-2:] == [False, True]
    assert stores[-1][1] is Grade.EXACT


@needs_nvcc
def test_nvcc_does_so(tmp_path: Path) -> None:
    new = [(body, sum(runs)) for body, runs in NEW.values()]
    at_hand = [(front + body, 1) for front in AT_HAND.values() for body in ENDS.values()]
    cases = [*new, *at_hand]
    found = compiled("".join(source(body, f"k{n}") for n, (body, _) in enumerate(cases)), tmp_path)
    for n, (body, stores) in enumerate(cases):
        in_front = body.startswith(("s[t] = w;", AT_HAND["stored to in front, behind a barrier"]))
        assert found[f"k{n}"]["store", 4] == stores + in_front, body


def test_a_branch_in_front_does_not_leave_its_address() -> None:
    body = "if (w > 5) s[2 * t] = 5; " + IF % (ALL, "s[2 * t] = w;", "s[2 * t] = w * 7;")
    assert [there for there, _ in _stores(body)][-2:] == [True, True]


def test_in_a_loop_a_new_address_behind_branches_is_left_open() -> None:
    """nvcc makes one of them behind a barrier, and keeps both without."""
    pair = IF % (DATA, "s[2 * t] = w * 3;", "s[2 * t] = sinf(w);")
    stores = _stores("for (int k = 0; k < 4; k++) { " + pair + " __syncthreads(); x += s[t]; }")
    assert [grade is Grade.EXACT for _, grade in stores] == [False, False]


def test_what_is_computed_for_a_later_store_leaves_the_one_before_open() -> None:
    """nvcc keeps the first two apart here, and makes one of them where nothing is computed between."""
    body = IF % (DATA, "s[2 * t] = w; s[t + 40] = w * 3;", "s[2 * t] = w * 2; s[t + 40] = w + 5;")
    assert [grade is Grade.EXACT for _, grade in _stores(body)][::2] == [False, False]
