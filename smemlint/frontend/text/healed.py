"""Names that a text uses and nothing declares, and the header that declares them.

clang keeps an expression that does not type-check (as a node without a type), but not one that names
something undeclared. So the declarations need only exist. A value is declared with an unknown type: clang
then takes every expression that holds it for type-dependent, as in a template, and checks nothing. Types
are structs that convert from and to everything or, where they look like numbers, integers of an odd width:
those take every operator, claim no size that a program could mean, and no two of them are the same type.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace
from itertools import count

from smemlint.ir.macros import is_check
from smemlint.patterns import pattern
from smemlint.records import record
from smemlint.source.per_text import per_text

VIRTUAL = "/smemlint-virtual"
"""Folder of files that exist in memory only. What is declared there is ours: names without meaning."""
TYPE = "type"
NUMBER_TYPE = "number type"
VALUE = "value"
FUNCTION = "function"
KERNEL = "kernel"
"""The text of a function that is started."""
RANGE = "range"
"""The text of what a loop goes through, or of a function that gives it."""
NAMESPACE = "namespace"
MACRO = "macro"

ALIASES = {
    "cg": "cooperative_groups",
    "cooperative_groups_": "cooperative_groups",
    "wmma": "nvcuda::wmma",
    "cde": "cuda::device::experimental",
    "ptx": "cuda::ptx",
}
"""Namespaces that programs know under another name, set in a header that is missing."""


@record
class Healed:
    """One name. parameters: kinds of its template parameters (`t` type, `v` value), None when it is no
    template. text: of a macro, what follows its name; else KERNEL or RANGE. children: what is
    declared inside, of a namespace or type. imported: `using space::name;` makes it known without its
    namespace."""

    name: str
    kind: str
    parameters: str | None = None
    text: str = ""
    children: dict[str, Healed] = field(default_factory=dict)
    imported: bool = False

    def describe(self) -> str:
        return f"{self.kind} template" if self.parameters is not None else self.kind

    def copied(self, without: frozenset[str] = frozenset()) -> Healed:
        """The entry and all below it, without what has one of these names in a namespace."""
        left = without if self.kind == NAMESPACE else frozenset()
        children = {name: child.copied(left) for name, child in self.children.items() if name not in left}
        return replace(self, children=children)


@record
class HealedNames:
    """All healed names of a file, as a tree."""

    root: Healed = field(default_factory=lambda: Healed("", NAMESPACE))

    def scope(self, path: tuple[str, ...]) -> Healed:
        """The namespace of that path, made when new."""
        here = self.root
        for name in path:
            here = here.children.setdefault(name, Healed(name, NAMESPACE))
        return here

    def find(self, path: tuple[str, ...]) -> Healed | None:
        """The entry of that path: as written, else the only one whose path ends so."""
        here: Healed | None = self.root
        for name in path:
            here = here.children.get(name) if here is not None else None
        if here is not None:
            return here
        suffix = "::".join(path)
        found = [entry for name, entry in self.walk() if name == suffix or name.endswith("::" + suffix)]
        return found[0] if len(found) == 1 else None

    def importing(self, name: str) -> Healed:
        """The namespace out of which a using declaration takes a name; without one, the global namespace."""
        spaces = [self.root, *(entry for _, entry in self.walk() if entry.kind == NAMESPACE)]
        return next((s for s in spaces if name in s.children and s.children[name].imported), self.root)

    def walk(self) -> Iterator[tuple[str, Healed]]:
        """Qualified name and entry of every name."""

        def below(prefix: str, scope: dict[str, Healed]) -> Iterator[tuple[str, Healed]]:
            for name, entry in scope.items():
                yield prefix + name, entry
                yield from below(f"{prefix}{name}::", entry.children)

        yield from below("", self.root.children)

    def carried(self, texts: Iterable[bytes]) -> HealedNames:
        """A copy to begin another translation unit with, whose files are given.

        What those declare under one of the names, clang mostly complains of, and it is taken back. Not so
        of a function (ours is one more overload), of a macro, nor of a class behind our value or function;
        and an alias of a namespace is lost to ours. Where the files may declare that, the name is left out.
        A macro is always: what stands for it here need not do so there, and no complaint would correct it.
        So is what the files do not mention: then all who ask for them may begin with the same.
        """
        silent = set(_silent(self.root))
        theirs = {e.name for e in self.root.children.values() if e.kind == MACRO}
        texts = tuple(texts)
        for text in texts if silent else ():
            theirs |= {name for name, kind in silent if name not in theirs and _may_declare(text, name, kind)}
        found = self.root.copied(frozenset(theirs))
        _keep_mentioned(found, texts)
        return HealedNames(found)

    def join(self, other: HealedNames) -> None:
        """Take in the names of a unit that was read later: where both know one, it knows more."""
        _join(self.root, other.root)

    def text(self, *, numbers: bool = False) -> str:
        """The header. Empty when nothing is healed. numbers: values are integers, which clang checks as such:
        less of what they stand in is kept."""
        if not self.root.children:
            return ""
        lines = [f"#define {e.name}{e.text}" for e in self.root.children.values() if e.kind == MACRO]
        lines.append("#pragma clang force_cuda_host_device begin")
        lines += _scope(self.root, count(), "const int" if numbers else "smemlint_undeclared")
        lines.append("#pragma clang force_cuda_host_device end\n")
        return "\n".join(lines)


_NO_TYPE_WORDS = "return else case throw new delete and or not do goto in co_return co_yield co_await"
_NO_TYPES = frozenset(_NO_TYPE_WORDS.split())
_TAGS = ("struct", "class", "union", "enum", "namespace", "using")
_WORD = pattern(r"\w+")
_BEFORE = pattern(r"(?:#[ \t]*)?\w+\Z|[>*&)]\Z")


def _silent(scope: Healed) -> Iterator[tuple[str, str]]:
    """Name and kind of what a second declaration of would be no error, the members of classes left out."""
    for entry in scope.children.values():
        if entry.kind in (VALUE, FUNCTION, MACRO, NAMESPACE):
            yield entry.name, entry.kind
        if entry.kind == NAMESPACE:
            yield from _silent(entry)


@per_text
def _as_text(data: bytes) -> str:
    return data.decode("latin-1")


@per_text
def _words(data: bytes) -> frozenset[str]:
    """The words of a text: some hundred names are looked for in texts of megabytes."""
    return frozenset(_WORD.findall(_as_text(data)))


def _may_declare(data: bytes, name: str, kind: str) -> bool:
    """Whether a text reads as if it declared what clang takes beside a value, function, macro or namespace of
    the name.

    Errs towards yes: the name is then healed anew where it is missing.
    """
    if name not in _words(data):
        return False
    text = _as_text(data)
    if kind == NAMESPACE:
        return re.search(rf"\bnamespace\s+{name}\s*=", text) is not None
    for found in re.finditer(rf"\b{name}\b\s*(\w|.?)", text):
        before = text[max(0, found.start() - 80) : found.start()].rstrip()
        last = _BEFORE.search(before)
        word, follows = last.group() if last else "", found.group(1)
        if word.startswith("#"):
            return True
        typed = word != "" and word not in _NO_TYPES
        if word in _TAGS or (kind == FUNCTION and typed and follows == "("):
            return True
        listed = before.endswith(("{", ",", "}")) and follows in ("=", ",", "}", ";")
        if kind == MACRO and (listed or (typed and not re.match(r"\w", follows))):
            return True
    return False


def _keep_mentioned(scope: Healed, texts: Sequence[bytes]) -> None:
    """Leave in a scope what some texts name, in the order of names."""
    for name, entry in sorted(scope.children.items()):
        del scope.children[name]
        _keep_mentioned(entry, texts)
        if entry.children or any(name.encode() in text for text in texts):
            scope.children[name] = entry


def _join(mine: Healed, other: Healed) -> None:
    for name, theirs in other.children.items():
        known = mine.children.get(name)
        if known is None:
            mine.children[name] = theirs.copied()
        else:
            known.kind, known.text = theirs.kind, theirs.text
            known.parameters, known.imported = theirs.parameters, theirs.imported
            _join(known, theirs)


_WIDTHS = (*range(33, 64), *range(65, 128))
_POINTER = pattern(r"(?:^|_)(?:data|ptr)(?:_|$)")
_STRUCT = (
    "typedef void smemlint_healed; {0}() = default; template <class T> {0}(T&&); "
    "template <class A, class B, class... C> {0}(A&&, B&&, C&&...); "
    "template <class T, class = smemlint::unless_healed<T>> operator T() const; "
    "template <class T> {0}& operator[](T) const; "
    "{0}* operator->() const; {0}& operator*() const; "
)

_RANGE = "smemlint::range::iterator begin() const; smemlint::range::iterator end() const;"


def _scope(scope: Healed, number: Iterator[int], value: str) -> list[str]:
    """Declarations of everything in a namespace or class. value: the type of a value."""
    inside_class = scope.kind != NAMESPACE
    lines = []
    for entry in scope.children.values():
        if entry.kind == NAMESPACE:
            lines += _namespace(entry, number, value, top_level=scope.name == "")
        elif entry.kind == NUMBER_TYPE and not entry.children and entry.parameters is None:
            lines.append(f"typedef _BitInt({_WIDTHS[next(number) % len(_WIDTHS)]}) {entry.name};")
        elif entry.kind in (TYPE, NUMBER_TYPE):
            body = [_STRUCT.format(entry.name), *_scope(entry, number, value)]
            body += [_RANGE] if entry.text == RANGE else []
            lines += [f"{_template(entry)}struct {entry.name} {{", *body, "};"]
        elif entry.kind == FUNCTION:
            parameters = "".join(f"{p}, " for p in _parameters(entry.parameters or ""))
            storage = "static " if inside_class else ""
            result = "cudaError_t" if entry.name.startswith("cuda") else "int"
            if is_check(entry.name) and not inside_class:
                result = "smemlint::told"  # `CHECK(n > 0) << "none";`
            if (
                inside_class
                and entry.parameters
                and entry.parameters[0] == "t"
                and _POINTER.search(entry.name)
            ):
                result = "T0*"  # `x.data_ptr<float>()`
            if entry.text == RANGE:
                result = "smemlint::range"
            if entry.text == KERNEL:
                storage, result = "__global__ ", "void"
            lines.append(f"template <{parameters}class... A> {storage}{result} {entry.name}(A...);")
        elif entry.kind == VALUE and (entry.parameters is not None or scope.parameters is not None):
            # clang does not instantiate an invalid member; the number means nothing.
            lines.append(
                f"{_template(entry)}{'static ' if inside_class else ''}constexpr int {entry.name} = 1;"
            )
        elif entry.kind == VALUE:
            of = "smemlint::range" if entry.text == RANGE else value
            lines.append(f"{'static' if inside_class else 'extern'} {of} {entry.name};")
    return lines


def _namespace(entry: Healed, number: Iterator[int], value: str, top_level: bool) -> list[str]:
    real = ALIASES.get(entry.name) if top_level else None
    if real is None:
        return [f"namespace {entry.name} {{", *_scope(entry, number, value), "}"]
    return [f"namespace {real} {{", *_scope(entry, number, value), "}", f"namespace {entry.name} = {real};"]


def _template(entry: Healed) -> str:
    if entry.parameters is None:
        return ""
    pack = "class... Ts" if entry.parameters[-1:] == "t" else "auto... Vs"
    return f"template <{', '.join((*_parameters(entry.parameters), pack))}> "


def _parameters(kinds: str) -> list[str]:
    """Each has a default, so that fewer arguments will do."""
    return [f"class T{n} = void" if kind == "t" else f"auto V{n} = 0" for n, kind in enumerate(kinds)]
