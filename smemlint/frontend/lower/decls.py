"""Declarations in functions: variables, parameters, local types; and names that members give."""

from __future__ import annotations

import re
from dataclasses import replace

from smemlint.frontend.clang import cursors, kinds
from smemlint.frontend.clang.cursors import Node
from smemlint.frontend.clang.names import valid
from smemlint.frontend.lower.context import Context
from smemlint.frontend.lower.expressions.calls import converted
from smemlint.frontend.lower.functions import FunctionLowering
from smemlint.frontend.lower.records import RecordLowering
from smemlint.frontend.lower.types import ARRAYS, innermost, is_constant
from smemlint.frontend.text.expansion import given_to, listed, put_in
from smemlint.ir import (
    SHARED,
    UNSHARED,
    ArrayOf,
    Construct,
    Declare,
    Expr,
    Index,
    InitList,
    Literal,
    Member,
    MemberType,
    Name,
    OpaqueType,
    Place,
    PointerTo,
    RecordRef,
    Scalar,
    Stmt,
    Type,
    TypeParam,
    Unary,
    UnknownStmt,
    Var,
)
from smemlint.ir.expr import uncast
from smemlint.ir.types import INT, referred
from smemlint.patterns import pattern

EXTERN, STATIC = 2, 3
_NOWHERE = Place("", 1, 1, 1, 1, 0, 0)

_BINDING = pattern(r"(?:\w+\s+)*auto(?:\s+const)?\s*(&{0,2})\s*\[")
_BEHIND_BRACE = pattern(r"\}[^;{}]*$")
_NEAR = 200
"""Bytes in front of a name in which its type's closing brace stands."""
_UNSHARED = (
    "nvcc drops the `__shared__` of a union without a name (its warning 1866): each thread has its own"
)
_WORD = pattern(r"\b[A-Za-z_]\w*")
_ALIGNMENT = pattern(r"\b(?:alignas|__align__|aligned)\s*\(.*", re.DOTALL)


