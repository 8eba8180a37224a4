"""Which statements no address, mask or loop bound depends on: those are run once, for their size, then
skipped.

Most of a kernel's time goes into arithmetic on values that never become an address. The analysis
looks at one function at a time, without regard to order: it may keep too much, never too little.
"""

from __future__ import annotations

from dataclasses import field

from smemlint.ir import (
    ArrayOf,
    Asm,
    Assign,
    Block,
    Break,
    Call,
    Cast,
    Conditional,
    Construct,
    Continue,
    Declare,
    Evaluate,
    Expr,
    Function,
    If,
    Index,
    Lambda,
    LaunchStmt,
    Loop,
    Member,
    Name,
    OpaqueType,
    PointerTo,
    RecordRef,
    Return,
    Scalar,
    Stmt,
    Switch,
    This,
    Type,
    Unary,
    UnknownExpr,
    UnknownStmt,
    Var,
)
from smemlint.ir.walk import children, walk
from smemlint.patterns import pattern
from smemlint.records import record

PURE_CALLS = frozenset(
    [
        "fmaf",
        "fma",
        "__fmaf_rn",
        "fmaxf",
        "fminf",
        "fmax",
        "fmin",
        "max",
        "min",
        "sqrtf",
        "rsqrtf",
        "expf",
        "__expf",
        "exp",
        "logf",
        "log",
        "powf",
        "pow",
        "fabsf",
        "fabs",
        "abs",
        "__half2float",
        "__float2half",
        "__hadd",
        "__hmul",
        "__hfma",
        "__hadd2",
        "__hmul2",
        "__hfma2",
        "__hmax",
        "__hmin",
        "__low2float",
        "__high2float",
        "tanhf",
        "sinf",
        "cosf",
        "sincosf",
        "__fdividef",
        "__frcp_rn",
        "__float2half_rn",
        "make_float2",
        "make_float4",
        "make_int2",
        "make_int4",
        "make_double2",
        "__bfloat162float",
        "__float2bfloat16",
        "__float22half2_rn",
        "__half22float2",
        "__ldg",
    ]
)


@record(slots=True)
class _Facts:
    """What one statement does, sub-statements included."""

    sticky: bool = False
    """Returns, calls, asm: cannot be skipped."""
    access: bool = False
    """May access shared memory: can be skipped only where nothing is recorded."""
    assigned: set[str] = field(default_factory=set)
    declared: set[str] = field(default_factory=set)


