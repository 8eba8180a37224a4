"""Whether a layout pays: its wavefronts and what else it costs, held against the kernel as a whole.

In: how often each access of an array runs, in every kernel instance and launch, and what it costs before and
after. Out: a number for each layout, in wavefronts, and an order. What a wavefront of integer work is was
measured, see docs/dev/evaluation-fixes.md.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from smemlint.banks.vector import alike
from smemlint.fix.search.candidates import Exchange, Layout, Padding, Shape, Skew, Swizzle, Trimmed, addresses
from smemlint.fix.search.members import Instance, Member, repeated
from smemlint.fix.search.registers import Step
from smemlint.records import record
from smemlint.score.load import nominal
from smemlint.score.model import KernelAnalysis

SHARE = 0.02
"""A layout must free this share of a kernel's shared-memory wavefronts to be worth an edit."""
SHARE_AT_A_STEP = 0.05
"""The same where registers may cost half of the resident blocks. Measured: products that keep a tile in
registers ran at 0.99 to 1.03 times the speed for up to 5 %, at 1.00 to 1.07 for 7 to 8 %, at 1.05 to 1.12 for
a quarter or more; and at 0.63 times the speed where they lost a block."""
SAFELY = 0.1
"""The share that a safe fix must free where it takes more memory and the compiler joins neighbours of the
array. Measured: where less of the wavefronts went, such kernels ran at 0.98 to 1.07 times their speed, which
is what another allocation of registers does as well; where a padding was taken back, at 1.00 to 1.31."""
CLEARLY = 0.9
"""Where an access gets worse, all of them together must come to this share at most."""
INTEGER_WORK = 2
"""Wavefronts that a request costs besides when its index is computed anew: the xor, and the constant offset
that accesses no longer share. Measured: a swizzle that saved a little more than 1 a request in the inner loop
of a matrix product ran at 0.80 times its speed."""
APART = 2
"""Wavefronts that each further request costs where accesses that the compiler joins run one by one. Measured:
in inner loops of matrix products, a 16-byte load of 8 wavefronts against four of 1 each ran at 0.79 to 0.92
times the speed, one of 16 wavefronts at 1.17 times."""
_FEW = 8
"""Requests a warp and site up to which a padding may be traded for a swizzle at half that price."""
_ALIKE = 0.01
"""Layouts whose costs differ by less than this share of the kernel's wavefronts count as equally good."""


@record(frozen=True, slots=True)
class Option:
    """One layout and what it does. after: wavefronts per instance and member, as `Instance.members` stand.

    blocks: resident blocks per multiprocessor before and after, of the instance that loses most.
    work: integer work that it adds, in wavefronts, per instance. step: what registers may cost the kernel.
    """

    layout: Layout
    after: tuple[tuple[int, ...], ...]
    bytes_added: int
    blocks: tuple[int, int]
    work: tuple[int, ...] = ()
    step: Step | None = None

    @property
    def total(self) -> int:
        return sum(map(sum, self.after))

    @property
    def cost(self) -> int:
        """Wavefronts and integer work together."""
        return self.total + sum(self.work)


def kernel_wavefronts(analysis: KernelAnalysis) -> int | None:
    """Wavefronts of all shared-memory accesses of one block, a loop of unknown length as NOMINAL iterations;
    None where some are not known."""
    if analysis.notes or any(c.wavefronts is None for c in analysis.conflicts):
        return None
    return round(sum(nominal(load.wavefronts for load in c.loads) for c in analysis.conflicts))


def excess(analysis: KernelAnalysis) -> float:
    """Wavefronts of one block above the ideal, so counted, of the accesses that have a number."""
    return sum(nominal(load.wavefronts - load.ideal for load in c.loads) for c in analysis.conflicts)


def standing(analyses: Sequence[KernelAnalysis]) -> int:
    """The number of the analysis that stands for all: the one with the most excess; of block shapes that the
    program does not say, the one with the least."""
    best = 0
    for n, each in enumerate(analyses):
        supposed = each.launch.is_supposed
        more = excess(each) > excess(analyses[best]) or supposed is not analyses[best].launch.is_supposed
        if n and (not more if supposed else more):
            best = n
    return best


def base(instance: Instance) -> int:
    """What an instance's savings are held against: the kernel's wavefronts, the array's own where some of the
    kernel's are not known."""
    own = sum(m.before for m in instance.members)
    return max(kernel_wavefronts(instance.analysis) or 0, own)


