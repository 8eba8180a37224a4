"""Arrays that functions and lambdas take with their extents (`float (&tile)[32][32]`, `float (*tile)[32]`).

In: a use of an array as an argument. Out: the extents of the parameter, in every declaration of the function,
and of every function that it passes it on to; or why they cannot all be changed together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from smemlint.fix.model import Refusal
from smemlint.fix.text.brackets import arguments, around, position_in
from smemlint.fix.text.declared import Declared
from smemlint.fix.text.source import Source, Subscript, Use
from smemlint.records import record

_DEEP = 4
"""Functions through which an array is followed."""


@record(frozen=True, slots=True)
class Argument:
    """An array as the argument of a call. function: the callee's name; position: of the argument; explicit:
    whether the call names template arguments; chosen: its dimensions that subscripts of the argument choose
    from (`tiles[stage]`)."""

    function: str
    position: int
    explicit: bool
    chosen: int = 0


@record(frozen=True, slots=True)
class Parameter:
    """A parameter that takes an array. extents: of its dimensions but the first, which a pointer leaves out;
    None where the compiler deduces one. uses: of its name in the body, () for a declaration without one."""

    name: str
    extents: tuple[Subscript | None, ...]
    uses: tuple[Use, ...] = ()


def inner_extents(at: Declared, use: Use, dim: int) -> list[Subscript] | Refusal:
    """The brackets that hold the extent of dimension `dim` in all functions that get the array from a use."""
    found: list[Subscript] = []
    seen: set[tuple[str, int]] = set()
    todo = [(use, at.name, at.scope, len(at.extents))]
    for _ in range(_DEEP):
        later = []
        for each, name, scope, all_dims in todo:
            argument = argument_of(at.source, each)
            if argument is None:
                return _refused(at, each)
            dims = all_dims - argument.chosen
            own = dim - (len(at.extents) - dims)
            if own < 1:  # a padding between what the function gets is none inside of it
                continue
            key = (argument.function, argument.position)
            if key in seen:
                continue
            seen.add(key)
            parameters = _parameters(at.source, argument, dims)
            if not parameters or _others(at.source, argument, name, scope):
                return _refused(at, each)
            for parameter in parameters:
                bracket = parameter.extents[own - 1]
                if bracket is not None:
                    found.append(bracket)
                elif argument.explicit:
                    return _refused(at, each)
                for inner in parameter.uses:
                    if inner.context == "sizeof":
                        return Refusal("size-elsewhere", f"`sizeof` on line {inner.line} would change")
                    if inner.context == "whole" and len(inner.subscripts) < dims - 1:
                        later.append((inner, parameter.name, _body(at.source, inner), dims))
        if not later:
            return found
        todo = later
    return _refused(at, use)


def _refused(at: Declared, use: Use) -> Refusal:
    return Refusal("passed-on", f"`{at.name}` is passed on whole on line {use.line}, with its extents")


def _body(source: Source, use: Use) -> tuple[int, int]:
    """The tokens of the function around a use."""
    index = source.index_at(use.offset)
    scope = source.scope_of(index)
    found = scope or (0, len(source.code))
    while scope is not None:
        found = scope
        scope = source.scope_of(scope[0])
    return found


def argument_of(source: Source, use: Use) -> Argument | None:
    """The call that a use is an argument of, where it stands there alone."""
    code = source.code
    i = source.index_at(use.offset)
    if code[i - 1].text not in ("(", ",") or code[source.index_at(use.end)].text not in (",", ")"):
        return None
    opening = next(around(code, i, ";"), None)
    called = None if opening is None else callee(source, opening)
    if opening is None or called is None:
        return None
    position = position_in(arguments(source, opening)[0], i)
    return Argument(called[0], position, called[1], len(use.subscripts))


def callee(source: Source, opening: int) -> tuple[str, bool] | None:
    """The name before a `(` and whether template arguments stand between."""
    code = source.code
    j = opening - 1
    explicit = code[j].text == ">"
    depth = 0
    while explicit and j > 0:
        depth += (code[j].text == ">") - (code[j].text == "<")
        j -= 1
        if depth == 0:
            break
    return (code[j].text, explicit) if code[j].kind == "name" else None


def calls(source: Source, name: str) -> Iterator[tuple[int, bool]]:
    """Index of the `(` after each mention of a function, or of a lambda that a variable holds, and whether it
    declares it (`auto load = [&](...)`)."""
    code = source.code
    for i, token in enumerate(code[:-2]):
        if token.text != name or token.kind != "name":
            continue
        j, depth = i + 1, 0
        if [t.text for t in code[j : j + 2]] == ["=", "["]:
            j = arguments(source, i + 2)[1] + 1
        while code[j].text not in (";", "{", "}") and (code[j].text == "<" or depth):
            depth += (code[j].text == "<") - (code[j].text == ">")
            j += 1
            if j == len(code):
                return
        before = code[i - 1]
        declares = (before.kind == "name" and before.text != "return") or before.text in ("*", "&", ">")
        yield (j if code[j].text == "(" else -1), declares


def _others(source: Source, argument: Argument, name: str, scope: tuple[int, int]) -> bool:
    """Whether the function is also called with something else, or named without a call."""
    for opening, declares in calls(source, argument.function):
        if declares:
            continue
        if opening < 0:
            return True
        parts, _ = arguments(source, opening)
        if argument.position >= len(parts):
            return True
        first, last = parts[argument.position]
        inside = scope[0] <= opening < scope[1]
        groups = source.subscripts_after(first)
        end = source.index_at(groups[-1].close) + 1 if groups else first + 1
        alike = last == end and len(groups) == argument.chosen and source.code[first].text == name
        if not inside or not alike:
            return True
    return False


def _parameters(source: Source, argument: Argument, dims: int) -> list[Parameter] | None:
    """The parameter in every declaration of a function; None where one is not read."""
    found = []
    defined = False
    for opening, declares in calls(source, argument.function):
        if not declares:
            continue
        if opening < 0:
            return None
        parts, end = arguments(source, opening)
        if argument.position >= len(parts):
            return None
        parameter = _parameter(source, *parts[argument.position], dims, _deduced(source, opening))
        if parameter is None:
            return None
        if source.code[end + 1].text == "{":
            defined = True
            last = arguments(source, end + 1)[1]
            uses = tuple(source.uses(parameter.name, end + 2, last, dims))
            parameter = Parameter(parameter.name, parameter.extents, uses)
        found.append(parameter)
    return found if defined else None


def _parameter(source: Source, first: int, last: int, dims: int, deduced: frozenset[str]) -> Parameter | None:
    code = source.code
    texts = [t.text for t in code[first:last]]
    if "[" not in texts:
        return None
    bracket = first + texts.index("[")
    name = bracket - 2 if code[bracket - 1].text == ")" else bracket - 1
    pointer = code[bracket - 1].text == ")" and code[name - 1].text == "*"
    groups: Sequence[Subscript] = source.subscripts_after(bracket - 1)
    if code[name].kind != "name" or len(groups) != dims - pointer:
        return None
    inner = groups if pointer else groups[1:]
    return Parameter(
        code[name].text,
        tuple(None if source.text[g.open + 1 : g.close].strip() in deduced else g for g in inner),
    )


def _deduced(source: Source, opening: int) -> frozenset[str]:
    """The template parameters of the function whose parameters begin at a token."""
    start = source.index_at(source.statement_start(opening))
    texts = [t.text for t in source.code[start:opening]]
    if texts[:1] != ["template"]:
        return frozenset()
    return frozenset(texts)
