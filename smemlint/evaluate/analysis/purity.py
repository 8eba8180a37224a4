"""Which calls and asm statements do arithmetic only: what they leave behind lies in what they are given.

A call is inert when nothing it runs waits, touches memory of the block, or has an effect beyond its result
and the variables that its arguments name. Whether an inert call matters is then a question of whether those
variables do (`slicing`). In: a module. What is not known is not inert.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol

from smemlint.evaluate.analysis.own_members import LOCAL_THIS, OwnMembers
from smemlint.ir import (
    CONVERSION_NAME,
    SHARED,
    ArrayOf,
    Asm,
    Assign,
    Binary,
    Call,
    Cast,
    Conditional,
    Construct,
    Expr,
    Function,
    Goto,
    Index,
    Lambda,
    LaunchStmt,
    Member,
    Module,
    Name,
    OpaqueType,
    PointerTo,
    RecordRef,
    Scalar,
    StaticMember,
    Switch,
    This,
    Type,
    TypeParam,
    Unary,
    UnknownExpr,
    UnknownStmt,
    Var,
)
from smemlint.ir.expr import uncast
from smemlint.ir.memo import by_identity
from smemlint.ir.types import element_type, is_reference, pointed_to, referred
from smemlint.ir.walk import nodes_of, walk
from smemlint.patterns import pattern
from smemlint.toolkit.model import Effect
from smemlint.toolkit.table import effect_of

_ASSIGNMENTS = ("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=")
_ARITHMETIC = (Effect.ARITHMETIC, Effect.LOAD, Effect.OUTPUTS)
_MATRIX = pattern(r"(?:(?:nvcuda::)?wmma::)?(?:mma_sync|bmma_sync|fill_fragment)")
"""Matrix functions on fragments in registers; the first argument is what they set."""

FRAGMENTS = pattern(r"(?:(?:nvcuda::)?wmma::)?(load|store)_matrix_sync")
"""Copies between shared memory and a fragment, whose value is no address."""


class Inside(Protocol):
    """inside: the variables of a function that an address, mask or loop bound in it depends on.
    gives_address: what it returns may be, or hold, a shared address. gives_memory: it is one in memory."""

    inside: frozenset[str]
    gives_address: bool
    gives_memory: bool


class Calls:
    """Which calls of one module are inert."""

    def __init__(
        self, module: Module, slice: Callable[[Function, frozenset[str], Calls, frozenset[str]], Inside]
    ) -> None:
        self._module = module
        self.shared = {id for id, v in module.globals.items() if v.storage in SHARED}
        """Shared arrays that any function may name."""
        self.references = {f.name for r in module.records.values() for f in r.fields if is_reference(f.type)}
        """Members by which an object leads elsewhere as by a pointer."""
        self._slice = slice
        self._inside: dict[tuple[str, frozenset[str], frozenset[str]], Inside | None] = {}
        self._known: dict[str, bool] = {}

    def inert(self, e: Call) -> bool:
        """Whether a call of a function, method or operator does arithmetic only."""
        callee = e.callee
        if isinstance(callee, Name):
            alike = self._module.overloaded(callee.name)
            if callee.id and callee.id not in self._module.functions:
                passed = passed_functions(self._module, callee.id, len(e.arguments))
                return bool(passed) and all(map(self._function, passed))
            if callee.id:
                return all(map(self._function, {callee.id, *alike}))
            return all(map(self._function, alike)) if alike else pure(callee.name)
        if isinstance(callee, Member) or (isinstance(callee, StaticMember) and self._is_read(callee.owner)):
            found = self._module.methods.get(callee.name, ())
            return bool(found) and all(map(self._function, found))
        return False

    def _is_read(self, owner: Type) -> bool:
        """Whether the classes of the module say what a static function of this one does."""
        return isinstance(owner, RecordRef) and owner.name in self._module.records

    def own_members(self, f: Function, local: bool) -> OwnMembers:
        """What lies in the object that a method runs on. local: it is a local variable."""
        return OwnMembers(self._module, f, local)

    def functions(self, e: Call) -> list[Function]:
        """The functions of the module that a call by name may mean; none when others may be meant."""
        return named_functions(self._module, e)

    def methods(self, e: Call) -> list[Function]:
        """The methods of the module that a call by `.`, `->` or of a static one may mean."""
        ids = (
            self._module.methods.get(e.callee.name, ()) if isinstance(e.callee, Member | StaticMember) else ()
        )
        return [f for id in ids if (f := self._module.functions.get(id)) is not None]

    def outputs(self, e: Call | Asm) -> Iterator[Expr]:
        """What an inert call or asm may change: its arguments but numbers, and the object of a method."""
        if isinstance(e, Asm):
            yield from e.outputs
            return
        found = self.functions(e)
        if isinstance(e.callee, Member | StaticMember):
            if isinstance(e.callee, Member):
                yield e.callee.base
            found = self.methods(e)
        elif not found and isinstance(e.callee, Name) and not e.callee.id:
            if matrix(e.callee.name):
                yield from e.arguments[:1]
            elif effect_of(e.callee.name) is Effect.OUTPUTS:
                yield from e.arguments[1:]
            return
        for i, a in enumerate(e.arguments):
            if not found or not all(
                len(f.parameters) > i and isinstance(f.parameters[i].type, Scalar) for f in found
            ):
                yield a

    def inside(
        self, f: Function, pointing: frozenset[str], real: frozenset[str] = frozenset()
    ) -> Inside | None:
        """What is known inside a function, given which parameters may point to shared memory and which
        template parameters are floating-point types; None while that is being found out."""
        key = f.id, pointing, real
        if key not in self._inside:
            self._inside[key] = None
            self._inside[key] = self._slice(f, pointing, self, real)
        return self._inside[key]

    def _function(self, id: str) -> bool:
        known = self._known.get(id)
        if known is None:
            self._known[id] = True  # functions that call each other are inert together
            f = self._module.functions.get(id)
            known = f is not None and all(map(self._function, self._module.specialisations.get(id, ())))
            known = known and f is not None and self._body(f)
            if not known:
                self._doubt(id)
        return known

    def _doubt(self, id: str) -> None:
        """A function is not inert: what was found since on the strength of it is to be found again."""
        for other in list(reversed(self._known)):
            if other == id:
                break
            if self._known[other]:
                del self._known[other]
        self._known[id] = False

    def _body(self, f: Function) -> bool:
        if f.side == "kernel":
            return False
        own = {p.id for p in f.parameters}
        nodes = [*nodes_of(f.body), *(n for _, e in f.initialisers for n in walk(e))]
        own |= {n.id for n in nodes if isinstance(n, Var) and n.storage == "local"}
        record = self._module.records.get(f.record) if f.record is not None else None
        own |= {p.id for p in (*f.template, *(() if record is None else record.template))}
        callees = {id(n.callee) for n in nodes if isinstance(n, Call)}
        types = {v.id: v.type for v in (*f.parameters, *nodes) if isinstance(v, Var)}
        return not self.unseen(nodes, types) and all(
            id(n) in callees or self._harmless(n, own) for n in nodes
        )

    def unseen(self, nodes: Sequence[object], types: Mapping[str, Type]) -> list[object]:
        """The parts of expressions where a template may run methods that clang leaves out of the tree, since
        it does not know the types, and these do more than compute: `proxy = 3`, `float(proxy)`."""
        converts = self._runs(CONVERSION_NAME)
        if not converts and not any(self._runs(f"operator{op}") for op in _ASSIGNMENTS):
            return []
        of_members = {id(n.base) for n in nodes if isinstance(n, Member) and not n.arrow}
        return [
            n
            for n in nodes
            if (isinstance(n, Assign) and self._assigns(n, types))
            or (converts and id(n) not in of_members and self._may_convert(n, types))
        ]

    def _assigns(self, n: Assign, types: Mapping[str, Type]) -> bool:
        return self._runs(f"operator{n.op}") and self._may_be_object(n.target, types)

    def _runs(self, method: str) -> bool:
        """Whether classes of the module have methods of this name that do more than compute."""
        return any(map(self._reaches, self._module.methods.get(method, ())))

    def _reaches(self, id: str) -> bool:
        """Whether a function may do more than compute with numbers and members: access what they lead to."""
        f = self._module.functions.get(id)
        return f is not None and any(
            isinstance(n, Index | Asm)
            or (isinstance(n, Unary) and n.op == "*" and not isinstance(n.operand, This))
            or (isinstance(n, Member) and n.arrow and not isinstance(n.base, This))
            or (isinstance(n, Member) and n.name in self.references)
            or (isinstance(n, Call) and not computes(n))
            for n in nodes_of(f.body)
        )

    def _may_be_object(self, e: Expr, types: Mapping[str, Type]) -> bool:
        t = self.written_type(e, types)
        return not isinstance(None if t is None else referred(t), Scalar | PointerTo)

    def _may_convert(self, n: object, types: Mapping[str, Type]) -> bool:
        """Whether a node may be an object whose class has a conversion function."""
        if isinstance(n, Unary):
            return n.op == "*" and isinstance(n.operand, This)
        if isinstance(n, Call):
            return any(self._converts(f.returns) for f in (*self.functions(n), *self.methods(n)))
        if not isinstance(n, Name) or n.id not in types:
            return False
        t = referred(types[n.id])
        return isinstance(t, TypeParam | OpaqueType) or self._converts(t)

    def _converts(self, t: Type, depth: int = 0) -> bool:
        record = self._module.records.get(t.name) if isinstance(t, RecordRef) else None
        if record is None or depth > 4:
            return False
        return CONVERSION_NAME in record.methods or any(
            self._converts(b, depth + 1) for b in record.written_bases
        )

    def _harmless(self, n: object, own: set[str]) -> bool:
        if isinstance(n, Call):
            return self.inert(n)
        if isinstance(n, Asm):
            return plain(n)
        if isinstance(n, Construct):
            return self.trivial(n.type)
        if isinstance(n, Var):
            local = n.storage in ("local", "constant") and not n.volatile
            return local and (not isinstance(n.type, RecordRef) or self.trivial(n.type))
        if isinstance(n, Name):  # others may be shared arrays, or variables that a lambda captures
            constant = self._module.globals.get(n.id)
            return n.id in own or (constant is not None and constant.storage == "constant")
        if isinstance(n, StaticMember):
            return True
        return not isinstance(n, Goto | Lambda | LaunchStmt | Switch | UnknownExpr | UnknownStmt)

    def trivial(self, t: Type) -> bool:
        """Whether making a record runs no code of the user's: numbers and arrays of them, no constructor."""
        if not isinstance(t, RecordRef):
            return True
        record = self._module.records.get(t.name)
        if record is None:
            return True
        code = (
            record.specialisations or record.bases or record.constructors or CONVERSION_NAME in record.methods
        )
        return not code and all(f.init is None for f in record.fields)

    def leads_to_memory(self, t: Type) -> bool:
        """Whether a record may stand for a pointer: it, a base or a specialisation has a conversion function
        that gives no number."""
        return isinstance(t, RecordRef) and self._leading(t.name, 0)

    def _leading(self, name: str, depth: int) -> bool:
        record = self._module.records.get(name)
        if record is None or depth > 4:
            return False
        found = map(self._module.functions.get, record.methods.get(CONVERSION_NAME, ()))
        if any(f is not None and not isinstance(f.returns, Scalar) for f in found):
            return True
        more = (*(b.name for b in record.written_bases if isinstance(b, RecordRef)), *record.specialisations)
        return any(self._leading(other, depth + 1) for other in more)

    def holds_pointers(self, t: Type, depth: int = 0) -> bool:
        """Whether what a variable points to may be reached through a copy of it."""
        t = element_type(t)
        if isinstance(t, RecordRef):
            record = self._module.records.get(t.name)
            if record is None:
                return any(isinstance(a, PointerTo) for a in t.arguments)
            return (
                depth > 4
                or any(self.holds_pointers(f.type, depth + 1) for f in record.fields)
                or bool(record.written_bases)
            )
        return isinstance(t, PointerTo | OpaqueType)

    def written_type(self, e: Expr, types: Mapping[str, Type]) -> Type | None:
        """What an element or member of a variable is declared as; None: not known. types: of locals."""
        if isinstance(e, Name):
            found = self._module.globals.get(e.id)
            return types.get(e.id) or (None if found is None else found.type)
        if isinstance(e, This):
            return types.get(LOCAL_THIS)
        if isinstance(e, Unary) and e.op == "*":
            return pointed_to(self.written_type(e.operand, types))
        if not isinstance(e, Index | Member):
            return None
        t = self.written_type(e.base, types)
        t = None if t is None else referred(t)
        if isinstance(e, Index):
            return pointed_to(t)
        if e.arrow:
            t = pointed_to(t)
        record = self._module.records.get(t.name) if isinstance(t, RecordRef) else None
        return next((f.type for f in record.fields if f.name == e.name), None) if record else None


