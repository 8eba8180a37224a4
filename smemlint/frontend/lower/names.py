"""Names: variables, functions, enumerators, members, and those that clang leaves to instantiation."""

from __future__ import annotations

import re
from dataclasses import replace

from smemlint.frontend.clang import cursors, kinds
from smemlint.frontend.clang.cursors import Node
from smemlint.frontend.clang.names import valid
from smemlint.frontend.lower.context import Context
from smemlint.frontend.lower.types import ARRAYS, POINTER
from smemlint.frontend.text.expansion import ANGLES, listed
from smemlint.frontend.text.scalars import SPECIAL_AXES, SPECIAL_NAMES, special_member, special_triple
from smemlint.ir import (
    Cast,
    Construct,
    Expr,
    Literal,
    Member,
    Name,
    Place,
    PointerTo,
    RecordRef,
    Scalar,
    Special,
    StaticMember,
    TemplateArgument,
    This,
    Type,
    TypeParam,
    Unary,
    UnknownExpr,
)
from smemlint.ir.types import INT
from smemlint.patterns import pattern

_QUALIFIED = pattern(r"\s*(?:typename\s+)?([A-Za-z_]\w*)\s*(?:<[^;{}()]*>\s*)?::")
_UNNAMED = pattern(r"\((?:anonymous|unnamed) ")
_DEPENDENT_MEMBER = pattern(
    r"\s*(->|\.)\s*(template\b)?\s*((?:[A-Za-z_]\w*\s*::\s*)*(?:operator\s*\(\s*\)|~?[A-Za-z_]\w*))"
)


def _before_unnamed(node: Node) -> Node | None:
    """What stands before the unnamed structs and unions that clang writes into `s[t].x`; None where that is
    `this`."""
    found: Node | None = node
    while (
        found is not None and found.kind == kinds.MEMBER_REF_EXPR and _UNNAMED.search(cursors.spelling(found))
    ):
        found = next(iter(cursors.expressions(found)), None)
    return found


def _with_arguments(text: str, name: str) -> str | None:
    """The first use of a name with template arguments, `name<a, (b > c)>`; None where there is none."""
    start = re.search(rf"\b{re.escape(name)}\s*(?=<)", text)
    found = None if start is None else listed(text, start.end(), ANGLES)
    return None if start is None or found is None else text[start.start() : found[1]]


def _as_bound(place: Place, binding: Place) -> Place:
    """A use of a binding to an element, which the compiler sees on the line that declares it."""
    if binding.compiled_line == place.compiled_line:
        return place
    return replace(place, macro_line=binding.compiled_line)


