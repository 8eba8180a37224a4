"""Loads that nvcc puts behind a division or a root, for which machine code calls a function.

Code of a block has each load right in front of the first operation that calculates with it; the operations
keep their order. `p = s[i]; f = x / p.b; y = p.a * f;` loads `b`, divides, and then loads `a`: machine code
joins nothing across the call. The block that a kernel begins with keeps the order of the source. What a store
takes as it is, what is used behind a store, and what another block uses stays where it is written. Read from
PTX and machine code of nvcc 13.0 (docs/dev/joining.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from smemlint.evaluate.analysis.first_uses import (
    ALL,
    Leaf,
    copied_to,
    is_given,
    key_of,
    leaves_of,
    own_variables,
    reads,
)
from smemlint.evaluate.analysis.purity import root_of
from smemlint.evaluate.compiler.log import Entry, Log
from smemlint.evaluate.machine.functions import called
from smemlint.evaluate.machine.machine import Barrier, Event, Machine
from smemlint.ir import (
    Assign,
    Binary,
    Call,
    Cast,
    Evaluate,
    Expr,
    Function,
    If,
    Loop,
    Member,
    Scalar,
    Stmt,
    Unary,
)
from smemlint.ir.memo import by_identity
from smemlint.ir.types import element_type
from smemlint.ir.uses import statements
from smemlint.ir.walk import children
from smemlint.records import record
from smemlint.toolkit.model import Effect
from smemlint.toolkit.table import effect_of

LOOK = 64
"""Entries of the log behind a load that are looked at."""


@record(frozen=True, slots=True)
class _Use:
    """What is calculated between the place where a load is written and its first use: id() of the places of
    divisions and calls. sure: whether that is known."""

    calls: frozenset[int] = frozenset()
    sure: bool = True


_STAYS = _Use()
_OPEN = _Use(sure=False)


class _Order:
    """The operations of a function as they are calculated, one after the other."""

    def __init__(self, f: Function) -> None:
        self.at: dict[int, int] = {}
        self.above: dict[int, object] = {}
        self.calls: list[tuple[int, int]] = []
        """When, and id() of the place, of each division and each call."""
        self.stores: list[int] = []
        """When something is written that is no variable of the call."""
        self.own = own_variables(f)
        self.uses: dict[tuple[int, str], _Use] = {}
        """What was found of a load (by id() of the expression) and a part of what it gives."""
        self.leaves = leaves_of(f).all
        for leaf in self.leaves:
            self._number(leaf.node)

    def _number(self, node: object) -> None:
        for child in children(node):
            for each in child if isinstance(child, tuple) else (child,):
                self.above.setdefault(id(each), node)
            self._number(child)
        if isinstance(node, tuple):
            return
        now = self.at[id(node)] = len(self.at)
        if isinstance(node, Call) or (
            isinstance(node, Binary | Assign) and node.op in ("/", "%", "/=", "%=")
        ):
            self.calls.append((now, id(node.place)))
        if isinstance(node, Assign) and root_of(node.target) not in self.own:
            self.stores.append(now)

    def user(self, e: object) -> object:
        """What calculates with the value of an expression: it is cast, or a member of it taken, before."""
        above = self.above.get(id(e))
        while isinstance(above, Cast | Member):
            above = self.above.get(id(above))
        return above

    def calls_within(self, here: Leaf, s: Stmt | Expr) -> bool:
        """Whether anything is called behind a statement, up to the end of another that may hold some."""
        first = self.at[id(here.node)]
        inner = [leaf for leaf in self.leaves if leaf.node is s or any(each is s for each in leaf.around)]
        last = max(self.at[id(leaf.node)] for leaf in inner)
        return any(first < at <= last for at, _ in self.calls)

    def before(self, load: object, user: object) -> _Use:
        """What is called behind a load and in front of what calculates with it. No load is put down past a
        store."""
        first, last = self.at[id(load)], self.at[id(user)]
        if any(first < at < last for at in self.stores):
            return _STAYS
        return _Use(frozenset(place for at, place in self.calls if first < at < last))


_order = by_identity(_Order)


def _use(f: Function, load: Expr, part: str) -> _Use:
    """Where a load, or a part of a record that is loaded, is used first."""
    order = _order(f)
    known = order.uses.get((id(load), part))
    if known is None:
        known = order.uses[id(load), part] = _first_use(f, order, load, part)
    return known


def _first_use(f: Function, order: _Order, load: Expr, part: str) -> _Use:
    here = leaves_of(f).of.get(id(load))
    if here is None:
        return _STAYS
    target = copied_to(here.node, load)
    values = [load] if target is None else _first_reads(f, order, here, target, part)
    if isinstance(values, _Use):
        return values
    users = [order.user(e) for e in values]
    known = [u for u in users if id(u) in order.at]
    if len(known) < len(users):
        return _STAYS
    user = min(known, key=lambda u: order.at[id(u)])
    if isinstance(user, Assign) and user.op == "=":
        return _STAYS
    return order.before(load, user) if _is_operation(user) else _OPEN


def _is_operation(e: object) -> bool:
    """Whether an expression calculates, and does not only rename bits."""
    if isinstance(e, Assign | Binary | Unary):
        return True
    name = called(e) if isinstance(e, Call) else ""
    return effect_of(name) is Effect.ARITHMETIC and not name.startswith("make_") and "_as_" not in name


def _first_reads(f: Function, order: _Order, here: Leaf, target: Expr, part: str) -> list[Expr] | _Use:
    """Where the first statement of the same block that reads a variable does so."""
    own = own_variables(f)
    variable = root_of(target)
    if variable is None or variable not in own:
        return _STAYS
    part = part if part != ALL else key_of(target)
    around, straight = here.around, True
    for leaf in leaves_of(f).all[here.at + 1 :]:
        while around and leaf.around[: len(around)] != around and isinstance(around[-1], Loop):
            around = around[:-1]
        if leaf.around[: len(around)] != around:
            return _STAYS
        inner = leaf.around[len(around)] if len(leaf.around) > len(around) else None
        straight = straight and inner is None and around == here.around
        found = [e for e, key in reads(leaf.node, variable) if ALL in (part, key) or key == part]
        if isinstance(inner, If) and not _is_choice(inner) and not found:
            return _STAYS
        if found and is_given(leaf.node, variable, own):
            return _OPEN
        if found and straight:
            return found
        if found:
            return _OPEN if order.calls_within(here, leaf.node if inner is None else inner) else _STAYS
    return _STAYS


def _is_choice(s: If) -> bool:
    """Whether the arms of an `if` only set variables: it may be no branch."""
    inner = (*statements(s.then), *statements(s.otherwise))
    return all(isinstance(x, Evaluate) for x in inner)


def _part_loaded(m: Machine, e: Event) -> str | None:
    """The part of what is loaded that an access loads; None where it has no name."""
    t = element_type(e.site.object.type)
    if e.moved is None or isinstance(t, Scalar):
        return ALL
    layout = m.types.layout(t)
    if layout is None:
        return None
    return next((name for name, (at, _) in layout.fields.items() if at == e.moved.at), None)


def _use_of(m: Machine, e: Event) -> _Use:
    f, node = e.site.function, e.site.node
    if f is None or node is None or e.site.op != "load" or e.volatile:
        return _STAYS
    part = _part_loaded(m, e)
    return _OPEN if part is None else _use(f, node, part)


def _calls_behind(entries: Sequence[Entry], at: int) -> Iterator[tuple[int, Barrier]]:
    """The calls in the same block behind an entry, with nothing between that no load is put behind."""
    here = entries[at]
    for i in range(at + 1, min(len(entries), at + 1 + LOOK)):
        e = entries[i]
        if isinstance(e, Event):
            if e.site.op != "load":
                return
            assert isinstance(here, Event)
            if e.site is here.site and e.moved == here.moved:
                return  # of the next round
        elif not e.passable or e.region != here.region or (e.stop == "call" and not e.at):
            return
        elif e.stop == "call":
            yield i, e


def _begins(m: Machine, entries: Sequence[Entry]) -> int:
    """How many entries stand in the block that the kernel begins with."""
    trunk = {0}
    for i, e in enumerate(entries):
        region = e.region
        line = [region]
        while line[-1] not in trunk and line[-1] in m.lines.after:
            line.append(m.lines.after[line[-1]])
        if line[-1] not in trunk or (e.turn if isinstance(e, Event) else e.stop == "fork"):
            return i
        trunk.update(line)
    return len(entries)


def _calls(entries: Sequence[Entry]) -> bool:
    return any(isinstance(e, Barrier) and e.stop == "call" for e in entries)


def move(m: Machine, log: Log) -> Log:
    """Put loads behind the calls that stand in front of their first use."""
    entries = log.entries
    if not _calls(entries):
        return log
    to: dict[int, int] = {}
    for i in range(_begins(m, entries), len(entries)):
        e = entries[i]
        if isinstance(e, Event) and (use := _use_of(m, e)).calls:
            behind = [at for at, call in _calls_behind(entries, i) if call.at in use.calls]
            if behind:
                to[i] = behind[-1]
    if not to:
        return log
    places = sorted(range(len(entries)), key=lambda i: (to.get(i, i), i in to, i))
    return Log(entries[i] for i in places)


def movable(m: Machine, log: Log) -> set[int]:
    """Return the loads, by id(), that may stand behind a call: it is not known where they are used first."""
    entries = log.entries
    if not _calls(entries):
        return set()
    return {
        id(e)
        for i in range(_begins(m, entries), len(entries))
        if isinstance(e := entries[i], Event)
        and not _use_of(m, e).sure
        and any(True for _ in _calls_behind(entries, i))
    }
