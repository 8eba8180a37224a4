"""How a name is used, read off the text around it: enough to declare it as the right kind of thing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

from smemlint.patterns import pattern
from smemlint.records import record
from smemlint.source.blank import blank_literals
from smemlint.source.tokens import skip_space

_WORD = pattern(r"[A-Za-z_]\w*")
_LAST_WORD = pattern(r"[A-Za-z_]\w*\Z")
_POINTER = pattern(
    r"(?:const\b|volatile\b|__restrict__\b|[*&]|\s)+(?=[),>;\]]|\Z)|[*&]+\s*(?:const\s+|__restrict__\s+)?[A-Za-z_]\w*\s*(?:=(?!=)|;|\[|,\s*[*&])"
)
_VALUE_ARGUMENT = pattern(
    r"^\s*(?:[-+!~]|\d|'|true\b|false\b|sizeof\b|nullptr\b|k[A-Z]\w*$|.*(?:::value|_v(?:<.*>)?)\s*$)|[-+/%|?]|&&|[=!<>]=|\*\s*[\w(]",
    re.DOTALL,
)
_TYPE_WORD = pattern(
    r"^\s*(?:const |typename |unsigned |struct )"
    r"|^\s*(?:float|double|int|char|bool|void|short|long|half|half2|float\d|int\d|\w+_t(?:_\d+)?|\w+_type|T|T\w|[A-Z][a-z]\w*|.*[*&])"
    r"\s*(?:[*&<].*)?$",
    re.DOTALL,
)
_LIMIT = 4000


@record(frozen=True, slots=True)
class Usage:
    """What stands around a name. `next` is the token's first characters that follow, `previous` the token
    before."""

    previous: str
    next: str
    template: tuple[str, ...] | None
    after_template: str
    starts_statement: bool
    pointer_like: bool
    following_word: str
    call_ends_statement: bool
    streamed: bool = False
    """Whether `<<` follows the call: `CHECK(n > 0) << "none";`."""


def usage(text: str, start: int, name: str) -> Usage:
    """The usage of `name` at character `start` of `text`."""
    end = start + len(name)
    before = text[max(0, start - 400) : start]
    window = text[end : end + _LIMIT]
    blank = skip_space(window, 0)
    rest = window[blank:]
    previous = _last_token(before.rstrip())
    template, after = None, ""
    if rest.startswith("<") and not rest.startswith(("<<", "<=")):
        template, close = _arguments(rest)
        if template is not None:
            tail = rest[close:]
            after = tail[skip_space(tail, 0) :][:2]
    word = _WORD.match(rest)
    ends, streamed = True, False
    if rest.startswith("("):
        end_of_call = matching(rest, 0)
        tail = rest[end_of_call:] if end_of_call else ";"
        follows = tail[skip_space(tail, 0) :][:2]
        ends, streamed = follows[:1] in (";", ",", ")", ""), follows == "<<"
    return Usage(
        previous,
        rest[:2],
        template,
        after,
        previous in ("", ";", "{", "}", ")", ":") or before.rstrip(" \t").endswith("\n"),
        bool(_POINTER.match(rest)),
        word.group() if word else "",
        ends,
        streamed,
    )


def _last_token(text: str) -> str:
    """The word or sign that a text ends with."""
    start = len(text)
    while start and (text[start - 1].isalnum() or text[start - 1] == "_"):
        start -= 1
    word = _LAST_WORD.search(text, start)
    if word:
        return word.group()
    return text[-2:] if text.endswith(("::", "->")) else text[-1:]


def matching(text: str, at: int) -> int | None:
    """The position after the bracket that closes the one at `at`, or None within the window."""
    depth = 0
    for match in re.finditer(r"[()\[\]{}]", text[at:]):
        depth += 1 if match.group() in "([{" else -1
        if depth == 0:
            return at + match.end()
    return None


def _arguments(rest: str) -> tuple[tuple[str, ...] | None, int]:
    """The template arguments of a text that starts with `<`, and where they end; None when it is a
    comparison."""
    depth, nested, parts, last = 0, 0, [], 1
    for match in re.finditer(r"<<|>=|<=|->|[<>(){}\[\],;]|&&|\|\|", rest):
        token = match.group()
        if token in "([{":
            nested += 1
        elif token in ")]}":
            nested -= 1
            if nested < 0:
                return None, 0
        elif nested:
            continue
        elif token == "<":
            depth += 1
        elif token == ">":
            depth -= 1
            if depth == 0:
                parts.append(rest[last : match.start()])
                return tuple(part.strip() for part in parts if part.strip()), match.end()
        elif token == "," and depth == 1:
            parts.append(rest[last : match.start()])
            last = match.end()
        elif token in (";", "<<", "||"):
            return None, 0
    return None, 0


def argument_kinds(arguments: tuple[str, ...], text: str) -> str:
    """`t` or `v` for each template argument, guessed from how it is written and how the text declares it."""
    return "".join(_argument_kind(argument, text) for argument in arguments)


def _argument_kind(argument: str, text: str) -> str:
    plain = argument.removesuffix("...").strip()
    if _WORD.fullmatch(plain):
        declared = _declared_kind(plain, text)
        if declared:
            return declared
    if _VALUE_ARGUMENT.search(re.sub(r"<.*>", "", plain, flags=re.DOTALL)):
        return "v"
    if _TYPE_WORD.match(plain):
        return "t"
    if "::" in plain:
        last = re.sub(r"<.*>", "", plain, flags=re.DOTALL).rsplit("::", 1)[-1].strip()
        if plain.startswith("typename ") or re.match(r"[A-Z][a-z]|.*_t$|(?:type|value_type)$", last):
            return "t"
        return "v"
    return "v" if (plain.isupper() and len(plain) > 1) or re.fullmatch(r"[KMNBP]|[a-z]\w*", plain) else "t"


_TYPE_BEFORE = pattern(r"\b(?:class|typename|struct|using)\s*(?:\.\.\.\s*)?\Z")
_VALUE_BEFORE = pattern(r"\b(?:int|bool|unsigned|size_t|auto|long|char|\w+_t|[A-Z]\w+)\s+\Z")


def find_word(text: str, name: str, start: int = 0, end: int | None = None) -> Iterator[int]:
    """Where a whole word stands in a text."""
    at = text.find(name, start, end)
    while at >= 0:
        after = at + len(name)
        if not (_is_word(text[at - 1 : at]) or _is_word(text[after : after + 1])):
            yield at
        at = text.find(name, after, end)


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


@lru_cache(maxsize=1024)
def _declared_kind(name: str, text: str) -> str:
    """`t` or `v` when the text itself declares the name, else nothing. Looks at the first uses only."""
    for start in islice(find_word(text, name), 40):
        before = text[max(0, start - 40) : start]
        if _TYPE_BEFORE.search(before):
            return "t"
        after = text[start + len(name) : start + len(name) + 2].lstrip()[:1]
        if after in (*",>=;)[",) and _VALUE_BEFORE.search(before):
            return "v"
    return ""


_VARIABLE_AFTER = pattern(r"[\s*&]+[A-Za-z_]\w*\s*(?:[;\[{]|=(?!=))")
_STATEMENT_BEFORE = pattern(
    r"(?:[;{}]|\b(?:const|static|constexpr|__shared__|__constant__|__device__|extern))\s*\Z"
)


@lru_cache(maxsize=1024)
def declares_variables(name: str, text: str) -> bool:
    """Whether somewhere a statement reads `name x;`, `name x = ...` or `name x[...]`."""
    for start in islice(find_word(text, name), 60):
        if _VARIABLE_AFTER.match(text, start + len(name)) and _STATEMENT_BEFORE.search(
            text[max(0, start - 30) : start]
        ):
            return True
    return False


def namespaces_around(text: str, at: int) -> tuple[str, ...]:
    """The namespaces that a place stands in, outermost first; nameless ones left out."""
    code = blank_literals(text[:at].encode("latin-1", "replace")).decode("latin-1")
    around: list[str] = []
    for found in _BRACE.finditer(code):
        if found.group() != "}":
            around.append(found.group(1) or "")
        elif around:
            around.pop()
    return tuple(part for name in around for part in name.split("::") if part)


_BRACE = pattern(r"(?:\bnamespace\s+([\w:]+)\s*)?\{|\}")


def enclosing_template(text: str, at: int) -> tuple[str, int] | None:
    """For a template argument at `at`: the template's name and the argument's number, or None."""
    depth, number = 0, 0
    for position in range(at - 1, max(-1, at - _LIMIT), -1):
        character = text[position]
        if character in ")]}>" and text[position - 1 : position + 1] != "->":
            depth += 1
        elif character in "([{":
            if depth == 0:
                return None
            depth -= 1
        elif character == "<":
            if depth == 0:
                name = re.search(r"([A-Za-z_]\w*)\s*\Z", text[max(0, position - 200) : position])
                return (name.group(1), number) if name else None
            depth -= 1
        elif character == "," and depth == 0:
            number += 1
        elif character == ";":
            return None
    return None


_DECLARATOR = pattern(r"([A-Za-z_]\w*)(?:\s*<[^;{}()]*>)?[\s*&]+(?:[A-Za-z_]\w*\s*::\s*)*[A-Za-z_~]\w*\s*\Z")
_NO_TYPES = frozenset(("return", "else", "new", "throw", "case", "goto", "delete"))


def in_parameter_list(text: str, at: int) -> bool:
    """Whether `at` is in the parentheses of a lambda, or of a function's declaration: two words before the
    opening one."""
    depth = 0
    for position in range(at - 1, max(-1, at - _LIMIT), -1):
        character = text[position]
        if character == ")":
            depth += 1
        elif character == "(":
            if depth == 0:
                before = text[max(0, position - 300) : position]
                if before.rstrip().endswith("]"):
                    return True
                found = _DECLARATOR.search(before)
                return found is not None and found.group(1) not in _NO_TYPES
            depth -= 1
        elif character in ";{}":
            return False
    return False
