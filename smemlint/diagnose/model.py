"""Records that travel: from a worker to the run, from the run to the renderers. Plain data, no arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any

from smemlint.fix.model import Suggestion
from smemlint.ir import Place
from smemlint.records import record
from smemlint.rules import Finding, Label, Severity
from smemlint.score.load import Load, nominal
from smemlint.system.visible import visible_path

if TYPE_CHECKING:
    from smemlint.view.gallery import Exhibit

Block = tuple[int, int, int]


@record(frozen=True, slots=True)
class Cause:
    """Why an access conflicts. rule: the code of the rule that knows it."""

    rule: str
    finding: Finding
    instead: tuple[str, Finding] | None = None
    """What smemlint's own rules say, where an added one (`rule`) has explained the conflict."""
    suggestion: int | None = None
    """Index in the FileReport's suggestions."""
    unhelped: str = ""
    """Why it does not help this access, '' where it does."""


@record(frozen=True, slots=True)
class Spread:
    """How the cost of an access is spread. visits: ways of each visit in program order, run-length coded;
    request: ways of the worst request; loads: by loops of unknown length, surely: ways that a request surely
    has, as in Conflict."""

    visits: tuple[tuple[float, int], ...] = ()
    request: float | None = None
    loads: tuple[Load, ...] = ()
    surely: float = 0


@record(frozen=True, slots=True)
class Access:
    """One access site under one kernel instance and launch.

    op: the bank engine's name. executions: warp requests. Costs are None when unresolved. cause: of sites
    whose ways reach the threshold.
    """

    place: Place
    op: str
    width: int
    array: str
    expression: str
    executions: int
    wavefronts: int | None
    wavefronts_low: int | None
    ideal: int | None
    grade: str
    reason: tuple[str, str] | None = None
    spread: Spread = Spread()
    joined: int | None = None
    cause: Cause | None = None
    line: int = 0
    """The line that a profiler attributes the access to."""
    calls: tuple[tuple[str, int], ...] = ()
    """Path and line of the inlined calls on the way to it: a profiler may count a part of it there
    (docs/dev/lines.md)."""
    reached: bool = True
    """False where only the text shows it: no launch that was looked at gets there."""
    assumptions: tuple[tuple[str, str, int], ...] = ()
    """Kind, words and line (0: none) of what its cost takes for granted."""
    on_way: tuple[float, str] | None = None
    """The most ways that it surely has where a run-time condition holds, and that condition."""
    any_block: bool = False
    """Whether every shape that host code leaves to the block gives the same ways."""

    @property
    def by_default(self) -> bool:
        """Whether its cost follows from `main` having no arguments."""
        return any(kind == "no-arguments" for kind, _, _ in self.assumptions)

    @property
    def ways(self) -> float | None:
        """wavefronts / ideal, the upper end; 1 where no warp executes the access."""
        return _ratio(self.wavefronts, self.ideal)

    @property
    def ways_low(self) -> float | None:
        return _ratio(self.wavefronts_low, self.ideal)

    @property
    def worst(self) -> float | None:
        """Ways of the worst request of the worst visit, the upper end."""
        if self.ways is None:
            return None
        return max(self.ways, self.spread.request or 0, *(ways for ways, _ in self.spread.visits))

    @property
    def measure(self) -> Measure:
        """What a finding says of it."""
        low, high = self.wavefronts_low, self.wavefronts
        return Measure(self.worst, self.ways, self.ways_low, high, low, self.ideal)

    @property
    def worst_low(self) -> float | None:
        """The same, as far as it is proved."""
        if self.wavefronts == self.wavefronts_low or self.ways_low is None:
            return self.worst
        return max(self.ways_low, self.spread.surely)


def _ratio(wavefronts: int | None, ideal: int | None) -> float | None:
    if wavefronts is None or ideal is None:
        return None
    return wavefronts / ideal if ideal else 1.0


@record(frozen=True, slots=True)
class SharedEntry:
    """A shared array as inspect shows it."""

    name: str
    type: str
    dims: tuple[int | None, ...]
    bytes: int | None
    line: int
    dynamic: bool = False


@record(frozen=True, slots=True)
class Declared:
    """What a declaration rule found."""

    rule: str
    place: Place
    finding: Finding


@record(frozen=True, slots=True)
class Note:
    """A place where analysis stopped."""

    code: str
    text: str
    place: Place


