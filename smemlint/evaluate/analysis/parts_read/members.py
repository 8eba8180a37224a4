"""Which members of a record are read after it was loaded as a whole: nvcc loads no others.

`float4 v = s[i];` of which only `v.x` is used is one load of 4 bytes. In: a function. Out: for each
expression whose value goes to a variable, an element of a local array or by value to a parameter, the members
that are used of it (of any element: which one is not told apart).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Set

from smemlint.ir import (
    ArrayOf,
    Assign,
    Block,
    Call,
    Conditional,
    Declare,
    Evaluate,
    Expr,
    Function,
    Index,
    Lambda,
    Literal,
    Member,
    Name,
    PointerTo,
    Return,
    Stmt,
    Unary,
    Var,
)
from smemlint.ir.expr import uncopied
from smemlint.ir.memo import by_identity
from smemlint.ir.types import is_reference
from smemlint.ir.uses import arms, array_of, declared, variables
from smemlint.ir.walk import children, nodes_of, walk
from smemlint.records import record

Functions = Callable[[Call], "list[Function]"]
"""The functions that a call by name may mean; none when others may be meant."""
NESTED = 4
"""Calls within calls that are looked into."""


@record(slots=True)
class _Uses:
    """What is done with one variable. whole: it goes where no member is named."""

    members: set[str]
    copies: set[str]
    passed: list[tuple[Call, int]]
    lent: list[tuple[Call, int, str]]
    """Calls that get a pointer to one member (`twice(&v.x)`), as which argument."""
    whole: bool = False
    sets: bool = False
    """A member of it is set."""


@by_identity
def members_set(f: Function) -> dict[int, frozenset[str]]:
    """By id() of an expression that a variable begins with, names of members that are set before any is used
    (`float2 a = s[i]; a.x = 0;`)."""
    found: dict[int, frozenset[str]] = {}
    for block in nodes_of(f.body):
        if not isinstance(block, Block):
            continue
        for at, s in enumerate(block.body):
            if isinstance(s, Declare) and s.var.init is not None and not is_reference(s.var.type):
                names = frozenset(_set_first(s.var.id, block.body[at + 1 :]))
                if names:
                    found[id(uncopied(s.var.init))] = names
    return found


def _set_first(id: str, body: tuple[Stmt, ...]) -> Iterator[str]:
    """Members of a variable that are set before they are read, up to the first that uses all of it."""
    read: set[str] = set()
    for s in body:
        e = s.expr if isinstance(s, Evaluate) else None
        sets = isinstance(e, Assign) and e.op == "=" and _is_member_of(e.target, id)
        rest: object = e.value if sets and isinstance(e, Assign) else s
        named = [n for n in walk(rest) if isinstance(n, Name) and n.id == id]
        members = [n for n in walk(rest) if _is_member_of(n, id)]
        read |= {n.name for n in members if isinstance(n, Member)}
        if sets and isinstance(e, Assign) and isinstance(e.target, Member) and e.target.name not in read:
            yield e.target.name
        if len(named) > len(members):
            return


def _is_member_of(e: object, id: str) -> bool:
    return isinstance(e, Member) and not e.arrow and isinstance(e.base, Name) and e.base.id == id


def stored_back(f: Function, functions: Functions) -> dict[int, frozenset[str]]:
    """By id() of an expression that a variable begins with, the members that are read of it by themselves,
    where it is otherwise only stored as a whole, once, after members of it were set, here or by a function
    that is handed it. Of an element that one is handed (`s[i] = f(s[i])`) likewise."""
    found = {id(uncopied(v.init)): read for v, read in _stored_once(f, functions) if v.init is not None}
    for n in nodes_of(f.body):
        call = uncopied(n.value) if isinstance(n, Assign) and n.op == "=" else None
        if not isinstance(call, Call):
            continue
        for i, a in enumerate(call.arguments):
            read = None if isinstance(uncopied(a), Name) else _read_by(call, i, functions, by_value=True)
            if read is not None:
                found[id(uncopied(a))] = read
    return found


@by_identity
def names_stored_back(f: Function) -> frozenset[str]:
    """Ids of these variables, as far as this function changes them itself."""
    return frozenset(v.id for v, _ in _stored_once(f, lambda _: []))


def _stored_once(f: Function, functions: Functions) -> list[tuple[Var, frozenset[str]]]:
    reads: dict[str, set[str]] = {}
    stores: Counter[str] = Counter()
    sets: set[str] = set()
    others: set[str] = set()

    def look(node: object) -> None:
        if isinstance(node, Member) and not node.arrow and isinstance(node.base, Name):
            reads.setdefault(node.base.id, set()).add(node.name)
        elif isinstance(node, Name):
            others.add(node.id)
        elif isinstance(node, Call):
            look_at_call(node)
        elif isinstance(node, Assign) and isinstance(node.target, Member) and not node.target.arrow:
            if isinstance(node.target.base, Name):
                sets.add(node.target.base.id)
            if node.op != "=" or not isinstance(node.target.base, Name):
                look(node.target)
            look(node.value)
        elif isinstance(node, Assign) and node.op == "=" and isinstance(name := uncopied(node.value), Name):
            look(node.target)
            stores[name.id] += 1
        elif isinstance(node, Assign) and node.op == "=" and _changes(node):
            look(node.value)
        else:
            for child in children(node):
                look(child)
            if isinstance(node, Lambda):
                others.update(n.id for n in (*node.copies, *node.references))

    def look_at_call(call: Call) -> None:
        look(call.callee)
        for i, a in enumerate(call.arguments):
            name = uncopied(a)
            read = _read_by(call, i, functions) if isinstance(name, Name) else None
            if read is None:
                look(a)
            elif isinstance(name, Name):
                reads.setdefault(name.id, set()).update(read)
                sets.add(name.id)

    look(f.body)
    return [
        (v, frozenset(reads.get(v.id, ())))
        for v in declared(f)
        if v.init is not None and not is_reference(v.type)
        if v.id in sets and stores[v.id] == 1 and v.id not in others
    ]


def _changes(e: Assign) -> bool:
    """Whether a variable becomes what a function makes of it: `v = f(v)`."""
    call, target = uncopied(e.value), e.target
    if not isinstance(call, Call) or not isinstance(target, Name):
        return False
    return any(isinstance(a := uncopied(given), Name) and a.id == target.id for given in call.arguments)


def _read_by(
    call: Call, index: int, functions: Functions, *, by_value: bool = False
) -> frozenset[str] | None:
    """Members that functions read of an argument of which they set others, or give it back; None: more."""
    members: set[str] = set()
    found = functions(call)
    for f in found:
        if len(f.parameters) != len(call.arguments) or any(p.pack for p in f.template):
            return None
        p = f.parameters[index]
        if isinstance(p.type, PointerTo) and (by_value or not p.type.reference):
            return None
        whole = False

        def look(node: object, id: str = p.id) -> None:
            nonlocal whole
            if isinstance(node, Member) and not node.arrow and isinstance(node.base, Name):
                members.update((node.name,) if node.base.id == id else ())
            elif isinstance(node, Name):
                whole |= node.id == id
            elif (
                isinstance(node, Return) and node.value is not None and isinstance(uncopied(node.value), Name)
            ):
                pass
            elif isinstance(node, Assign) and node.op == "=" and _is_member_of(node.target, id):
                look(node.value)
            else:
                for child in children(node):
                    look(child)

        look(f.body)
        if whole:
            return None
    return frozenset(members) if found else None


def members_read(f: Function, functions: Functions) -> dict[int, frozenset[str]]:
    """By id() of an expression, names of the members that are used of its value; others are used whole."""
    uses = _uses_of(f)
    found: dict[int, frozenset[str]] = {}
    for target, source in _sources(f.body, _arrays(f)):
        used = _of_variable(target, uses, functions, 0, set())
        if used:
            found[id(source)] = used
    for n in nodes_of(f.body):
        if isinstance(n, Call):
            for i, a in enumerate(n.arguments):
                used = None if isinstance(uncopied(a), Name) else _of_argument(n, i, functions, 0)
                if used:
                    found[id(uncopied(a))] = used
    return found


def members_touched(f: Function, functions: Functions) -> tuple[frozenset[str], frozenset[int]]:
    """Ids of the variables that members are used of by themselves, here or by functions that get them, and
    id() of the expressions that such a variable or parameter is given: nvcc keeps their members apart."""
    uses = _uses_of(f)
    variables = frozenset(id for id in uses if _is_touched(id, uses, functions, 0, set()))
    given = {id(source) for target, source in _sources(f.body, _arrays(f)) if target in variables}
    for n in nodes_of(f.body):
        if isinstance(n, Call):
            for i, a in enumerate(n.arguments):
                if not isinstance(uncopied(a), Name) and _is_argument_touched(n, i, functions, 0):
                    given.add(id(uncopied(a)))
    return variables, frozenset(given)


def _is_touched(id: str, uses: dict[str, _Uses], functions: Functions, depth: int, seen: set[str]) -> bool:
    own = uses.get(id)
    if own is None or id in seen:
        return False
    seen.add(id)
    return (
        bool(own.members)
        or own.sets
        or bool(own.lent)
        or any(_is_touched(copy, uses, functions, depth, seen) for copy in own.copies)
        or any(_is_argument_touched(call, index, functions, depth) for call, index in own.passed)
    )


def _is_argument_touched(call: Call, index: int, functions: Functions, depth: int) -> bool:
    return depth < NESTED and any(
        len(f.parameters) == len(call.arguments)
        and _is_touched(f.parameters[index].id, _uses_of(f), functions, depth + 1, set())
        for f in functions(call)
    )


@by_identity
def halved(f: Function) -> frozenset[int]:
    """id() of the expressions of which nvcc may load some words alone: elements of which `?:` chooses one,
    for a variable whose members are set one by one later, where each way needs what it reads before it sets
    it; and what goes to an array whose elements are not used alike."""
    set_: set[str] = set()
    arrays = _arrays(f)
    for n in nodes_of(f.body):
        if isinstance(n, Assign) and n.op == "=" and isinstance(n.target, Member) and not n.target.arrow:
            name = _variable(n.target.base, arrays)
            set_ |= set() if name is None else {name.id}
    mixed = _used_apart(f, arrays)
    return frozenset(
        id(arm)
        for target, value in _definitions(f.body, arrays)
        if target in mixed or (target in set_ and isinstance(value, Conditional))
        for arm in arms(value)
    )


@by_identity
def chosen(f: Function) -> frozenset[str]:
    """Ids of variables that a condition chooses, or that a function gives."""
    given = [*_definitions(f.body, _arrays(f))]
    several = {target for target, n in Counter(target for target, _ in given).items() if n > 1}
    return frozenset(several | {target for target, value in given if isinstance(value, Call | Conditional)})


def _used_apart(f: Function, arrays: Set[str]) -> set[str]:
    """Ids of a thread's own arrays of which elements need different members: `v[0].x + v[1].y`."""
    members: dict[str, dict[object, set[str]]] = {}
    for n in nodes_of(f.body):
        if isinstance(n, Member) and not n.arrow and isinstance(n.base, Index):
            name = _variable(n.base, arrays)
            if name is not None:
                at = n.base.index.value if isinstance(n.base.index, Literal) else None
                members.setdefault(name.id, {}).setdefault(at, set()).add(n.name)
    return {
        id
        for id, by_element in members.items()
        if None not in by_element and any(m != next(iter(by_element.values())) for m in by_element.values())
    }


