"""In what order the launches of a file are analysed, and how far: a file has a number of evaluation steps.

Each kernel's first launch comes before any second one, so that a file with many instances is known in all its
kernels. Only an instance that is guessed, since no launch of it was seen, waits for known launches, up to a
number of steps. Then the numbers are told apart that these launches pass. Of the further ones, and of the
first ones in further configurations of the file, those come first that cost least: what the kernel has taken,
times how often it would have run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from smemlint.evaluate import Budget
from smemlint.ir import Function, Launch, Module, Place
from smemlint.launch.infer import MAX_LAUNCHES
from smemlint.records import record
from smemlint.running.any_block import any_of, is_the_same, makes_whole_warps, with_any_block
from smemlint.running.by_default import as_default, open_launch
from smemlint.running.repeats import Repeats
from smemlint.running.same_code import Evaluated
from smemlint.running.variants import told_apart
from smemlint.score import Conflict, KernelAnalysis
from smemlint.score.bounds import leaves_an_array
from smemlint.system import clock

WORK = 600_000
"""Evaluation steps of a file after which only launches of kernels that had none yet are analysed."""
KNOWN_WORK = WORK // 2
"""Evaluation steps of a file up to which further known launches come before instances that are guessed."""
MANY_WORK = 150_000
"""Evaluation steps of a file after which no kernel is looked at under more than so many launches, nor one by
one under numbers that may be expected to change nothing."""
MANY = 40
SHARE = 20_000
"""Evaluation steps that each of them has all the same."""
FIRST_WORK = 1_500_000
"""Evaluation steps of a file after which these are left out, too."""
HEAVY = 10_000
"""Evaluation steps of a kernel that is not tried under one shape after the other."""
TRIED = 3
"""Shapes of a block that such a kernel is tried under: the most common, the smallest and the next."""


FIX_WORK = 400_000
"""Evaluation steps of a file after which no further layout is looked at, beside one proof of all kernels."""
LAYOUT = 100
"""What a layout that is tried counts for: it is scored, not evaluated."""


class FixWork:
    """The steps left for the fixes of a file. until: computing time at which they end in any case; evaluated:
    steps that its kernels took."""

    def __init__(self, until: float, evaluated: int = 0) -> None:
        self.given = self.left = FIX_WORK + evaluated
        self.until = until

    def take(self, steps: int) -> None:
        self.left -= steps

    def over(self) -> bool:
        return self.left <= 0 or clock.late(self.until)

    def next_layout(self) -> bool:
        """Whether it is over before another layout is tried, which counts as some steps."""
        self.take(LAYOUT)
        return self.over()


@record(frozen=True, slots=True)
class Ends:
    """Computing times of the process at which a stage is ended.

    They guard against what the counts do not see, and lie so far behind them that they decide nothing where
    a machine is ten times slower.
    """

    reading: float
    """No other file is read for what it launches."""
    host: float
    kernels: float
    fixes: float
    share: float = 0.0
    """What a stage has in any case, whatever those before it took."""

    @staticmethod
    def of(began: float, seconds: float) -> Ends:
        """seconds: what a file may take before it is given up."""
        reading, host, kernels, fixes = (began + share * seconds for share in (0.25, 0.4, 0.6, 0.75))
        return Ends(reading, host, kernels, fixes, 0.1 * seconds)


@record(frozen=True, slots=True, eq=False)
class Begun:
    """A kernel that is to be analysed under a launch. rank: when, among all of the kernel; touching: it may
    use shared memory."""

    module: Module
    kernel: Function
    launch: Launch
    rank: int
    touching: bool


def ranked(module: Module, kernel: Function, launches: Sequence[Launch], *, touching: bool) -> list[Begun]:
    """A kernel under all its launches. The last one comes second: between the ends of a list of sizes there
    is little news."""
    ranks = [0, *range(2, len(launches)), 1][: len(launches)]
    return [
        Begun(module, kernel, launch, rank, touching) for rank, launch in zip(ranks, launches, strict=True)
    ]


def in_turn(
    begun: Sequence[Begun],
    analyse: Callable[[Begun, Launch, Budget], KernelAnalysis],
    leave: Callable[[Begun, str], KernelAnalysis],
    until: float,
) -> list[KernelAnalysis]:
    """The analyses, in the order of `begun`.

    analyse: one evaluation. leave: what stands for a launch that is left out, '' where there is nothing to
    analyse, else why: `budget`, `time`, or `steps` where too few are left. until: computing time at which all
    ends.
    """
    done: dict[int, Sequence[KernelAnalysis]] = {}
    costs = _Costs()
    guesses, evaluated, repeats = _Guesses(), Evaluated(), Repeats(MANY_WORK)
    work = 0

    def steps() -> int:
        """What one evaluation may take now."""
        return min(max(WORK - work, SHARE), Budget().steps)

    def over() -> str:
        return "budget" if work >= WORK else "time" if clock.late(until) else ""

    def ended(b: Begun) -> str:
        """Why it is left out; a kernel's first launch has a share of its own."""
        many = b.rank >= MAX_LAUNCHES or (b.rank >= MANY and work >= MANY_WORK)
        left = over() or ("budget" if many else "")
        if left == "budget" and b.rank == 0 and work < FIRST_WORK:
            return ""
        return left or ("steps" if b.rank > 0 and too_few(b) else "")

    def too_few(b: Begun) -> bool:
        """Whether a further launch would not come to its end within the steps that are left."""
        return costs.least(b) > steps()

    def one(b: Begun, launch: Launch) -> KernelAnalysis:
        nonlocal work
        known = evaluated.find(b.module, b.kernel, launch)
        if known is not None:
            return known
        analysis = analyse(b, launch, Budget(steps=steps(), until=until))
        costs.take(b, analysis)
        repeats.take(b.kernel, analysis)
        work += analysis.work
        evaluated.keep(b.module, analysis)
        return analysis

    families = {id(b): family for family in _families(begun) for b in family.members}

    def take(b: Begun) -> None:
        if not b.touching:
            done[id(b)] = [leave(b, "")]
        elif b.rank > 0 and guesses.settled(b):
            done[id(b)] = []
        elif left := ended(b):
            done[id(b)] = [leave(b, left)]
        elif id(b) in families and families[id(b)].is_settled(done, one):
            done[id(b)] = []
        else:
            analysis = one(b, replace(b.launch, variants=()))
            done[id(b)] = [analysis]
            guesses.take(b, analysis)

    def split(b: Begun) -> None:
        if b.touching and b.launch.variants and done[id(b)]:
            common = done[id(b)][0]
            done[id(b)] = told_apart(
                b.launch,
                common,
                lambda x: one(b, x),
                lambda x: bool(over()) or too_few(b) or repeats.expects(b.kernel, x),
            )

    def checked(b: Begun, launch: Launch) -> KernelAnalysis | None:
        return None if work >= FIRST_WORK or clock.late(until) else one(b, launch)

    _take_all(begun, take, split, costs, lambda: work < KNOWN_WORK)
    for b in begun:
        if b.launch.defaults and b.touching:
            # What a variant passes is kept: it is another launch's number, and no default.
            done[id(b)] = [
                as_default(a, open_launch(b.module, b.kernel, a.launch), partial(checked, b))
                for a in done[id(b)]
            ]
    done |= {id(b): [] for b in begun if guesses.is_refuted(b)}
    for family in dict.fromkeys(families.values()):
        tried = [b for b in family.members if done[id(b)]]
        apart = any(len(done[id(b)]) > 1 for b in tried)
        if tried and not apart and work < FIRST_WORK and not clock.late(until):
            told = with_any_block([done[id(b)][0] for b in tried], partial(family.warp, one))
            done |= {id(b): [analysis] for b, analysis in zip(tried, told, strict=True)}
    return [analysis for b in begun for analysis in done[id(b)]]


