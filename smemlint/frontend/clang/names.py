"""Declarations of one translation unit: what the project defines, and what everything is called.

Definitions are found by the raw location of their name, which a template and all its instances share.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from dataclasses import field

from smemlint.frontend.clang import cursors, kinds
from smemlint.frontend.clang.cursors import Node
from smemlint.frontend.clang.positions import FileText, Positions
from smemlint.ir import CONVERSION_NAME
from smemlint.patterns import pattern
from smemlint.records import record

_INVALID = range(70, 74)
_UNNAMED = pattern(r"(\((?:unnamed|anonymous|lambda)[\w ]*?) at .*?:(\d+:\d+)(?=\))")
"""Clang names what has no name by its path."""
_WORD = pattern(rb"[A-Za-z_]\w*")
_CONVERTS = pattern(r"operator (?!new\b|delete\b|co_await\b)[A-Za-z_]")


def words_in(text: bytes) -> frozenset[str]:
    """Return the names and keywords in a text."""
    return frozenset(word.decode() for word in set(_WORD.findall(text)))


def valid(node: Node) -> bool:
    """Whether a cursor stands for anything."""
    return node.kind != 0 and node.kind not in _INVALID


def sides(function: Node) -> set[int]:
    """Return the attributes that say on which side a function runs."""
    return {kid.kind for kid in cursors.children(function)} & kinds.SIDES


def earlier(node: Node) -> Node | None:
    """Return the first declaration of what is declared here, if that is another one."""
    first = cursors.canonical(node)
    return first if valid(first) and first.d0 != node.d0 else None


@record(slots=True)
class Definition:
    """A function or record that the project defines. `begin` and `end` are offsets in `file`."""

    node: Node
    name: str
    file: FileText
    begin: int
    end: int
    key: int
    record: Node | None = None
    usr: str = ""
    friend_of: Definition | None = None
    """The record in which a friend is defined, a function of the namespace that sees the record's names."""
    told_by: Node | None = None
    """The declaration that says for a definition on which side it runs."""
    _words: frozenset[str] | None = None

    def text(self) -> bytes:
        """Return the source text of the definition."""
        return self.file.data[self.begin : self.end]

    def words(self) -> frozenset[str]:
        """Return the names and keywords in it."""
        if self._words is None:
            self._words = words_in(self.text())
        return self._words


def nearest(known: Container[str], name: str, around: str) -> str:
    """Which of some qualified names a name means that is written in a namespace, a class or a function; ""
    for none of them."""
    name = name.removeprefix("::") if (rooted := name.startswith("::")) else name
    while (full := f"{around}::{name}" if around and not rooted else name) not in known:
        if rooted or not around:
            return ""
        around = around.rpartition("::")[0]
    return full


@record(slots=True)
class _Asked:
    """What is listed when it is first asked for: types of the library by name, enumerators by qualified name,
    and names that healing gave to number types, by spelling."""

    library_types: dict[str, Node] | None = None
    enumerators: dict[str, Node] | None = None
    stand_ins: dict[str, str] | None = None