def arithmetic(name: str) -> bool:
    """Whether a function of the toolkit computes a lane's number from that lane's numbers."""
    return effect_of(name) in _ARITHMETIC


def computes(e: Call) -> bool:
    """Whether a call is one of such a function."""
    return isinstance(e.callee, Name) and arithmetic(e.callee.name)


def pure(name: str) -> bool:
    """Whether a function of the toolkit computes numbers from numbers, or fragments from fragments."""
    return arithmetic(name) or effect_of(name) is Effect.EXCHANGE or matrix(name)


def matrix(name: str) -> bool:
    """Whether a function works on matrix fragments."""
    return _MATRIX.fullmatch(name) is not None


def plain(e: Asm) -> bool:
    """Whether inline PTX computes its outputs and does nothing else."""
    from smemlint.evaluate.analysis.ptx import PtxCompute, PtxUnknown, parse

    return all(isinstance(i, PtxCompute | PtxUnknown) for i in parse(e.text))


def root_of(e: Expr, types: Mapping[str, Type] | None = None) -> str | None:
    """The variable that an assignment target belongs to, or points from. types: of variables, by which the
    pointer in `*(p + i)` is known."""
    inner = innermost(e)
    while types is not None and isinstance(inner, Binary) and inner.op in ("+", "-"):
        pointing = [side for side in (inner.left, inner.right) if _points(side, types)]
        if len(pointing) != 1:
            return None
        inner = innermost(pointing[0])
    return inner.id or None if isinstance(inner, Name) else None


