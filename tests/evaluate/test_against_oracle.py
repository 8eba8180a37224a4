"""The evaluator against a thread-by-thread interpreter, on random kernels.

What the evaluator calls exact must be what every lane does; what it leaves open must hold the truth. These
are few kernels, the same in every run: a new disagreement is a change of the evaluator, not of luck.
`just oracle N SEED` draws any number of others.
"""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from oracle.checks import CHECKS, Check
from oracle.drawing import Drawn, Program
from oracle.values import UndefinedError

RESOLVED = {"ordinary": 0.9, "library": 0.8}
"""Share of the accesses with known addresses for which an exact answer is expected, where it is not USUAL."""
USUAL = 0.95


@st.composite
def programs(draw: st.DrawFn, check: Check) -> Program:
    return check.draw(Drawn(draw))


def tally_of(check: Check, examples: int) -> Counter[str]:
    """Counts over random kernels, none of which may disagree.

    A failing kernel is shown as it was drawn, since making it smaller takes minutes: add Phase.shrink.
    """
    tally: Counter[str] = Counter()

    @settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
    )
    @given(programs(check))
    def hold(program: Program) -> None:
        try:
            outcome = check.run(program)
        except UndefinedError:
            assume(False)
            raise
        assert not outcome.wrong, "\n".join([program.text, str(program), *outcome.wrong])
        tally.update(exact=outcome.exact, open=len(outcome.open))

    hold()
    return tally


@pytest.mark.parametrize(
    ("name", "examples"),
    [
        pytest.param("c", 50, id="every lane of a C kernel has the address that it computes"),
        pytest.param("clang", 20, id="the front end reads the kernel that another parser reads"),
        pytest.param("parts", 30, id="pointers to several arrays and values that are written in parts"),
        pytest.param("cxx", 20, id="references, templates, lambdas and methods lead to the same addresses"),
        pytest.param("modern", 15, id="early returns, bit-fields, bindings and tables lead to the same"),
        pytest.param(
            "ordinary", 30, id="odd records, narrow integers, swapped pointers, jumps lead to the same"
        ),
        pytest.param("library", 12, id="rings, votes, shuffles, destructors lead to the same"),
        pytest.param("loops", 10, id="loops of all forms run as often and at the same addresses"),
        pytest.param("real", 8, id="tiles, reductions, scans, sorts, halos lead to the same"),
    ],
)
def test_what_is_known_is_exact(name: str, examples: int) -> None:
    tally = tally_of(CHECKS[name], examples)
    assert tally["exact"] >= RESOLVED.get(name, USUAL) * (tally["exact"] + tally["open"]) > 0


@pytest.mark.parametrize(
    ("name", "examples"),
    [
        pytest.param("parts-data", 20, id="pointers to several arrays and parts of values, by data"),
        pytest.param("parts-unknown", 20, id="pointers to several arrays and parts of values, by arguments"),
        pytest.param("modern-data", 12, id="early returns, bit-fields and bindings, by data"),
        pytest.param("modern-unknown", 12, id="early returns, bit-fields and bindings, by arguments"),
        pytest.param("ordinary-data", 12, id="odd records, narrow integers, jumps, by data"),
        pytest.param("ordinary-unknown", 12, id="odd records, narrow integers, jumps, by arguments"),
        pytest.param("library-unknown", 12, id="rings, votes, shuffles, destructors, by arguments"),
        pytest.param("loops-unknown", 8, id="loops of all forms, by arguments"),
        pytest.param("real-data", 6, id="tiles, reductions, scans, sorts, halos, by data"),
        pytest.param("data", 25, id="bounds hold whatever memory holds"),
        pytest.param("unknown", 25, id="answers without arguments and grid hold for any of them"),
        pytest.param("joined", 15, id="joined accesses reach every byte that is asked for"),
    ],
)
def test_what_is_not_known_holds_the_truth(name: str, examples: int) -> None:
    tally_of(CHECKS[name], examples)