def _sources(body: object, arrays: Set[str]) -> Iterator[tuple[str, Expr]]:
    """(variable, what it is given) wherever a variable is given a whole value, for each way of `?:`."""
    for target, value in _definitions(body, arrays):
        for arm in arms(value):
            yield target, arm


def _definitions(body: object, arrays: Set[str]) -> Iterator[tuple[str, Expr]]:
    for n in nodes_of(body):
        if isinstance(n, Declare) and n.var.init is not None and not is_reference(n.var.type):
            yield n.var.id, uncopied(n.var.init)
        elif isinstance(n, Assign) and n.op == "=":
            name = _variable(n.target, arrays)
            if name is not None:
                yield name.id, uncopied(n.value)


@by_identity
def _arrays(f: Function) -> frozenset[str]:
    """Ids of the arrays that each thread has for itself."""
    return frozenset(v.id for v in declared(f) if isinstance(v.type, ArrayOf) and v.storage == "local")


def _variable(e: Expr, arrays: Set[str]) -> Name | None:
    """The variable that an expression is, or the array of a thread's own that it is an element of."""
    own = array_of(e)
    return own if isinstance(own, Name) and (own is e or own.id in arrays) else None


def _uses_of(f: Function) -> dict[str, _Uses]:
    """Of each name in a function."""
    uses: dict[str, _Uses] = {}
    arrays = _arrays(f)
    references = {id for id, v in variables(f).items() if is_reference(v.type)}

    def of(name: Name) -> _Uses:
        return uses.setdefault(name.id, _Uses(set(), set(), [], []))

    def look(node: object) -> None:
        if isinstance(node, Member) and (inner := _path(node, arrays)) is not None:
            of(inner[0]).members.add(inner[1])
            look_at_indices(inner[2])
        elif led := (node, "", node) if isinstance(node, Name) else _pointed_into(node, arrays):
            of(led[0]).whole = True
            look_at_indices(led[2])
        elif isinstance(node, Call):
            for left in (node.callee, *_given_away(node, arrays, of)):
                look(left)
        elif (
            isinstance(node, Declare)
            and node.var.init is not None
            and isinstance(uncopied(node.var.init), Name)
        ):
            _copy_uses(node.var, of)
        elif isinstance(node, Assign) and node.op == "=" and (own := _variable(node.target, arrays)):
            look_at_indices(node.target)
            value = uncopied(node.value)
            if isinstance(value, Name):
                of(value).copies.add(own.id)
                of(value).whole |= own.id in references
            else:
                look(node.value)
        elif isinstance(node, Assign) and node.op == "=" and (own := _own_member(node.target, arrays)):
            of(own).sets = True
            look_at_indices(node.target)
            look(node.value)
        elif isinstance(node, Assign) and isinstance(node.target, Member):
            for n in walk(node.target):
                if isinstance(n, Name):
                    of(n).whole = of(n).sets = True
            look(node.value)
        else:
            for child in children(node):
                look(child)
            if isinstance(node, Lambda):
                for name in (*node.copies, *node.references):
                    of(name)

    def look_at_indices(e: Expr) -> None:
        for index in _indices(e):
            look(index)

    look(f.body)
    return uses


