"""The dynamic shared bytes of launches, made more: as a formula in the text of each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from smemlint.fix.model import Refusal
from smemlint.fix.text.brackets import bare, parenthesis_around
from smemlint.fix.text.flat import Term, local_definition, opened, terms
from smemlint.fix.text.launches.settled import block_at, function_around, is_settled, open_names
from smemlint.fix.text.launches.written import (
    arguments_of,
    bytes_arguments,
    declarations,
    listed,
    meanings,
    said_by,
)
from smemlint.fix.text.literals import integer
from smemlint.fix.text.source import Source, Token, tokenize
from smemlint.fix.text.views import SIZES
from smemlint.ir import Place
from smemlint.patterns import pattern
from smemlint.records import record

_ATTRIBUTES = frozenset(("cudaFuncSetAttribute", "hipFuncSetAttribute"))
_AXIS, _BLOCK = "blockDim.", "blockDim"
"""What kernels name an extent of the block by; the block of a launch among what names mean there."""
_CAST = pattern(r"\((?:unsigned|int|long|(?:std::)?size_t|u?int(?:32|64)_t)+\)(?=[\w(])")


@record(frozen=True, slots=True)
class Growth:
    """By how much a launch asks for more. bytes: in each of the launches that were seen; rows: an expression
    of the kernel for the rows that become wider, '' where there is none; extra: elements more in each;
    element: the type's spelling; pitch: what the rows were multiplied by, as the kernel says it; value: of an
    expression in each of the launches."""

    bytes: tuple[int, ...]
    rows: str
    extra: int
    element: str
    pitch: str = ""
    value: Callable[[str], list[int] | None] = lambda text: None
    count: tuple[int, ...] = ()
    """The rows as numbers."""
    alone: bool = False
    """Whether the array has the bytes for itself."""
    fixed: bool = True
    """Whether the compiler knows the pitch."""
    allowed: bool = False
    """Whether a launch asks for more bytes than a kernel has without being allowed to."""


def grown(
    source: Source, places: Iterable[Place], growth: Growth, kernel: str
) -> list[tuple[int, int, str]] | Refusal:
    """(start, end, text) of what gives each launch's dynamic shared bytes, with what it needs more.

    The bytes are said as the formula that they are (`bytes + rows * sizeof(float)`) where its names can be
    said at the launch. A number is added only to what is the same number in every run of the program.
    """
    from smemlint.fix.text.expressions import added, plus

    places = list(places)
    ranges = bytes_arguments(source, places)
    if isinstance(ranges, Refusal):
        return ranges
    constant = growth.bytes[0] if len(set(growth.bytes)) == 1 else None
    offsets = sorted({p.offset for p in places})
    result: dict[int, tuple[int, int, str]] = {}
    for offset, (start, end) in zip(offsets, ranges, strict=True):
        (start, end), (first, last) = _definition(source, start, end, ranges, kernel)
        old = source.text[start:end]
        index = source.index_at(start)
        arguments = arguments_of(source, offset) or []
        names = meanings(source, offset, kernel) | block_at(source, arguments)
        if len(arguments) > 1 and len(arguments[1]) == 1:
            names[_BLOCK] = arguments[1][0].text
        formula = None
        if integer(old.strip()) is None:
            formula = _at_launch(source, growth, names) or _as_before(source, first, last, growth, names)
        if formula is not None and open_names(source, [formula], index):
            formula = None
        text = added(old, formula) if formula is not None else None
        if text is None and (constant is None or not _is_one_number(source, old, index, growth, names)):
            line = source.line_of(start)
            return Refusal(
                "launches-differ", f"how many bytes more line {line} has to ask for is not said by a formula"
            )
        text = text or plus(old, constant or 0)
        if text is None:
            line = source.line_of(start)
            return Refusal(
                "extent-not-an-expression", f"the dynamic shared bytes on line {line} are not read as C"
            )
        result[start] = (start, end, text)
        allowing: Sequence[object] = ()
        if (start, end) in ranges:
            allowing = _attributes(source, kernel, old)
            result.update((begin, (begin, last, text)) for begin, last in allowing)
        elif growth.allowed:
            allowing = _allowing(source, end, kernel, source.text[slice(*ranges[offsets.index(offset)])])
        if growth.allowed and not allowing:
            line = source.line_of(start)
            return Refusal(
                "launches-differ",
                f"line {line} gives more than 48 KiB, and what allows the kernel so much is not found",
            )
    alone = len({len(listed(source.code, i + 1)) for i in declarations(source, kernel)}) <= 1
    for line, here in list(_unseen(source, kernel, ranges, result)):
        # Of kernels of one name nobody knows which is launched.
        text = None if here is None or not alone else _said_alike(source, here, ranges, result)
        if here is None or text is None:
            return Refusal(
                "launch-elsewhere", f"the launch on line {line} was not seen, and would get too few bytes"
            )
        result[here[0]] = (*here, text)
    return list(result.values())


def _unseen(
    source: Source, kernel: str, ranges: Sequence[tuple[int, int]], changed: Mapping[int, object]
) -> Iterator[tuple[int, tuple[int, int] | None]]:
    """Launches of the kernel whose bytes stay as they are: the line of each, and where its bytes stand."""
    for token in source.code:
        arguments = arguments_of(source, token.offset) if token.text == kernel else None
        if arguments is None:
            continue
        third = arguments[2] if len(arguments) > 2 else []
        here = (third[0].offset, third[-1].end) if third else None
        if here in ranges:
            continue
        if here is None or _definition(source, *here, ranges, kernel)[0][0] not in changed:
            yield source.line_of(token.offset), here


def _said_alike(
    source: Source,
    here: tuple[int, int],
    ranges: Sequence[tuple[int, int]],
    changed: Mapping[int, tuple[int, int, str]],
) -> str | None:
    """The bytes of a launch that was not seen, by the formula that one in the same function gets which says
    the same today; None where there is none."""
    old = "".join(source.text[slice(*here)].split())
    function = function_around(source, source.index_at(here[0]))
    for start, end in ranges:
        alike = start in changed and "".join(source.text[start:end].split()) == old
        if alike and integer(old) is None and function_around(source, source.index_at(start)) == function:
            return changed[start][2]
    return None


def _allowing(source: Source, begin: int, kernel: str, name: str) -> list[int]:
    """Calls behind a place that take a kernel and its bytes, `cudaFuncSetAttribute` or one around it."""
    code = source.code
    scope = function_around(source, source.index_at(begin)) or (0, 0)
    return [
        i
        for i in range(source.index_at(begin), scope[1])
        if code[i].text == name and _given_with(source, i, kernel)
    ]


def _is_one_number(source: Source, bytes_: str, index: int, growth: Growth, names: Mapping[str, str]) -> bool:
    """Whether the bytes of a launch and the rows in them are the same in every run."""
    if not is_settled(source, bytes_, index):
        return False
    if growth.fixed:
        return True
    said = said_by(growth.pitch, names)
    return said is not None and is_settled(source, said, index)


def _definition(
    source: Source, start: int, end: int, ranges: Sequence[tuple[int, int]], kernel: str
) -> tuple[tuple[int, int], tuple[int, int]]:
    """Where the bytes of a launch can be made more, and where the formula for them stands: the local variable
    that is named there is changed where nothing but launches of this kernel take it."""
    here = (start, end)
    name = source.text[start:end].strip()
    function = function_around(source, source.index_at(start))
    if function is None or not re.fullmatch(r"[A-Za-z_]\w*", name):
        return here, here
    found = local_definition(source, name, function)
    if found is None or not found[1] <= start:
        return here, here
    own = {source.index_at(first) for first, _ in ranges}
    for i in range(source.index_at(found[1]), function[1]):
        # What else takes them (another kernel's launch, a copy) would get more than it has.
        if source.code[i].text != name or i in own or _given_with(source, i, kernel):
            continue
        if not _launches_with(source, i, kernel):
            return here, found
    return found, found


def _launches_with(source: Source, index: int, kernel: str) -> bool:
    """Whether a token is the bytes of a launch of the kernel, be it one that was seen or not."""
    code = source.code
    for token in reversed(code[source.statement(index)[0] : index]):
        if token.text == kernel:
            arguments = arguments_of(source, token.offset)
            return arguments is not None and len(arguments) > 2 and arguments[2] == [code[index]]
    return False


def _given_with(source: Source, index: int, kernel: str) -> bool:
    """Whether a token is all that stands for one argument of a call that takes the kernel as another: the
    call that allows it so much dynamic shared memory, or a function of the project around that."""
    code = source.code
    i = parenthesis_around(code, index)
    if i is None:
        return False
    parts = listed(code, i)
    if code[i - 1].text in _ATTRIBUTES:
        return True
    whole = any(len(part) == 1 and part[0] is code[index] for part in parts)
    return whole and code[i - 1].kind == "name" and any(kernel in {t.text for t in part} for part in parts)


def _attributes(source: Source, kernel: str, bytes_: str) -> list[tuple[int, int]]:
    """Where calls allow a kernel as many bytes as a launch gives, in the launch's words."""
    code = source.code
    found = []
    for i, token in enumerate(code[:-2]):
        if token.text not in _ATTRIBUTES or code[i + 1].text != "(":
            continue
        parts = listed(code, i + 1)
        if len(parts) < 3 or not parts[-1] or kernel not in {t.text for t in parts[0]}:
            continue
        first, last = parts[-1][0], parts[-1][-1]
        if "".join(source.text[first.offset : last.end].split()) == "".join(bytes_.split()):
            found.append((first.offset, last.end))
    return found


