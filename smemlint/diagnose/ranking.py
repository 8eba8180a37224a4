"""Kernels and their lines by what they waste: the wavefronts beyond what the same bytes need."""

from __future__ import annotations

from collections.abc import Sequence

from smemlint.diagnose.cost import Costs, blocks, demand, unknown
from smemlint.diagnose.model import Access, Demand, KernelReport
from smemlint.records import record


@record(frozen=True, slots=True)
class RankedLine:
    """All accesses of one line of a kernel. ways: of the worst of them."""

    path: str
    line: int
    expressions: tuple[str, ...]
    demand: Demand
    ways: float


@record(frozen=True, slots=True)
class RankedKernel:
    """A kernel under the launch and instance that stands for it, its lines the costliest first.

    records: launches and instances that were analysed; unknown: accesses that have no number.
    """

    kernel: KernelReport
    demand: Demand
    lines: tuple[RankedLine, ...]
    records: int
    unknown: int
    blocks: int | None


def ranked(kernels: Sequence[KernelReport], *, min_share: float = 0.0) -> list[RankedKernel]:
    """The kernels with a wavefront that is counted, those with the most excess first.

    min_share: percent of a kernel's wavefronts that a line must waste to be listed.
    """
    costs = Costs(kernels)
    found = []
    for key in dict.fromkeys(k.key for k in kernels):
        records = [k for k in kernels if k.key == key]
        chosen = costs.reference(records[0])
        whole = costs.kernel(chosen)
        if not whole.wavefronts:
            continue
        lines = [x for x in _lines(chosen) if x.demand.excess > 0]
        kept = tuple(x for x in lines if 100 * x.demand.excess >= min_share * whole.wavefronts)
        found.append(RankedKernel(chosen, whole, kept, len(records), unknown(chosen), blocks(chosen)))
    return sorted(found, key=lambda r: -r.demand.excess)


def _lines(kernel: KernelReport) -> list[RankedLine]:
    by_line: dict[tuple[str, int], list[Access]] = {}
    for access in kernel.accesses:
        if access.spread.loads:
            by_line.setdefault((access.place.path, access.place.line), []).append(access)
    lines = [
        RankedLine(
            path,
            line,
            tuple(dict.fromkeys(a.expression for a in sorted(some, key=_excess, reverse=True))),
            demand(some),
            max((a.worst or 1.0 for a in some), default=1.0),
        )
        for (path, line), some in by_line.items()
    ]
    return sorted(lines, key=lambda x: -x.demand.excess)


def _excess(access: Access) -> float:
    return demand([access]).excess