@record(slots=True)
class Declarations:
    """Index over the namespace-scope declarations of project files."""

    positions: Positions
    functions: dict[int, Definition] = field(default_factory=dict)
    """By raw location of the name; members of records are added as their record is read."""
    functions_named: dict[str, list[Definition]] = field(default_factory=dict)
    records: dict[int, Definition] = field(default_factory=dict)
    records_named: dict[str, list[Definition]] = field(default_factory=dict)
    variables_named: dict[str, Node] = field(default_factory=dict)
    members_outside: dict[tuple[str, str], list[Node]] = field(default_factory=dict)
    """Static members that are defined outside, by qualified record and name."""
    types_named: dict[str, Node] = field(default_factory=dict)
    namesakes: dict[str, list[Node]] = field(default_factory=dict)
    """All variables, enumerations and aliases of a name, whichever namespace they are in."""
    instances: list[Node] = field(default_factory=list)
    """Explicit instantiations of function templates that clang lists."""
    enums: list[Node] = field(default_factory=list)
    templates: list[Node] = field(default_factory=list)
    """Declarations of function templates that are no definitions: default arguments may stand there."""
    library: list[Node] = field(default_factory=list)
    """Top-level declarations of files outside the project."""
    namespaces: dict[str, bool] = field(default_factory=dict)
    _specialised: list[tuple[Node, FileText]] = field(default_factory=list)
    """Explicit specialisations and instantiations of function templates, until all templates are known."""
    _declared: list[tuple[Node, FileText]] = field(default_factory=list)
    """Declarations of class templates that are no definitions, until all definitions are known."""
    _found: dict[int, Definition | None] = field(default_factory=dict)
    _qualified: dict[int, str] = field(default_factory=dict)
    _asked: _Asked = field(default_factory=_Asked)

    def walk(self, root: Node) -> None:
        """Reads the translation unit's top level."""
        for child in cursors.children(root):
            self._top(child)
        for child, file in self._specialised:
            if self.add_function(child, file) is not None:
                self._add_template_of(child)
        for child, file in self._declared:
            self.add_declared(child, file)

    def _top(self, child: Node) -> None:
        where = self.positions.point(child)
        if where is None:
            return
        file = where[0]
        if not file.project:
            self.library.append(child)
            return
        self._declare(child, file)

    def _declare(self, child: Node, file: FileText) -> None:
        kind = child.kind
        if kind in (kinds.NAMESPACE, kinds.LINKAGE, kinds.UNEXPOSED_DECL):
            if kind == kinds.NAMESPACE:
                self.namespaces[cursors.spelling(child)] = True
            for inner in cursors.children(child):
                if inner.kind < 100 or inner.kind >= 600:
                    self._top(inner)
        elif kind == kinds.FUNCTION and cursors.template_argument_count(child) > 0:
            # In a namespace clang lists an instance before the template that it is made of.
            self._specialised.append((child, file))
        elif kind in kinds.FUNCTIONS:
            self.add_function(child, file)
        elif kind in kinds.RECORDS:
            if kind == kinds.CLASS_TEMPLATE:
                self._declared.append((child, file))
            self.add_record(child, file)
            if kind != kinds.CLASS_TEMPLATE and not cursors.is_definition(child):
                self.types_named.setdefault(cursors.spelling(child), child)
        elif kind == kinds.VARIABLE:
            owner = cursors.semantic_parent(child)
            if owner.kind in kinds.RECORDS:
                key = self.qualified(owner), cursors.spelling(child)
                self.members_outside.setdefault(key, []).append(child)
            self._name(child, self.variables_named)
        elif kind == kinds.ENUM:
            self.enums.append(child)
            self._name(child, self.types_named)
        elif kind in kinds.TYPEDEFS:
            self._name(child, self.types_named)

    def _name(self, node: Node, named: dict[str, Node]) -> None:
        name = cursors.spelling(node)
        named[name] = node
        self.namesakes.setdefault(name, []).append(node)

    def among(self, nodes: Iterable[Node], name: str, around: str) -> Node | None:
        """Which of the declarations a name means, written in a namespace, a class or a function: the one that
        stands nearest around it. None: it names none of them so."""
        known = {self.qualified(node): node for node in nodes}
        return known.get(nearest(known, name, around))

    def add_function(self, node: Node, file: FileText, record: Node | None = None) -> Definition | None:
        """Takes a definition into the index; a mere declaration only when it is a template's."""
        if not cursors.is_definition(node):
            if node.kind == kinds.FUNCTION_TEMPLATE:
                self.templates.append(node)
            return None
        if cursors.location(node).raw in self.functions:
            if node.kind == kinds.FUNCTION and cursors.template_argument_count(node) > 0:
                self.instances.append(node)
            return None
        pattern = self._pattern(node) if record is None else None
        if pattern is not None:
            if node.kind != kinds.FUNCTION:
                return None
            self.add_function(pattern, file)
            self.instances.append(node)
            return None
        name = cursors.spelling(node)
        if node.kind == kinds.CONVERSION or (node.kind == kinds.FUNCTION_TEMPLATE and _CONVERTS.match(name)):
            name = CONVERSION_NAME
        return self.add_unread(node, file, record, name)

    def add_unread(self, node: Node, file: FileText, record: Node | None, name: str = "") -> Definition:
        """Take in a function as it stands, one that no file defines, too."""
        entry = self._definition(node, name or cursors.spelling(node), file, record)
        self.functions[entry.key] = entry
        self.functions_named.setdefault(entry.name, []).append(entry)
        return entry

    def _add_template_of(self, specialisation: Node) -> None:
        """Takes in a function template that is declared alone, for the sake of its specialisations."""
        template = cursors.canonical(cursors.specialized_template(specialisation))
        where = self.positions.point(template) if valid(template) else None
        if where is None or not where[0].project or valid(cursors.definition(template)):
            return
        entry = self._definition(template, cursors.spelling(template), where[0], None)
        if entry.key not in self.functions:
            self.functions[entry.key] = entry
            self.functions_named.setdefault(entry.name, []).append(entry)

    @staticmethod
    def _pattern(node: Node) -> Node | None:
        """The template that an instance was made of where it was asked for in so many words; clang may list
        the instance first."""
        pattern = cursors.specialized_template(node)
        if not valid(pattern):
            return None
        defined = cursors.definition(pattern)
        pattern = defined if valid(defined) else pattern
        return pattern if cursors.location(pattern).raw == cursors.location(node).raw else None

    def add_record(self, node: Node, file: FileText) -> Definition | None:
        """Take in a record that is defined here; None for a mere declaration or an explicit instantiation."""
        if not cursors.is_definition(node):
            return None
        known = self.records.get(cursors.location(node).raw)
        if known is not None:
            return known
        name = cursors.spelling(node)
        entry = self._definition(node, name, file, None)
        if cursors.template_argument_count(node) > 0 and not self._has_members(entry):
            return None  # `template struct Launcher<128>;` names an instance and defines nothing
        self.records[entry.key] = entry
        self.records_named.setdefault(name, []).append(entry)
        if b"friend" in entry.text():
            self._add_friends(entry)
        return entry

    def _has_members(self, found: Definition) -> bool:
        """Whether the members of an explicit specialisation stand where it is written. What a macro makes
        stands where it is used; the members of an instance stand in the template."""
        if b"{" in found.text():
            return True
        kids = (self.positions.point(k) for k in cursors.children(found.node) if k.kind in kinds.MEMBERS)
        return any(p is not None and p[0] is found.file and found.begin <= p[1] < found.end for p in kids)

    def _add_friends(self, record: Definition) -> None:
        for kid in cursors.children(record.node):
            if kid.kind != kinds.FRIEND:
                continue
            for function in cursors.children(kid):
                if function.kind in (kinds.FUNCTION, kinds.FUNCTION_TEMPLATE):
                    entry = self.add_function(function, record.file)
                    if entry is not None:
                        entry.friend_of = record

    def add_declared(self, template: Node, file: FileText) -> Definition | None:
        """Takes in a class template that is declared alone, for the sake of its specialisations."""
        if valid(cursors.definition(template)):
            return None
        first = cursors.canonical(template)
        known = self.records.get(cursors.location(first).raw)
        entry = known or self._definition(first, cursors.spelling(first), file, None)
        if known is None:
            self.records_named.setdefault(entry.name, []).append(entry)
        for key in (entry.key, cursors.location(template).raw):
            self.records[key] = entry
        return entry

    def _definition(self, node: Node, name: str, file: FileText, record: Node | None) -> Definition:
        place = self.positions.place(node)
        begin, end = (place.offset, place.end_offset) if place else (0, 0)
        return Definition(node, name, file, begin, end, cursors.location(node).raw, record)

    def function(self, reference: Node) -> Definition | None:
        """The project's definition behind a reference to a function, an instance of its template included."""
        return self._find(reference, self.functions) or self._of_silent_side(reference)

    def _of_silent_side(self, reference: Node) -> Definition | None:
        """The definition of a function whose declaration alone says `__device__`: to clang two functions, to
        nvcc one."""
        if reference.kind != kinds.FUNCTION or not sides(reference):
            return None
        said = self._spelled(reference)
        for entry in self.functions_named.get(cursors.spelling(reference), ()):
            if (
                entry.node.kind == kinds.FUNCTION
                and not sides(entry.node)
                and self._spelled(entry.node) == said
            ):
                entry.told_by = reference
                self._found[reference.d0 or 0] = entry
                return entry
        return None

    def _spelled(self, function: Node) -> tuple[str, str]:
        return self.qualified(function), cursors.type_spelling(cursors.cursor_type(function))

    def record(self, reference: Node) -> Definition | None:
        """Return the project's definition behind a reference to a record, an instance of its template
        included."""
        return self._find(reference, self.records)

    def around(self, node: Node) -> Definition | None:
        """Return the project's record that a declaration stands in."""
        parent = cursors.semantic_parent(node)
        return self.record(parent) if parent.kind in kinds.RECORDS else None

    def _find(self, reference: Node, table: dict[int, Definition]) -> Definition | None:
        key = reference.d0 or 0
        if key in self._found:
            return self._found[key]
        node, found = reference, None
        for _ in range(4):
            found = table.get(cursors.location(node).raw)
            if found is not None:
                break
            defined = cursors.definition(node)
            if valid(defined):
                found = table.get(cursors.location(defined).raw)
                if found is not None:
                    break
            template = cursors.specialized_template(node)
            if not valid(template):
                break
            node = template
        if found is None and table is self.records:
            found = self._nested_record(reference)
        self._found[key] = found
        return found

    def _nested_record(self, reference: Node) -> Definition | None:
        """A record inside a record or function, or one whose definition was not at the top level."""
        node = reference
        defined = cursors.definition(node)
        template = cursors.specialized_template(node)
        if valid(template):
            primary = cursors.definition(template)
            node = primary if valid(primary) else template
        elif valid(defined):
            node = defined
        where = self.positions.point(node)
        if where is None or not where[0].project or node.kind not in kinds.RECORDS:
            return None
        return self.records.get(cursors.location(node).raw) or self.add_record(node, where[0])

    def in_project(self, node: Node) -> bool:
        where = self.positions.point(node)
        return where is not None and where[0].project

    def qualified(self, node: Node) -> str:
        """Name with its namespaces and records, inline and unnamed namespaces left out."""
        key = node.d0 or 0
        known = self._qualified.get(key)
        if known is not None:
            return known
        name = _UNNAMED.sub(r"\1 at \2", cursors.spelling(node))
        parent = cursors.semantic_parent(node)
        while parent.kind in (kinds.LINKAGE, kinds.UNEXPOSED_DECL) or (
            parent.kind == kinds.NAMESPACE
            and (cursors.is_inline_namespace(parent) or not cursors.spelling(parent))
        ):
            parent = cursors.semantic_parent(parent)
        if parent.kind == kinds.NAMESPACE or parent.kind in kinds.RECORDS:
            name = f"{self.qualified(parent)}::{name}"
        self._qualified[key] = name
        return name

    def library_type(self, name: str) -> Node | None:
        """A type of the library by its last name, for text that clang did not resolve."""
        if self._asked.library_types is None:
            self._asked.library_types = {}
            for node in self._library_declarations(self.library, 0):
                if node.kind in kinds.RECORDS or node.kind in kinds.TYPEDEFS or node.kind == kinds.ENUM:
                    self._asked.library_types.setdefault(cursors.spelling(node), node)
        return self._asked.library_types.get(name)

    def stand_in(self, text: str) -> str:
        """The name for which healing declared a number type of this spelling."""
        if self._asked.stand_ins is None:
            self._asked.stand_ins = {}
            for node in self._library_declarations(self.library, 0):
                if node.kind == kinds.TYPEDEF and self.positions.is_healed(node):
                    spelled = cursors.type_spelling(cursors.typedef_underlying(node))
                    self._asked.stand_ins.setdefault(spelled, self.qualified(node))
        return self._asked.stand_ins.get(text.removeprefix("const "), "unknown")

    def _library_declarations(self, nodes: list[Node], depth: int) -> Iterator[Node]:
        for node in nodes:
            if node.kind in (kinds.NAMESPACE, kinds.LINKAGE, kinds.UNEXPOSED_DECL) and depth < 4:
                yield from self._library_declarations(cursors.children(node), depth + 1)
            else:
                yield node

    def enumerator(self, name: str, around: str = "") -> Node | None:
        """A namespace-scope enumerator of the project by name, its enum's before it or not, written in a
        namespace, a class or a function."""
        if self._asked.enumerators is None:
            self._asked.enumerators = {}
            for enum in self.enums:
                full = self.qualified(enum)
                outer, _, owner = full.rpartition("::")
                for child in cursors.children(enum):
                    if child.kind == kinds.ENUMERATOR:
                        own = cursors.spelling(child)
                        beside = f"{outer}::{own}" if outer else own
                        for known in (f"{full}::{own}", beside, f"{owner}::{own}", own):
                            self._asked.enumerators.setdefault(known, child)
        parts = name.split("::")
        found = nearest(self._asked.enumerators, name, around) or "::".join(parts[-2:])
        return self._asked.enumerators.get(found) or self._asked.enumerators.get(parts[-1])
