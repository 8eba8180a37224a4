"""Kernel names as a profiler prints them: the name and its template arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence


def base_name(demangled: str) -> str:
    """`void ns::f<(int)3>(float *)` → `f`."""
    head = _before_bracket(_before_parameters(demangled))
    return head.split()[-1].split("::")[-1]


def template_arguments(demangled: str) -> list[str]:
    """The kernel's own template arguments, as normalised text."""
    head = _before_parameters(demangled)
    start = len(_before_bracket(head))
    if start == len(head):
        return []
    return [normal(argument) for argument in _split(head[start + 1 : head.rindex(">")])]


def normal(argument: str) -> str:
    """One spelling: `(bool)1` and `true` are `1`, `half` and `c10::Half` are `__half`."""
    text = re.sub(r"\((?:[^()]*)\)(?=[\w-])", "", argument).strip()
    text = re.sub(r"(?<=\d)[uUlL]+$", "", re.sub(r"\*\s+(?=\*)", "*", text))
    known = {
        "true": "1",
        "false": "0",
        "half": "__half",
        "nv_bfloat16": "__nv_bfloat16",
        "c10::Half": "__half",
        "at::Half": "__half",
        "c10::BFloat16": "__nv_bfloat16",
        "at::BFloat16": "__nv_bfloat16",
        "uint": "unsigned int",
    }
    return known.get(text, re.sub(r"\s+", " ", text))


def _before_parameters(demangled: str) -> str:
    """Up to the parenthesis that opens the parameter list, which is the last thing in the name. From its end:
    a `>` in what the kernel returns may be a comparison (`enable_if<T2>(int)0, void>::type k<4>(int)`)."""
    text = demangled.rstrip()
    depth = 0
    for at in range(len(text) - 1, -1, -1) if text.endswith(")") else ():
        depth += (text[at] == ")") - (text[at] == "(")
        if depth == 0:
            return text[:at]
    return text


def _before_bracket(head: str) -> str:
    """Up to the `<` that matches the last `>`."""
    if not head.rstrip().endswith(">"):
        return head
    depth = 0
    for at in range(len(head) - 1, -1, -1):
        depth += (head[at] == ">") - (head[at] == "<")
        if depth == 0:
            return head[:at]
    return head


def _split(arguments: str) -> Iterator[str]:
    depth = start = 0
    for at, char in enumerate(arguments):
        depth += (char in "<(") - (char in ">)")
        if char == "," and depth == 0:
            yield arguments[start:at]
            start = at + 1
    yield arguments[start:]


def agrees(measured: Sequence[str], told: Sequence[str]) -> bool:
    """Whether an instance may be the one that ran: no argument that both know differs. One that is told for a
    pack stands for as many as it holds."""
    told = [part for text in told for part in _split(text)]
    return all(m == normal(t) for m, t in zip(measured, told, strict=False) if t not in ("", "?"))