def _at_launch(source: Source, growth: Growth, names: Mapping[str, str]) -> str | None:
    """The bytes more, as an expression of the launch; None where a name of the kernel means nothing there."""
    from smemlint.fix.text.expressions import times

    if not growth.rows:
        return None
    rows = growth.rows
    for name in set(re.findall(r"(?<![\w.])[A-Za-z_]\w*(?:\.\w+)?", rows)):
        meaning = names.get(name)
        if meaning is None and not _global(source, name):
            return None
        if meaning is not None:
            simple = re.fullmatch(r"\w+", meaning)
            rows = re.sub(rf"(?<![\w.]){re.escape(name)}\b", meaning if simple else f"({meaning})", rows)
    return times(rows, _of_row(source, growth, names))


def _as_before(source: Source, start: int, end: int, growth: Growth, names: Mapping[str, str]) -> str | None:
    """The bytes more by what the rows are multiplied by in the bytes that the launch gives today: of
    `(Br * d + Bc * d) * sizeof(float)` the last `Bc` for rows of `d`."""
    from smemlint.fix.text.expressions import times

    found = None
    axes = {name: f"{names[_BLOCK]}.{name[-1]}" for name in names if _BLOCK in names and name[:-1] == _AXIS}
    scope = function_around(source, source.index_at(start)) or (0, 0)
    meant = [_put(growth.pitch, {**names, **other}) for other in ({}, axes)]
    pitches = {_bare(text) for text in (*meant, *(opened(source, text, scope) for text in meant))}
    whole = terms(source, start, end)
    for term in _products(source, start, end):
        factors = list(reversed(term.factors))
        hit = next((f for f in factors if pitches & {f.text, _bare(f.text)}), None)
        hit = hit or next((f for f in factors if _bare(opened(source, f.text, scope)) in pitches), None)
        rest = [f for f in term.factors if f is not hit and not f.text.startswith("sizeof")]
        rows = " * ".join(_CAST.sub("", source.text[f.offset : f.end]) for f in rest)
        if hit is None or not rest:
            continue
        if len(rest) == 1:
            rows = _unwrapped(rows)
        # One product with the size of an element in it is the rows of this array and nothing else.
        alone = whole == [term] and growth.alone and len(rest) == len(term.factors) - 2
        if alone or growth.value(rows) == list(growth.count):
            found = rows
    return None if found is None else times(found, _of_row(source, growth, names))


