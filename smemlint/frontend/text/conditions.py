"""What macros must be for a preprocessor condition to hold, or not to hold."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from smemlint.patterns import pattern

Wish: TypeAlias = "dict[str, str | None]"
"""Macro -> its value as text; None: undefined."""

_TOKEN = pattern(r"\s*(?:(0[xX][0-9a-fA-F]+|\d+)[uUlL]*|([A-Za-z_]\w*|&&|\|\||[=!<>]=|[-+*/%<>!()]|\S))")
NOT_FOR_CUDA = r"(?!(?!\w*(?<![A-Z])(?:NO|NOT|DISABLE|WITHOUT)_)\w*CUDA)"
"""In front of a name of another platform: `USE_CUDA_OR_HIP` holds for CUDA too."""
_FIXED = pattern(
    r"_MSC_VER|_WIN(?:32|64)|__cplusplus|__clang\w*|__GNUC\w*|__APPLE__|__linux__|__INTEL_\w*|NDEBUG|"
    rf"{NOT_FOR_CUDA}.*(?:HIP|ROCM|AMD|MUSA|SYCL|METAL|OPENCL|MLU|CPU_ONLY|DOXYGEN).*|"
    r"__has_\w+|__CUDACC__|__NVCC__|__CUDACC_RTC__"
)
MAX_TERMS = 40
_WORDS = {"and": "&&", "or": "||", "not": "!", "not_eq": "!="}
"""What C++ also writes for operators."""


def wish_for(condition: str, holds: bool) -> Wish | None:
    """Macros that make `condition` (the text behind #if) come out as wanted, or None when no macro can.

    Simple on purpose: comparisons of one macro with one number, `defined`, `!`, `&&`, `||`.
    """
    tokens = [match.group(1) or match.group(2) for match in _TOKEN.finditer(condition)]
    tokens = [_WORDS.get(token, token) for token in tokens]
    if not tokens or len(tokens) > 8 * MAX_TERMS:
        return None
    try:
        wish, rest = _either(tokens, 0, holds)
    except (IndexError, ValueError, RecursionError):
        return None
    if rest != len(tokens) or wish is None or any(_FIXED.fullmatch(name) for name in wish):
        return None
    return wish


def wish_for_all(conditions: Sequence[tuple[str, bool]]) -> Wish | None:
    """Macros that make all conditions come out as wanted, or None when none do."""
    wish = _joined(wish_for(condition, holds) for condition, holds in conditions)
    if wish is not None or not any(ARCHITECTURE in condition for condition, _ in conditions):
        return wish
    for number in ARCHITECTURES:
        found = _joined(wish_for(_on_arch(condition, number), holds) for condition, holds in conditions)
        if found is not None:
            return {**found, ARCHITECTURE: str(number)}
    return None


def _joined(wishes: Iterable[Wish | None]) -> Wish | None:
    result: Wish | None = {}
    for wish in wishes:
        result = merge(result, wish) if result is not None and wish is not None else None
    return result


def _on_arch(condition: str, architecture: int) -> str:
    """A condition on one architecture."""
    return _ON_ARCHITECTURE.sub(str(architecture), condition)


def merge(first: Mapping[str, str | None], second: Mapping[str, str | None]) -> Wish | None:
    """Both, or None when they disagree."""
    if any(first[name] != value for name, value in second.items() if name in first):
        return None
    return {**first, **second}


_Parsed: TypeAlias = "tuple[Wish | None, int]"


def _either(tokens: list[str], at: int, holds: bool) -> _Parsed:
    left, at = _conjunction(tokens, at, holds)
    while at < len(tokens) and tokens[at] == "||":
        right, at = _conjunction(tokens, at + 1, holds)
        left = _any(left, right) if holds else _all(left, right)
    return left, at


def _conjunction(tokens: list[str], at: int, holds: bool) -> _Parsed:
    left, at = _term(tokens, at, holds)
    while at < len(tokens) and tokens[at] == "&&":
        right, at = _term(tokens, at + 1, holds)
        left = _all(left, right) if holds else _any(right, left)
    return left, at


def _any(first: Wish | None, second: Wish | None) -> Wish | None:
    candidates = [w for w in (first, second) if w is not None]
    usable = [w for w in candidates if not any(_FIXED.fullmatch(name) for name in w)]
    return min(usable or candidates, key=len) if candidates else None


def _all(first: Wish | None, second: Wish | None) -> Wish | None:
    return None if first is None or second is None else _join(first, second)


def _join(first: Wish, second: Wish) -> Wish | None:
    """As merge, but a defined macro with a number beats the same macro merely defined."""
    result = dict(first)
    for name, value in second.items():
        if name in result and result[name] != value:
            pair = {result[name], value}
            if "1" not in pair or None in pair:
                return None
            value = next(v for v in pair if v != "1")
        result[name] = value
    return result


def _term(tokens: list[str], at: int, holds: bool) -> _Parsed:
    token = tokens[at]
    if token == "!":
        return _term(tokens, at + 1, not holds)
    if token == "defined":
        if tokens[at + 1] == "(":
            return {tokens[at + 2]: "1" if holds else None}, at + 4
        return {tokens[at + 1]: "1" if holds else None}, at + 2
    if token == "(":
        wish, after = _either(tokens, at + 1, holds)
        if tokens[after] != ")":
            raise ValueError("unbalanced condition")
        return wish, after + 1
    if re.match(r"\d", token):
        sign = tokens[at + 1] if at + 1 < len(tokens) else ""
        if sign in _SWAPPED and re.match(r"\d", tokens[at + 2]):
            value, after = _product(tokens, at + 2)
            return ({} if _HOLDS[sign](int(token, 0), int(value, 0)) == holds else None), after
        if sign in _SWAPPED and re.match(r"[A-Za-z_]", tokens[at + 2]):
            return _comparison(tokens[at + 2], _SWAPPED[tokens[at + 1]], token, holds), at + 3
        return ({} if (int(token, 0) != 0) == holds else None), at + 1
    if not re.match(r"[A-Za-z_]", token):
        raise ValueError("not a simple condition")
    if at + 1 < len(tokens) and tokens[at + 1] in _SWAPPED:
        value, after = _product(tokens, at + 2)
        return _comparison(token, tokens[at + 1], value, holds), after
    if at + 1 < len(tokens) and tokens[at + 1] == "(":
        raise ValueError("a macro with arguments")
    return {token: "1" if holds else "0"}, at + 1


def _product(tokens: list[str], at: int) -> tuple[str, int]:
    value = tokens[at]
    at += 1
    while at + 1 < len(tokens) and tokens[at] == "*" and tokens[at + 1].isdigit():
        value = str(int(value, 0) * int(tokens[at + 1], 0))
        at += 2
    return value, at


ARCHITECTURE = "__CUDA_ARCH__"
_ON_ARCHITECTURE = pattern(r"(?<!defined\()(?<!defined )\b__CUDA_ARCH__\b")
ARCHITECTURES = (900, 800, 1000, 1200)
"""Values of `__CUDA_ARCH__` at which text is tried that the one that is asked for switches off."""
OLDEST = 500
"""Text for devices below is not tried: compilers have left them, and their banks work in other ways."""
_HOLDS: dict[str, Callable[[int, int], bool]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt,
    "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_SWAPPED = {"==": "==", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}
_NEGATED = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def _comparison(name: str, sign: str, value: str, holds: bool) -> Wish | None:
    if not holds:
        sign = _NEGATED[sign]
    if not re.fullmatch(r"\d+|0[xX][0-9a-fA-F]+", value):
        return {name: value} if sign in ("==", "<=", ">=") else None
    number = int(value, 0)
    if name == ARCHITECTURE:
        fitting = [a for a in ARCHITECTURES if _HOLDS[sign](a, number)]
        if fitting:
            return {name: str(fitting[0])}
    step = 10 if name == ARCHITECTURE and number >= 100 else 1
    chosen = {
        "==": number,
        ">=": number,
        "<=": number,
        ">": number + step,
        "<": number - step,
        "!=": number + 1,
    }[sign]
    return {name: str(chosen)} if chosen >= (OLDEST if name == ARCHITECTURE else 0) else None
