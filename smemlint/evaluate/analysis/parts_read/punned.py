"""Local variables that values of several words are put into, and which parts of them are read.

`*(uint4 *)v = s[i]; x = v[3];` is one load of 4 bytes. In: a function. Out: by variable where its bytes are
read, as expressions with the loops around them, and what is put into it; variables whose address goes
anywhere else are left out.
"""

from __future__ import annotations

from collections.abc import Mapping

from smemlint.ir import (
    ArrayOf,
    Assign,
    Binary,
    Call,
    Cast,
    Declare,
    Expr,
    Function,
    Index,
    Lambda,
    Literal,
    Loop,
    Member,
    Name,
    PointerTo,
    RecordRef,
    Unary,
    Var,
)
from smemlint.ir.expr import uncopied
from smemlint.ir.memo import by_identity
from smemlint.ir.types import is_reference
from smemlint.ir.uses import declared, variables_set
from smemlint.ir.walk import children, nodes_of
from smemlint.records import record

_COPIES = frozenset(("memcpy", "std::memcpy", "__builtin_memcpy"))


@record(frozen=True, eq=False, slots=True)
class Part:
    """A place in a variable. loops: those around it, outer ones first; size: bytes, where a copy says so."""

    place: Expr
    loops: tuple[Loop, ...]
    size: Expr | None = None


@record(frozen=True, eq=False, slots=True)
class Punned:
    """given: by id() of an expression (of a copy, of its source), the variable and part of it that its value
    goes to; reads: by variable, what is read of it; aliases: what constant pointers begin with, by id;
    variables: all of them."""

    given: Mapping[int, tuple[str, Part]]
    reads: Mapping[str, tuple[Part, ...]]
    aliases: Mapping[str, Expr]
    variables: Mapping[str, Var]


NOTHING = Punned({}, {}, {}, {})


@by_identity
def punned(f: Function) -> Punned:
    """What goes into local variables in another type than theirs, and what is read of these."""
    if not any(isinstance(n, Cast) and isinstance(n.type, PointerTo) for n in nodes_of(f.body)) and not any(
        isinstance(v.type, RecordRef) for v in declared(f)
    ):
        return NOTHING
    found = _Search(f)
    found.look(f.body, ())
    kept = {id for id in found.reads if id not in found.lost}
    given = {at: (id, part) for at, (id, part) in found.given.items() if id in kept}
    if not given:
        return NOTHING
    reads = {id: tuple(parts) for id, parts in found.reads.items() if id in kept}
    return Punned(given, reads, found.aliases, found.own)