def _take_all(
    begun: Sequence[Begun],
    take: Callable[[Begun], None],
    split: Callable[[Begun], None],
    costs: _Costs,
    early: Callable[[], bool],
) -> None:
    """Analyse all in their order. take: one launch; split: the numbers that it passes, once it was taken;
    early: whether known launches still come before guesses."""
    first = _firsts(begun)
    begins = set(map(id, first))
    further = [b for b in begun if id(b) not in begins]
    guessed = [b for b in first if b.launch.guessed]
    taken: set[int] = set()

    def in_order(these: Iterable[Begun]) -> list[Begun]:
        return sorted(these, key=lambda b: (costs.most(b) * max(b.rank, 1), b.rank))

    for b in first:
        if not b.launch.guessed:
            take(b)
    for b in in_order(b for b in further if guessed and _is_known(b, begun[0].module)):
        if not early():
            break
        take(b)
        taken.add(id(b))
    for b in guessed:
        take(b)
    for b in sorted(first, key=costs.most):
        split(b)
    for b in in_order(further):
        if id(b) not in taken:
            take(b)
        split(b)


def _is_known(b: Begun, module: Module) -> bool:
    """Whether launches tell all of a further launch, of a file in its first configuration."""
    return b.rank > 0 and b.module is module and not b.launch.assumed and not b.launch.guessed


class _Costs:
    """What the evaluations of kernels took so far."""

    def __init__(self) -> None:
        self._most: dict[Place, int] = {}
        self._ended: dict[Place, int] = {}
        self._instances: dict[tuple[object, ...], int] = {}

    def take(self, b: Begun, analysis: KernelAnalysis) -> None:
        """Note an evaluation."""
        place, work = b.kernel.place, analysis.work
        self._most[place] = max(self._most.get(place, 0), work)
        self._instances[_guess(b)] = min(self._instances.get(_guess(b), work), work)
        if not analysis.stopped:
            self._ended[place] = min(self._ended.get(place, work), work)

    def most(self, b: Begun) -> int:
        """The most that a launch of the kernel took; 0 where none was evaluated."""
        return self._most.get(b.kernel.place, 0)

    def least(self, b: Begun) -> int:
        """What another launch of the same instance took at least, or one of any instance that came to its
        end; 0 where there was none."""
        return self._instances.get(_guess(b)) or self._ended.get(b.kernel.place, 0)


