"""Named constants that are the pitch of a shared array: where one is defined, and what else it serves.

In: the text of a file and the name of a shared array. Out: the definition that an edit changes, or the
Refusal that says where the name serves something besides.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from smemlint.fix.model import Refusal
from smemlint.fix.text.brackets import around, end_of
from smemlint.fix.text.source import Source, Token
from smemlint.patterns import pattern
from smemlint.records import record

_DEFINE = pattern(
    r"#[ \t]*define[ \t]+(?P<name>\w+)[ \t]+(?P<value>[^\n]*?)[ \t]*(?://[^\n]*|/\*[^\n]*)?\r?\Z"
)
_INTEGERS = frozenset(
    ("int", "unsigned", "size_t", "uint32_t", "int32_t", "uint", "auto", "long", "short", "std::size_t")
)
_FRAGMENT_CALLS = frozenset(("load_matrix_sync", "store_matrix_sync"))
_CASTS = frozenset(("reinterpret_cast", "static_cast", "sizeof", "min", "max", "int", "size_t", "unsigned"))
_BEFORE_BLOCKS = (")", "const", "noexcept", "else", "do", "{", "}", ";")
_DEEP = 3
"""Constants made of the constant that are followed."""


@record(frozen=True, slots=True)
class Constant:
    """A named integer. begin, end: byte range of its value in the text; line: where it is defined.

    uses: byte offsets of each place where it, or a constant made of it, reaches an access. sized: whether
    host code makes a number of bytes of it. first, last: bytes between which the name may be this one.
    """

    name: str
    begin: int
    end: int
    line: int
    uses: tuple[int, ...] = ()
    sized: bool = False
    first: int = 0
    last: int = 1 << 62


@record(frozen=True, slots=True)
class Definitions:
    """The named integers of a file. Functions may define one name each for itself."""

    each: Mapping[str, tuple[Constant, ...]]

    def named(self, name: str, offset: int) -> Constant | None:
        """What a name is at a byte; None where that is not one definition (`#if`, `#else`)."""
        around = [c for c in self.each.get(name, ()) if c.first <= offset < c.last]
        inner = max((c.first for c in around), default=0)
        found = [c for c in around if c.first == inner]
        return found[0] if len(found) == 1 else None

    def holding(self, offset: int) -> Constant | None:
        """The one whose value a byte is part of."""
        return next((c for of in self.each.values() for c in of if c.begin <= offset < c.end), None)


@record(frozen=True, slots=True)
class Scopes:
    """Names of shared arrays and of pointers into them, each in the tokens [first, last) where it is one."""

    each: tuple[tuple[int, int, frozenset[str]], ...]

    def at(self, index: int) -> frozenset[str]:
        found = [names for first, last, names in self.each if first <= index < last]
        return frozenset[str]().union(*found)


def definitions(source: Source) -> Definitions:
    """The integers that a file defines by macro or as a constant, once in each scope."""
    found: dict[str, list[Constant]] = {}
    for token in source.tokens:
        match = _DEFINE.match(token.text) if token.kind == "directive" else None
        if match is not None and match.group("value"):
            begin = token.offset + match.start("value")
            end = token.offset + match.end("value")
            line = source.line_of(begin)
            found.setdefault(match.group("name"), []).append(Constant(match.group("name"), begin, end, line))
    code = source.code
    for i in range(2, len(code) - 2):
        if code[i].kind != "name" or code[i - 1].text not in _INTEGERS:
            continue
        if code[i + 1].text not in ("=", "{"):
            continue
        if not {"const", "constexpr"} & {t.text for t in code[source.statement(i)[0] : i]}:
            continue
        close = source.partner(i + 1)
        last = _last_of(code, i + 2) if close is None else close - 1 if close > i + 2 else None
        if last is not None:
            one = Constant(code[i].text, code[i + 2].offset, code[last].end, source.line_of(code[i].offset))
            scope = source.scope_of(i)
            # What a class or a namespace holds is known outside of it as well.
            if scope is not None and code[scope[0] - 1].text in _BEFORE_BLOCKS:
                one = replace(one, first=code[scope[0]].offset, last=code[scope[1]].offset)
            found.setdefault(one.name, []).append(one)
    for several in found.values():
        if len(several) == 1:  # a template may hand the only one to functions outside of its scope
            several[0] = replace(several[0], first=0, last=1 << 62)
    return Definitions({name: tuple(several) for name, several in found.items()})


def _last_of(code: list[Token], first: int) -> int | None:
    """The last token of an initialiser; None where no `;` or `,` ends it."""
    end = end_of(code, first, len(code), ";", ",")
    return end - 1 if first < end < len(code) and code[end].text in (";", ",") else None


def derived(source: Source, array: str, first: int, last: int) -> frozenset[str]:
    """The array and the local pointers that start in it, one from another."""
    names = {array}
    code = source.code
    grown = True
    while grown:
        grown = False
        for i in range(first, last):
            if code[i].text != "=" or code[i - 1].kind != "name" or code[i - 1].text in names:
                continue
            if code[i - 2].text not in ("*", "auto", "__restrict__", "const"):
                continue
            end = _last_of(code, i + 1)
            texts = {t.text for t in code[i + 1 : (end or i) + 1]}
            if texts & names and _points(code, i + 1, end or i, names):
                names.add(code[i - 1].text)
                grown = True
    return frozenset(names)


def _points(code: list[Token], first: int, last: int, names: set[str]) -> bool:
    """Whether an initialiser is an address: the name stands without a subscript, or after `&`."""
    for i in range(first, last + 1):
        if code[i].text in names:
            after = code[i + 1].text if i + 1 < len(code) else ""
            return after != "[" or code[i - 1].text == "&"
    return False


def candidates(
    source: Source, scopes: Scopes, known: Definitions, value: Callable[[str], int | None], near: int
) -> list[Constant]:
    """Constants in the size, an index or the start of a pointer of the arrays, the most used first.

    value: of an expression. near: a byte where the array is declared: of a name that several functions
    define, the one there counts.
    """
    count: dict[Constant, int] = {}
    for i, token in enumerate(source.code):
        if token.kind == "name" and token.text in known.each and _reaches(source, i, scopes):
            one = known.named(token.text, token.offset)
            if one is not None and (len(known.each[one.name]) == 1 or one.first <= near < one.last):
                count[one] = count.get(one, 0) + 1
    for one in tuple(count):  # what it is made of moves it, too
        inside = [t for t in source.code if one.begin <= t.offset < one.end and t.text in known.each]
        for part in filter(None, (known.named(t.text, t.offset) for t in inside)):
            count.setdefault(part, count[one])
    ordered = sorted(count, key=lambda one: -count[one])
    return [one for one in ordered if value(source.text[one.begin : one.end]) is not None]


def only_pitch(
    source: Source, constant: Constant, scopes: Scopes, known: Definitions, deep: int = 0
) -> Constant | Refusal:
    """The constant with its uses, or the use that is neither of the arrays nor of their sizes."""
    uses: list[int] = []
    sized = False
    for offset in _mentions(source, constant):
        if isinstance(offset, str):
            other = known.named(offset, constant.begin)
            if other is None or deep >= _DEEP:
                return Refusal("used-in-macro", f"a macro names `{constant.name}`")
            inner = only_pitch(source, other, scopes, known, deep + 1)
            if isinstance(inner, Refusal):
                return inner
            uses += inner.uses
            sized = sized or inner.sized
            continue
        i = source.index_at(offset)
        of_a_class = source.code[i - 1].text in ("::", ".", "->")
        if not of_a_class and known.named(constant.name, offset) not in (constant, None):
            continue
        if _reaches(source, i, scopes):
            uses.append(offset)
            continue
        passed = _as_template(source, i, scopes, known, deep)
        if isinstance(passed, Constant):
            uses += passed.uses
            continue
        made = known.holding(offset)
        if made is not None and made.name != constant.name and deep < _DEEP:
            inner = only_pitch(source, made, scopes, known, deep + 1)
            if isinstance(inner, Refusal):
                return inner
            uses += inner.uses
            sized = sized or inner.sized
            continue
        if not _in_bytes(source, i):
            line = source.line_of(offset)
            return Refusal("constant-elsewhere", f"`{constant.name}` also serves line {line}")
        sized = True
    return replace(constant, uses=tuple(uses), sized=sized)


def _as_template(
    source: Source, index: int, scopes: Scopes, known: Definitions, deep: int
) -> Constant | None:
    """What a name serves as a template parameter, or as an argument for one, where that is but a pitch:
    `template <size_t SKEW>`, `kernel<T, SKEW>`. None for any other use."""
    code = source.code
    name = code[index].text
    if code[index - 1].text in _INTEGERS and code[index + 1].text in (",", ">", "="):
        return Constant(name, 0, 0, 0) if _angle(code, index)[1] == "template" else None
    if code[index - 1].text not in ("<", ",") or code[index + 1].text not in (",", ">"):
        return None
    position, called = _angle(code, index)
    for each in (source, *source.included):
        body = template_of(each, called, position)
        if body is None:
            continue
        parameter, first, last = body
        if each is source and parameter == name:
            return Constant(name, 0, 0, 0)  # its uses are among those of the name
        if _only_extents(each, parameter, first, last):
            return Constant(parameter, 0, 0, 0)
        if each is not source or deep >= _DEEP:
            return None
        uses = [t.offset for t in each.code[first:last] if t.text == parameter]
        kept = all(_reaches(each, each.index_at(u), scopes) for u in uses)
        return Constant(parameter, 0, 0, 0, tuple(uses)) if kept else None
    return None


def _angle(code: list[Token], index: int) -> tuple[int, str]:
    """Which of the things in angle brackets a token is, and the name before these; (0, '') outside of any."""
    position, depth = 0, 0
    for i in range(index - 1, 0, -1):
        text = code[i].text
        if text in (";", "{", "}"):
            break
        depth += (text in (")", "]", ">")) - (text in ("(", "[", "<"))
        if depth < 0:
            return (position, code[i - 1].text) if text == "<" else (0, "")
        position += text == "," and depth == 0
    return 0, ""


def template_of(source: Source, function: str, position: int) -> tuple[str, int, int] | None:
    """The name of a function's template parameter, and the tokens from the function's name to its end; None
    where the file defines no such function, or several."""
    code = source.code
    found: list[tuple[str, int, int]] = []
    for i, token in enumerate(code[:-2]):
        if token.text != function or code[i + 1].text != "(":
            continue
        close = source.partner(i + 1)
        start = source.index_at(source.statement_start(i))
        if close is None or code[close + 1].text != "{" or code[start].text != "template":
            continue
        names = [
            code[j].text
            for j in range(start + 2, i)
            if code[j].kind == "name"
            and code[j - 1].kind == "name"
            and code[j + 1].text in (",", ">", "=")
            and _angle(code, j)[1] == "template"
        ]
        names = [n for n in names if n not in _INTEGERS]
        if position < len(names):
            found.append((names[position], i, source.partner(close + 1) or i))
    return found[0] if len(found) == 1 else None


def _only_extents(source: Source, name: str, first: int, last: int) -> bool:
    """Whether a template parameter of a function is used for nothing but the extents of its parameters."""
    code = source.code
    body = source.partner(first + 1) or first
    for i in range(first, last):
        if code[i].text != name:
            continue
        if i > body or code[next(around(code, i), first)].text != "[":
            return False
    return True


def _mentions(source: Source, constant: Constant) -> Iterator[int | str]:
    """Byte offset of each use in code; the name of each macro whose body holds the constant."""
    for token in source.tokens:
        if token.kind == "name" and token.text == constant.name:
            if not constant.first <= token.offset < constant.last:
                continue
            if source.line_of(token.offset) != constant.line or token.offset > constant.end:
                yield token.offset
        elif token.kind != "directive" or token.offset <= constant.begin < token.end:
            continue
        elif re.search(rf"(?<![\w.]){re.escape(constant.name)}(?!\w)", token.text):
            match = _DEFINE.match(token.text)
            yield match.group("name") if match is not None else ""


def _reaches(source: Source, index: int, scopes: Scopes) -> bool:
    """Whether a name at an index of `code` makes an address or a size of the arrays, and nothing else."""
    code = source.code
    names = scopes.at(index)
    first, last = source.statement(index)
    texts = [t.text for t in code[first:last]]
    if "__shared__" in texts:
        return True
    for i in around(code, index):
        text, before = code[i].text, i - 1
        while text == "[" and before > first and code[before].text == "]":
            before = (source.partner(before) or 0) - 1
        name = code[before].text
        if text == "[":
            return name in names
        if name in _FRAGMENT_CALLS:
            return any(t in names for t in texts)
        if code[before].kind == "name" and name not in _CASTS:
            return False
        if code[i + 1].text in names and code[i + 2].text == "+":
            return True  # `(pointer + row * LD)`
    return (
        "=" in texts and code[first + texts.index("=") - 1].text in names and texts.index("=") + first < index
    )


def _in_bytes(source: Source, index: int) -> bool:
    """Whether host code makes a number of bytes of it: its statement has `sizeof`, or is a launch."""
    first, last = source.statement(index)
    texts = [t.text for t in source.code[first:last]]
    return "sizeof" in texts and "[" not in texts
