"""Calls: functions, methods, constructors, conversions, operators, and the launches among them."""

from __future__ import annotations

from smemlint.frontend.clang import cursors, kinds
from smemlint.frontend.clang.cursors import Node
from smemlint.frontend.clang.names import Definition, valid
from smemlint.frontend.lower.context import Context
from smemlint.frontend.lower.expressions.builtin_operators import builtin_operator, read_value
from smemlint.frontend.lower.expressions.launchers import LAUNCHERS, changes, handed_on, library_launch
from smemlint.frontend.lower.types import LVALUE, POINTER
from smemlint.ir import (
    CONVERSION_NAME,
    Assign,
    Binary,
    Call,
    Cast,
    Construct,
    Expr,
    InitList,
    LaunchStmt,
    Literal,
    Member,
    Name,
    OpaqueType,
    Place,
    PointerTo,
    RecordRef,
    Scalar,
    StaticMember,
    TemplateArgument,
    This,
    Type,
    Unary,
    UnknownExpr,
)
from smemlint.ir.expr import OBJECT, UNREAD

_ADDRESS_OF = ("std::addressof", "cuda::std::addressof", "addressof", "__builtin_addressof")
_REFERENCES = (kinds.TYPE_REF, kinds.TEMPLATE_REF, kinds.NAMESPACE_REF)


def _pointer_from_bits(callee: Expr) -> Type | None:
    """The type of a pointer that `bit_cast<const void *>(f)` makes of the bits of another; None for any other
    call."""
    if not isinstance(callee, Name) or callee.name.rsplit("::", 1)[-1] != "bit_cast":
        return None
    to = callee.arguments[0] if len(callee.arguments) == 1 else None
    return to if isinstance(to, PointerTo) else None


