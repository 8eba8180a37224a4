"""Which variables host code sets: those that assignments name, and what references, pointers, lambdas and
objects stand for."""

from __future__ import annotations

from collections.abc import Sequence

from smemlint.evaluate.library.references import HANDED, holds_references
from smemlint.ir import (
    STEPS,
    Assign,
    Binary,
    Call,
    Cast,
    Conditional,
    Construct,
    Declare,
    Expr,
    Index,
    Lambda,
    Member,
    Module,
    Name,
    OpaqueType,
    PointerTo,
    RecordRef,
    Scalar,
    StaticMember,
    This,
    Unary,
    Var,
)
from smemlint.ir.expr import uncast
from smemlint.ir.types import is_reference
from smemlint.ir.walk import walk
from smemlint.toolkit.reading import READING

THIS = "this"
"""The object that a method runs on, as `root_of` names it."""
RETURNED = "returned"
"""What a function gives back a reference or pointer to, as `root_of` names it: `config().threads = 64`."""
_FILLING = (
    *("push_back", "emplace_back", "push", "emplace", "insert", "resize", "assign"),
    *("pop", "pop_back", "reset", "clear"),
)
"""Methods that give elements to a container."""


_LEADING = ("operator->", "operator*", "operator[]", "get", "at", "front", "back", "value")
"""Methods that lead to what an object holds."""


def put_into(n: object) -> tuple[object, str | None]:
    """What a declaration, an assignment or a call puts into a variable that is no number, and into which."""
    if isinstance(n, Declare):
        return (None if isinstance(n.var.type, Scalar) else n.var.init), n.var.id
    if isinstance(n, Assign):
        return n.value, root_of(n.target)
    if isinstance(n, Call) and (filled := filled_by(n)) is not None:
        return n.arguments, filled
    return None, None


def filled_by(n: Call) -> str | None:
    """The container that a call gives elements to."""
    callee = n.callee
    return root_of(callee.base) if isinstance(callee, Member) and callee.name in _FILLING else None


def root_of(e: Expr) -> str | None:
    """The variable that an assignment target belongs to, or points from; of the object that a method runs on
    with the members on the way: `this.grid.x`."""
    path: list[str] = []
    part = False
    while True:
        if isinstance(e, This):
            return ".".join((THIS, *reversed(path)))
        if isinstance(e, Name):
            return e.id or None
        if isinstance(e, Member):
            path.append(e.name)
        if isinstance(e, Call) and isinstance(e.callee, Member):
            e, part = e.callee.base, True
        elif is_asked_for(e):
            return RETURNED if part else None
        elif isinstance(e, Index | Member):
            e, part = e.base, True
        elif isinstance(e, Binary) and e.op in (".*", "+", "-"):  # `v.begin() + 1`
            e = e.left
        elif isinstance(e, Cast) or (isinstance(e, Unary) and e.op in ("*", "&")):
            e, part = e.operand, part or not isinstance(e, Cast)
        else:
            return None


def is_asked_for(e: Expr) -> bool:
    """Whether an expression is what a function gives back that is no method of an object."""
    return isinstance(e, Call) and isinstance(e.callee, Name | StaticMember)


def sets_returned(nodes: Sequence[object]) -> bool:
    """Whether code sets an object that some function gives a reference or pointer to."""
    held = {RETURNED}
    for n in nodes:
        if isinstance(n, Declare) and n.var.init is not None and refers_to_object(n.var):
            held |= {n.var.id} if RETURNED in _meant_by_pointer(n.var.init) else set()
    return any(
        not held.isdisjoint(roots_of(target))
        for n in nodes
        for target in ([n.target] if isinstance(n, Assign) else _stepped(n))
    )


def _stepped(n: object) -> list[Expr]:
    """What a step changes, or the object that a method is called on which may."""
    if isinstance(n, Unary) and n.op in STEPS:
        return [n.operand]
    method = n.callee if isinstance(n, Call) and isinstance(n.callee, Member) else None
    return [] if method is None or method.name in READING else [method.base]


def refers_to_object(var: Var) -> bool:
    """Whether a variable is a reference or pointer to an object of a class."""
    return isinstance(var.type, PointerTo) and isinstance(var.type.to, RecordRef | OpaqueType)


def _meant_by_pointer(init: Expr) -> set[str]:
    return set(roots_of(init)) if is_asked_for(uncast(init)) else _addresses(init)


def led_by(target: Expr) -> tuple[str, bool]:
    """The variable that leads to what is set, '' where none does; and whether that is one of many elements:
    `p[i] = 0`, where `*p = 0` and `p->x.y = 0` set all that is meant."""
    element, leads = False, False
    e = target
    while not isinstance(e, Name):
        if isinstance(e, Member):
            leads = leads or e.arrow
            e = e.base
        elif isinstance(e, Index):
            element = leads = True
            e = e.base
        elif isinstance(e, Cast) or (isinstance(e, Unary) and e.op == "*"):
            leads = leads or not isinstance(e, Cast)
            e = e.operand
        elif isinstance(e, Call) and isinstance(e.callee, Member) and e.callee.name in _LEADING:
            leads = True
            e = e.callee.base
        else:
            return "", False
    return (e.id if leads else ""), element


