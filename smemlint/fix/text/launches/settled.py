"""Whether what host code gives to a launch is the same in every run, as the text alone tells.

A launch is read as one run of the program shows it. A number of that run may be written into an edit only
where no other run has another.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from smemlint.fix.text.brackets import argument_texts, parenthesis_around
from smemlint.fix.text.flat import local_definition
from smemlint.fix.text.literals import integer
from smemlint.fix.text.source import Source, Token
from smemlint.fix.text.views import SIZES
from smemlint.patterns import pattern
from smemlint.source.blank import blank_comments

_TYPES = frozenset(
    (*SIZES, "size_t", "const", "constexpr", "unsigned", "signed", "static_cast", "std", "dim3")
)
_PURE = frozenset(("max", "min", "sizeof", "dim3", "static_cast"))
_ASKS = frozenset(
    ("argv", "getenv", "secure_getenv", "getopt", "getopt_long", "cin", "scanf", "fscanf", "sscanf")
)
_BY_VALUE = pattern(r"cuda|cu[A-Z]|mem|malloc|calloc|free|f?printf|dim3|if|for|while|max|min")
_AXES = "xyz"
_NAME = pattern(r"(?<![\w.])(?<!->)[A-Za-z_]\w*")
_SIZEOF = pattern(r"\bsizeof\s*\([^()]*\)|\bsizeof\s+\w+")
_DEEPEST = 6


def function_around(source: Source, index: int) -> tuple[int, int] | None:
    """(index of `{`, index of `}`) of the outermost function around a token."""
    found = None
    scope = source.scope_of(index)
    while scope is not None:
        if source.code[scope[0] - 1].text in (")", "const", "noexcept"):
            found = scope
        scope = source.scope_of(scope[0])
    return found


def is_settled(source: Source, text: str, index: int, depth: int = 0) -> bool:
    """Whether an expression has one value, whatever the program is told: its names are numbers, constants of
    the file and local variables that are set once to such. index: the token of the file where it is meant."""
    plain = _SIZEOF.sub(" ", blank_comments(text))
    if '"' in plain or depth > _DEEPEST:
        return False
    for match in _NAME.finditer(plain):
        name, after = match.group(), plain[match.end() :].lstrip()[:1]
        if name in _PURE if after in ("(", "<") else name in _TYPES:
            continue
        if after == "(" or not _name_is_settled(source, name, index, depth):
            return False
    return True


def _name_is_settled(source: Source, name: str, index: int, depth: int) -> bool:
    function = function_around(source, index)
    if function is not None and (values := local_values(source, name, function)) is not None:
        texts = [source.text[start:end] for start, end in values]
        return all(is_settled(source, text, index, depth + 1) for text in texts)
    if function is not None and _is_declared_in(source, name, function):
        return False
    return is_constant(source, name, depth + 1)


def _is_declared_in(source: Source, name: str, function: tuple[int, int]) -> bool:
    """Whether a name is a parameter of a function, or something that it declares or changes."""
    code = source.code
    opening = function[0] - 1
    while opening > 0 and code[opening].text != ")":
        opening -= 1
    first = source.partner(opening)
    if first is not None and any(t.text == name for t in code[first:opening]):
        return True
    before = source.index_at(source.statement_start(first or opening))
    if any(t.text == name for t in code[before : first or opening]):  # a template parameter
        return True
    return any(
        code[i].text == name
        and (
            code[i + 1].text in ("=", "++", "--", "{")
            or code[i - 1].kind == "name"
            or code[i - 1].text == "&"
        )
        and code[i - 1].text not in (".", "->", "return")
        for i in range(*function)
    )


def local_values(source: Source, name: str, function: tuple[int, int]) -> list[tuple[int, int]] | None:
    """What a local is made of that is set once and changed by nobody: its initialiser, or the arguments of a
    `dim3`. None for anything else."""
    code = source.code
    made = [
        i
        for i in range(*function)
        if code[i].text == name and code[i - 1].text == "dim3" and code[i + 1].text in ("(", "{")
    ]
    if len(made) == 1 and not _is_changed(source, name, function, made[0]):
        close = source.partner(made[0] + 1)
        return None if close is None else [(code[made[0] + 2].offset, code[close].offset)]
    definition = local_definition(source, name, function)
    if definition is None or _is_changed(source, name, function, source.index_at(definition[0]) - 2):
        return None
    return [definition]


def _is_changed(source: Source, name: str, function: tuple[int, int], but: int) -> bool:
    """Whether a local is assigned, or handed to a function that may take it by reference."""
    code = source.code
    for i in range(*function):
        if code[i].text != name or i == but or code[i - 1].text in (".", "->", "::"):
            continue
        after = code[i + 3].text if code[i + 1].text == "." else code[i + 1].text
        if after == "=" or re.fullmatch(r"(<<|>>|[-+*/%&|^])=|\+\+|--", after):
            return True
        if code[i - 1].text in ("++", "--", "&", ">>"):
            return True
        if code[i - 1].text in ("(", ",") and code[i + 1].text in (",", ")") and _by_reference(source, i):
            return True
    return False


def _by_reference(source: Source, index: int) -> bool:
    """Whether an argument goes to a function of the file with a parameter that is a reference to no constant,
    or to one that nobody knows."""
    code = source.code
    i = parenthesis_around(code, index)
    if i is None:
        return False
    called = code[i - 1]
    if called.kind != "name" or _BY_VALUE.match(called.text) or code[i - 2].text == "dim3":
        return False
    for j, token in enumerate(code[:-2]):
        if token.text != called.text or code[j + 1].text != "(" or j == i - 1:
            continue
        close = source.partner(j + 1)
        if close is not None and (code[j - 1].kind == "name" or code[j - 1].text in "*&>"):
            return any(t.text == "&" for t in code[j + 1 : close])
    return code[i - 1].text not in _PURE


def is_constant(source: Source, name: str, depth: int = 0) -> bool:
    """Whether a name is a macro or a constant outside all functions with one value, whatever the compiler's
    command line defines."""
    for each in (source, *source.included):
        for token in each.tokens:
            if token.kind != "directive":
                continue
            if re.match(rf"#\s*ifndef\s+{name}\b|#\s*el?if.*\b{name}\b|#\s*undef\s+{name}\b", token.text):
                return False
    bodies = [
        match.group(1)
        for each in (source, *source.included)
        for token in each.tokens
        if token.kind == "directive"
        and (match := re.match(rf"#\s*define\s+{name}\b(?!\()([^\n]*)", token.text)) is not None
    ]
    if bodies:
        return len(bodies) == 1 and depth <= _DEEPEST and _is_number(source, bodies[0], depth)
    code = source.code
    for i, token in enumerate(code[:-2]):
        if token.text != name or code[i + 1].text not in ("=", "{") or source.scope_of(i) is not None:
            continue
        start = source.index_at(source.statement_start(i))
        if not any(t.text in ("const", "constexpr", "enum") for t in code[start:i]):
            return False
        last = i + 2
        while code[last].text not in (";", "}", ""):
            last += 1
        return is_settled(source, source.text[code[i + 2].offset : code[last].offset], i, depth + 1)
    return False


def _is_number(source: Source, text: str, depth: int) -> bool:
    plain = _SIZEOF.sub(" 1 ", blank_comments(text)).strip()
    names = _NAME.findall(plain)
    if not names:
        return bool(plain)
    return all(n in _TYPES or is_constant(source, n, depth + 1) for n in names)


def asks(source: Source) -> bool:
    """Whether a program looks at what it is told when it starts: its command line, its environment, input."""
    return any(
        t.text in _ASKS and source.scope_of(i) is not None and source.code[i - 1].text not in (".", "->")
        for i, t in enumerate(source.code)
        if t.kind == "name"
    )


def block_at(source: Source, arguments: Sequence[Sequence[Token]]) -> dict[str, str]:
    """What `blockDim.x` and the others are at a launch, as text that means the same there."""
    if len(arguments) < 2 or not arguments[1]:
        return {}
    given = arguments[1]
    start, end = given[0].offset, given[-1].end
    text = source.text[start:end]
    index = source.index_at(start)
    function = function_around(source, index)
    parts: list[str] | None = None
    if len(given) == 1 and given[0].kind == "name" and function is not None:
        made = [
            i
            for i in range(function[0], index)
            if source.code[i].text == text
            and source.code[i - 1].text == "dim3"
            and source.code[i + 1].text in ("(", "{")
        ]
        if len(made) == 1 and not _is_changed(source, text, function, made[0]):
            parts = argument_texts(source, made[0] + 1)
            names = {n for p in parts for n in re.findall(r"[A-Za-z_]\w*", p)}
            if any(_assigned(source, n, made[0], index) for n in names):
                parts = None
        if parts is None and made:
            return {f"blockDim.{axis}": f"{text}.{axis}" for axis in _AXES}
    elif given[0].text == "dim3" and len(given) > 2 and given[1].text in ("(", "{"):
        parts = argument_texts(source, source.index_at(given[1].offset))
    if parts is None:
        parts = [text]
    parts = [*parts, "1", "1", "1"][:3]
    return {f"blockDim.{axis}": part for axis, part in zip(_AXES, parts, strict=True)}


def _assigned(source: Source, name: str, first: int, last: int) -> bool:
    code = source.code
    return any(
        code[i].text == name
        and (code[i + 1].text in ("=", "++", "--") or re.fullmatch(r"(<<|>>|[-+*/%&|^])=", code[i + 1].text)
             or code[i - 1].text in ("&", "++", "--", ">>"))
        for i in range(first, last)
    )  # fmt: skip


def open_names(source: Source, texts: Iterable[str], index: int) -> bool:
    """Whether some name of the expressions is not in sight at a token of the file."""
    function = function_around(source, index)
    for text in texts:
        for name in _NAME.findall(text):
            if integer(name) is not None or name in _TYPES or name in _PURE:
                continue
            if function is None or not _is_declared_in(source, name, function):
                continue
            before = (t.text for t in source.code[_head(source, function) : index])
            if name not in before:
                return True
    return False


def _head(source: Source, function: tuple[int, int]) -> int:
    return source.index_at(source.statement_start(function[0]))