class CallLowering:
    """Lowers call expressions and uses of function names."""

    def __init__(self, context: Context) -> None:
        self._c = context
        self._ids: dict[int, str] = {}

    # Function names

    def function_name(self, node: Node, target: Node) -> Expr:
        """A use of a function by name, with its template arguments, resolved or not."""
        place = self._c.place(node)
        if target.kind == kinds.OVERLOADED:
            return self._overloaded(node, target, place)
        parent = cursors.semantic_parent(target)
        if parent.kind in kinds.RECORDS and target.kind not in (kinds.CONSTRUCTOR,):
            owner = self._c.types.record(parent)
            arguments = self._arguments(node, target)
            name = cursors.spelling(target)
            self._c.work.mention(name)
            return StaticMember(owner, name, place, arguments)
        found = self._c.declarations.function(target)
        if found is None:
            name = self._c.declarations.qualified(target)
            if self._c.declarations.functions_named.get(name):
                name = f"::{name}"  # the program has functions of that name, and clang chose none of them
            return Name("", name, place, self._arguments(node, target))
        self._c.require_call(found)
        explicit = self._c.decls.is_specialisation(found)
        arguments = () if explicit else self._arguments(node, target)
        return Name(self._c.decls.function_id(found), found.name, place, arguments)

    def _is_unread(self, target: Node) -> bool:
        """Whether the program declares a function, or all that a name means, and no file defines it: it may
        be called like one of the library's."""
        if target.kind == kinds.OVERLOADED:
            every = [cursors.overload(target, i) for i in range(min(cursors.overload_count(target), 64))]
            return bool(every) and all(map(self._is_unread, every))
        known = self._c.declarations
        return (
            known.in_project(target)
            and known.in_project(cursors.canonical(target))
            and not valid(cursors.definition(target))
            and not cursors.spelling(target).startswith("__builtin_")
        )

    def _arguments(self, node: Node, target: Node) -> tuple[TemplateArgument, ...]:
        """All arguments when clang chose the instance, else those written."""
        if cursors.template_argument_count(target) > 0:
            found = self._c.types.specialisation_arguments(target)
            if found is not None and not any(isinstance(a, OpaqueType) for a in found):
                return found
        return self._written_arguments(node)

    def _written_arguments(self, node: Node) -> tuple[TemplateArgument, ...]:
        text = self._c.positions.text(node)
        if text is None:
            named = (kinds.TYPE_REF, kinds.TEMPLATE_REF)
            kids = [k for k in cursors.children(node) if kinds.is_expression(k.kind) or k.kind in named]
            if not kids:
                return ()
            body = self._c.positions.body_text(node)
            if body is None and (rest := self._c.positions.body_text(kids[0])):
                body = f"pasted<{rest}"  # `kernel_##kind<A, B>` stands nowhere
            found = self._c.texts.read_expression(body, prefix=True) if body else None
            return found.arguments if isinstance(found, (Name, StaticMember)) else ()
        return self._c.texts.hinted(node).template_arguments(text) if text.rstrip().endswith(">") else ()

    def _overloaded(self, node: Node, target: Node, place: Place | None) -> Expr:
        name = cursors.spelling(target)
        self._c.work.mention(name)
        arguments = self._written_arguments(node)
        candidates: list[Definition] = []
        library: Node | None = None
        owners: dict[str, Node] = {}
        for i in range(min(cursors.overload_count(target), 64)):
            overload = cursors.overload(target, i)
            parent = cursors.semantic_parent(overload)
            owners[cursors.usr(parent)] = parent
            found = self._c.declarations.function(overload)
            if found is not None:
                candidates.append(found)
            elif library is None or self._is_unread(library):
                library = overload
        if candidates and len(owners) == 1:
            # The instance or specialisation that is written: `A<7>::go` and `A<0>::go` can be two functions.
            parent = next(iter(owners.values()))
            if parent.kind in kinds.RECORDS:
                for candidate in candidates:
                    self._c.require_call(candidate)
                return StaticMember(self._c.types.record(parent), name, place, arguments)
        if library is not None:
            parent = cursors.semantic_parent(library)
            if parent.kind in kinds.RECORDS and not candidates:
                inherited = (
                    self._c.declarations.record(parent) is not None and library.kind in kinds.FUNCTIONS
                )
                if inherited and not cursors.is_static_method(library):
                    return Member(This(place), name, True, place, arguments)
                return StaticMember(self._c.types.record(parent), name, place, arguments)
            if not candidates:
                full = self._c.declarations.qualified(library)
                return Name("", self._in_full(name, full), place, arguments)
        if not candidates:
            candidates = self._c.declarations.functions_named.get(name, [])
            return self.overload_set(name, candidates, place, arguments)
        meant = self.overload_set(name, candidates, place, arguments)
        scopes = {self._c.declarations.qualified(c.node) for c in candidates if c.record is None}
        if isinstance(meant, Name) and not meant.id and len(scopes) == 1:
            return Name("", scopes.pop(), place, arguments)
        return meant

    def _named(self, node: Node) -> Node:
        named: Node = cursors.referenced(self._c.exprs.unwrap_implicit(node))
        return named

    def _hidden(self, node: Node) -> tuple[str, ...]:
        """Ids of functions of the same name in other namespaces than those that a call means which a template
        leaves open: its arguments may bring them in."""
        target = self._named(node)
        if target.kind != kinds.OVERLOADED or not cursors.overload_count(target):
            return ()
        known, first = self._c.declarations, cursors.overload(target, 0)
        if cursors.semantic_parent(first).kind in kinds.RECORDS:
            return ()
        own = known.qualified(first)
        text = self._c.positions.text(node) or self._c.positions.body_text(node) or ""
        name, ids = own.rpartition("::")[2], list[str]()
        for other in () if "::" in text.partition("<")[0] else known.functions_named.get(name, ()):
            if other.record is None and known.qualified(other.node) != own:
                self._c.require_call(other)
                ids.append(self._c.decls.function_id(other))
        return tuple(ids)

    def _in_full(self, name: str, found: str) -> str:
        """The name of a function of the library; with `::` in front where a function of the program has the
        same one."""
        return f"::{name}" if found == name and self._c.declarations.functions_named.get(name) else found

    def overload_set(
        self,
        name: str,
        candidates: list[Definition],
        place: Place | None,
        arguments: tuple[TemplateArgument, ...],
    ) -> Expr:
        """One candidate is meant by id; several by name, which `Module.overloads` resolves."""
        unique = {c.key: c for c in candidates if not self._c.decls.is_specialisation(c)}
        self._c.work.mention(name)
        for candidate in candidates:
            self._c.require_call(candidate)
        if len(unique) == 1:
            only = next(iter(unique.values()))
            if only.record is None:
                return Name(self._c.decls.function_id(only), only.name, place, arguments)
        return Name("", name, place, arguments)

    # Calls

    def call(self, node: Node) -> Expr:
        kids = cursors.children(node)
        target = cursors.referenced(node)
        if target.kind == kinds.CONSTRUCTOR:
            return self._construct(node, kids, target)
        if target.kind == kinds.CONVERSION and kids and kids[0].kind == kinds.MEMBER_REF_EXPR:
            return self._conversion(node, kids[0])
        if not kids:
            return self._unresolved_construct(node, kids)
        if len(kids) > 1 and self._is_configuration(kids[1]):
            return self._launch(node, kids)
        if kids[0].kind in _REFERENCES:
            return self._unresolved_construct(node, kids)
        operator = self._operator_of(kids, target)
        if operator is not None:
            return self._operator_call(node, kids, target, operator)
        literal = target.kind in kinds.FUNCTIONS and cursors.spelling(target).startswith(
            'operator""'
        )  # `5_kb`
        if not literal and cursors.extent(kids[0]).begin != cursors.extent(node).begin:
            return self._unresolved_construct(node, kids)
        callee = self._c.exprs.lower(kids[0])
        if isinstance(callee, Name) and callee.id == "" and callee.name in LAUNCHERS:
            return self._library_launch(node, callee.name, kids[1:])
        arguments = self._lower_arguments(kids[1:], target)
        place = self._c.place(node)
        launch = handed_on(self._c, callee, kids[1:], arguments, place)
        if launch is not None:
            self._c.found.launches.append(launch)
            return Literal(0, place=place)
        if isinstance(callee, Name) and callee.name in _ADDRESS_OF and len(arguments) == 1:
            return Unary("&", arguments[0], place)
        if target.kind == kinds.CONVERSION and isinstance(callee, Member):
            return converted(callee.base, self._c.types.of(node), place)
        if (pointer := _pointer_from_bits(callee)) is not None and len(arguments) == 1:
            return Cast(pointer, arguments[0], place=place)
        elsewhere: Type | None = None
        lent: tuple[int, ...] = ()
        if self._is_elsewhere(target):
            lent = _lent(target)
            if cursors.cursor_result_type(target).kind in (POINTER, LVALUE):
                elsewhere = self._c.types.of(node)
        if isinstance(callee, Name) and self._is_unread(target if valid(target) else self._named(kids[0])):
            lent = (*lent, UNREAD)
        hidden = self._hidden(kids[0]) if isinstance(callee, Name) else ()
        return Call(callee, arguments, place, elsewhere, self._chosen(target), lent, hidden)

    def _chosen(self, target: Node) -> str:
        """The id of the method or constructor that clang chose, of an instance that of its pattern."""
        if target.kind not in (kinds.METHOD, kinds.CONSTRUCTOR):
            return ""
        key = target.d0 or 0
        known = self._ids.get(key)
        if known is None:
            for _ in range(4):
                pattern = cursors.specialized_template(target)
                if not valid(pattern):
                    break
                target = pattern
            known = self._ids[key] = "" if self._has_twin(target) else cursors.usr(target)
        return known

    def _has_twin(self, method: Node) -> bool:
        """Whether another method differs in what it requires alone: clang gives both one id."""
        where = self._c.positions.point(method)
        if where is None or b"requires" not in where[0].data:
            return False
        usr = cursors.usr(method)
        kids = cursors.children(cursors.semantic_parent(method))
        return sum(k.kind == method.kind and cursors.usr(k) == usr for k in kids) > 1

    def _is_elsewhere(self, target: Node) -> bool:
        """Whether a function is declared by the project and defined in another source: all that is known of
        what it returns is its type, of which a kernel's is deduced where that is a pointer or reference."""
        return (
            target.kind in (kinds.FUNCTION, kinds.METHOD)
            and self._c.declarations.in_project(target)
            and not valid(cursors.definition(target))
        )

    def recovered(self, node: Node, parts: list[Node]) -> Expr:
        """A call that clang could not type: callee and arguments are all there."""
        callee = self._c.exprs.lower(parts[0])
        place = self._c.place(node)
        if len(parts) > 1 and self._is_configuration(parts[1]):
            return self._launch(node, parts)
        return Call(callee, self._c.exprs.lower_all(parts[1:]), place)

    def _lower_arguments(self, nodes: list[Node], target: Node) -> tuple[Expr, ...]:
        """Arguments, defaults of project functions filled in, those of the library left out."""
        lowered: list[Expr] = []
        for index, node in enumerate(nodes):
            if node.kind == kinds.UNEXPOSED and self._is_default(node):
                default = self._default(target, index)
                if default is None:
                    break
                lowered.append(default)
            else:
                lowered.append(self._c.exprs.lower(node))
        return tuple(lowered)

    @staticmethod
    def _is_default(node: Node) -> bool:
        return bool(cursors.extent(node).begin == 0)

    def _default(self, target: Node, index: int) -> Expr | None:
        if target.kind not in kinds.FUNCTIONS or not self._c.declarations.in_project(target):
            return None
        for declared in (target, cursors.canonical(target), cursors.definition(target)):
            if not valid(declared):
                continue
            parameters = [k for k in cursors.children(declared) if k.kind == kinds.PARAMETER]
            if index < len(parameters):
                default = self._c.decls.default_argument(parameters[index])
                if default is not None:
                    return default
        return None

    # Construction and conversion

    def _construct(self, node: Node, kids: list[Node], target: Node) -> Expr:
        place = self._c.place(node)
        expressions = [k for k in kids if kinds.is_expression(k.kind)]
        if any(k.kind == kinds.TEMPLATE_REF for k in kids):
            expressions = self._after_type(node, expressions)
        type_ = self._c.types.of(node)
        found = self._c.declarations.function(target)
        if found is None and len(expressions) == 1:
            inner_type = self._c.types.of(expressions[0])
            if inner_type == type_ or isinstance(type_, OpaqueType):
                return self._c.exprs.lower(expressions[0])
        arguments = self._lower_arguments(expressions, target)
        if isinstance(type_, Scalar):
            return (
                Cast(type_, arguments[0], place=place)
                if len(arguments) == 1
                else Construct(type_, arguments, place)
            )
        return Construct(type_, arguments, place, self._chosen(target))

    def _conversion(self, node: Node, member: Node) -> Expr:
        """A conversion function's call, cast to the type that clang found it to have."""
        kids = cursors.children(member)
        place = self._c.place(node)
        operand: Expr = self._c.exprs.lower(kids[0]) if kids else This(place)
        return converted(operand, self._c.types.of(node), place)

    def _unresolved_construct(self, node: Node, kids: list[Node]) -> Expr:
        """`T(x)`, `Helper<T>()` where the type depends on template parameters."""
        place = self._c.place(node)
        type_ = self._c.types.of(node)
        expressions = [k for k in kids if kinds.is_expression(k.kind)]
        arguments = self._c.exprs.lower_all(self._after_type(node, expressions))
        if len(arguments) == 1 and not isinstance(arguments[0], InitList):
            return Cast(type_, arguments[0], place=place)
        if len(arguments) == 1 and isinstance(arguments[0], InitList):
            return Construct(type_, arguments[0].elements, arguments[0].place or place)
        return Construct(type_, arguments, place)

    def _after_type(self, node: Node, expressions: list[Node]) -> list[Node]:
        """The expressions in the argument list: template arguments stand before its parenthesis."""
        text = self._c.positions.text(node)
        start = self._c.positions.start(node)
        if not expressions or text is None or start is None or text[-1:] not in ")}":
            return expressions
        opening = _opening(text)
        if opening is None:
            return expressions
        limit = start[1] + len(text[:opening].encode())
        kept = []
        for expression in expressions:
            at = self._c.positions.start(expression)
            if at is None or at[0] is not start[0] or at[1] >= limit:
                kept.append(expression)
        return kept

    # Operators

    def _operator_of(self, kids: list[Node], target: Node) -> str | None:
        """`+` of a call in operator form (first operand, operator, others); else None."""
        if len(kids) < 2 or (
            kids[0].kind == kinds.MEMBER_REF_EXPR
            and target.kind == kinds.METHOD
            and not self._names_operator(kids[1])
        ):
            return None
        return self._names_operator(kids[1])

    def _names_operator(self, node: Node) -> str | None:
        callee = self._c.exprs.unwrap_implicit(node)
        if callee.kind != kinds.DECL_REF:
            return None
        name = cursors.spelling(callee)
        if not name:
            inner = cursors.children(callee)
            if not inner or inner[0].kind != kinds.OVERLOADED:
                return None
            name = cursors.spelling(inner[0])
        if not name.startswith("operator") or len(name) < 9 or name[8].isalnum() or name[8] == "_":
            return None
        return name[8:].strip()

    def _operator_call(self, node: Node, kids: list[Node], target: Node, operator: str) -> Expr:
        c = self._c
        operands = [kids[0], *kids[2:]]
        place = c.place(node)
        resolved = target.kind in kinds.FUNCTIONS
        found = c.declarations.function(target) if resolved else None
        member = target.kind == kinds.METHOD
        if found is None and member and operator == "=" and cursors.is_defaulted(target):
            member = False
        lowered = list(self._lower_arguments(operands, target if not member else Node()))
        own = member and c.declarations.record(cursors.semantic_parent(target)) is not None
        if found is not None or own:
            if operator == "=" and cursors.is_defaulted(target):
                return Assign("=", lowered[0], lowered[1], place)
            if member:
                callee: Expr = Member(lowered[0], f"operator{operator}", False, place)
                return Call(callee, tuple(lowered[1:]), place, chosen=self._chosen(target))
            assert found is not None
            c.work.require(found)
            name = Name(c.decls.function_id(found), found.name, place, self._arguments(kids[1], target))
            return Call(name, tuple(lowered), place)
        if operator == ">>" and member and len(lowered) == 2 and _is_stream(cursors.semantic_parent(target)):
            return read_value(lowered[0], lowered[1], place)
        if not resolved:
            self._require_operators(kids[1])
        return builtin_operator(operator, lowered, place, resolved)

    def _require_operators(self, node: Node) -> None:
        """Lower the functions of the program that an operator may mean which a template leaves open."""
        callee = self._c.exprs.unwrap_implicit(node)
        for target in cursors.children(callee):
            if target.kind == kinds.OVERLOADED:
                for i in range(min(cursors.overload_count(target), 64)):
                    found = self._c.declarations.function(cursors.overload(target, i))
                    if found is not None and found.record is None:
                        self._c.require_call(found)

    # Launches

    def _is_configuration(self, node: Node) -> bool:
        return node.kind == kinds.CALL and cursors.spelling(node) in (
            "cudaConfigureCall",
            "__cudaPushCallConfiguration",
        )

    def _launch(self, node: Node, kids: list[Node]) -> Expr:
        """`kernel<<<grid, block, dynamic>>>(arguments)`; put aside for the statement around it."""
        c = self._c
        place = c.place(node)
        kernel = c.exprs.lower(kids[0])
        shape = [None if self._is_default(k) else self._extents(k) for k in cursors.children(kids[1])[1:]]
        shape += [None] * (4 - len(shape))
        arguments = c.exprs.lower_all([k for k in kids[2:] if not self._is_default(k)])
        stream = shape[3] if shape[3] is not None and changes(shape[3]) else None
        if place is not None:
            launch = LaunchStmt(kernel, shape[0], shape[1], shape[2], arguments, place, stream=stream)
            c.found.launches.append(launch)
        return Literal(0, place=place)

    def _extents(self, node: Node) -> Expr:
        """A shape, which braces may have made (`in_parentheses`)."""
        inner = node
        while inner.kind in (kinds.UNEXPOSED, kinds.CALL) and (kids := cursors.children(inner)):
            inner = kids[0]
        lowered = self._c.exprs.lower(inner if inner.kind == kinds.PAREN else node)
        parts: list[Expr] = []
        while isinstance(lowered, Binary) and lowered.op == "," and inner.kind == kinds.PAREN:
            parts.insert(0, lowered.right)
            lowered = lowered.left
        if not parts:
            return self._c.exprs.lower(node)
        return Construct(RecordRef("dim3"), (lowered, *parts), self._c.place(node))

    def _library_launch(self, node: Node, name: str, nodes: list[Node]) -> Expr:
        """A call of the run-time library or the driver that starts a kernel."""
        place, lowered = self._c.place(node), self._c.exprs.lower_all(nodes)
        if place is None or not lowered:
            return UnknownExpr("launch", tuple(lowered), place)
        self._c.found.launches += library_launch(name, lowered, place)
        return Literal(0, place=place)