def _put(text: str, names: Mapping[str, str]) -> str:
    """An expression of the kernel with what its names stand for at a launch, as far as they stand for
    something."""
    for name in set(re.findall(r"(?<![\w.])[A-Za-z_]\w*(?:\.\w+)?", text)) & names.keys():
        text = re.sub(rf"(?<![\w.]){re.escape(name)}\b", f"({names[name]})", text)
    return text


def _bare(text: str) -> str:
    """An expression without white space, and without parentheses around single names and around all of it;
    casts to integers are left out."""
    text, before = _CAST.sub("", "".join(text.split())), ""
    while text != before:
        before, text = text, re.sub(r"(?<!\w)\(([\w.]+)\)", r"\1", text)
    return _unwrapped(text)


def _unwrapped(text: str) -> str:
    """An expression without parentheses around all of it."""
    tokens = bare(tokenize(text))
    return text[tokens[0].offset : tokens[-1].end] if tokens else text


def _of_row(source: Source, growth: Growth, names: Mapping[str, str]) -> str:
    """The bytes that a row becomes wider by; the type by its name where the launch can say it."""
    element = names.get(growth.element, growth.element)
    if element in SIZES or any(t.text == element and source.scope_of(i) is None for i, t in _types(source)):
        return f"sizeof({element})" if growth.extra == 1 else f"{growth.extra} * sizeof({element})"
    return str(growth.bytes[0] // max(growth.count[0], 1))


def _types(source: Source) -> Iterator[tuple[int, Token]]:
    """Names of types that the file declares: `struct S`, `using S =`, `typedef float S;`."""
    code = source.code
    for i, token in enumerate(code[:-2]):
        before = code[i - 1].text if i else ""
        if before in ("struct", "using", "class", "union"):
            yield i, token
        elif code[i + 1].text == ";" and token.kind == "name":
            start = source.index_at(source.statement_start(i))
            if code[start].text == "typedef":
                yield i, token


def _products(source: Source, start: int, end: int) -> Iterator[Term]:
    """The products in an expression, those in parentheses included."""
    for term in terms(source, start, end):
        yield term
        for factor in term.factors:
            if factor.text.startswith("(") and factor.text.endswith(")") and len(factor.text) > 2:
                yield from _products(source, factor.offset + 1, factor.end - 1)


def _global(source: Source, name: str) -> bool:
    """Whether a name is a macro's or a constant's outside all functions."""
    macro = re.compile(rf"#\s*define\s+{name}\b(?!\()")
    if any(t.kind == "directive" and macro.match(t.text) for t in source.tokens):
        return True
    code = source.code
    return any(
        t.text == name and code[i + 1].text == "=" and source.scope_of(i) is None
        for i, t in enumerate(code[:-2])
    )
