"""What a finding costs: its share of the shared-memory wavefronts of its kernel, for one block of a launch.

All numbers are sums over the traces of one record of the kernel (an instance under a launch): how often each
request runs, times its wavefronts. A loop whose length only run time tells counts as NOMINAL iterations
wherever numbers are compared; what stands inside of such loops is kept apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from math import prod

from smemlint.diagnose.model import Access, Cost, Demand, KernelReport
from smemlint.score.load import NOMINAL, Load


def demand(accesses: Iterable[Access]) -> Demand:
    """What some accesses of one kernel record ask for together."""
    return added(Demand(a.spread.loads) for a in accesses)


def added(demands: Iterable[Demand]) -> Demand:
    """The sum of demands of one kernel record."""
    columns = zip_longest(*(d.loads for d in demands), fillvalue=Load())
    return Demand(
        tuple(
            Load(*(sum(getattr(x, name) for x in column) for name in ("wavefronts", "ideal", "requests")))
            for column in columns
        )
    )


def unknown(kernel: KernelReport) -> int:
    """Accesses that are in no sum, since they have no number."""
    return sum(a.wavefronts is None and a.reached for a in kernel.accesses)


def blocks(kernel: KernelReport) -> int | None:
    """Blocks of the grid, where the launch tells them."""
    if kernel.launch.grid is None or any(n is None for n in kernel.launch.grid):
        return None
    return prod(n for n in kernel.launch.grid if n is not None)


def warps(kernel: KernelReport) -> int:
    return -(-prod(kernel.launch.block) // 32)


class Costs:
    """The costs of all kernels of a run, each under the one launch and instance that stands for it: the one
    with the most excess; of block shapes that the program does not say, the one with the least."""

    def __init__(self, kernels: Sequence[KernelReport]) -> None:
        self._demands = {id(k): demand(k.accesses) for k in kernels}
        instances: dict[object, KernelReport] = {}
        for k in kernels:
            instance = (k.key, k.template_arguments)
            best = instances.setdefault(instance, k)
            supposed = k.launch.is_supposed
            more = self.kernel(k).excess > self.kernel(best).excess
            more = more or supposed is not best.launch.is_supposed
            if best is not k and (not more if supposed else more):
                instances[instance] = k
        self._of: dict[object, KernelReport] = {}
        for k in instances.values():
            best = self._of.setdefault(k.key, k)
            if self.kernel(k).excess > self.kernel(best).excess:
                self._of[k.key] = k

    def kernel(self, kernel: KernelReport) -> Demand:
        return self._demands[id(kernel)]

    def reference(self, kernel: KernelReport) -> KernelReport:
        """The record that stands for a kernel."""
        return self._of[kernel.key]

    def of(self, kernel: KernelReport, sights: Iterable[tuple[KernelReport, Access]]) -> Cost | None:
        """The cost of one place. kernel: the record that its finding is about; sights: the place under all
        records. None where no wavefront of the kernel is counted. Where the place is for free in the record
        that stands for the kernel, the cost is that of the finding's own."""
        seen = list(sights)
        chosen = self.reference(kernel)
        mine = demand(a for k, a in seen if k is chosen)
        if not mine.excess:
            chosen, mine = kernel, demand(a for k, a in seen if k is kernel)
        whole = self.kernel(chosen)
        if not whole.wavefronts:
            return None
        return Cost(mine, whole, unknown(chosen), blocks(chosen), warps(chosen))


def joined(costs: Sequence[Cost]) -> Cost | None:
    """The cost of several places that one cause has; those of the first one's kernel record. Where they are
    more than all of it, they are of instances that cost the same: the dearest place stands for them."""
    if not costs:
        return None
    same = [c.own for c in costs if c.kernel == costs[0].kernel]
    own = added(same)
    if own.wavefronts > costs[0].kernel.wavefronts:
        own = max(same, key=lambda d: d.wavefronts)
    return Cost(own, *costs[0].parts())


def percent(share: float) -> str:
    """`38%`, `0.4%`, `less than 0.1%`"""
    value = 100 * share
    if 0 < value < 0.1:
        return "less than 0.1%"
    return f"{value:.0f}%" if round(value, 1) >= 2 or value == 0 else f"{value:.1f}%"


def number(value: float) -> str:
    """`40,192`"""
    return f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:.1f}"


def words(cost: Cost, *, most: bool = False) -> str:
    """`38% of the kernel's shared-memory wavefronts (1,256 of 3,300 a block), 1,217 excess; ...`. most: it is
    the upper end of a range."""
    own, whole = cost.own, cost.kernel
    about = "about " if (whole.open or cost.unknown) and not 0 < cost.share < 0.001 else ""
    about = "up to " if most else about
    text = f"{about}{percent(cost.share)} of the kernel's shared-memory wavefronts"
    if whole.open:
        text += f", {_ratio(own)} of them excess"
    else:
        text += (
            f" ({number(own.wavefronts)} of {number(whole.wavefronts)} a block), {number(own.excess)} excess"
        )
    times = own.requests_by_warp(cost.warps)
    if own.open:
        text += f"; in a loop of unknown length, counted as {NOMINAL} iterations"
    elif whole.open:
        text += f"; a loop of unknown length beside it is counted as {NOMINAL} iterations"
    elif times >= 1.5:
        text += f"; runs {number(round(times))} times a warp"
    if cost.unknown:
        left = "1 access" if cost.unknown == 1 else f"{cost.unknown} accesses"
        text += f"; {left} without a number not counted"
    return text


def _ratio(own: Demand) -> str:
    """`31 of 32`"""
    ways = own.wavefronts / own.floor if own.floor else 1.0
    if abs(ways - round(ways)) < 0.05:
        return f"{round(ways) - 1} of {round(ways)}"
    return percent(own.excess / own.wavefronts)