class NameLowering:
    """Uses of declared things, by name or as members."""

    def __init__(self, context: Context) -> None:
        self._c = context

    def name(self, node: Node) -> Expr:
        target = cursors.referenced(node)
        kind = target.kind
        if kind in (kinds.VARIABLE, kinds.PARAMETER, kinds.VALUE_PARAMETER):
            return self._variable(node, target)
        if kind == kinds.ENUMERATOR:
            return self.enumerator(target, self._c.place(node))
        if kind in kinds.FUNCTIONS or kind == kinds.OVERLOADED:
            return self._c.calls.function_name(node, target)
        if kind == kinds.UNEXPOSED_DECL:
            return self._instance(node, target) or self._variable(node, target)
        if kind == kinds.FIELD:
            return StaticMember(
                self._c.types.record(cursors.semantic_parent(target)),
                cursors.spelling(target),
                self._c.place(node),
            )
        return self.dependent_name(node)

    def _variable(self, node: Node, target: Node) -> Expr:
        c = self._c
        key = target.d0 or 0
        known = self.use(target)
        place = c.place(node)
        if place is not None and key in c.declared.bound:
            place = _as_bound(place, c.declared.bound[key])
        if key in c.declared.shared and place is not None:
            c.declared.shared_refs.add((place.path, place.offset))
        if isinstance(known, Name | StaticMember | Special):
            return replace(known, place=place)
        if isinstance(known, Construct) and place is not None:
            axes = tuple(Special(a.name, a.axis, place) for a in known.arguments if isinstance(a, Special))
            return Construct(known.type, axes or known.arguments, place)
        return known

    def _instance(self, node: Node, target: Node) -> Expr | None:
        """A variable template with its arguments."""
        c = self._c
        text = c.positions.text(node)
        if text is None:
            found = c.texts.read_in_macro(node)
            return Name("", found.name, c.place(node), found.arguments) if isinstance(found, Name) else None
        if not text.rstrip().endswith(">"):
            return None
        return Name("", c.declarations.qualified(target), c.place(node), c.texts.template_arguments(text))

    def use(self, target: Node) -> Expr:
        """What a use of a declared variable, parameter or value parameter is, without its place."""
        c = self._c
        key = target.d0 or 0
        known = c.declared.variables.get(key)
        if known is not None:
            return known
        found = self._first_use(target)
        c.declared.variables[key] = found
        return found

    def _first_use(self, target: Node) -> Expr:
        c = self._c
        name = cursors.spelling(target)
        if target.kind == kinds.VALUE_PARAMETER:
            parameter = c.scope.template(name)
            return Name(parameter.id if parameter else f"{name}@?", name)
        parent = cursors.semantic_parent(target)
        if parent.kind in kinds.RECORDS:
            owner = c.types.record(parent)
            return StaticMember(owner, name)
        project = c.declarations.in_project(target)
        if not project and name in SPECIAL_NAMES:
            return special_triple(name) if name in SPECIAL_AXES else Special(name)
        local = parent.kind in kinds.FUNCTIONS or cursors.lexical_parent(target).kind in kinds.FUNCTIONS
        if target.kind == kinds.VARIABLE and not local:
            return c.decls.require_global(target, name, project)
        point = c.positions.point(target)
        if not name and point is not None and (point[0].path, point[1]) in c.declared.unnamed:
            return Name(c.declared.unnamed[point[0].path, point[1]], name)
        return Name(c.declared.local_id(name, point[1] if point else 0), name)

    def enumerator(self, target: Node, place: Place | None) -> Expr:
        """An enumerator's value; by name where it depends on template arguments."""
        c = self._c
        enum = cursors.semantic_parent(target)
        owner = cursors.semantic_parent(enum)
        if owner.kind in kinds.RECORDS:
            found = c.declarations.record(owner)
            if (
                found is not None
                and cursors.template_argument_count(owner) <= 0
                and c.decls.is_pattern(found)
            ):
                return StaticMember(c.types.record(owner), cursors.spelling(target), place)
        key = target.d0 or 0
        if key in c.declared.variables:
            known = c.declared.variables[key]
            return Name(known.id, known.name, place) if isinstance(known, Name) else known
        scalar = c.types.enum(enum)
        type_ = scalar if isinstance(scalar, Scalar) else INT
        value = int(cursors.enum_value(target))  # clang extends any sign bit
        return Literal(value % (1 << 8 * type_.size) if type_.kind == "uint" else value, type_, place)

    def dependent_name(self, node: Node) -> Expr:
        """`Traits<BM, BN>::P` and other names that clang leaves to instantiation: read from the text."""
        c = self._c
        text = c.positions.text(node)
        texts = c.texts.hinted(node)
        found = (texts.read_expression(text) if text else None) or texts.read_in_macro(node)
        place = c.place(node)
        if isinstance(found, StaticMember):
            return replace(found, place=place)
        if isinstance(found, Name):
            return self.read(found, place)
        if found is not None:
            return found
        return UnknownExpr(f"dependent name {text or ''}".strip(), (), place)

    def read(self, name: Name, place: Place | None) -> Name:
        """A name that was read from the text, where it stands: of a variable that clang finds fault with it
        gives the uses no tree (`__shared__ T s;` of a class whose members have initialisers)."""
        declared = self._c.declared
        shared = (declared.variables.get(key) for key in declared.shared)
        if place is not None and any(isinstance(v, Name) and v.id == name.id for v in shared):
            declared.shared_refs.add((place.path, place.offset))
        return replace(name, place=place)

    # Members

    def member(self, node: Node) -> Expr:
        kids = cursors.children(node)
        base_node = next((k for k in kids if kinds.is_expression(k.kind)), None)
        if base_node is not None and cursors.extent(base_node).begin > cursors.extent(node).begin:
            base_node = None  # the first template argument of `launch<32, 1>(p)`, called on this object
        name = cursors.spelling(node)
        if base_node is None and self._is_of_parameter(node):
            found = self.dependent_name(node)
            if isinstance(found, StaticMember):
                return found
        if not name:
            return self._dependent_member(node, kids, base_node)
        self._c.work.mention(name)
        target = cursors.referenced(node)
        if target.kind == kinds.VARIABLE:
            return self._variable(node, target)
        if target.kind == kinds.ENUMERATOR:
            return self.enumerator(target, self._c.place(node))
        place = self._c.place(node)
        if base_node is None:
            arguments = self._member_arguments(node, target)
            if valid(target) and _QUALIFIED.match(self._c.positions.text(node) or ""):
                owner = self._c.types.record(cursors.semantic_parent(target))
                if target.kind in kinds.FUNCTIONS:
                    return StaticMember(
                        owner, name, place, arguments
                    )  # `Base::get(i)`, whatever overrides it
                if self._is_base(owner):
                    return self._of_base(owner, name, place)
            return Member(This(place), name, True, place, arguments)
        base_node = _before_unnamed(base_node)
        if base_node is None:
            return Member(This(place), name, True, place, self._member_arguments(node, target))
        base = self._c.exprs.lower(base_node)
        special = special_member(base, name)
        if isinstance(special, Special):
            return Special(special.name, special.axis, place)
        own = cursors.canonical_type(cursors.cursor_type(base_node))
        arrow = own.kind == POINTER or self._is_array(base_node)
        if not arrow and base_node.kind == kinds.THIS:
            arrow = True
        if valid(target) and self._is_qualified(node, base_node):
            # `d.Base::at(i)`, whatever a derived class calls the same
            owner = PointerTo(self._c.types.record(cursors.semantic_parent(target)), reference=True)
            base, arrow = Cast(owner, Unary("*", base) if arrow else base, place=place), False
        return Member(base, name, arrow, place, self._member_arguments(node, target))

    def _is_qualified(self, node: Node, base: Node) -> bool:
        """Whether a class is named between an object and its member."""
        texts = self._c.positions.text(node), self._c.positions.text(base)
        if texts[0] is None or texts[1] is None or not texts[0].startswith(texts[1]):
            return False
        return _QUALIFIED.match(texts[0][len(texts[1]) :].lstrip(" .->")) is not None

    def _is_of_parameter(self, node: Node) -> bool:
        """`Traits::kPitch` of a template parameter: in a method clang takes it for a member of `this`, as the
        parameter may stand for a base."""
        found = _QUALIFIED.match(self._c.positions.text(node) or "")
        parameter = self._c.scope.template(found[1]) if found else None
        if parameter is None or parameter.kind != "type":
            return False
        own = self._c.found.records.get(self._c.scope.record or "")
        return own is None or not any(
            isinstance(b, TypeParam) and b.id == parameter.id for b in own.written_bases
        )

    @staticmethod
    def _is_array(node: Node) -> bool:
        return cursors.cursor_type(node).kind in ARRAYS

    def _member_arguments(self, node: Node, target: Node) -> tuple[TemplateArgument, ...]:
        if target.kind not in kinds.FUNCTIONS:
            return ()
        if cursors.template_argument_count(target) > 0:
            return self._c.types.specialisation_arguments(target) or ()
        text = self._c.positions.text(node)
        if text is None:
            body = self._c.positions.body_text(node)
            text = None if body is None else _with_arguments(body, cursors.spelling(target))
        return self._c.texts.hinted(node).template_arguments(text) if text and text.endswith(">") else ()

    def _dependent_member(self, node: Node, kids: list[Node], base_node: Node | None) -> Expr:
        c = self._c
        place = c.place(node)
        overloaded = next((k for k in kids if k.kind == kinds.OVERLOADED), None)
        tail = self._member_tail(node, base_node)
        if tail is None:
            found = c.texts.read_in_macro(node)
            parts = (self._c.exprs.lower(base_node),) if base_node is not None else ()
            if isinstance(found, Member) and parts:
                return Member(parts[0], found.name, found.arrow, place)
            if overloaded is not None:
                name = cursors.spelling(overloaded)
                c.work.mention(name)
                base = parts[0] if parts else This(place)
                arrow = base_node is None or cursors.cursor_type(base_node).kind == POINTER
                return Member(base, name, arrow, place)
            return UnknownExpr("dependent member in a macro", parts, place)
        arrow, name, rest = tail
        if base_node is None and rest.startswith("<") and "::" in rest:
            found = self.dependent_name(node)  # `Tile<S>::template at<J>`
            if isinstance(found, StaticMember) and not self._is_base(found.owner):
                c.work.mention(found.name)
                return found
        c.work.mention(name)
        arguments = c.texts.template_arguments(rest) if rest.startswith("<") else ()
        if base_node is None or base_node.kind == kinds.THIS:
            owner = self._named_base(c.positions.text(node) or "", name)
            if owner is not None and self._is_base(owner):
                return self._of_base(owner, name, place, arguments)
            if owner is not None:
                return StaticMember(owner, name, place, arguments)
        if base_node is None:
            return Member(This(place), name, True, place, arguments)
        base = self._c.exprs.lower(base_node)
        special = special_member(base, name)
        return special if special is not None else Member(base, name, arrow, place, arguments)

    def _named_base(self, text: str, name: str) -> RecordRef | TypeParam | None:
        """The class that `Base<T>::get` or `std::is_same<T, U>::value` names: a base, whatever overrides its
        method, or one that this class does not derive from."""
        before = text[: text.rfind(name)].rstrip().removesuffix("template").rstrip()
        own = self._c.found.records.get(self._c.scope.record or "")
        if own is None or not before.endswith("::"):
            return None
        qualifier = before[:-2].strip().removeprefix("this").lstrip(" ->").removeprefix("typename")
        owner = self._c.texts.read_type(qualifier.strip())
        if isinstance(owner, TypeParam):
            return owner if self._is_base(owner) else None
        if not isinstance(owner, RecordRef):
            return None
        named = self._c.found.records.get(owner.name)
        if named is not None and any(f.name == name for f in named.fields):
            return owner if self._is_base(owner) else None
        bases = own.written_bases
        return owner if owner in bases or not bases or owner.name.startswith("std::") else None

    def _is_base(self, owner: Type) -> bool:
        """Whether the class derives from this one, or from another instance of its template: `Base<K>` of a
        class with the bases `Base<I>...`."""
        own = self._c.found.records.get(self._c.scope.record or "")
        name = owner.name if isinstance(owner, RecordRef) else None
        return own is not None and any(
            b == owner or (isinstance(b, RecordRef) and b.name == name) for b in own.written_bases
        )

    @staticmethod
    def _of_base(
        owner: Type, name: str, place: Place | None, arguments: tuple[TemplateArgument, ...] = ()
    ) -> Member:
        """A member of the part of `this` that is a base."""
        part = Cast(PointerTo(owner, reference=True), Unary("*", This(place)), place=place)
        return Member(part, name, False, place, arguments)

    def _member_tail(self, node: Node, base_node: Node | None) -> tuple[bool, str, str] | None:
        """(arrow, name, text after the name) of a member expression, from its text."""
        positions = self._c.positions
        text = positions.text(node)
        if text is None:
            return None
        if base_node is not None and kinds.is_expression(base_node.kind):
            base_text = positions.text(base_node)
            if base_text is not None and text.startswith(base_text):
                text = text[len(base_text) :]
                found = _DEPENDENT_MEMBER.match(text)
                if found:
                    name = found.group(3).rpartition("::")[2].strip()
                    if name.startswith("operator") and name.endswith(")"):
                        name = "operator()"
                    return found.group(1) == "->", name, text[found.end() :].lstrip()
        found_all = list(
            re.finditer(
                r"(->|\.)?\s*(?:template\s+)?(operator\s*(?:\(\s*\)|[^\w\s(]+)|[A-Za-z_]\w*)\s*(<.*>)?\s*$",
                text,
                re.DOTALL,
            )
        )
        if found_all:
            last = found_all[-1]
            return last.group(1) == "->", re.sub(r"\s", "", last.group(2)), last.group(3) or ""
        return None