def _given_away(call: Call, arrays: Set[str], of: Callable[[Name], _Uses]) -> Iterator[Expr]:
    """Notes the variables, and pointers to their members, that a call gets; what is left to look at."""
    for i, a in enumerate(call.arguments):
        if isinstance(name := uncopied(a), Name):
            of(name).passed.append((call, i))
        elif lent := _pointed_into(a, arrays):
            of(lent[0]).lent.append((call, i, lent[1]))
            yield from _indices(lent[2])
        else:
            yield a


def _path(e: Member, arrays: Set[str]) -> tuple[Name, str, Expr] | None:
    """The variable that a member is of, the names on the way to it (`lo.x`), and the variable's element."""
    names: list[str] = []
    base: Expr = e
    while isinstance(base, Member) and not base.arrow:
        names.append(base.name)
        base = base.base
    own = _variable(base, arrays)
    return None if own is None or not names else (own, ".".join(reversed(names)), base)


def _indices(e: Expr) -> Iterator[Expr]:
    """What is read to find a part of a variable."""
    while isinstance(e, Index | Member):
        if isinstance(e, Index):
            yield e.index
        e = e.base


def _pointed_into(e: object, arrays: Set[str]) -> tuple[Name, str, Expr] | None:
    """What `_path` finds of the member that a pointer leads to: `dot(&v.x)` may read what lies beside it."""
    at = e.operand if isinstance(e, Unary) and e.op == "&" else None
    return _path(at, arrays) if isinstance(at, Member) else None


