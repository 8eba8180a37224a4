"""The names in a function that may hold addresses of shared memory, and those that surely lead to memory."""

from __future__ import annotations

from collections.abc import Sequence

from smemlint.evaluate.analysis.own_members import LOCAL_THIS, floating
from smemlint.evaluate.analysis.passed_lambdas import PassedLambdas
from smemlint.evaluate.analysis.purity import Calls, Inside, innermost, plain, root_of
from smemlint.ir import (
    SHARED,
    ArrayOf,
    Asm,
    Assign,
    Binary,
    Call,
    Cast,
    Construct,
    Expr,
    Function,
    Index,
    Lambda,
    Literal,
    Member,
    Name,
    PointerTo,
    RecordRef,
    Return,
    Scalar,
    This,
    TypeParam,
    Unary,
    UnknownExpr,
    Var,
)
from smemlint.ir.expr import is_element
from smemlint.ir.types import held_type, is_reference
from smemlint.ir.uses import grown
from smemlint.ir.walk import children, names_in, walk


class SharedNames:
    """What the names of one function may lead to, without regard to order: too much, never too little.

    shared: names that may hold a shared address. memory: shared arrays, what the kernel is given, and
    pointers to nothing else: stores there change no value that is followed. numbers: floating-point
    variables. real: template parameters that are floating-point types.
    """

    def __init__(
        self,
        f: Function,
        nodes: Sequence[object],
        may_be_shared: frozenset[str],
        calls: Calls,
        passed: PassedLambdas,
        real: frozenset[str] = frozenset(),
    ) -> None:
        self.real = real
        self.calls = calls
        self.passed = passed
        self.shared: set[str] = calls.shared | may_be_shared
        self.shared |= {p.id for p in f.parameters if calls.leads_to_memory(p.type)}
        self.parameters = {p.id for p in f.parameters}
        self.memory = calls.shared | {n.id for n in nodes if isinstance(n, Var) and n.storage in SHARED}
        if f.side == "kernel":
            pointers = [p for p in f.parameters if isinstance(p.type, PointerTo)]
            self.memory |= {p.id for p in pointers}
        self.types = {v.id: v.type for v in (*f.parameters, *(n for n in nodes if isinstance(n, Var)))}
        if f.record is not None:
            self.types[LOCAL_THIS] = PointerTo(RecordRef(f.record))
        self._propagate(nodes, f)
        self._follow_memory(nodes)
        results = [n.value for n in nodes if isinstance(n, Return) and n.value is not None]
        leads = self.mentions_shared if isinstance(f.returns, Scalar | TypeParam) else self.touches
        self.given_back = any(map(leads, results))
        """Whether what the function returns may be, or hold, a shared address."""
        self.memory_given_back = bool(results) and all(map(self._in_memory, results))
        """Whether what it returns is an address in memory."""

    def _propagate(self, nodes: Sequence[object], f: Function) -> None:
        links: list[tuple[str, Expr]] = []
        variables = [n for n in nodes if isinstance(n, Var)]
        references = {v.id for v in variables if is_reference(v.type)}
        self.locals = {n.id for n in nodes if isinstance(n, Var) and n.storage == "local"}
        for n in nodes:
            if isinstance(n, Var):
                if n.storage in SHARED or self.calls.leads_to_memory(n.type):
                    self.shared.add(n.id)
                elif n.init is not None and n.storage != "param" and n.id not in self.passed.known:
                    links.append((n.id, n.init))
            elif isinstance(n, Assign):
                root = root_of(n.target, self.types)
                if root is not None:
                    links.append((root, n.value))
        links += [(parameter.id, value) for parameter, value in self.passed.links]
        self.shared |= {p.id for p in self.passed.open if not floating(p.type, self.real)}
        references |= {p.id for p, _ in self.passed.links if is_reference(p.type)}
        pointers = {v.id for v in variables if self.calls.holds_pointers(v.type)}
        self.numbers = {v.id for v in (*variables, *f.parameters) if floating(v.type, self.real)}
        links = [(target, value) for target, value in links if target not in self.numbers]
        grown(
            self.shared,
            lambda known: (
                target
                for target, value in links
                if target not in known
                # A reference is the element itself, not its value.
                if (target in references and self.touches(value))
                or (target in pointers and _of_own_object(value))
                or self.mentions_shared(value)
            ),
        )

    def mentions_shared(self, e: Expr) -> bool:
        """Whether a value may be, or hold, a shared address."""
        if isinstance(e, Name):
            return e.id in self.shared or not e.id
        if is_element(e):
            return self._holds_pointers(e)
        if isinstance(e, Call) and self.passed.calls(e):
            return any(map(self.mentions_shared, self.passed.results(e)))
        if isinstance(e, Call) and (found := self.called(e)):
            return any(s is None or s.gives_address for s in found)
        if isinstance(e, Call) and isinstance(e.callee, Name) and self.inert(e):
            return any(map(self.mentions_shared, e.arguments))
        if isinstance(e, Call) and any(s is None or s.gives_memory for s in self._methods(e)):
            return True
        if isinstance(e, Call | Lambda | Construct | This | UnknownExpr):
            return not self.shared.isdisjoint(names_in(e)) or isinstance(e, Lambda | This)
        if isinstance(e, Unary) and e.op == "&":
            return not self.shared.isdisjoint(names_in(e))
        return any(self.mentions_shared(c) for c in children(e) if not isinstance(c, PointerTo | RecordRef))  # type: ignore[arg-type]

    def _follow_memory(self, nodes: Sequence[object]) -> None:
        """Pointers that are only ever given addresses in memory are no other name for a local variable."""
        given: dict[str, list[Expr]] = {}
        for n in nodes:
            if isinstance(n, Var) and isinstance(n.type, PointerTo) and n.init is not None:
                named = n.init.id if n.type.reference and isinstance(n.init, Name) else n.id
                given.setdefault(named, []).append(n.init)
            elif isinstance(n, Assign) and n.op == "=" and isinstance(n.target, Name):
                given.setdefault(n.target.id, []).append(n.value)
            elif isinstance(n, Unary) and n.op == "&" and isinstance(n.operand, Name):
                given.setdefault(n.operand.id, []).append(n)  # may be set through its address
        local = [n for n in nodes if isinstance(n, Var) and n.storage == "local"]
        pointers = {n.id for n in local if isinstance(n.type, PointerTo) and not n.type.reference}
        pointers &= given.keys() - self.parameters
        grown(
            self.memory, lambda known: (id for id in pointers - known if all(map(self._in_memory, given[id])))
        )

    def _in_memory(self, e: Expr) -> bool:
        """Whether an address is one in shared memory, or in memory that the kernel is given."""
        if isinstance(e, Name):
            return e.id in self.memory
        if isinstance(e, Literal):
            return True  # null leads nowhere
        if isinstance(e, Cast):
            return self._in_memory(e.operand)
        if isinstance(e, Unary) and e.op == "&":
            return isinstance(e.operand, Index) and self._in_memory(e.operand.base)
        if isinstance(e, Binary) and e.op in ("+", "-"):
            return self._in_memory(e.left)
        if isinstance(e, Call):
            found = self.called(e) if isinstance(e.callee, Name) else self._methods(e)
            return bool(found) and all(s is not None and s.gives_memory for s in found)
        return False

    def _methods(self, e: Call) -> list[Inside | None]:
        functions = self.calls.methods(e)
        return [self.calls.inside(f, frozenset()) for f in functions]

    def called(self, e: Call) -> list[Inside | None]:
        """What is known inside each function of the module that a call by name may mean; empty where others
        may be meant."""
        functions = self.calls.functions(e)
        if any(len(f.parameters) != len(e.arguments) for f in functions):
            return []
        given = [self.touches(a) for a in e.arguments]
        return [
            self.calls.inside(
                f,
                frozenset(p.id for p, g in zip(f.parameters, given, strict=True) if g),
                self._real_inside(f, e),
            )
            for f in functions
        ]

    def _real_inside(self, f: Function, e: Call) -> frozenset[str]:
        """Ids of the template parameters of a called function that are floating-point types: by what is
        written, or by the arrays and pointers that it is given."""
        written = e.callee.arguments if isinstance(e.callee, Name) else ()
        real = {
            p.id
            for p, a in zip(f.template, written, strict=False)
            if p.kind == "type" and isinstance(a, Scalar | RecordRef | TypeParam) and floating(a, self.real)
        }
        told = {p.id for p, _ in zip(f.template, written, strict=False)}
        for p, a in zip(f.parameters, e.arguments, strict=True):
            t = held_type(p.type)
            if t is p.type or not isinstance(t, TypeParam) or t.id in told or not isinstance(a, Name):
                continue
            given = held_type(self.types.get(a.id))
            if given is not None and floating(given, self.real):
                real.add(t.id)
        return frozenset(real) - {p.id for p in f.template if p.pack}

    def _holds_pointers(self, e: Index | Member | Unary) -> bool:
        """A row of a shared array, or an element of a local array or record that shared addresses were put
        into; an array or a pointer that is a member of the object itself, or of what a function gives."""
        root = root_of(e, self.types)
        t = self.calls.written_type(e, self.types)
        if root is None:
            inner = innermost(e)
            leads = t is None or isinstance(t, ArrayOf) or self.calls.holds_pointers(t)
            return leads and (
                isinstance(inner, This) or (isinstance(inner, Call) and self.mentions_shared(inner))
            )
        if root not in self.shared:
            return False
        if isinstance(t, ArrayOf):
            return True
        if root not in self.locals:
            return isinstance(t, PointerTo)
        t = self.types.get(root)
        return not isinstance(t, PointerTo) or self.calls.holds_pointers(t.to)

    def leads_to_numbers(self, id: str) -> bool:
        """Whether a variable is a pointer to what holds no pointers itself."""
        t = self.types.get(id)
        return isinstance(t, PointerTo) and not self.calls.holds_pointers(t.to)

    def touches(self, base: Expr) -> bool:
        """Whether what is reached through this pointer may be shared."""
        return any(
            (isinstance(n, Name) and (n.id in self.shared or not n.id)) or isinstance(n, Call | This)
            for n in walk(base)
        )

    def inert(self, e: Call | Asm) -> bool:
        """Whether a call or assembler does arithmetic only."""
        return plain(e) if isinstance(e, Asm) else self.calls.inert(e)

    def reaches_shared(self, n: object) -> bool:
        """Whether a node by itself may access shared memory or pass its address on."""
        if isinstance(n, Index):
            return self.touches(n.base)
        if isinstance(n, Unary):
            return n.op == "*" and self.touches(n.operand)
        if isinstance(n, Member):
            return (n.arrow or n.name in self.calls.references) and self.touches(n.base)
        return isinstance(n, Name) and (n.id in self.shared or not n.id)


def _of_own_object(e: Expr) -> bool:
    """Whether a value is made of the object that a method runs on."""
    return any(isinstance(n, This) for n in walk(e))