def _firsts(begun: Sequence[Begun]) -> list[Begun]:
    """The first launch of each kernel, in the first configuration that has it."""
    found: dict[Place, Begun] = {}
    for b in begun:
        if b.rank == 0:
            found.setdefault(b.kernel.place, b)
    return list(found.values())


class _Family:
    """Launches of one kernel instance that differ in the shape of a block that is left open."""

    def __init__(self) -> None:
        self.members: list[Begun] = []
        self._warp: KernelAnalysis | None = None
        self._settled: bool | None = None

    def warp(self, analyse: Callable[[Begun, Launch], KernelAnalysis]) -> KernelAnalysis:
        """What one warp tells of any block of the family."""
        if self._warp is None:
            self._warp = analyse(self.members[0], any_of([b.launch for b in self.members]))
        return self._warp

    def is_settled(
        self,
        done: Mapping[int, Sequence[KernelAnalysis]],
        analyse: Callable[[Begun, Launch], KernelAnalysis],
    ) -> bool:
        """Whether any other shape tells of each access what one says that has been tried; where warps may be
        cut short, of accesses without a sure conflict only. done: by id() of what was begun, what it told."""
        if self._settled is None:
            tried = [done[id(b)][0] for b in self.members if done.get(id(b))]
            left = [b for b in self.members if id(b) not in done]
            if not tried or len(left) < 2:
                return False
            cut = not makes_whole_warps(self.members[0].launch) and any(map(_conflicts, tried[0].conflicts))
            open_ended = cut or any(map(leaves_an_array, tried))
            # What did not come to its end under one shape would not do so for any block.
            hopeless = open_ended or bool(tried[0].stopped)
            self._settled = not hopeless and is_the_same(tried[0], self.warp(analyse))
        return self._settled


def _families(begun: Sequence[Begun]) -> list[_Family]:
    """The families whose shapes are tried."""
    found: dict[tuple[object, ...], _Family] = {}
    for b in begun:
        if b.touching and b.launch.family:
            key = (_guess(b), b.launch.family, b.launch.place)
            found.setdefault(key, _Family()).members.append(b)
    return list(found.values())


class _Guesses:
    """What usual shapes of blocks have told so far of kernels of whose launch nothing else is known.

    A conflict is reported where every shape shows it. Where one shape has none at all, or two of a kernel
    that takes long have none in common, the others can add nothing to that. A kernel that takes long is
    tried under a few shapes only. A shape under which the kernel leaves an array was not meant, where another
    one stays inside.
    """

    def __init__(self) -> None:
        self._common: dict[tuple[object, ...], set[tuple[Place, str]]] = {}
        """The accesses that conflict under every shape so far."""
        self._tried: Counter[tuple[object, ...]] = Counter()
        self._settled: set[tuple[object, ...]] = set()
        self._strayed: set[int] = set()
        """id() of the launches under which the kernel leaves an array."""
        self._inside: set[tuple[object, ...]] = set()

    def is_refuted(self, b: Begun) -> bool:
        return id(b) in self._strayed and _guess(b) in self._inside

    def settled(self, b: Begun) -> bool:
        return _guess(b) in self._settled

    def take(self, b: Begun, analysis: KernelAnalysis) -> None:
        if not b.launch.is_guess:
            return
        key = _guess(b)
        if leaves_an_array(analysis):
            self._strayed.add(id(b))
            return
        if analysis.conflicts:
            self._inside.add(key)
        found = {(c.site.place, c.site.op) for c in analysis.conflicts if _conflicts(c)}
        first = key not in self._common
        common = self._common.setdefault(key, found)
        common &= found
        self._tried[key] += 1
        enough = self._tried[key] >= TRIED or (not first and not common)
        if _is_clean(analysis) or (enough and analysis.work > HEAVY):
            self._settled.add(key)


def _guess(b: Begun) -> tuple[object, ...]:
    """What all launches of a kernel have in common of which nothing but usual shapes is known."""
    return (id(b.kernel), *sorted(b.launch.template.items(), key=lambda x: x[0]))


def _conflicts(c: Conflict) -> bool:
    return c.wavefronts_low is not None and c.wavefronts_low > (c.ideal or 0)


def _is_clean(analysis: KernelAnalysis) -> bool:
    """Whether a kernel has no conflict, so that other shapes need not agree on one."""
    return all(c.ways is not None and c.ways <= 1 and c.reason is None for c in analysis.conflicts)