def _refers(module: Module, t: RecordRef) -> bool:
    """Whether an object of a class refers to others."""
    found = module.records.get(t.name)
    fields = any(isinstance(f.type, PointerTo) for f in found.fields) if found is not None else False
    return fields or holds_references(t)


def stand_ins(module: Module, nodes: Sequence[object]) -> dict[str, set[str]]:
    """By variable: others that are set where it is (`int &r = n;`), or what it points to (`int *p = &n;`), or
    that are set where it is called or its methods are (`auto set = [&] { n = 2; };`, `Writer w{n};`)."""
    found: dict[str, set[str]] = {}
    pointers = {n.var.id for n in nodes if isinstance(n, Declare) and isinstance(n.var.type, PointerTo)}
    for n in nodes:
        if isinstance(n, Assign):
            root = root_of(n.target)
            meant = _put_in(n.value, root in pointers) if n.op == "=" else set[str]()
        elif isinstance(n, Call) and (root := filled_by(n)) is not None:
            meant = set[str]().union(*(_put_in(a) for a in n.arguments))
        elif isinstance(n, Declare) and n.var.init is not None:
            root, meant = n.var.id, _meant_by(module, n.var, n.var.init)
        else:
            continue
        if root is not None and meant - {root}:
            found.setdefault(root, set()).update(meant - {root})
    for _ in range(4):  # references to references
        for meant in found.values():
            meant |= set[str]().union(*(found.get(x, ()) for x in meant))
    return found


def _meant_by(module: Module, var: Var, init: Expr) -> set[str]:
    """What a variable stands for by what it is made of."""
    inside = list(walk(init))
    meant = set[str]()
    if is_reference(var.type):
        meant.update(roots_of(init))
    else:
        meant |= _pointed_to(init) if isinstance(var.type, PointerTo) else _addresses(init)
        if refers_to_object(var) and is_asked_for(uncast(init)):
            meant.add(RETURNED)
        if not isinstance(var.type, Scalar):  # `auto it = v.begin() + 1;`
            methods = (x.callee for x in inside if isinstance(x, Call) and isinstance(x.callee, Member))
            meant |= {root for method in methods for root in roots_of(method.base)}
    if any(isinstance(x, Lambda) for x in inside):
        meant |= assigned_in(inside) | _captured(inside)
    elif isinstance(var.type, RecordRef) and _refers(module, var.type):
        meant |= {x.id for x in inside if isinstance(x, Name)}
    return meant


def _captured(nodes: Sequence[object]) -> set[str]:
    """What lambdas refer to by names of their own: `[&r = n]`."""
    made = (v for x in nodes if isinstance(x, Lambda) for v in x.captures if isinstance(v.type, PointerTo))
    return {root for v in made if v.init is not None for root in (*roots_of(v.init), *_addresses(v.init))}


def _put_in(value: Expr, pointer: bool = False) -> set[str]:
    """What a variable stands for behind the assignment of a value. pointer: whether it is one."""
    inside = list(walk(value))
    meant = _pointed_to(value) if pointer else _addresses(value)
    return meant | assigned_in(inside) if any(isinstance(x, Lambda) for x in inside) else meant


def _pointed_to(value: Expr) -> set[str]:
    """The variables whose address a value holds: `&n`, `odd ? &a : &b`, `{&a, &b}`, or that of a pointer."""
    return set(roots_of(value)) if isinstance(uncast(value), Name) else _addresses(value)


def _addresses(value: Expr) -> set[str]:
    """The variables whose address is taken somewhere in an expression."""
    nodes = list(walk(value))
    taken = [n.operand for n in nodes if isinstance(n, Unary) and n.op == "&"]
    handed = (n for n in nodes if isinstance(n, Call) and isinstance(n.callee, Name))
    taken += [a for n in handed if n.callee.name in HANDED for a in n.arguments]  # type: ignore[union-attr]
    return {root for e in taken for root in roots_of(e)}


def assigned_in(nodes: Sequence[object]) -> set[str]:
    found: set[str] = set()
    for n in nodes:
        if isinstance(n, Assign):
            found.update(roots_of(n.target))
        elif isinstance(n, Unary) and n.op in STEPS:
            found.update(roots_of(n.operand))
        elif isinstance(n, Call) and (filled := filled_by(n)) is not None:
            found.add(filled)
    return found


def roots_of(e: Expr) -> tuple[str, ...]:
    """The variables that an assignment target may belong to: either of `(odd ? a : b) = 1`, all of
    `first(a, b) = 1`."""
    e = uncast(e)
    if isinstance(e, Conditional):
        return *roots_of(e.then), *roots_of(e.otherwise)
    if isinstance(e, Construct) or is_asked_for(e):
        assert isinstance(e, Construct | Call)
        own = (RETURNED,) if isinstance(e, Call) else ()
        return *own, *(root for a in e.arguments for root in roots_of(a))
    root = root_of(e)
    return () if root is None else (root,)