@record(frozen=True, slots=True)
class Started:
    """How a kernel instance is started, and how that is known: what is said of an `ir.Launch`.

    arguments: those that the launch is seen to pass, name and value; variant: those of them in which it
    differs from launches that are equal otherwise. opened: where the launch stands that leaves this shape
    open, as `origin` names one that does not. beside: the same of launches of the instance of which nothing
    is told. default: whether the block is that of a program without arguments.
    """

    block: Block
    grid: tuple[int | None, int | None, int | None] | None
    dynamic: int | None
    origin: str
    assumed: bool
    arguments: tuple[tuple[str, int], ...] = ()
    variant: tuple[tuple[str, int], ...] = ()
    filled: bool = False
    guessed: bool = False
    opened: str = ""
    beside: tuple[str, ...] = ()
    default: bool = False

    @property
    def is_supposed(self) -> bool:
        """Whether the program does not say the block, as in `ir.Launch`."""
        return self.assumed and not self.default


@record(frozen=True, slots=True)
class KernelReport:
    """One kernel instance under one launch."""

    name: str
    place: Place
    template_arguments: tuple[tuple[str, str], ...]
    configuration: str
    launch: Started
    shared: tuple[SharedEntry, ...]
    accesses: tuple[Access, ...]
    declared: tuple[Declared, ...] = ()
    notes: tuple[Note, ...] = ()
    min_ways: float = 2.0
    """The threshold that its findings were made with."""
    shares: str = ""
    """Where no access of the kernel was seen: in what way it has to do with shared memory all the same."""
    device: bool = False
    """A device function that no kernel of its file calls: there is no launch, all of its accesses are
    unresolved."""

    @property
    def instance(self) -> str:
        """The template arguments: `T = float, N = 4`."""
        return ", ".join(f"{name} = {value}" for name, value in self.template_arguments)

    @property
    def full_name(self) -> str:
        return f"{self.name}<{self.instance}>" if self.template_arguments else self.name

    @property
    def key(self) -> tuple[str, int, int]:
        """The kernel, whatever the instance and the launch."""
        return (self.place.path, self.place.line, self.place.column)


@record(frozen=True, slots=True)
class Problem:
    """A file that could not be analysed, or not all of it; line and column are 0 when there is no place."""

    path: str
    message: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        path = visible_path(self.path)
        where = f"{path}:{self.line}:{self.column}" if self.line else path
        return f"error: {where}: {self.message}" if where else f"error: {self.message}"


@record(frozen=True, slots=True)
class UnparsedEntry:
    """Text that mentions shared memory and did not reach the syntax tree."""

    place: Place
    text: str
    reason: str
    configuration: str = ""


@record(frozen=True, slots=True)
class Unseen:
    """A kernel that has to do with shared memory and of which no access was seen. name: as it is told; code,
    text: why; until: the last line of its text, 0 where that says nothing."""

    name: str
    place: Place
    code: str
    text: str
    until: int = 0


@record(frozen=True, slots=True)
class FileReport:
    """All that the analysis of one file gave.

    lost: kernels that did not reach the syntax tree. skipped: why the file was passed over, though a folder
    holds it. missing_headers: headers that it or a file of its own includes, and that were not found.
    """

    path: str
    kernels: tuple[KernelReport, ...] = ()
    unparsed: tuple[UnparsedEntry, ...] = ()
    problems: tuple[Problem, ...] = ()
    suggestions: tuple[Suggestion, ...] = ()
    lost: tuple[Unseen, ...] = ()
    skipped: str = ""
    missing_headers: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    seconds: float = 0.0
    exhibits: tuple[Exhibit, ...] = ()
    """Pictures of what conflicts, where they were asked for."""


@record(frozen=True, slots=True)
class Demand:
    """Wavefronts of one block: `loads[d]` is what stands in d loops whose length only run time tells, for one
    iteration of each. The sums count such a loop as NOMINAL iterations."""

    loads: tuple[Load, ...] = ()

    @property
    def wavefronts(self) -> float:
        return nominal(load.wavefronts for load in self.loads)

    @property
    def floor(self) -> float:
        """What the same bytes need at best."""
        return nominal(load.ideal for load in self.loads)

    @property
    def excess(self) -> float:
        return self.wavefronts - self.floor

    @property
    def open(self) -> bool:
        """Whether anything stands in a loop of unknown length."""
        return any(load.requests for load in self.loads[1:])

    def requests_by_warp(self, warps: int) -> float:
        return nominal(load.requests for load in self.loads) / warps if warps else 0.0


