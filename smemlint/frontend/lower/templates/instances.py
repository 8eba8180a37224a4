"""Explicit instantiations of templates, as clang lists them and as the text and its macros have them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from smemlint.frontend.clang import cursors
from smemlint.frontend.clang.names import Definition
from smemlint.frontend.lower.context import Context
from smemlint.frontend.lower.scope import Scope
from smemlint.frontend.lower.templates.deduced import Declared, declared
from smemlint.frontend.text.expansion import DEFINE, Macro, expanded, macro_of, uses_of
from smemlint.ir import TemplateArgument
from smemlint.ir.uses import grown
from smemlint.patterns import pattern
from smemlint.source.blank import blank_comments
from smemlint.source.per_text import per_text

_GROUP = r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
"""Parentheses, such as those of an attribute."""
_INSTANCE = pattern(
    rf"(?<![\w])template\s+(?!<)((?:[^;{{}}()<]|<(?!<)|{_GROUP})*?)([A-Za-z_][\w:]*)\s*(<[^;{{}}]*>)?\s*\("
)
_ATTRIBUTE = rf"(?:\[\[[^\]]*\]\]\s*|[A-Za-z_]\w*(?:\s+|\s*{_GROUP}\s*))"
_CLASS_INSTANCE = pattern(
    rf"(?<![\w])template\s+(?:struct|class)\s+{_ATTRIBUTE}*?([A-Za-z_][\w:]*)\s*(<[^;{{}}]*>)\s*;"
)
_MEMBER_INSTANCE = pattern(
    r"(?<![\w])template\s+(?!<)[^;{}()]*?([A-Za-z_][\w:]*)\s*(<[^;{}()]*>)\s*::\s*~?[A-Za-z_]\w*\s*"
    r"(?:<[^;{}()]*>)?\s*\("
)
"""An explicit instantiation of a method: of its class, as far as launches go."""
_NAMES = pattern(r"[A-Za-z_]\w*")
_MAKES = pattern(r"(?<![\w:.>])template\s+[^<\s]")
"""An explicit instantiation, perhaps in the body of a macro."""


def explicit_instances(
    c: Context, texts: Sequence[str]
) -> tuple[tuple[tuple[str, tuple[TemplateArgument, ...]], ...], list[Declared]]:
    """`template __global__ void kernel<128>(...);`: libclang shows some, the text the rest. Second: those of
    which only the parameters are written."""
    found: dict[tuple[str, tuple[TemplateArgument, ...]], None] = {}
    open_ended: list[Declared] = []
    for node in c.declarations.instances:
        definition = c.declarations.function(node)
        arguments = c.types.specialisation_arguments(node)
        if definition is not None and arguments is not None:
            c.work.require(definition)
            found[c.decls.function_id(definition), arguments] = None
    for text in texts:
        for match in _INSTANCE.finditer(text):
            owner, _, name = match.group(2).rpartition("::")
            written = match.group(3)
            templates = [
                f
                for f in c.declarations.functions_named.get(name, ())
                if not c.decls.is_specialisation(f) and _is_of(f, owner)
            ]
            if not templates or text[: match.start()].rstrip().endswith((".", "->", "::")):
                continue
            if not written:
                for template in templates:
                    c.work.require(template)
                names = map(c.decls.function_id, templates)
                open_ended += declared(c, names, text, match.end())
                continue
            with c.within(Scope()):
                lowered = c.texts.template_arguments(written)
            for template in templates:
                c.work.require(template)
                identifier = c.decls.function_id(template)
                if not any(i == identifier and a[: len(lowered)] == lowered for i, a in found):
                    found[identifier, lowered] = None
    return tuple(found), open_ended


def _is_of(f: Definition, owner: str) -> bool:
    """Whether a function may be the one that is written behind this class or namespace."""
    own = cursors.spelling(f.record).split("<", 1)[0] if f.record is not None else ""
    return not owner or not own or own == owner.rsplit("::", 1)[-1]


def instantiating(c: Context) -> Iterator[str]:
    """The text of files with explicit instantiations, and what macros make of such: `DECLARE(float)`."""
    texts = [file.data for file in c.positions.project_files()]
    if not any(map(_makes, texts)):
        return
    defined = [macro for text in texts for macro in _defined(text)]
    macros = {macro.name: macro for macro in defined}
    making = _making(defined)
    for text in texts:
        if not making and not _makes(text):
            continue
        code = blank_comments(text.decode("utf-8", "replace"))
        yield _with_lists(_undefined(code), macros)
        if making:
            yield from _expansions(code, making, dict(macros))


@per_text
def _makes(text: bytes) -> bool:
    return _MAKES.search(text.decode("utf-8", "replace")) is not None


@per_text
def _defined(text: bytes) -> list[Macro]:
    return [macro_of(*parts) for parts in DEFINE.findall(text.decode("utf-8", "replace"))]


@per_text
def _undefined(code: str) -> str:
    return DEFINE.sub("", code)


def _with_lists(text: str, macros: Mapping[str, Macro]) -> str:
    """The text with macros put in that stand for several template arguments: `template class S<MODE_1>;`."""
    lists = {name: m for name, m in macros.items() if m.parameters is None and "," in m.body}
    for form, group in ((_CLASS_INSTANCE, 2), (_MEMBER_INSTANCE, 2), (_INSTANCE, 3)) if lists else ():
        parts: list[str] = []
        at = 0
        for match in form.finditer(text):
            if match.group(group):
                parts += text[at : match.start(group)], expanded(match.group(group), lists)
                at = match.end(group)
        text = "".join((*parts, text[at:]))
    return text


def _expansions(text: str, making: frozenset[str], macros: dict[str, Macro]) -> Iterator[str]:
    """What the uses of some macros in a file become, each with what is defined there."""
    at = 0
    for definition in (*DEFINE.finditer(text), None):
        code = text[at : len(text) if definition is None else definition.start()]
        for use in uses_of(making, code, macros):
            yield expanded(use, macros)
        if definition is not None:
            made = macro_of(*definition.groups(default=""))
            macros[made.name] = made
            at = definition.end()


def _making(defined: Sequence[Macro]) -> frozenset[str]:
    """Names of the macros that instantiate templates, themselves or by others, as one of their definitions
    says."""
    making = {macro.name for macro in defined if _MAKES.search(macro.body)}
    return frozenset(
        grown(making, lambda known: (m.name for m in defined if not known.isdisjoint(_NAMES.findall(m.body))))
        if making
        else making
    )


def explicit_records(
    c: Context, texts: Sequence[str]
) -> tuple[tuple[str, tuple[TemplateArgument, ...]], ...]:
    """`template struct Launcher<float, 128>;`, and `template void Launcher<float, 128>::run(int);`, as the
    text shows them, of classes that matter."""
    found: dict[tuple[str, tuple[TemplateArgument, ...]], None] = {}
    known: dict[str, list[str]] = {}
    for name, record_ in c.found.records.items():
        if record_.template:
            known.setdefault(name.rsplit("::", 1)[-1], []).append(name)
    for text in texts if known else ():
        for match in chain(_CLASS_INSTANCE.finditer(text), _MEMBER_INSTANCE.finditer(text)):
            for name in known.get(match.group(1).rpartition("::")[2], ()):
                with c.within(Scope()):
                    found[name, c.texts.template_arguments(match.group(2))] = None
    return tuple(found)
