"""Stores of one address with which both arms of a condition end: one store behind the arms, or one in each.

    if (c) s[i] = a; else s[i] = b;     // one, of the value that was chosen

The one store carries the line of one of them (`behind_arms`). It needs the address behind the arms. That is
there where it was needed in front of the condition, or where both arms begin with it; or else lanes have to
go different ways, and each arm has to be a straight line that needs the address for nothing else. Read from
machine code of some 700 bodies, nvcc 13.0 for sm_90: docs/dev/joining.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from smemlint.evaluate.analysis.arms.behind_arms import Behind, repeated
from smemlint.evaluate.analysis.arms.ladders import Ladder, Made
from smemlint.evaluate.compiler.selects import (
    alike_accesses,
    is_fixed,
    note_values,
    one_offset,
    what_is_behind,
)
from smemlint.evaluate.machine.machine import Barrier, Event, Machine
from smemlint.evaluate.machine.state import Selected
from smemlint.evaluate.memory import merging
from smemlint.evaluate.values.number import Int
from smemlint.evaluate.values.value import same
from smemlint.ir import (
    Assign,
    Binary,
    Call,
    Cast,
    Conditional,
    Declare,
    Expr,
    FloatLiteral,
    If,
    Index,
    Literal,
    Loop,
    Name,
    Stmt,
    Switch,
    Unary,
)
from smemlint.ir.expr import is_element, may_have_effect
from smemlint.ir.show import show
from smemlint.ir.uses import assignment, only_statement, statements
from smemlint.ir.walk import walk
from smemlint.toolkit.compiled import Code, code_of_call

Node: TypeAlias = "Expr | Stmt | None"
_Entries: TypeAlias = "Sequence[Event | Barrier]"
_Pairs: TypeAlias = "list[tuple[Event, Event]]"
_BACK = 400
"""So many accesses in front of a condition are looked through for one at the same address."""


def note_stores(
    m: Machine,
    c: Int,
    logged: tuple[slice, slice],
    arms: tuple[Node, Node],
    at: If | None,
    *,
    together: bool,
    ladder: tuple[Ladder, Made] | None = None,
) -> _Pairs:
    """Remember which stores of two arms run as one, behind them; return those that surely do, what is
    kept first.

    c: the condition; logged: where in the log each arm is; at: the `if`; together: all lanes take the same
    arm, whichever. ladder: the one that it is a part of, and what becomes of its stores.
    """
    first, second = m.log[logged[0]], m.log[logged[1]]
    if m.silent or m.task.as_written or not first or not second:
        return []
    behind = what_is_behind(m, at)
    if behind is Behind.JOIN:
        return []  # three ways meet there
    if ladder is not None:
        return _note_ladder(m, (*first, *second), *ladder, behind)
    begin = min(log.start for log in logged)
    front = m.log[max(begin - _BACK, 0) : begin]
    f = m.frame.function
    again = f is not None and id(at) in repeated(f)
    made = Made.ONE
    found: list[tuple[Event, Event]] = []
    for one, other in _last_stores(*arms):
        a, b = _of(first, one), _of(second, other)
        if a is not None and b is not None:
            offset = one_offset(a, b) if alike_accesses(m, a, b, "store") else None
            if offset is None:
                _choose(m, c, (one, other), (a, b), together)
                return found
            if not (_is_last(first, a) and _is_last(second, b)):
                return found
        elif a is not None or b is not None:
            return found
        if show(one.target) != show(other.target):
            if together or a is not None:
                return found
            made = Made.PERHAPS
            continue
        verdict = _merged_stores(m, (one, other), (a, b), (front, first, second), arms, behind, together)
        if verdict is Made.APART:
            return found
        plain = _is_plain(one.value) and _is_plain(other.value)
        made = Made.PERHAPS if verdict is Made.PERHAPS or (again and not plain) else made
        if a is not None and b is not None and offset is not None:
            kept, left = (a, b) if behind is Behind.STEP else (b, a)
            m.journal.selected.append(Selected(kept.order, left.order, offset, made is Made.PERHAPS))
            if made is Made.ONE:
                found.append((kept, left))
                if together and is_element(one.value) and is_element(other.value):
                    note_values(m, c, first, second, [(one.value, other.value)])
        if not plain:
            made = Made.PERHAPS  # what is computed for the later stores stands between
    return found


def _note_ladder(m: Machine, log: _Entries, ladder: Ladder, made: Made, behind: Behind) -> _Pairs:
    """Remember that the stores with which all arms of a ladder end are, or may be, one."""
    stores = [e for given in ladder.ends if (e := _of(log, given)) is not None]
    if made is Made.APART or len(stores) < len(ladder.ends):
        return []
    if behind is not Behind.STEP:
        stores.reverse()
    kept, *others = stores
    found: _Pairs = []
    for other in others:
        offset = one_offset(kept, other) if alike_accesses(m, kept, other, "store") else None
        if offset is None:
            return []
        m.journal.selected.append(Selected(kept.order, other.order, offset, made is Made.PERHAPS))
        found.append((kept, other))
    if made is Made.PERHAPS:
        m.journal.laddered |= {id(e.site.node) for e in stores}
    return found if made is Made.ONE else []


def _choose(
    m: Machine, c: Int, pair: tuple[Assign, Assign], events: tuple[Event, Event], together: bool
) -> None:
    """Remember that of stores behind one pointer the address may be chosen, where lanes part."""
    a, b = events
    place = pair[0].target
    base = place.base if isinstance(place, Index) else place.operand if isinstance(place, Unary) else None
    pointer = isinstance(base, Name) and base.id not in m.memory.shared
    if together or not pointer or not alike_accesses(m, a, b, "store"):
        return
    if any(s.kept in (a.order, b.order) for s in m.journal.selected):
        return
    offset = merging.merge(m, c, a.offset, b.offset)
    assert isinstance(offset, Int)
    m.journal.selected.append(Selected(a.order, b.order, offset, perhaps=True))


def _merged_stores(
    m: Machine,
    pair: tuple[Assign, Assign],
    events: tuple[Event | None, Event | None],
    logs: tuple[_Entries, _Entries, _Entries],
    arms: tuple[Node, Node],
    behind: Behind,
    together: bool,
) -> Made:
    """What nvcc makes of two stores with which both arms end, as long as those behind them become one. logs:
    what ran in front, and in each arm."""
    one, other = pair
    front, first, second = logs
    a, b = events
    if any(may_have_effect(n) for x in pair for n in walk(x.value)):
        return Made.PERHAPS
    if a is not None and (is_fixed(a.offset) or _is_used(m, a, front)):
        return Made.ONE
    if all(_begins_with(arm, one.target) for arm in arms):
        return Made.ONE
    if _is_pointer(one.target):
        return Made.ONE
    looped = behind is not Behind.CODE
    if together:
        return Made.PERHAPS if looped and not m.context.unrolled else Made.APART
    if one.op != "=" and one.op == other.op and all(len(statements(arm)) == 1 for arm in arms):
        return Made.ONE  # the arms are the same code
    if a is not None and b is not None and (_is_there(a, first) or _is_there(b, second)):
        return Made.APART
    blocks = [_straight(arm) for arm in arms]
    if Made.APART in blocks:
        return Made.PERHAPS if looped else Made.APART
    kept, left = pair if behind is Behind.STEP else pair[::-1]
    if _is_number(kept.value) and not _is_number(left.value):
        alone = all(len(statements(arm)) == 1 for arm in arms)
        return Made.APART if alone and behind is Behind.CODE else Made.PERHAPS
    return Made.PERHAPS if Made.PERHAPS in blocks else Made.ONE


def _is_pointer(place: Expr) -> bool:
    """Whether a place is just where a pointer leads (`*p`, `p[0]`): its address is there in front."""
    if isinstance(place, Index):
        inner = place.base if isinstance(place.index, Literal) and place.index.value == 0 else None
    else:
        inner = place.operand if isinstance(place, Unary) and place.op == "*" else None
    return isinstance(inner, Name)


def _is_used(m: Machine, a: Event, log: _Entries) -> bool:
    """Whether the address of an access was surely needed in front. log: of what ran there."""
    regions = {
        e.region
        for e in log
        if isinstance(e, Event)
        and e.site.object is a.site.object
        and e.site.width == a.site.width
        and same(e.offset, a.offset)
    }
    return bool(regions) and not regions.isdisjoint(_surely_before(m))


def _surely_before(m: Machine) -> set[int]:
    """The straight lines that surely ran before what runs now."""
    lines = m.lines
    found: set[int] = set()
    left = [lines.region]
    while left:
        region = left.pop()
        if region in found:
            continue
        found.add(region)
        before = (lines.parents, lines.merged, lines.after)
        left += [r for way in before if (r := way.get(region)) is not None]
        left += lines.behind.get(region, ())
    return found


def _is_there(a: Event, log: _Entries) -> bool:
    """Whether an arm needs the address of its last store for something else as well."""
    others = (e for e in log if isinstance(e, Event) and e is not a)
    return any(e.site.object is a.site.object and same(e.offset, a.offset) for e in others)


def _begins_with(arm: Node, target: Expr) -> bool:
    """Whether an arm computes nothing before the place that it stores to."""
    for s in statements(arm):
        given = assignment(s)
        if given is None:
            return isinstance(s, Declare)
        place = given.value if is_element(given.value) else given.target
        if isinstance(given.target, Name) and _is_plain(given.value):
            continue
        return (place is given.value or _is_plain(given.value)) and show(place) == show(target)
    return False


def _is_plain(e: Expr) -> bool:
    """Whether a value is at hand: a number or a variable."""
    return isinstance(_without_sign(e), Name) or _is_number(e)


def _is_number(e: Expr) -> bool:
    """Whether an expression is a number as it is written."""
    return isinstance(_without_sign(e), Literal | FloatLiteral)


def _without_sign(e: Expr) -> Expr:
    while isinstance(e, Cast) or (isinstance(e, Unary) and e.op in "+-"):
        e = e.operand
    return e


def _straight(arm: Node) -> Made:
    """Whether an arm is ONE block of code for the optimiser, or several (APART)."""
    found = Made.ONE
    for n in walk(arm):
        if isinstance(n, Loop | Switch) or (isinstance(n, If) and not _is_chosen(n)):
            return Made.APART
        if isinstance(n, Call):
            code = code_of_call(n.callee.name if isinstance(n.callee, Name) else "")
            if code in (Code.BRANCHES, Code.PREDICATES):
                return Made.APART
            found = Made.PERHAPS if code is None else found
        choice = isinstance(n, Conditional) or (isinstance(n, Binary) and n.op in ("&&", "||"))
        if choice and any(is_element(x) or isinstance(x, Call) for x in walk(n)):
            found = Made.PERHAPS
    return found


def is_branched(arm: Node) -> bool:
    """Return whether an arm is surely several blocks of code, rare cases of functions aside."""
    calls = [n for n in walk(arm) if isinstance(n, Call) and isinstance(n.callee, Name)]
    rare = any(code_of_call(getattr(n.callee, "name", "")) is Code.PREDICATES for n in calls)
    return not rare and _straight(arm) is Made.APART


def _is_chosen(s: If) -> bool:
    """Whether an `if` is a choice between values at hand."""
    inner = [only_statement(arm) for arm in (s.then, s.otherwise) if arm is not None]
    given = [assignment(x) for x in inner]
    return all(
        a is not None
        and isinstance(a.target, Name)
        and not any(is_element(n) or isinstance(n, Call) for n in walk(a.value))
        for a in given
    )


def _last_stores(then: Node, otherwise: Node) -> Iterator[tuple[Assign, Assign]]:
    """Assignments to one place with which both arms end, the last ones first."""
    for a, b in zip(_from_the_end(then), _from_the_end(otherwise), strict=False):
        if a is None or b is None or not _may_be_one(a.target, b.target):
            return
        yield a, b
        values = (a.value, b.value)
        if a.op != b.op or a.op != "=" or any(is_element(n) for v in values for n in walk(v)):
            return  # a load that stays in its arm keeps the stores before it there


def _may_be_one(a: Expr, b: Expr) -> bool:
    """Whether two places are the same as text, or elements of one array, or where two pointers lead: the
    compiler may choose the address."""
    if isinstance(a, Unary) and isinstance(b, Unary):
        return True
    return show(a) == show(b) or (
        isinstance(a, Index) and isinstance(b, Index) and show(a.base) == show(b.base)
    )


def _from_the_end(arm: Node) -> Iterator[Assign | None]:
    """What an arm stores, from its end; variables that it sets to what is at hand do not count."""
    for s in reversed(statements(arm)):
        given = assignment(s)
        if given is not None and isinstance(given.target, Name):
            if not any(is_element(n) or isinstance(n, Call) for n in walk(given.value)):
                continue
            yield None
            return
        if given is None or not is_element(given.target):
            yield None
            return
        yield given


def _of(log: _Entries, given: Assign) -> Event | None:
    """The store to shared memory that an assignment made."""
    made = [e for e in log if isinstance(e, Event) and e.site.op == "store" and e.site.node is given.target]
    return made[0] if len(made) == 1 else None


def _is_last(log: _Entries, a: Event) -> bool:
    """Whether nothing but stores stands behind an access, and nothing that keeps accesses apart."""
    behind = log[[e is a for e in log].index(True) + 1 :]
    return all(isinstance(e, Event) and e.site.op == "store" for e in behind)