def _own_member(e: Expr, arrays: Set[str]) -> Name | None:
    """The variable that an expression is a member of: setting it reads nothing."""
    return _variable(e.base, arrays) if isinstance(e, Member) and not e.arrow else None


def _copy_uses(var: Var, of: Callable[[Name], _Uses]) -> None:
    """`T b = a;`: what is used of b is used of a."""
    assert var.init is not None
    source = uncopied(var.init)
    assert isinstance(source, Name)
    if is_reference(var.type):
        of(source).whole = True
    else:
        of(source).copies.add(var.id)


def _of_variable(
    id: str, uses: dict[str, _Uses], functions: Functions, depth: int, seen: set[str]
) -> frozenset[str] | None:
    """Members that are used of a variable; None: all of it, or nothing is known."""
    own = uses.get(id)
    if not id or own is None or own.whole or id in seen:
        return None
    seen.add(id)
    members = set(own.members)
    for copy in own.copies:
        more = _of_variable(copy, uses, functions, depth, seen)
        if more is None:
            return None
        members |= more
    for call, index in own.passed:
        more = _of_argument(call, index, functions, depth)
        if more is None:
            return None
        members |= more
    for call, index, member in own.lent:
        steps = _steps_through(call, index, functions, depth)
        if steps is None:
            return None
        members |= {_beside(member, step) for step in steps}
    return frozenset(members)


