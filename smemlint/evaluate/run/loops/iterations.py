"""One iteration of a loop, and the straight lines that iterations are put into afterwards."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import field

from smemlint.evaluate.control_flow.join_points import meet, sure
from smemlint.evaluate.control_flow.masks import snapshot
from smemlint.evaluate.language.destructors import full
from smemlint.evaluate.machine.components import Counts
from smemlint.evaluate.machine.departures import Parts
from smemlint.evaluate.machine.dispatch import run
from smemlint.evaluate.machine.machine import Barrier, Event, Exits, Machine
from smemlint.evaluate.machine.state import Iterated, Iteration, Mask, made_copies, note_stays
from smemlint.evaluate.run.loops.attempts import Attempt
from smemlint.evaluate.run.statements import end_scope
from smemlint.evaluate.values.lanes import equal_masks, some
from smemlint.evaluate.values.number import collapse, subtract
from smemlint.evaluate.values.value import Object, Value, same
from smemlint.ir import Block, Break, Declare, Evaluate, If, Literal, Loop, Stmt
from smemlint.ir.memo import by_identity
from smemlint.ir.types import LONG
from smemlint.ir.uses import last_statement, statements
from smemlint.records import record

Cell = tuple[Object, int]
State = dict[Object, dict[int, Value]]


@record(frozen=True, slots=True)
class Work:
    """Counters before an iteration."""

    counts: Counts
    special: int
    logged: int
    region: int


@record(slots=True)
class IterationLog:
    """Iterations that were run: where in the log each begins and its region there, turns made before it, its
    turn, its region at its end."""

    starts: list[tuple[int, int]] = field(default_factory=list)
    made: list[int] = field(default_factory=list)
    turns: list[int] = field(default_factory=list)
    ended: list[int] = field(default_factory=list)

    def begin(self, m: Machine) -> None:
        self.starts.append((len(m.log), m.lines.region))
        self.made.append(m.turns.made)

    def end(self, m: Machine) -> None:
        self.turns.append(m.turns.turn)
        self.ended.append(m.lines.region)


def line_up(m: Machine, lines: tuple[int, ...], log: IterationLog) -> None:
    """Put iterations of a loop whose end only the launch tells into straight lines, as the compiler does."""
    first, starts, ended = 0, log.starts, log.ended
    for copies in lines:
        for i in range(first + 1, min(first + copies, len(ended))):
            begin, region = starts[i]
            if ended[i - 1] != starts[i - 1][1] or ended[i] != region:
                break
            m.lines.merged[region] = starts[first][1]
            until = starts[i + 1][0] if i + 1 < len(starts) else len(m.log)
            for event in m.log[begin:until]:
                if event.region == region:
                    event.region = starts[first][1]
        first += copies


def take_turns(
    m: Machine,
    lines: tuple[int, ...],
    turns: list[int],
    early: int = 0,
    known: bool | None = False,
    *,
    adrift: bool = False,
    begun: int = 0,
    touches: int = 0,
) -> None:
    """Note which iterations stand in one line. turns: of each iteration. early: copies that the optimiser
    makes of a loop whose end only the run tells, 0 where it is known. known: whether the optimiser knows how
    often an iteration runs of which it makes no copies; None: there are none such. adrift: what is left over
    runs before the lines. begun: with what the loop begins to count. touches: how often an iteration accesses
    memory."""
    first = 0
    for copies in lines:
        if early > 1 and copies > 1 and first < len(turns):
            start_off(m, turns[first], early, surely=early > 2 or known is not None)
            m.turns.touches[turns[first]] = touches
            m.turns.begun[turns[first]] = begun
            m.turns.adrift |= {turns[first]} if adrift else set()
        if known is not None and (copies == 1 or early == 1):
            m.turns.lone |= dict.fromkeys(turns[first : first + copies], known)
        m.turns.lined |= dict.fromkeys(
            turns[first + 1 : first + copies], turns[first] if first < len(turns) else 0
        )
        first += copies


def start_off(m: Machine, turn: int, early: int, *, surely: bool = True) -> None:
    """Note that pointers of a loop start in the middle of so many copies. Within a loop that stays one, those
    behind another loop that is counted, or holds one, start as they are written; deeper down they may. So do
    those of two copies that a pragma asks for, as what else the loop counts has it (not surely)."""
    *around, own = m.context.loops
    depth = sum(outer.stays for outer in around)
    if not (own.ended.behind and depth):
        m.turns.halved[turn] = early // 2
        if not surely or (depth > 1 and any(outer.ended.holds for outer in around)):
            m.turns.perhaps_halved.add(turn)


def enter(m: Machine, exits: Exits) -> None:
    """Begin a loop."""
    exits.ended.behind = any(outer.ended.behind or outer.ended.copies for outer in m.context.loops)
    m.context.loops.append(exits)


def leave(m: Machine) -> None:
    """End a loop."""
    gone = m.context.loops.pop()
    if gone.stays:
        note_stays(m.context.loops)
    if gone.ended.copied or (gone.stays and gone.ended.holds):
        made_copies(m.context.loops)


def iterate(m: Machine, s: Loop, exits: Exits) -> None:
    """Body and step once."""
    exits.ended.copies, exits.passed = False, None
    must, way = m.must, m.context.way
    exits.continued = exits.next.kept = exits.next.strays = exits.next.gone = m.threads.nobody
    exits.next.lanes, exits.next.left = m.may, {}
    if m.silent or m.host:
        run(m, s.body)
    else:
        _run_noted(m, s, exits)
    if exits.passed is not None and m.lines.region == exits.passed[1]:
        m.lines.region = exits.passed[0]
    resumed = exits.continued
    if resumed is not m.threads.nobody:
        if exits.next.ways or some(exits.next.kept):
            m.context.way = way
        meet(m, exits.next)
        exits.next.kept = exits.next.strays = exits.next.gone = m.threads.nobody
        exits.next.left = {}
        m.may = m.may | resumed
        m.must = sure(m, m.must | (must & resumed))  # others may have left the loop instead
    if s.step is not None and m.anyone():
        full(m, s.step)


def _run_noted(m: Machine, s: Loop, exits: Exits) -> None:
    """Run the body and note the iteration. Where the body begins with a test that leaves the loop, the
    iteration begins behind this test: the compiler rotates the loop, so that the test stands at the end."""
    began = Iteration(m.journal.order, m.must, m.may, *m.under(m.must))
    head, rest = head_and_rest(s)
    live, logged = len(m.frame.live), len(m.log)
    if head is not None:
        run(m, head)
        if not any(isinstance(e, Event) for e in m.log[logged:]):
            began = Iteration(m.journal.order, m.must, m.may, *m.under(m.must))
    if some(began.may):
        exits.iterations.append(began)
        run(m, rest)
    if head is not None:
        end_scope(m, statements(s.body), live)


def is_endless(s: Loop) -> bool:
    """Return whether a loop has no condition that is computed: `for (;;)`, `while (true)`."""
    return s.condition is None or isinstance(s.condition, Literal)


@by_identity
def head_and_rest(s: Loop) -> tuple[Block | None, Stmt]:
    """Split the body behind a first test that leaves the loop. None and the whole body where it has no such
    test, or other control flow in front of it."""
    body: tuple[Stmt, ...] = statements(s.body) if is_endless(s) else ()
    for i, part in enumerate(body):
        if isinstance(part, If) and part.otherwise is None and isinstance(last_statement(part.then), Break):
            return Block(body[: i + 1]), Block(body[i + 1 :])
        if not isinstance(part, Declare | Evaluate):
            break
    return None, s.body


def begins_at_once(exits: Exits, entered: tuple[Hashable, Parts, Mask] | None) -> bool:
    """Whether the first iteration begins without a test. entered: what is known, and of whom, where the loop
    is entered; None: it has a test."""
    if entered is None or not exits.iterations:
        return False
    first = exits.iterations[0]
    return (first.under, first.parted) == entered[:2] and equal_masks(first.must, entered[2])


def note_loop(
    m: Machine, exits: Exits, turn: int, unknowns: int, line: int, *, surely: bool, for_all: bool
) -> None:
    """Note a loop that stays a loop. turn, unknowns, line: those before it; surely: the compiler knows that
    it runs; for_all: its iterations tell what others would do."""
    if m.lines.region == line:
        return  # it never ran
    m.lines.behind[m.lines.region] = (line,)
    if exits.iterations and for_all:
        c = m.context
        looped = Iterated(tuple(exits.iterations), m.journal.order, c.weight, c.times, c.open, turn, unknowns)
        m.journal.loops.append(looped)
        # What does not change in it stands in front of it, where it is known to run.
        moved = -len(m.journal.loops)
        m.lines.parents[moved] = line
        if surely:
            m.lines.behind[m.lines.region] = (moved, line)
        else:
            m.lines.looped[m.lines.region] = moved


def repeats(m: Machine, starts: list[int]) -> bool:
    """Whether the latest iteration accessed what the one before did, by the same lanes and as far apart.
    starts: where in the log each of the two begins."""
    if len(starts) < 2:
        return False
    before, latest = m.log[starts[0] : starts[1]], m.log[starts[1] :]
    return len(before) == len(latest) and all(map(_moved, before, latest))


def lanes_change(m: Machine, starts: list[int]) -> bool:
    """Whether other lanes access shared memory in the latest iteration than in the first or the middle one.
    starts: where in the log each begins."""
    ends = [*starts[1:], len(m.log)]
    asked = {0, len(starts) // 2, len(starts) - 1}
    lanes = {
        tuple(e.may.tobytes() for e in m.log[starts[n] : ends[n]] if isinstance(e, Event)) for n in asked
    }
    return len(lanes) > 1


def _moved(a: Event | Barrier, b: Event | Barrier) -> bool:
    """Whether an access is another one by some number of bytes."""
    if isinstance(a, Barrier) or isinstance(b, Barrier):
        return isinstance(a, Barrier) and isinstance(b, Barrier)
    if a.site is not b.site or a.weight != b.weight or not equal_masks(a.may, b.may):
        return False
    d = subtract(a.offset, b.offset, LONG)
    return equal_masks(a.must, b.must) and isinstance(collapse(d.const, a.may), int) and not d.varying


def trial(m: Machine, s: Loop, exits: Exits) -> State:
    """The state after one iteration that leaves no trace."""
    attempt = Attempt(m, exits)
    m.silent += 1
    try:
        iterate(m, s, exits)
        after = snapshot(m)
    finally:
        m.silent -= 1
        attempt.undo(m)
    return after.cells


def changes_of(before: State, after: State) -> dict[Cell, tuple[Value | None, Value]]:
    """What cells held and hold where that is not the same."""
    found: dict[Cell, tuple[Value | None, Value]] = {}
    for o, cells in before.items():
        new = after.get(o, {})
        for at, v in new.items():
            old = cells.get(at)
            if old is None or not same(old, v):
                found[o, at] = (old, v)
    return found
