"""Which functions the calls mean that a template leaves open, as clang finds when it makes instances."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from smemlint.frontend.clang import cursors, kinds
from smemlint.frontend.clang.cursors import Node
from smemlint.frontend.clang.names import valid
from smemlint.frontend.lower.context import Context
from smemlint.ir import (
    Assign,
    Binary,
    Call,
    Function,
    Lambda,
    Member,
    Module,
    Name,
    OpaqueType,
    Place,
    StaticMember,
    TemplateArgument,
    TemplateParam,
    Unary,
)
from smemlint.ir.module import Choice
from smemlint.ir.walk import nodes_of

MOST_NODES = 200_000
"""Nodes of instances that are looked at for one file."""
_CALLED = kinds.FUNCTIONS - {kinds.FUNCTION_TEMPLATE, kinds.DESTRUCTOR}


def open_calls(module: Module) -> frozenset[Place]:
    """Return the places of calls and operators in templates that may mean one of several functions of the
    program."""
    return frozenset(
        n.place
        for f in module.functions.values()
        if _is_pattern(module, f)
        for n in nodes_of(f.body)
        if isinstance(n, Call | Unary | Binary | Assign) and n.place is not None and _is_open(module, n)
    )


def _is_pattern(module: Module, f: Function) -> bool:
    """Whether clang may make instances of a function, or of a lambda in it."""
    return bool(f.template) or f.record is not None or any(isinstance(n, Lambda) for n in nodes_of(f.body))


def _is_open(module: Module, e: Call | Unary | Binary | Assign) -> bool:
    if not isinstance(e, Call):
        return f"operator{e.op.replace('x', '')}" in module.overloads
    if isinstance(e.callee, Name):
        return not e.callee.id and len(module.overloaded(e.callee.name)) > 1
    several = isinstance(e.callee, Member | StaticMember) and len(module.methods.get(e.callee.name, ())) > 1
    return several and not e.chosen


def choices(c: Context, module: Module, places: frozenset[Place]) -> Mapping[Place, tuple[Choice, ...]]:
    """What each open call means, by its place, in each instance that this program makes of its function.
    c: of a unit whose instances clang has made."""
    found: dict[Place, dict[Choice, None]] = {}
    known = _Instances(c, module)
    starts = {place.offset for place in places}
    for node, context in known.calls():
        point = c.positions.point(node)
        if point is None or point[1] not in starts:
            continue
        place = c.place(node)
        if place in places and place is not None:
            target = cursors.referenced(node)
            kids = cursors.children(node)
            if cursors.spelling(target).startswith("operator"):
                given = [k for k in kids if cursors.referenced(k).d0 != target.d0]
            else:
                given = kids[1:]
            types = tuple(c.types.of(k) for k in given)
            choice = Choice(known.id_of(target), tuple(context.items()), types, "" not in context)
            found.setdefault(place, {})[choice] = None
    return {place: tuple(each) for place, each in found.items()}


class _Instances:
    """The functions that clang made of templates, from those that are none on."""

    def __init__(self, c: Context, module: Module) -> None:
        self._c = c
        self._functions = module.functions
        self._records = module.records
        self._left = MOST_NODES
        self._seen: set[int] = set()
        self._twins = {
            usr for usr, _, begin in (id.rpartition("@") for id in module.functions) if begin.isdigit()
        }

    def calls(self) -> Iterator[tuple[Node, Mapping[str, TemplateArgument]]]:
        """Each call of an instance, with the template arguments of that; "" is one that is not known."""
        declarations = self._c.declarations
        queue = [d.node for d in declarations.functions.values() if d.node.kind != kinds.FUNCTION_TEMPLATE]
        queue += declarations.variables_named.values()
        roots = len(queue)
        queue += declarations.instances
        for i, function in enumerate(queue):
            context = {} if i < roots else self._context(function)
            for node in self._nodes(function):
                target = cursors.referenced(node)
                if target.kind not in _CALLED:
                    continue
                if i >= roots and node.kind == kinds.CALL:
                    yield node, context
                if target.d0 not in self._seen and _is_instance(target):
                    self._seen.add(target.d0 or 0)
                    queue.append(target)

    def _nodes(self, function: Node) -> Iterator[Node]:
        """The expressions in a function that may name another."""
        stack = cursors.children(function)
        while stack and self._left > 0:
            node = stack.pop()
            self._left -= 1
            if node.kind in (kinds.CALL, kinds.DECL_REF, kinds.MEMBER_REF_EXPR):
                yield node
            stack += cursors.children(node)

    def id_of(self, target: Node) -> str:
        """The id of the function that an instance is of; "" where it is none that was read, or one of two
        that differ in what they require alone: clang gives both one id."""
        found = self._c.declarations.function(target)
        id = self._c.decls.function_id(found) if found is not None else cursors.usr(_pattern(target))
        return id if id in self._functions and id not in self._twins else ""

    def _context(self, function: Node) -> dict[str, TemplateArgument]:
        """The template arguments of an instance and of what stands around it, by the ids of parameters. What
        the `auto` of a lambda stands for is told by what it is given."""
        found: dict[str, TemplateArgument] = {}
        node = function
        while node.kind in kinds.FUNCTIONS | kinds.RECORDS:
            parameters = self._parameters(node)
            arguments = self._c.types.specialisation_arguments(node)
            if cursors.template_argument_count(node) < 0 or _is_of_lambda(node):
                pass
            elif arguments is None or len(arguments) != len(parameters) or _is_partial(node):
                found[""] = OpaqueType("?")
            else:
                found |= zip((p.id for p in parameters), arguments, strict=True)
            node = cursors.semantic_parent(node)
        return found

    def _parameters(self, node: Node) -> tuple[TemplateParam, ...]:
        if node.kind in kinds.RECORDS:
            record = self._records.get(self._c.decls.record_name(node))
            return record.template if record is not None else ()
        f = self._functions.get(self.id_of(node))
        return f.template if f is not None else ()


def _pattern(target: Node) -> Node:
    """What clang made a function of; a function that it made of nothing as it is."""
    for _ in range(4):
        pattern = cursors.specialized_template(target)
        if not valid(pattern):
            break
        target = pattern
    return target


def _is_instance(target: Node) -> bool:
    """Whether clang made a function of a template; a lambda may be in such a one."""
    return _is_of_lambda(target) or valid(cursors.specialized_template(target))


def _is_partial(node: Node) -> bool:
    """Whether clang made a class of a partial specialisation: its arguments are those of the template."""
    return bool(cursors.specialized_template(node).kind == kinds.PARTIAL)


def _is_of_lambda(target: Node) -> bool:
    return (
        target.kind == kinds.METHOD and not cursors.spelling(cursors.semantic_parent(target)).isidentifier()
    )