def converted(operand: Expr, to: Type, place: Place | None) -> Expr:
    """A record turned into something else by its conversion function."""
    callee = Member(operand, CONVERSION_NAME, False, place)
    return Cast(to, Call(callee, (), place), place=place)


def _is_stream(record: Node) -> bool:
    """Is it one of the library's classes that are read from with `>>`?"""
    return cursors.spelling(record) in ("istream", "fstream", "stringstream")


def _opening(text: str) -> int | None:
    """Where the parenthesis or brace that the text ends with opens."""
    depth = 0
    for at in range(len(text) - 1, -1, -1):
        char = text[at]
        if char in ")}":
            depth += 1
        elif char in "({":
            depth -= 1
            if depth == 0:
                return at
    return None


def _lent(function: Node) -> tuple[int, ...]:
    """The numbers of the parameters that are references to what a function may set."""
    given = [cursors.cursor_type(k) for k in cursors.children(function) if k.kind == kinds.PARAMETER]
    to = [cursors.canonical_type(cursors.pointee_type(t)) if t.kind == LVALUE else None for t in given]
    own = (OBJECT,) if function.kind == kinds.METHOD and not cursors.is_const_method(function) else ()
    return *own, *(i for i, t in enumerate(to) if t is not None and not cursors.is_const(t))