def _beside(member: str, step: int) -> str:
    """The name of what lies so many numbers behind a member of a vector; a step of 0 leads to any member."""
    around, dot, name = member.rpartition(".")
    at = "xyzw".find(name) + step if step and name in ("x", "y", "z", "w") else -1
    return member if not step else f"{around}{dot}{'xyzw'[at] if 0 <= at < 4 else '?'}"


def _steps_through(call: Call, index: int, functions: Functions, depth: int) -> frozenset[int] | None:
    """Which elements the functions behind a call go to through a pointer; None: that is not known."""
    found = functions(call) if depth < NESTED else []
    steps: set[int] = set()
    for f in found:
        p = f.parameters[index] if len(f.parameters) == len(call.arguments) else None
        if p is None or not isinstance(p.type, PointerTo) or any(x.pack for x in f.template):
            return None
        own = _followed(f, p.id)
        uses = Counter(n.id for n in nodes_of(f.body) if isinstance(n, Name))[p.id]
        if len(own) != uses:
            return None
        steps |= set(own)
    return frozenset(steps) if found else None


def _followed(f: Function, id: str) -> list[int]:
    """The constant elements that a function goes to through a pointer: `*p`, `p[1]`."""
    found: list[tuple[Expr, int]] = []
    for n in nodes_of(f.body):
        if isinstance(n, Unary) and n.op == "*":
            found.append((n.operand, 0))
        elif isinstance(n, Index) and isinstance(n.index, Literal):
            found.append((n.base, n.index.value))
    return [at for e, at in found if isinstance(e, Name) and e.id == id]


def _of_argument(call: Call, index: int, functions: Functions, depth: int) -> frozenset[str] | None:
    """Members that the functions behind a call use of an argument that they get by value."""
    found = functions(call) if depth < NESTED else []
    members: set[str] = set()
    for f in found:
        if len(f.parameters) != len(call.arguments) or any(p.pack for p in f.template):
            return None
        p = f.parameters[index]
        more = _of_variable(p.id, _uses_of(f), functions, depth + 1, set())
        if more is None:
            return None
        members |= more
    return frozenset(members) if found else None
