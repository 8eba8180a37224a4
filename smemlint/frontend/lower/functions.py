"""Functions, methods and kernels with a body."""

from __future__ import annotations

from dataclasses import replace

from smemlint.frontend.clang import cursors, kinds
from smemlint.frontend.clang.cursors import Node
from smemlint.frontend.clang.names import Definition, earlier, sides, valid
from smemlint.frontend.lower.context import Context
from smemlint.frontend.lower.gotos import jump_into_block
from smemlint.frontend.lower.scope import Scope
from smemlint.frontend.lower.templates.parameters import parameter_list
from smemlint.frontend.lower.templates.variables import asked_of
from smemlint.frontend.text.expansion import listed
from smemlint.frontend.text.requires import both
from smemlint.ir import (
    Block,
    Expr,
    Function,
    InitList,
    Name,
    OpaqueType,
    RecordRef,
    Stmt,
    TemplateParam,
    TypeParam,
    UnknownStmt,
    Var,
)
from smemlint.ir.walk import walk
from smemlint.patterns import pattern

_CLUSTER = pattern(r"__cluster_dims__\s*\(")


_CONSTEXPR = pattern(r"\bconst(?:expr|eval)\b")
_OF_AUTO = pattern(r"(?:const |volatile )*([A-Za-z_][\w:]*(?:<.*>)?) auto")
_DEVICE = pattern(rb"__global__|__device__|constexpr|DEVICE|_HD\b")


