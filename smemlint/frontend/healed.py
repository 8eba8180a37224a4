"""Names that a text uses and nothing declares, and the header that declares them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

TYPE = "type"
VALUE = "value"
FUNCTION = "function"
NAMESPACE = "namespace"
MACRO = "macro"

ALIASES = {"cg": "cooperative_groups", "wmma": "nvcuda::wmma", "cde": "cuda::device::experimental", "ptx": "cuda::ptx"}
"""Namespaces that programs know under another name, set in a header that is missing."""


@dataclass
class Healed:
    """One name. parameters: kinds of its template parameters (`t` type, `v` value), None when it is no template.
    text: of a macro, what follows its name."""

    name: str
    kind: str
    parameters: str | None = None
    text: str = ""
    through_object: bool = False
    """A member that was asked of an object, not of its class."""
    children: dict[str, Healed] = field(default_factory=dict)

    def describe(self) -> str:
        return f"{self.kind} template" if self.parameters is not None else self.kind


@dataclass
class HealedNames:
    """All healed names of a file: a tree of namespaces, and the members of healed types (of all of them alike)."""

    root: Healed = field(default_factory=lambda: Healed("", NAMESPACE))
    members: dict[str, Healed] = field(default_factory=dict)

    def scope(self, path: tuple[str, ...]) -> Healed:
        """The namespace of that path, made when new."""
        here = self.root
        for name in path:
            here = here.children.setdefault(name, Healed(name, NAMESPACE))
        return here

    def walk(self) -> Iterator[tuple[str, Healed]]:
        """Qualified name and entry of every name."""

        def below(prefix: str, scope: dict[str, Healed]) -> Iterator[tuple[str, Healed]]:
            for name, entry in scope.items():
                yield prefix + name, entry
                yield from below(f"{prefix}{name}::", entry.children)

        yield from below("", self.root.children)
        yield from below(".", self.members)

    def text(self) -> str:
        """The header. Empty when nothing is healed."""
        if not self.root.children and not self.members:
            return ""
        lines = [f"#define {e.name}{e.text}" for e in self.root.children.values() if e.kind == MACRO]
        lines.append("#pragma clang force_cuda_host_device begin")
        lines.append(_ANY_HEAD)
        lines += [_member(entry) for entry in self.members.values()]
        lines.append(_ANY_TAIL)
        lines += _namespace(self.root)
        lines.append("#pragma clang force_cuda_host_device end\n")
        return "\n".join(lines)


_ANY_HEAD = """namespace smemlint {
template <class Tag> struct any_of : any_operations {
    any_of() = default;
    template <class T, class = std::enable_if_t<!__is_same(std::remove_cvref_t<T>, any_of)>> constexpr any_of(T&&) {}
    template <class A, class B, class... R> constexpr any_of(A&&, B&&, R&&...) {}
    template <class T> constexpr const any_of& operator=(T) const { return *this; }"""
_ANY_TAIL = "};\n}"


def _namespace(scope: Healed) -> list[str]:
    lines = []
    for entry in scope.children.values():
        if entry.kind == NAMESPACE:
            if entry.name in ALIASES and scope.name == "":
                lines.append(f"namespace {ALIASES[entry.name]} {{ {' '.join(_namespace(entry))} }}")
                lines.append(f"namespace {entry.name} = {ALIASES[entry.name]};")
            else:
                lines += [f"namespace {entry.name} {{", *_namespace(entry), "}"]
        elif entry.kind == TYPE:
            base = f"smemlint::any_of<struct smemlint_{entry.name}>"
            body = f"{{ using {base[:-1]}>::any_of; using {base}::operator=; }};"
            lines.append(f"{_template(entry)}struct {entry.name} : {base} {body}")
        elif entry.kind == FUNCTION:
            lines.append(_function(entry, ""))
        elif entry.kind == VALUE:
            lines.append(f"{_template(entry)}inline constexpr smemlint::unknown {entry.name}{{}};")
    return lines


def _member(entry: Healed) -> str:
    if entry.kind == TYPE:
        return f"    {_template(entry)}using {entry.name} = any_of<struct smemlint_{entry.name}>;"
    if entry.kind == FUNCTION:
        return "    " + _function(entry, "static ")
    if entry.through_object:
        return f"    static const unknown {entry.name};"
    return f"    {_template(entry)}static constexpr number {entry.name}{{}};"


def _function(entry: Healed, storage: str) -> str:
    parameters = "".join(f"{p}, " for p in _parameters(entry.parameters or "", pack=False))
    return (
        f"template <{parameters}class... smemlint_A> {storage}constexpr smemlint::unknown {entry.name}(smemlint_A...) {{ return {{}}; }}"
    )


def _template(entry: Healed) -> str:
    if entry.parameters is None:
        return ""
    return f"template <{', '.join(_parameters(entry.parameters, pack=True))}> "


def _parameters(kinds: str, pack: bool) -> list[str]:
    """Each has a default, so that fewer arguments will do; a pack of the last kind takes more."""
    found = [f"class T{n} = void" if kind == "t" else f"auto V{n} = 0" for n, kind in enumerate(kinds)]
    if pack:
        found.append("class... Ts" if kinds[-1:] == "t" else "auto... Vs")
    return found