def integer_work(layout: Layout, instance: Instance, shape: Shape) -> int:
    """What computing the new indices costs, in wavefronts of one block, and what accesses taken apart cost.

    An index that moves by the same bytes in every visit of a loop is computed once, before it.
    """
    total = 0
    warps = -(-instance.analysis.launch.threads // 32)
    runs = [_runs(m) for m in instance.members]
    few = isinstance(layout, Trimmed) and max(runs, default=0) <= _FEW * warps
    for each, count in zip(instance.members, runs, strict=True):
        total += APART * (count - count // each.steps)
        if isinstance(layout, Trimmed):
            total += count * (INTEGER_WORK // 2 if few else INTEGER_WORK)
        elif isinstance(layout, (Swizzle, Skew)):
            total += INTEGER_WORK * (min(warps, count) if _moves_once(layout, each, shape, warps) else count)
    return total


def _runs(each: Member) -> int:
    return int(each.weights[(each.offsets >= 0).any(axis=1)].sum()) // each.conflict.trace.ways


def _moves_once(layout: Layout, each: Member, shape: Shape, warps: int) -> bool:
    """Whether each warp's lanes move by the same bytes whenever the access runs."""
    trace = each.conflict.trace
    at = addresses(each.offsets, trace.alignment, shape)
    moved = layout.apply(at, shape)
    if moved is None:
        return False
    # Of a skew, rows move as well, by constants that stay in the instruction.
    column = moved - each.offsets
    if len(shape.dims) > 1:
        rows = Padding(len(shape.dims) - 1, layout.shape(shape).dims[-1] - shape.dims[-1])
        whole = rows.apply(at, shape)
        column = moved - whole if whole is not None else column
    column = np.where(at.active, column, 0)
    if trace.visited.warps is None or len(trace.visited.warps) * each.steps != len(column):
        return _different(column) <= warps
    owner = repeated(trace.visited.warps, trace.ways, each.steps)
    return _different(np.column_stack([owner, column])) <= len(np.unique(owner))


def _different(rows: NDArray[np.int64]) -> int:
    """How many rows of numbers there are, equal ones once."""
    return len(alike(rows)[0])


def harms(option: Option, instances: Sequence[Instance]) -> bool:
    """Whether some instance pays more wavefronts than before."""
    return any(
        sum(after) > sum(m.before for m in i.members)
        for after, i in zip(option.after, instances, strict=True)
    )


def worse(option: Option, instances: Sequence[Instance]) -> list[tuple[Member, int]]:
    """The accesses that cost more, with their new cost, the largest loss first."""
    found = [
        (m, new)
        for after, i in zip(option.after, instances, strict=True)
        for m, new in zip(i.members, after, strict=True)
        if new > m.before
    ]
    return sorted(found, key=lambda pair: pair[0].before - pair[1])


def share_saved(option: Option, instances: Sequence[Instance]) -> float:
    """The largest share of its kernel's wavefronts that an instance saves, integer work taken off."""
    work = option.work or (0,) * len(instances)
    saved = [
        (sum(m.before for m in i.members) - sum(after) - extra) / max(base(i), 1)
        for after, extra, i in zip(option.after, work, instances, strict=True)
    ]
    return max(saved, default=0.0)


def worth(option: Option, instances: Sequence[Instance]) -> bool:
    """Whether a layout pays for what it costs at run time."""
    before = sum(m.before for i in instances for m in i.members)
    if option.cost >= before or (worse(option, instances) and option.total > before * CLEARLY):
        return False
    lost = (option.blocks[0] - option.blocks[1]) / max(option.blocks[0], 1)
    return share_saved(option, instances) >= max(least_share(option.step), lost / 2)


def too_little(option: Option, instances: Sequence[Instance]) -> str:
    """Why a layout that frees little of its kernel's wavefronts is not safe, '' where it is."""
    share = share_saved(option, instances)
    joined = any(m.joined for i in instances for m in i.members)
    if share >= SAFELY or option.bytes_added <= 0 or not joined:
        return ""
    text = f"it frees {share:.0%} of the kernel's shared-memory wavefronts"
    return f"{text}; another allocation of registers may cost as much"


def least_share(step: Step | None) -> float:
    """The share of a kernel's wavefronts that an edit must free."""
    return SHARE if step is None else SHARE_AT_A_STEP


def rank(option: Option, named: bool = False) -> int:
    """The order of preference among layouts of equal effect. named: the pitch of a flat array."""
    layout = option.layout
    if isinstance(layout, Padding):
        return (3 if named else 2) if layout.extra > 0 else 0
    return 5 if isinstance(layout, Exchange) else 4


def order(options: Sequence[tuple[Option, bool]], instances: Sequence[Instance]) -> list[int]:
    """The options' numbers, best first. Each comes with whether it is a pitch that gets a name.

    First those that harm no instance; then by cost, resident blocks lost included; among those that are
    alike, the simplest edit, the fewest bytes, the simplest formula.
    """
    if not options:
        return []
    whole = max(sum(base(i) for i in instances), 1)
    before = sum(m.before for i in instances for m in i.members)

    def cost(option: Option) -> float:
        lost = max(option.blocks[0] - option.blocks[1], 0) / max(option.blocks[0], 1)
        return (whole - before + option.cost) * (1 + lost / 2)

    least = min(cost(option) for option, _ in options)

    def key(number: int) -> tuple[float, ...]:
        option, named = options[number]
        layout = option.layout
        swizzle = layout.swizzle if isinstance(layout, Trimmed) else layout
        size: tuple[int, ...] = (0, 0, 0, 0)
        if isinstance(swizzle, Swizzle):
            mixed = int(swizzle.shift != swizzle.base and not swizzle.linear)
            size = (mixed, swizzle.bits, swizzle.base, swizzle.shift)
        elif isinstance(swizzle, Skew):
            size = (1, swizzle.extra, swizzle.shift, 0)
        alike = int((cost(option) - least) / (whole * _ALIKE))
        return (
            int(harms(option, instances)),
            alike,
            rank(option, named),
            option.bytes_added,
            cost(option),
            *size,
        )

    return sorted(range(len(options)), key=key)