class Slice:
    """skippable: id() of the statements that can be skipped, given which parameters may be shared.

    quiet: those that can be skipped in an iteration that leaves no trace, for they only access.
    sets: what a skipped statement would have changed; it is unknown afterwards.
    """

    def __init__(self, f: Function, may_be_shared: frozenset[str]) -> None:
        self.shared: set[str] = set(may_be_shared)
        self.parameters = {p.id for p in f.parameters}
        nodes = list(walk(f.body))
        self._spread_shared(nodes, f)
        self.relevant: set[str] = set()
        self._spread_relevant(nodes)
        self.facts: dict[int, _Facts] = {}
        self.skippable: set[int] = set()
        self.quiet: set[int] = set()
        self.sets: dict[int, frozenset[str]] = {}
        self.open: set[int] = set()
        self._visit(f.body)

    # names that may hold shared addresses

    def _spread_shared(self, nodes: list[object], f: Function) -> None:
        links: list[tuple[str, Expr]] = []
        variables = [n for n in nodes if isinstance(n, Var)]
        references = {v.id for v in variables if isinstance(v.type, PointerTo) and v.type.reference}
        self.locals = {n.id for n in nodes if isinstance(n, Var) and n.storage == "local"}
        for n in nodes:
            if isinstance(n, Var):
                if n.storage in ("shared", "extern_shared"):
                    self.shared.add(n.id)
                elif n.init is not None and n.storage != "param":
                    links.append((n.id, n.init))
            elif isinstance(n, Assign):
                root = root_of(n.target)
                if root is not None:
                    links.append((root, n.value))
        self.numbers = {v.id for v in (*variables, *f.parameters) if _floating(v.type)}
        links = [(target, value) for target, value in links if target not in self.numbers]
        changed = True
        while changed:
            changed = False
            for target, value in links:
                if target in self.shared:
                    continue
                # A reference is the element itself, not its value.
                named = target in references and self._touches(value)
                if named or self._mentions_shared(value):
                    self.shared.add(target)
                    changed = True

    def _mentions_shared(self, e: Expr) -> bool:
        """Whether a value may be, or hold, a shared address."""
        if isinstance(e, Name):
            return e.id in self.shared or not e.id
        if isinstance(e, Index | Member):
            return self._holds_pointers(e)
        if isinstance(e, Unary) and e.op == "*":
            return False
        if isinstance(e, Call | Lambda | Construct | This | UnknownExpr):
            return any(isinstance(n, Name) and n.id in self.shared for n in walk(e)) or isinstance(
                e, Lambda | This
            )
        if isinstance(e, Unary) and e.op == "&":
            return any(isinstance(n, Name) and n.id in self.shared for n in walk(e))
        return any(self._mentions_shared(c) for c in children(e) if not isinstance(c, PointerTo | RecordRef))  # type: ignore[arg-type]

    def _holds_pointers(self, e: Index | Member) -> bool:
        """An element of a local array or record that shared addresses were put into."""
        root = root_of(e)
        return root in self.shared and root in self.locals

    # names whose values matter

    def _spread_relevant(self, nodes: list[object]) -> None:
        links: list[tuple[str, Expr]] = []
        variables = [n for n in nodes if isinstance(n, Var)]
        pointers = {v.id for v in variables if isinstance(v.type, PointerTo | OpaqueType)}
        own = {v.id for v in variables if v.storage == "local"} | self.parameters
        for n in nodes:
            if isinstance(n, Index) and self._touches(n.base):
                self._need(n.index, n.base)
            elif isinstance(n, Unary) and n.op == "*" and self._touches(n.operand):
                self._need(n.operand)
            elif isinstance(n, Member) and n.arrow and self._touches(n.base):
                self._need(n.base)
            elif isinstance(n, If | Switch | Conditional | Loop):
                condition = n.value if isinstance(n, Switch) else n.condition
                if condition is not None:
                    self._need(condition)
            elif isinstance(n, Call):
                if not (isinstance(n.callee, Name) and n.callee.name in PURE_CALLS):
                    self._need(n, numbers=False)
            elif isinstance(n, Asm | UnknownExpr | Lambda | Construct):
                self._need(n, numbers=False)
            elif isinstance(n, Return) and n.value is not None:
                self._need(n.value, numbers=False)
            elif isinstance(n, LaunchStmt):
                self._need(*n.arguments)
            if isinstance(n, Var) and n.init is not None:
                links.append((n.id, n.init))
                if n.id in self.shared:
                    self._need(n.init)
            elif isinstance(n, Assign):
                root = root_of(n.target)
                if root is not None:
                    links.append((root, n.value))
                    links.append((root, n.target))
                    if root in self.shared:
                        self._need(n.value) if isinstance(n.target, Name) else None
        changed = True
        while changed:
            changed = False
            for target, value in links:
                names = {n.id for n in walk(value) if isinstance(n, Name)}
                if target in self.relevant:
                    if names - self.relevant:
                        self.relevant |= names
                        changed = True
                elif target in pointers and not names.isdisjoint(self.relevant & own):
                    # What is written through it may be the variable that matters.
                    self.relevant.add(target)
                    changed = True

    def _need(self, *expressions: object, numbers: bool = True) -> None:
        """The names in expressions matter; `numbers`: floating-point ones too, for they may become an
        index."""
        for e in expressions:
            names = {n.id for n in walk(e) if isinstance(n, Name)}
            self.relevant |= names if numbers else names - self.numbers

    def _touches(self, base: Expr) -> bool:
        """Whether what is reached through this pointer may be shared."""
        return any(
            (isinstance(n, Name) and (n.id in self.shared or not n.id)) or isinstance(n, Call | This)
            for n in walk(base)
        )

    # statements

    def _visit(self, s: Stmt) -> _Facts:
        facts = _Facts()
        parts: list[Stmt] = []
        expressions: list[Expr] = []
        if isinstance(s, Block):
            parts = list(s.body)
        elif isinstance(s, If):
            expressions = [s.condition]
            parts = [s.then] + ([s.otherwise] if s.otherwise is not None else [])
        elif isinstance(s, Loop):
            expressions = [e for e in (s.condition, s.step) if e is not None]
            parts = ([s.init] if s.init is not None else []) + [s.body]
        elif isinstance(s, Switch):
            facts.sticky = True
            parts = [x for c in s.cases for x in c.body]
        elif isinstance(s, Declare):
            facts.declared.add(s.var.id)
            if s.var.id in self.relevant or s.var.storage != "local":
                facts.sticky = True
            expressions = [s.var.init] if s.var.init is not None else []
            if isinstance(s.var.type, RecordRef):
                facts.sticky = True
        elif isinstance(s, Evaluate):
            expressions = [s.expr]
        elif isinstance(s, Return | LaunchStmt | UnknownStmt | Break | Continue):
            facts.sticky = True
            parts = list(s.parts) if isinstance(s, UnknownStmt) else []
        for e in expressions:
            self._expression(e, facts)
        below = [self._visit(p) for p in parts]
        for b in below:
            facts.sticky = facts.sticky or b.sticky
            facts.access = facts.access or b.access
            facts.assigned |= b.assigned
            facts.declared |= b.declared
        outside = facts.assigned - facts.declared
        if isinstance(s, If | Loop | Evaluate) and not facts.sticky and not outside & self.relevant:
            self.quiet.add(id(s))
            self.sets[id(s)] = frozenset(outside)
            if not facts.access:
                self.skippable.add(id(s))
        return facts

    def _expression(self, e: Expr, facts: _Facts) -> None:
        for n in walk(e):
            if isinstance(n, Assign):
                root = root_of(n.target)
                if root is None:
                    facts.sticky = True
                else:
                    facts.assigned.add(root)
            elif isinstance(n, Unary) and n.op in ("++x", "--x", "x++", "x--"):
                root = root_of(n.operand)
                if root is None:
                    facts.sticky = True
                else:
                    facts.assigned.add(root)
            elif isinstance(n, Call):
                if not (isinstance(n.callee, Name) and n.callee.name in PURE_CALLS):
                    facts.sticky = True
            elif isinstance(n, Asm | UnknownExpr | Lambda | Construct | This):
                facts.sticky = True
            elif self._reaches_shared(n):
                facts.access = True

    def _reaches_shared(self, n: object) -> bool:
        """Whether a node by itself may access shared memory or pass its address on."""
        if isinstance(n, Index):
            return self._touches(n.base)
        if isinstance(n, Unary):
            return n.op == "*" and self._touches(n.operand)
        if isinstance(n, Member):
            return n.arrow and self._touches(n.base)
        return isinstance(n, Name) and (n.id in self.shared or not n.id)


_FLOAT_RECORDS = pattern(
    r"(?:\w+::)*(?:float[1-4]|double[1-4]|__half2?|half2?|__nv_bfloat162?|nv_bfloat162?)$"
)


def _floating(t: Type) -> bool:
    """Floating-point numbers, vectors and arrays of them: no address can hide there."""
    while isinstance(t, ArrayOf):
        t = t.element
    if isinstance(t, RecordRef):
        return not t.arguments and _FLOAT_RECORDS.match(t.name) is not None
    return isinstance(t, Scalar) and t.kind == "float"


def root_of(e: Expr) -> str | None:
    """The variable that an assignment target belongs to, or points from."""
    while True:
        if isinstance(e, Name):
            return e.id or None
        if isinstance(e, Index | Member):
            e = e.base
        elif isinstance(e, Cast) or (isinstance(e, Unary) and e.op in ("*", "&")):
            e = e.operand
        else:
            return None
