"""Shares of a kernel's wavefronts, and what they are called."""

from __future__ import annotations

import pytest

from smemlint.diagnose.cost import Costs, demand, joined, percent, words
from smemlint.diagnose.model import Access, Cost, Demand, KernelReport, Spread, Started
from smemlint.ir import Place
from smemlint.score.load import Load

AT = Place("k.cu", 1, 1, 1, 2, 0, 1)


def access(*loads: Load, line: int = 1, wavefronts: int | None = 1) -> Access:
    place = Place("k.cu", line, 1, line, 2, line, line + 1)
    return Access(
        place, "load", 4, "t", "t[i]", 1, wavefronts, wavefronts, 1, "exact", spread=Spread(loads=loads)
    )


def kernel(*accesses: Access, block: int = 64, assumed: bool = False) -> KernelReport:
    return KernelReport(
        "k", AT, (), "", Started((block, 1, 1), (4, 2, None), None, "", assumed), (), accesses
    )


def test_the_share_of_a_finding_is_of_all_wavefronts_of_its_kernel() -> None:
    slow, fast = access(Load(64, 2, 2)), access(Load(36, 36, 36), line=2)
    k = kernel(slow, fast)
    cost = Costs([k]).of(k, [(k, slow)])
    assert cost is not None and (cost.share, cost.excess_share, cost.blocks, cost.warps) == (
        0.64,
        0.62,
        None,
        2,
    )
    assert words(cost) == "64% of the kernel's shared-memory wavefronts (64 of 100 a block), 62 excess"


def test_a_loop_of_unknown_length_is_called_so() -> None:
    k = kernel(access(Load(), Load(64, 2, 2)), access(Load(64, 64, 64), line=2))
    cost = Costs([k]).of(k, [(k, k.accesses[0])])
    assert cost is not None and cost.share == 64 * 32 / (64 * 32 + 64)
    assert words(cost) == (
        "about 97% of the kernel's shared-memory wavefronts, 31 of 32 of them excess; in a loop of unknown "
        "length, counted as 32 iterations"
    )
    beside = Costs([k]).of(k, [(k, k.accesses[1])])
    assert beside is not None and "; a loop of unknown length beside it is counted" in words(beside)


def test_accesses_without_a_number_are_named() -> None:
    k = kernel(access(Load(64, 2, 2)), access(line=2, wavefronts=None))
    cost = Costs([k]).of(k, [(k, k.accesses[0])])
    assert cost is not None and words(cost).startswith("about 100% ")
    assert words(cost).endswith("; 1 access without a number not counted")


def test_repetitions_are_told_by_warp() -> None:
    k = kernel(access(Load(256, 128, 128)))
    cost = Costs([k]).of(k, [(k, k.accesses[0])])
    assert cost is not None and words(cost).endswith("128 excess; runs 64 times a warp")


def test_the_costliest_record_stands_for_a_kernel_but_the_cheapest_of_assumed_ones() -> None:
    some = [kernel(access(Load(n, 1, 1)), block=32 * n) for n in (4, 9, 2)]
    assert Costs(some).reference(some[0]) is some[1]
    assumed = [kernel(access(Load(n, 1, 1)), block=32 * n, assumed=True) for n in (4, 9, 2)]
    assert Costs(assumed).reference(assumed[0]) is assumed[2]


def test_a_place_that_is_free_in_that_record_has_the_cost_of_the_one_it_is_told_for() -> None:
    stands = kernel(access(Load(2, 2, 2)), access(Load(90, 1, 1), line=2), block=256)
    told = kernel(access(Load(8, 2, 2)), access(Load(2, 2, 2), line=2))
    costs = Costs([stands, told])
    assert costs.reference(told) is stands
    cost = costs.of(told, [(k, k.accesses[0]) for k in (stands, told)])
    assert cost is not None and words(cost).endswith("(8 of 10 a block), 6 excess")


def test_demands_add_up_depth_by_depth() -> None:
    both = demand([access(Load(1, 1, 1), Load(2, 1, 1)), access(Load(4, 2, 2))])
    assert both.loads == (Load(5, 3, 3), Load(2, 1, 1)) and both.wavefronts == 5 + 32 * 2
    whole = Demand((Load(10, 5, 5),))
    cost = joined([Cost(Demand((Load(4, 1, 1),)), whole), Cost(Demand((Load(2, 1, 1),)), whole)])
    assert cost is not None and cost.own.loads == (Load(6, 2, 2),)


def test_places_of_two_instances_that_cost_the_same_are_not_more_than_a_kernel() -> None:
    whole = Demand((Load(10, 5, 5),))
    cost = joined([Cost(Demand((Load(8, 2, 2),)), whole), Cost(Demand((Load(7, 2, 2),)), whole)])
    assert cost is not None and cost.own.loads == (Load(8, 2, 2),)


@pytest.mark.parametrize(
    ("share", "text"), [(0, "0%"), (1, "100%"), (0.384, "38%"), (0.0042, "0.4%"), (0.0001, "less than 0.1%")]
)
def test_percents_are_short(share: float, text: str) -> None:
    assert percent(share) == text