@record(frozen=True, slots=True)
class Cost:
    """What a finding costs, in one block of its kernel's costliest instance and launch.

    unknown: accesses of the kernel that have no number. blocks: of the grid, None where it is not known;
    warps: of a block.
    """

    own: Demand
    kernel: Demand
    unknown: int = 0
    blocks: int | None = None
    warps: int = 1

    @property
    def share(self) -> float:
        """Of the kernel's shared-memory wavefronts, 0 to 1."""
        return self.own.wavefronts / self.kernel.wavefronts if self.kernel.wavefronts else 0.0

    @property
    def excess_share(self) -> float:
        """The part of the kernel's wavefronts that a fix saves, 0 to 1."""
        return self.own.excess / self.kernel.wavefronts if self.kernel.wavefronts else 0.0

    def parts(self) -> tuple[Demand, int, int | None, int]:
        """All but `own`."""
        return self.kernel, self.unknown, self.blocks, self.warps


@record(frozen=True, slots=True)
class Measure:
    """The numbers of a conflict, None for what is none. worst: ways of the worst visit, which the title
    names; ways and ways_low: over all visits."""

    worst: float | None = None
    ways: float | None = None
    ways_low: float | None = None
    wavefronts: int | None = None
    wavefronts_low: int | None = None
    ideal: int | None = None


@record(frozen=True, slots=True)
class Diagnostic:
    """A finding for people: one place, one cause, over all instances and launches.

    title: the headline without the rule. here: the words beside the carets. notes: `key: value` lines.
    """

    code: str
    name: str
    severity: Severity
    place: Place
    title: str
    here: str
    also: tuple[Label, ...] = ()
    notes: tuple[str, ...] = ()
    kernel: str = ""
    array: str = ""
    grade: str = ""
    measure: Measure = Measure()
    configuration: str = ""
    fix: Suggestion | None = None
    cost: Cost | None = None
    expression: str = ""
    stands_for: str = ""
    """Code of smemlint's own rule in whose place an added one speaks."""
    group: str = ""
    """Findings of one group have one cause, and one fix frees them; without line numbers in it."""

    @property
    def worst_ways(self) -> float | None:
        """Ways of the worst visit; None for what is no conflict."""
        return self.measure.worst

    @property
    def message(self) -> str:
        """One sentence: headline and detail."""
        return f"{self.title}: {self.here}" if self.here else self.title


@record(frozen=True, slots=True)
class Withheld:
    """Findings that are not among those shown. small: those that --min-share leaves out; accepted: places
    of the baseline, accepted_findings: the findings that they make up; hidden: notes below the level;
    suppressed: by comments."""

    small: int = 0
    accepted: int = 0
    accepted_findings: int = 0
    hidden: int = 0
    suppressed: int = 0


@record(frozen=True, slots=True)
class Summary:
    """The counts behind the last line.

    findings: causes, which stand on `lines` places; fixable: those with a safe edit, fixable_unsafe: those
    with another one. resolved: access sites with one number; ranges: those with a lowest and a highest one;
    unresolved: those without any, by reason in `reasons`. skipped: files that were passed
    over. unseen: kernels of which no access was seen; partial: those of which a part was not analysed; both
    by reason as well. missing_headers: headers that were not found, or are too large, with
    the number of files that lack them, those that most files lack first.
    """

    files: int = 0
    files_with_findings: int = 0
    findings: int = 0
    lines: int = 0
    fixable: int = 0
    fixable_unsafe: int = 0
    withheld: Withheld = Withheld()
    kernels: int = 0
    accesses: int = 0
    resolved: int = 0
    ranges: int = 0
    unresolved: int = 0
    unparsed: int = 0
    skipped: int = 0
    reasons: Mapping[str, int] = field(default_factory=dict)
    unseen_reasons: Mapping[str, int] = field(default_factory=dict)
    partial_reasons: Mapping[str, int] = field(default_factory=dict)
    missing_headers: Mapping[str, int] = field(default_factory=dict)
    rules: Mapping[str, int] = field(default_factory=dict)

    @property
    def unseen(self) -> int:
        return sum(self.unseen_reasons.values())

    @property
    def partial(self) -> int:
        return sum(self.partial_reasons.values())


@record(frozen=True, slots=True)
class Report:
    """Everything a renderer needs. texts: path -> source of the files that diagnostics stand in."""

    diagnostics: tuple[Diagnostic, ...] = ()
    kernels: tuple[KernelReport, ...] = ()
    unparsed: tuple[UnparsedEntry, ...] = ()
    problems: tuple[Problem, ...] = ()
    summary: Summary = Summary()
    texts: Mapping[str, str] = field(default_factory=dict)
    unseen: tuple[Unseen, ...] = ()
    skipped: tuple[Problem, ...] = ()
    stale: tuple[str, ...] = ()
    """Entries of the baseline that nothing matches any more."""
    exhibits: tuple[Exhibit, ...] = ()
    shard: Mapping[str, Any] | None = None
    """Of one of several shards: what `merge` needs of it."""