class _Search:
    """One pass over a function."""

    def __init__(self, f: Function) -> None:
        changed = variables_set(nodes_of(f.body))
        self.own = {v.id: v for v in declared(f) if v.storage == "local" and not is_reference(v.type)}
        pointers = {id for id, v in self.own.items() if isinstance(v.type, PointerTo)}
        self.aliases = {
            id: v.init for id in pointers if (v := self.own[id]).init is not None and id not in changed
        }
        self.own = {
            id: v for id, v in self.own.items() if isinstance(v.type, ArrayOf | RecordRef) and not v.volatile
        }
        self.reads: dict[str, list[Part]] = {id: [] for id in self.own}
        self.given: dict[int, tuple[str, Part]] = {}
        self.lost: set[str] = set()

    def look(self, node: object, loops: tuple[Loop, ...]) -> None:
        """Sort what is done at or below a node."""
        if isinstance(node, Assign) and node.op == "=" and (id := self.place(node.target)):
            self.indices(node.target, loops)
            self.given[_key(node.value)] = id, Part(node.target, loops)
            self.look(node.value, loops)
        elif isinstance(node, Declare) and node.var.id in self.aliases and self.root(node.var.init):
            pass
        elif isinstance(node, Declare) and node.var.id in self.own and node.var.init is not None:
            whole = Name(node.var.id, node.var.name, node.var.place)
            self.given[_key(node.var.init)] = node.var.id, Part(whole, loops)
            self.look(node.var.init, loops)
        elif isinstance(node, Call) and self.copies(node, loops):
            pass
        elif isinstance(node, Index | Member | Unary | Cast | Name) and (id := self.place(node)):
            self.reads[id].append(Part(node, loops))
            self.indices(node, loops)
        elif isinstance(node, Name):
            self.lose(node)
        elif isinstance(node, Unary) and node.op == "&" and self.root(node):
            self.lose(node)  # `dot(&v[0])`: what lies beside it is read as well
            self.indices(node, loops)
        elif isinstance(node, Loop):
            self.look(node.init, loops)
            for inner in (node.condition, node.step, node.body):
                self.look(inner, (*loops, node))
        else:
            for child in children(node):
                self.look(child, loops)
            if isinstance(node, Lambda):
                self.lost.update(n.id for n in (*node.copies, *node.references))

    def copies(self, e: Call, loops: tuple[Loop, ...]) -> bool:
        """`memcpy` from or to such a variable."""
        if not isinstance(e.callee, Name) or e.callee.name not in _COPIES or len(e.arguments) != 3:
            return False
        target, source, size = e.arguments
        for pointer in (target, source):
            own = self.root(pointer)
            if own and pointer is source:
                self.reads[own].append(Part(pointer, loops, size))
                if to := self.root(target):
                    self.given[_key(source)] = to, Part(target, loops, size)
            if own:
                self.indices(pointer, loops)
            else:
                self.look(pointer, loops)
        return True

    def place(self, e: Expr) -> str:
        """The variable of which an expression names a part; "" where it names none, or an address."""
        if isinstance(e, Name):
            return e.id if e.id in self.own and isinstance(self.own[e.id].type, RecordRef) else ""
        if isinstance(e, Cast):
            return self.root(e.operand) if is_reference(e.type) else ""
        if isinstance(e, Unary):
            return self.root(e.operand) if e.op == "*" else ""
        return self.root(e) if isinstance(e, Index | Member) else ""

    def root(self, e: Expr | None) -> str:
        """The variable that an address or a place is in."""
        for _ in range(16):
            if isinstance(e, Index | Member):
                e = e.base
            elif isinstance(e, Cast) or (isinstance(e, Unary) and e.op in ("*", "&")):
                e = e.operand
            elif isinstance(e, Binary) and e.op == "+":
                e = e.left
            elif isinstance(e, Name) and e.id in self.aliases:
                e = self.aliases[e.id]
            else:
                break
        return e.id if isinstance(e, Name) and e.id in self.own else ""

    def indices(self, e: Expr | None, loops: tuple[Loop, ...]) -> None:
        """What is read to find a place."""
        while isinstance(e, Index | Member | Cast | Unary | Binary):
            if isinstance(e, Index):
                self.look(e.index, loops)
            if isinstance(e, Binary):
                self.look(e.right, loops)
            e = e.base if isinstance(e, Index | Member) else e.left if isinstance(e, Binary) else e.operand

    def lose(self, e: Expr) -> None:
        """Note a variable whose address goes somewhere."""
        self.lost.add(self.root(e))


@by_identity
def moved_about(f: Function) -> frozenset[int]:
    """id() of the expressions whose values go to variables of which one part is put into another (`x = v[0];
    v[0] = v[3]; v[3] = x;`) that nothing else reads: which parts are needed then is not followed."""
    search = _Search(f)
    held = {v.id: part for v in declared(f) if v.init is not None and (part := _part_of(search, v.init))[0]}
    moves: list[tuple[Expr, Expr]] = []
    for n in nodes_of(f.body):
        if isinstance(n, Assign) and n.op == "=" and (to := _part_of(search, n.target))[0]:
            value = uncopied(n.value)
            whence = held.get(value.id) if isinstance(value, Name) else _part_of(search, value)
            if whence is not None and whence[0] == to[0]:
                moves.append((uncopied(n.target), value))
    if not moves:
        return frozenset()
    search.look(f.body, ())
    moving = {id(e) for move in moves for e in move} | {id(uncopied(v.init)) for v in declared(f) if v.init}
    read = {
        _part_of(search, part.place)
        for parts in search.reads.values()
        for part in parts
        if id(part.place) not in moving
    }
    moved = {to[0] for target, _ in moves if (to := _part_of(search, target)) not in read or to[1] is None}
    return frozenset(at for at, (id, _) in search.given.items() if id in moved)


def _part_of(search: _Search, e: Expr) -> tuple[str, str | int | None]:
    """The variable of which an expression names one part, and which; "" of any other, None: not known."""
    e = uncopied(e)
    if isinstance(e, Member):
        return search.root(e), e.name
    if isinstance(e, Index):
        return search.root(e), e.index.value if isinstance(e.index, Literal) else None
    return "", None


def _key(value: Expr) -> int:
    return id(uncopied(value))


def counter_of(s: Loop) -> Var | None:
    """The variable that a loop declares to count its rounds; None: it has none, or stays a loop."""
    return s.init.var if isinstance(s.init, Declare) and s.unroll != 1 else None