class DeclarationLowering(RecordLowering, FunctionLowering):
    """Everything that declares; records and functions are the two base classes."""

    def __init__(self, context: Context) -> None:
        self._c = context
        self._arrays: dict[str, InitList] = {}
        self.start_records()
        self.start_functions()

    def place_of(self, node: Node) -> Place:
        return self._c.place(node) or _NOWHERE

    def name_place(self, node: Node) -> Place:
        """Where a declaration's name stands."""
        point = self._c.positions.point(node)
        if point is None:
            return self.place_of(node)
        file, offset = point
        return file.place(offset, offset + len(cursors.spelling(node).encode()))

    # Variables

    def local(self, node: Node) -> list[Stmt]:
        """A variable declared in a function."""
        c = self._c
        name = cursors.spelling(node)
        key = node.d0 or 0
        kids = cursors.children(node)
        shared = any(k.kind == kinds.SHARED_ATTRIBUTE for k in kids) or self._shared_behind(node)
        storage_class = cursors.storage_class(node)
        if storage_class == EXTERN and not shared:
            return []
        use = c.names.use(node)
        identifier = use.id if isinstance(use, Name) else name
        if isinstance(use, Name):
            c.scope.locals[name] = use
        storage = "local"
        if shared:
            storage = "extern_shared" if storage_class == EXTERN else "shared"
            c.declared.shared.add(key)
            self._note_shared(node)
        elif storage_class == STATIC:
            storage = "static"
        var = self.variable(node, kids, identifier, name, storage)
        if isinstance(var.init, InitList):
            self._arrays[identifier] = var.init
        return [c.stmts.with_launches(Declare(var))] if c.found.launches else [Declare(var)]

    def anonymous(self, union: Node, statement: Node) -> list[Stmt]:
        """`__shared__ union { float a[32]; int b[32]; };`: clang hides the variable that it declares, whose
        members are used by their bare names. nvcc drops the `__shared__` there (its warning 1866)."""
        c = self._c
        point = c.positions.point(union)
        text = c.positions.text(statement) or ""
        if point is None:
            return []
        head = text[: text.find("{")]
        storage = "static" if "static" in head else "local"
        if "__shared__" in head:
            c.declared.shared.add(union.d0 or 0)
            self._note_shared(union)
        identifier = c.declared.unnamed[point[0].path, point[1]] = c.declared.local_id("", point[1])
        name = "union" if union.kind == kinds.UNION else "struct"
        align = self._written_alignment(union)
        var = Var(identifier, name, c.types.record(union), storage, self.name_place(union), None, align)
        unshared = UnknownStmt(_UNSHARED, (), var.place, UNSHARED)
        return [Declare(var), *([unshared] if "__shared__" in head else [])]

    def _shared_behind(self, node: Node) -> bool:
        """`union { ... } __shared__ s;`, where clang gives the attribute to the type and drops it."""
        positions = self._c.positions
        point = positions.point(node)
        if point is None or positions.start(node) != point:
            return False
        name = cursors.spelling(node)
        if point[0].slice(point[1], point[1] + len(name)) != name:
            return False  # a macro makes it: what stands before its use is other code
        found = _BEHIND_BRACE.search(point[0].slice(max(0, point[1] - _NEAR), point[1]))
        if found is None:
            return False
        behind = found.group()
        bodies = (positions.macros().get(word) for word in _WORD.findall(behind))
        return "__shared__" in behind or any(m is not None and "__shared__" in m.body for m in bodies)

    def _note_shared(self, node: Node) -> None:
        place = self.name_place(node)
        self._c.declared.shared_refs.add((place.path, place.offset))

    def variable(self, node: Node, kids: list[Node], identifier: str, name: str, storage: str) -> Var:
        """A variable from its cursor; for array extents and initialisers its children are read."""
        c = self._c
        type_ = cursors.cursor_type(node)
        initializer = cursors.initializer(node)
        has_init = valid(initializer)
        init: Expr | None = None
        extents = [
            k for k in kids if kinds.is_expression(k.kind) and not (has_init and _same(k, initializer))
        ]
        lowered = self._variable_type(type_, extents)
        if has_init and storage not in SHARED:
            init = self._dependent(node, initializer, lowered)
            if init is None:
                init = self._initial(c.exprs.lower(initializer), lowered)
        align = self.alignment(kids)
        if align is None and storage in SHARED:
            align = self._written_alignment(node)
        const = is_constant(type_)
        volatile = storage in (*SHARED, "global") and bool(cursors.is_volatile(innermost(type_)))
        return Var(identifier, name, lowered, storage, self.name_place(node), init, align, const, volatile)

    def _variable_type(self, type_: cursors.CType, extents: list[Node]) -> Type:
        c = self._c
        if type_.kind in ARRAYS and extents:
            lowered = list(c.exprs.lower_all(extents))
            found = c.types.with_extents(type_, lowered)
            if found is not None:
                return found
        return c.types.lower(type_)

    def _dependent(self, node: Node, init: Node, type_: Type) -> Expr | None:
        """`Tile<BM> tile(a, b)` in a template: clang shows a list in brackets, which nothing but space parts
        from the name."""
        if init.kind != kinds.UNEXPOSED or not isinstance(type_, (RecordRef, TypeParam, MemberType)):
            return None
        c = self._c
        place = c.place(init)
        if place is None or not self._follows_name(place, node):
            return None
        given = cursors.children(init)
        if len(given) == 1 and given[0].kind == kinds.INIT_LIST and c.place(given[0]) == place:
            # `Tile tile{a, b}`, with temporaries that end
            return c.exprs.lower(given[0])
        return Construct(type_, c.exprs.lower_all(given), place)

    def _follows_name(self, place: Place, node: Node) -> bool:
        """Whether nothing but space stands between the name that is declared and what begins at a place."""
        end, point = self.name_place(node).end_offset, self._c.positions.point(node)
        if point is None or point[0].path != place.path or place.offset < end:
            return place.offset == end
        return not point[0].slice(end, place.offset).strip()

    def _initial(self, init: Expr, type_: Type) -> Expr | None:
        """None for a default construction that leaves the variable as it is.

        In a template clang does not show that `T *s = Helper<T>()` calls a conversion function; nothing else
        can be meant.
        """
        if (
            isinstance(init, Construct)
            and isinstance(init.type, RecordRef)
            and ((isinstance(type_, PointerTo) and not type_.reference) or isinstance(type_, Scalar))
        ):
            return converted(init, type_, init.place)
        if (
            isinstance(init, Construct)
            and not init.arguments
            and isinstance(type_, (Scalar, ArrayOf, OpaqueType))
            and type_ != OpaqueType("auto")
        ):
            return None
        if isinstance(init, Construct) and isinstance(init.type, ArrayOf) and not init.arguments:
            return None
        if isinstance(init, InitList) and isinstance(type_, (Scalar, PointerTo)) and len(init.elements) == 1:
            return init.elements[0]  # `int i{0}`
        return init

    def alignment(self, kids: list[Node]) -> Expr | None:
        """The argument of `alignas`, `__align__` or `__attribute__((aligned))`."""
        for kid in kids:
            if kid.kind != kinds.ALIGNED_ATTRIBUTE:
                continue
            inner = cursors.expressions(kid)
            if inner:
                return self._c.exprs.lower(inner[0])
            text = self.attribute_text(kid)
            arguments = self._c.texts.call_arguments(text) if text else None
            while arguments and len(arguments) == 1 and isinstance(arguments[0], InitList):
                arguments = arguments[0].elements
            if arguments:
                return arguments[0]
        return None

    def _written_alignment(self, node: Node) -> Expr | None:
        """`alignas` behind `__shared__`, which clang does not take as an attribute of the variable."""
        start, name = self._c.positions.start(node), self._c.positions.point(node)
        if start is None or name is None or start[0] is not name[0]:
            return None
        found = _ALIGNMENT.search(start[0].slice(start[1], name[1]))
        arguments = self._c.texts.call_arguments(found.group()) if found else None
        return arguments[0] if arguments else None

    def attribute_text(self, node: Node) -> str | None:
        """`aligned(16)` and the like, from the attribute or from the macro that gives it."""
        positions = self._c.positions
        start = positions.start(node)
        if start is None:
            return None
        file, offset = start
        text = file.slice(offset, offset + 400)
        word = re.match(r"[A-Za-z_]\w*", text)
        macro = positions.macros().get(word.group()) if word else None
        if macro is not None:
            use = file.slice(offset, positions.use_end(file, offset)) if macro.parameters else ""
            arguments = listed(use, use.find("(")) if "(" in use else None
            text = put_in(macro.body, given_to(macro.parameters or (), arguments[0] if arguments else ()))
        found = re.search(
            r"(?:aligned|__align__|alignas|launch_bounds\w*|cluster_dims\w*|maxnreg\w*)\s*\(.*",
            text,
            re.DOTALL,
        )
        return found.group() if found else None

    def parameter(self, node: Node, first: Node | None = None) -> Var:
        """A parameter; `first` is the same one in the first declaration, which may have the default."""
        c = self._c
        name = cursors.spelling(node)
        use = c.names.use(node)
        identifier = use.id if isinstance(use, Name) else name
        if name and isinstance(use, Name):
            c.scope.locals[name] = use
        type_ = cursors.cursor_type(node)
        lowered = c.types.decayed(c.types.lower(type_))
        default = self.default_argument(node)
        if default is None and first is not None:
            default = self.default_argument(first)
        const = bool(cursors.is_const(type_))
        restrict = bool(cursors.is_restrict(type_))
        place = self.name_place(node)
        pack = self._is_pack(lowered)
        return Var(
            identifier, name, lowered, "param", place, default, None, const, restrict=restrict, pack=pack
        )

    def _is_pack(self, t: Type) -> bool:
        """Whether a parameter of this type stands for any number of them: `T... x`, `T *...x`. Of a lambda's
        its template tells."""
        while isinstance(t, PointerTo):
            t = t.to
        if not isinstance(t, TypeParam) or t.name.startswith("auto"):
            return False
        return any(p.pack and p.id == t.id for p in self._c.scope.parameters())

    def default_argument(self, node: Node) -> Expr | None:
        """A parameter's default value."""
        kids = cursors.expressions(node)
        if not kids or self._belongs_to_type(node, kids[-1]):
            return None
        return self._c.exprs.lower(kids[-1])

    def _belongs_to_type(self, node: Node, last: Node) -> bool:
        """`Foo<N> x`, `float x[N]`: no `=` stands before the last expression."""
        found = self._c.positions.between(node, last)
        return found is not None and b"=" not in found[0].data[found[1] : found[2]]

    def structured(self, node: Node) -> list[Stmt]:
        """`auto [a, b] = x;`: a variable without a name, and references to its elements."""
        c = self._c
        kids = cursors.expressions(node)
        found = _BINDING.match(c.positions.text(node) or "")
        if found is None:
            parts = tuple(c.stmts.lower(k) for k in kids)
            return [UnknownStmt("structured binding", parts, c.place(node))] if kids else []
        init = kids[0] if kids else None  # the variable of a loop over a range has none
        array = cursors.children(init) if init is not None else []
        if init is not None and init.kind == kinds.UNEXPOSED and len(array) > 1:  # copied element by element
            init = array[0]
        place = self.place_of(node)
        type_ = referred(c.types.lower(cursors.cursor_type(node)))
        indexed = isinstance(type_, ArrayOf)
        if found[1]:
            type_ = PointerTo(type_, True)
        whole = Name(c.declared.local_id("[...]", place.offset), "[...]", place)
        given = c.exprs.lower(init) if init is not None else None
        made: list[Stmt] = [Declare(Var(whole.id, whole.name, type_, "local", place, given))]
        for i, kid in enumerate(k for k in cursors.children(node) if k.kind == kinds.UNEXPOSED_DECL):
            use = c.names.use(kid)
            part: Expr = Index(whole, Literal(i), place) if indexed else Member(whole, f"#{i}", place=place)
            if isinstance(use, Name):
                c.scope.locals[use.name] = use
                if found[1]:
                    c.declared.bound[kid.d0 or 0] = place
                part_type = PointerTo(OpaqueType("auto"), True)
                made.append(Declare(Var(use.id, use.name, part_type, "local", place, part)))
        return made

    # Local types and enumerators

    def local_type(self, node: Node) -> None:
        """Remembers `using T = ...` of a function by name, for text."""
        if node.kind == kinds.ALIAS_TEMPLATE:
            return
        name = cursors.spelling(node)
        self._c.scope.types[name] = self._c.types.lower(cursors.typedef_underlying(node))

    def local_enum(self, node: Node) -> list[Stmt]:
        """Enumerators of a function whose values depend on template parameters become constants."""
        c = self._c
        result: list[Stmt] = []
        previous: Expr | None = None
        dependent = bool(c.scope.parameters())
        for kid in cursors.children(node):
            if kid.kind != kinds.ENUMERATOR or not dependent:
                continue
            var = self.enumerator_constant(kid, previous)
            # Its value in its place: classes and lambdas of the function name it as well.
            c.declared.variables[kid.d0 or 0] = previous = var.init or Name(var.id, var.name)
            c.scope.locals[var.name] = previous
            result.append(Declare(var))
        return result

    def enumerator_constant(self, node: Node, previous: Expr | None) -> Var:
        """A constant for an enumerator; without a written value it is one more than the previous."""
        from smemlint.ir import Binary

        c = self._c
        name = cursors.spelling(node)
        kids = cursors.expressions(node)
        init: Expr
        if kids:
            init = c.exprs.lower(kids[-1])
        elif previous is not None:
            init = Binary("+", previous, Literal(1))
        else:
            init = Literal(0)
        place = self.name_place(node)
        return Var(c.declared.local_id(name, place.offset), name, INT, "constant", place, init, None, True)

    # Globals

    def require_global(self, node: Node, name: str, project: bool) -> Expr:
        """A use of a namespace-scope variable; the first one stores its definition."""
        c = self._c
        if not project:
            return Name("", c.declarations.qualified(node), None)
        defined = cursors.definition(node)
        declared = defined if valid(defined) else node
        identifier = cursors.usr(declared) or f"{name}@global"
        kids = cursors.children(declared)
        shared = any(k.kind == kinds.SHARED_ATTRIBUTE for k in kids) or any(
            k.kind == kinds.SHARED_ATTRIBUTE for k in cursors.children(node)
        )
        shared = shared or self._shared_behind(declared)
        if shared:
            c.declared.shared.update((node.d0 or 0, declared.d0 or 0))
            self._note_shared(declared)
        if identifier in c.found.globals or identifier in self._globals_open:
            return Name(identifier, name)
        self._globals_open.add(identifier)
        from smemlint.frontend.lower.scope import Scope

        with c.within(Scope(around=c.declarations.qualified(declared))):
            storage = "global"
            if shared:
                storage = "extern_shared" if cursors.storage_class(declared) == EXTERN else "shared"
            const = is_constant(cursors.cursor_type(declared))
            if storage == "global" and valid(cursors.initializer(declared)):
                storage = "constant" if const or self._is_never_set(declared, kids, name) else storage
            var = self.variable(declared, kids, identifier, name, storage)
            if storage == "constant":
                var = self.folded(declared, var)
            if storage == "global":
                exported = not const and cursors.storage_class(cursors.canonical(declared)) == EXTERN
                var = replace(var, elsewhere=not valid(defined), exported=exported)
            c.found.globals[identifier] = var
        return Name(identifier, name)

    def _is_never_set(self, node: Node, kids: list[Node], name: str) -> bool:
        """Whether constant memory keeps its initialiser: kernels cannot write it, and no host code of the
        file that is looked at names it as a symbol. A header may be used by any host code."""
        point = self._c.positions.point(node)
        if point is None or not any(k.kind == kinds.CONSTANT_ATTRIBUTE for k in kids):
            return False
        file = point[0]
        if file.path != self._c.tu.spelling:
            return False
        word = re.escape(name).encode()
        return re.search(rb'Symbol[^;{}]*\b%b\b|"%b"' % (word, word), file.data) is None

    def folded(self, node: Node, var: Var) -> Var:
        """A constant whose value clang knows gets it as its initialiser."""
        if not isinstance(var.type, Scalar) or isinstance(var.init, Literal) or var.type.kind == "float":
            return var
        value = cursors.evaluate(node)
        if not isinstance(value, int):
            return var
        return replace(var, init=Literal(value, var.type))

    def argument_array(self, passed: Expr) -> tuple[Expr, ...]:
        """Kernel arguments behind cudaLaunchKernel's `void **`, where the function writes the array."""
        passed = uncast(passed)
        if isinstance(passed, Name):
            passed = self._arrays.get(passed.id, passed)
        if not isinstance(passed, InitList):
            return ()
        return tuple(_pointed(element) for element in passed.elements)


def _pointed(expr: Expr) -> Expr:
    """`x` of `(void *)&x`."""
    expr = uncast(expr)
    return expr.operand if isinstance(expr, Unary) and expr.op == "&" else Unary("*", expr)


def _same(left: Node, right: Node) -> bool:
    return bool(left.d0 == right.d0 and left.d1 == right.d1 and left.kind == right.kind)