def _points(e: Expr, types: Mapping[str, Type]) -> bool:
    """Whether a variable, or one with a number added, is known to be a pointer."""
    e = uncast(e)
    if isinstance(e, Binary):
        return e.op in ("+", "-") and (_points(e.left, types) or _points(e.right, types))
    return isinstance(e, Name) and e.id in types and isinstance(referred(types[e.id]), PointerTo | ArrayOf)


def place_of(e: Expr) -> str | None:
    """The variable that is changed with an argument; '' for a value that has no place, None: not known."""
    inner = innermost(e)
    if isinstance(inner, Name):
        return inner.id or None
    if isinstance(inner, Call) and isinstance(inner.callee, Member):
        return place_of(inner.callee.base)
    if isinstance(inner, Assign | Call | Conditional | Lambda | This | UnknownExpr):
        return None
    return ""


def innermost(e: Expr) -> Expr:
    """What elements, members, casts, dereferences and addresses are taken of."""
    while True:
        if isinstance(e, Index | Member):
            e = e.base
        elif isinstance(e, Cast) or (isinstance(e, Unary) and e.op in ("*", "&")):
            e = e.operand
        else:
            return e


def named_functions(module: Module, e: Call) -> list[Function]:
    """The functions of a module that a call by name may mean; none when others may be meant."""
    if not isinstance(e.callee, Name):
        return []
    found = [module.functions.get(id) for id in sorted(module.meant(e.callee))]
    return [] if None in found else [f for f in found if f is not None]


def passed_functions(module: Module, parameter: str, arguments: int) -> list[str]:
    """The ids of the functions that a template parameter may stand for where it is called with so many
    arguments: all that take as many, but host code's in a template of device code."""
    side = _sides_of_values(module).get(parameter)
    if side is None:
        return []
    return [
        f.id
        for f in module.functions.values()
        if f.side != "kernel"
        and (side not in ("kernel", "device") or f.side != "host")
        and (f.record is None or f.static)
        and len(f.parameters) == arguments
    ]


@by_identity
def _sides_of_values(module: Module) -> Mapping[str, str]:
    """By id of a template parameter that is a value: the side of the function it belongs to."""
    return {p.id: f.side for f in module.functions.values() for p in f.template if p.kind == "value"}