class FunctionLowering:
    """The part of declaration lowering that knows functions."""

    _c: Context

    def start_functions(self) -> None:
        self._globals_open: set[str] = set()
        self._special: dict[int, bool] = {}
        self.specialisations: dict[str, list[str]] = {}

    def function_id(self, found: Definition) -> str:
        """Unique in the module, the same for a declaration and its definition."""
        if not found.usr:
            usr = cursors.usr(found.node) or f"{found.name}@{found.begin}"
            other = self._c.found.function_keys.setdefault(usr, found.key)
            found.usr = usr if other == found.key else f"{usr}@{found.begin}"
        return found.usr

    def is_specialisation(self, found: Definition) -> bool:
        """An explicit full specialisation of a function template."""
        known = self._special.get(found.key)
        if known is None:
            known = (
                found.node.kind != kinds.FUNCTION_TEMPLATE and cursors.template_argument_count(found.node) > 0
            )
            self._special[found.key] = known
        return known

    def lower_function(self, found: Definition) -> None:
        """Stores the function; a failure inside is a reason in its body, never an exception."""
        c = self._c
        identifier = self.function_id(found)
        if identifier in c.found.functions:
            return
        own = found.record
        owner = c.declarations.around(found.node) if own is None else c.declarations.record(own)
        name = None if owner is None else c.decls.stored_name(owner)
        outer: tuple[TemplateParam, ...] = ()
        if (seen := owner or found.friend_of) is not None:
            c.decls.require_record(seen)
            outer = c.decls.parameters(seen)
        c.host = not _DEVICE.search(
            found.file.data, max(found.begin - 200, 0), min(found.begin + 600, found.end)
        )
        around = self._c.decls.around(owner)
        full = c.declarations.qualified(found.node)
        with c.within(Scope([outer] if outer else [], dict(around.locals), dict(around.types), name, full)):
            c.found.functions[identifier] = self._read_function(found, identifier, owner, outer)

    def _read_function(
        self, found: Definition, identifier: str, owner: Definition | None, outer: tuple[TemplateParam, ...]
    ) -> Function:
        c = self._c
        node = found.node
        kids = cursors.children(node)
        own = self._template(found, kids, outer if found.friend_of is None else ())
        c.scope.templates.append(own)
        if found.friend_of is not None:
            own = (*outer, *own)  # told by the arguments of a call
        parameters: list[Var] = []
        launch_bounds: tuple[Expr, ...] = ()
        cluster_dims: tuple[Expr, ...] = ()
        body: Node | None = None
        told = sides(node) or (set() if found.told_by is None else sides(found.told_by))
        initialisers: list[tuple[str, Expr]] = []
        earlier = self._first_parameters(node)
        for index, kid in enumerate(kids):
            if kid.kind == kinds.PARAMETER:
                first = earlier[len(parameters)] if len(parameters) < len(earlier) else None
                parameters.append(self._c.decls.parameter(kid, first))
            elif kid.kind == kinds.OTHER_ATTRIBUTE:
                text = self._c.decls.attribute_text(kid) or ""
                if text.startswith("launch_bounds"):
                    launch_bounds = c.texts.call_arguments(text) or launch_bounds
                elif text.startswith("cluster_dims"):
                    cluster_dims = c.texts.call_arguments(text) or cluster_dims
            elif kid.kind == kinds.MEMBER_REF and node.kind in (kinds.CONSTRUCTOR, kinds.FUNCTION_TEMPLATE):
                if index + 1 < len(kids) and kinds.is_expression(kids[index + 1].kind):
                    initialisers.append((cursors.spelling(kid), self._member(kids[index + 1])))
            elif kid.kind in (kinds.TYPE_REF, kinds.TEMPLATE_REF):
                if node.kind == kinds.CONSTRUCTOR and is_after_parameters(kids, index):
                    initialisers += self._base(kids, index)
            elif kid.kind in (kinds.COMPOUND, kinds.TRY):
                body = kid
        if not cluster_dims:
            header = found.file.slice(found.begin, min(found.end, found.begin + 600))
            cluster = _CLUSTER.search(header)
            if cluster:
                cluster_dims = c.texts.call_arguments(header[cluster.start() :]) or ()
        left = kinds.GLOBAL_ATTRIBUTE in told and not c.has_body(found)
        unread = body is None and not cursors.is_definition(node)
        lowered: Stmt = Block(()) if body is None or left else self._body(body, found.text())
        if unread and node.kind != kinds.FUNCTION_TEMPLATE:
            lowered = UnknownStmt("defined in no file", (), self._c.place(node))
            given = [cursors.cursor_type(k) for k in kids if k.kind == kinds.PARAMETER]
            read = [bool(cursors.is_const(cursors.canonical_type(cursors.pointee_type(t)))) for t in given]
            parameters = [replace(p, const=p.const or c) for p, c in zip(parameters, read, strict=True)]
        specialises = None
        if self.is_specialisation(found):
            specialises = c.types.specialisation_arguments(node)
            self._list_specialisation(node, identifier)
        elif owner is not None and owner.node.kind == kinds.CLASS_TEMPLATE:
            instance = cursors.semantic_parent(node)
            if instance.kind in kinds.RECORDS and instance.kind != kinds.CLASS_TEMPLATE:
                specialises = c.types.specialisation_arguments(instance)
        place = self._c.decls.name_place(node)
        if not told and _CONSTEXPR.search(found.file.slice(found.begin, max(place.offset, found.begin))):
            told = {
                kinds.HOST_ATTRIBUTE,
                kinds.DEVICE_ATTRIBUTE,
            }  # as constant expressions of device code call it
        return Function(
            id=identifier,
            name=found.name,
            parameters=tuple(parameters),
            body=lowered,
            side=_side_of(told),
            place=place,
            returns=c.types.lower(cursors.cursor_result_type(node)),
            template=own,
            record=self._c.decls.stored_name(owner) if owner is not None else None,
            static=node.kind in (kinds.METHOD, kinds.FUNCTION_TEMPLATE)
            and bool(cursors.is_static_method(node)),
            launch_bounds=launch_bounds,
            cluster_dims=cluster_dims,
            specialises=specialises,
            initialisers=tuple(initialisers),
            declared=unread,
            virtual=node.kind in (kinds.METHOD, kinds.DESTRUCTOR) and bool(cursors.is_virtual_method(node)),
            requires=self._requires(found, parameters),
            scope="" if owner is not None else c.declarations.qualified(node).rpartition("::")[0],
        )

    def _requires(self, found: Definition, parameters: list[Var]) -> Expr | None:
        """What the `requires` clauses of a function ask, and the concepts in front of `auto`."""
        text = found.text()
        asked = [self._c.texts.read_clauses(text.decode("utf-8", "replace"))] if b"requires" in text else []
        for p in parameters:
            opaque = (t.spelling for t in walk(p.type) if isinstance(t, OpaqueType))
            concept = next((named[1] for s in opaque if (named := _OF_AUTO.fullmatch(s))), None)
            if concept is not None:
                asked.append(asked_of(self._c, concept, TypeParam(p.id, p.name), p.pack))
        return both([x for x in asked if x is not None])

    def _member(self, given: Node) -> Expr:
        """What a constructor gives a member. Several values in parentheses are one list in a template."""
        parts = cursors.children(given)
        text = self._c.positions.text(given) or ""
        if given.kind == kinds.UNEXPOSED and len(parts) > 1 and _is_list(text):
            return InitList(tuple(map(self._c.exprs.lower, parts)), self._c.place(given))
        return self._c.exprs.lower(given)

    def _base(self, kids: list[Node], index: int) -> list[tuple[str, Expr]]:
        """What a constructor gives the base that is named at an index, or another constructor of its class:
        `Base(p)`, `Base{p}`, `Base<T>(p)`."""
        if index and kids[index - 1].kind in (kinds.TYPE_REF, kinds.TEMPLATE_REF):
            return []  # a template argument of the one before
        given = next(
            (k for k in kids[index + 1 :] if k.kind not in (kinds.TYPE_REF, kinds.TEMPLATE_REF)), None
        )
        if given is None or given.kind not in (kinds.CALL, kinds.INIT_LIST, kinds.UNEXPOSED):
            return []
        exprs = self._c.exprs
        parts = cursors.children(given)
        value = exprs.lower(given) if given.kind == kinds.CALL else InitList(tuple(map(exprs.lower, parts)))
        named = cursors.referenced(kids[index])
        meant = (
            self._c.types.lower(cursors.typedef_underlying(named)) if named.kind in kinds.TYPEDEFS else None
        )
        name = meant.name.rsplit("::", 1)[-1] if isinstance(meant, RecordRef) else cursors.spelling(named)
        return [(name, value)]

    @staticmethod
    def _first_parameters(node: Node) -> list[Node]:
        """Parameters of the function's first declaration, when that is another one."""
        first = earlier(node)
        return [] if first is None else [k for k in cursors.children(first) if k.kind == kinds.PARAMETER]

    def _body(self, body: Node, text: bytes) -> Stmt:
        try:
            found = self._c.stmts.lower(body)
            jump = jump_into_block(found) if b"goto" in text else None
            return found if jump is None else UnknownStmt("goto into a block", (found,), jump.place)
        except RecursionError:
            return UnknownStmt("nested too deeply", (), self._c.place(body))
        finally:
            self._c.positions.at(None)

    def _template(
        self, found: Definition, kids: list[Node], outer: tuple[TemplateParam, ...]
    ) -> tuple[TemplateParam, ...]:
        """Own template parameters; an out-of-class definition names its record's anew, after them."""
        given = [k for k in kids if k.kind in kinds.TEMPLATE_PARAMETERS]
        if not given:
            return ()
        outside = cursors.lexical_parent(found.node).d0 != cursors.semantic_parent(found.node).d0
        redeclared = given
        if found.node.kind == kinds.FUNCTION_TEMPLATE:
            split = len(given) - (len(outer) if outside else 0)
            given, redeclared = given[:split], given[split:]
        else:
            given = []
        aliases: list[TemplateParam] = []
        for node, parameter in zip(redeclared, outer, strict=False):
            name = cursors.spelling(node)
            if node.kind == kinds.VALUE_PARAMETER:
                self._c.declared.variables[node.d0 or 0] = Name(parameter.id, parameter.name)
            if name != parameter.name:
                aliases.append(
                    TemplateParam(parameter.id, name, parameter.kind, None, parameter.pack, parameter.type)
                )
        if aliases:
            self._c.scope.templates.append(tuple(aliases))
        if not given:
            return ()
        first = earlier(found.node)
        others = () if first is None else cursors.children(first)
        return parameter_list(self._c, given, [k for k in others if k.kind in kinds.TEMPLATE_PARAMETERS])

    def _list_specialisation(self, node: Node, identifier: str) -> None:
        template = cursors.specialized_template(node)
        if not valid(template):
            return
        found = self._c.declarations.function(template)
        if found is not None:
            self._c.work.require(found)
            key = self.function_id(found)
        else:
            key = cursors.usr(cursors.canonical(template))
        self.specialisations.setdefault(key, []).append(identifier)


def is_after_parameters(kids: list[Node], index: int) -> bool:
    """Whether a reference to a type stands after the parameters, where base initialisers are."""
    return not any(k.kind == kinds.PARAMETER for k in kids[index:])


def _side_of(attributes: set[int]) -> str:
    if kinds.GLOBAL_ATTRIBUTE in attributes:
        return "kernel"
    if kinds.DEVICE_ATTRIBUTE in attributes:
        return "both" if kinds.HOST_ATTRIBUTE in attributes else "device"
    return "host"


def _is_list(text: str) -> bool:
    """Whether a text is one pair of parentheses with a comma right inside."""
    found = listed(text) if text.startswith("(") else None
    return found is not None and found[1] == len(text) and len(found[0]) > 1
