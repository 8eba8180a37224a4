"""Lambdas: parameters, what they capture and how, and expressions made of statements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from smemlint.frontend.clang import cursors, kinds
from smemlint.frontend.clang.cursors import Node
from smemlint.frontend.lower.context import Context
from smemlint.frontend.text.hidden import captures_of
from smemlint.frontend.text.scalars import LIBRARY_SCALARS, builtin_scalar
from smemlint.ir import (
    Block,
    Call,
    Declare,
    Evaluate,
    Expr,
    Lambda,
    Name,
    OpaqueType,
    Place,
    PointerTo,
    RecordRef,
    Return,
    Stmt,
    TemplateParam,
    Type,
    TypeParam,
    UnknownExpr,
    Var,
)
from smemlint.patterns import pattern

_ON_DEVICE = pattern(r"__device__|\b[A-Z_]*(?:DEVICE|LAMBDA|HD)[A-Z_]*\b")
_LAMBDA_TEMPLATE = pattern(r"\s*\[[^\]]*\]\s*<([^<>]*)>")
_AUTO_PACK = pattern(r"(?:const\s+)?auto\s*(?:const\s*)?&{0,2}\s*\.\.\.")
_RETURNS = pattern(r"->\s*([^()]*?)\s*$")
"""clang's cursor of a name between the brackets of a lambda."""


def lambda_(c: Context, node: Node) -> Expr:
    template = (*_template(c, node), *_auto_packs(c, node))
    closure = _closure(c, node)
    c.scope.templates.append(template)
    try:
        found = _body(c, node, template)
    finally:
        c.scope.templates.pop()
    return replace(found, closure=closure) if closure and isinstance(found, Lambda) else found


def _closure(c: Context, node: Node) -> Type | None:
    """The class of a lambda that host code may give to a kernel."""
    text = c.positions.text(node)
    if text is None or not _ON_DEVICE.search(text[: text.find("{")]):
        return None
    declaration = cursors.type_declaration(cursors.cursor_type(node))
    c.decls.enter_local(declaration)
    found = c.types.of(node)
    return found if isinstance(found, RecordRef) else None


def _template(c: Context, node: Node) -> tuple[TemplateParam, ...]:
    """`<bool even, typename T>` after a lambda's captures, which clang's cursors do not show."""
    text = c.positions.text(node) or c.positions.body_text(node)
    found = _LAMBDA_TEMPLATE.match(text) if text else None
    if found is None:
        return ()
    parameters: list[TemplateParam] = []
    for part in found.group(1).split(","):
        words = part.split("=")[0].split()
        if len(words) < 2 or "..." in part:
            return ()
        type_ = builtin_scalar(words[:-1])
        kind = "type" if words[0] in ("typename", "class") else "value"
        id = c.declared.local_id(words[-1], cursors.extent(node).begin)
        parameters.append(TemplateParam(id, words[-1], kind, type=type_ if kind == "value" else None))
    return tuple(parameters)


def _auto_packs(c: Context, node: Node) -> tuple[TemplateParam, ...]:
    """The template parameters that `auto... xs` stands for."""
    packs = [k for k in cursors.children(node) if k.kind == kinds.PARAMETER and _is_pack(c, k)]
    return tuple(
        TemplateParam(c.declared.local_id("auto", cursors.extent(k).begin), "auto", "type", pack=True)
        for k in packs
    )


def _is_pack(c: Context, parameter: Node) -> bool:
    return _AUTO_PACK.match(c.positions.text(parameter) or "") is not None


def _parameter(c: Context, node: Node, packs: Iterator[TemplateParam]) -> Var:
    """A parameter. packs: what those that are packs stand for, in order."""
    var = c.decls.parameter(node)
    if not _is_pack(c, node):  # an `auto` beside a pack is no pack
        of: Type = var.type.to if isinstance(var.type, PointerTo) else var.type
        if not isinstance(of, TypeParam) or of.name != "auto":
            return var
        auto = OpaqueType("auto")
        return replace(var, type=replace(var.type, to=auto) if isinstance(var.type, PointerTo) else auto)
    of = TypeParam(next(packs).id, "auto")
    return replace(var, type=PointerTo(of, reference=True) if isinstance(var.type, PointerTo) else of)


def _body(c: Context, node: Node, template: tuple[TemplateParam, ...]) -> Expr:
    parameters: list[Var] = []
    packs = (p for p in template if p.pack)
    body: Node | None = None
    named: list[Node] = []
    for kid in cursors.children(node):
        if kid.kind == kinds.PARAMETER:
            parameters.append(_parameter(c, kid, packs))
        elif kid.kind == kinds.COMPOUND:
            body = kid
        elif kid.kind == kinds.VARIABLE_REF:
            named.append(cursors.referenced(kid))
    place = c.place(node)
    if body is None:
        return UnknownExpr("lambda without a body", (), place)
    written = captures_of(c.positions.text(node) or "")
    own: list[Var] = []
    copies: list[Name] = []
    references: list[Name] = []
    for target in named:
        name = cursors.spelling(target)
        if name in written.made:
            own += [s.var for s in c.decls.local(target) if isinstance(s, Declare)]
            continue
        use = c.names.use(target)
        if isinstance(use, Name):
            (copies if name in written.copied else references).append(use)
    lowered = c.stmts.lower(body)
    return Lambda(
        tuple(parameters),
        lowered,
        place,
        template,
        captures=tuple(own),
        copies=tuple(copies),
        copies_all="=" in written.copied,
        references=tuple(references),
        copies_this="*this" in written.copied,
        returns=_returns(c, node, body),
    )


def _returns(c: Context, node: Node, body: Node) -> Type | None:
    """The type that is written behind `->`: a reference to whatever, a number, or one type's name."""
    text, inner = c.positions.text(node), c.positions.text(body)
    found = _RETURNS.search(text.removesuffix(inner)) if text and inner else None
    if found is None:
        return None
    written = found[1]
    if written.endswith("&"):
        return PointerTo(OpaqueType("auto"), reference=True)
    words = written.split()
    if all(word.isidentifier() for word in words):
        known = builtin_scalar(words) or LIBRARY_SCALARS.get(words[-1])
        if known is not None:
            return known
    names = [k for k in cursors.children(node) if k.kind == kinds.TYPE_REF]
    return c.types.of(names[-1]) if names and "".join(words).replace(":", "").isidentifier() else None


def statement_expression(c: Context, node: Node) -> Expr:
    """`({ ...; value; })` is a lambda that is called at once."""
    kids = cursors.children(node)
    place = c.place(node)
    if len(kids) != 1:
        return UnknownExpr("statement expression", (), place)
    body = list(c.stmts.statements(cursors.children(kids[0])))
    if body and isinstance(body[-1], Evaluate):
        body[-1] = Return(body[-1].expr)
    return Call(Lambda((), c.stmts.block(body), place), (), place)


def launching(launches: Sequence[Stmt], value: Expr, place: Place | None) -> Expr:
    """An expression that starts kernels before it gives its value, as a lambda that is called at once."""
    return Call(Lambda((), Block((*launches, Return(value))), place), (), place)
