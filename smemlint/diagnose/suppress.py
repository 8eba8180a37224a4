"""`smemlint: ignore[...]` comments: what they silence, and which of them silence nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from smemlint.diagnose.directives import Comment, Directive, Ignore, Malformed, directives
from smemlint.diagnose.model import Diagnostic
from smemlint.ir import Place
from smemlint.rules import find_rule

UNSURE = ("SMEM901", "SMEM903", "SMEM906")
"""Findings that say that something was not understood; a suppression beside one is never called unused."""


def suppress(
    diagnostics: Iterable[Diagnostic], texts: Mapping[str, str], checked: Sequence[str]
) -> tuple[list[Diagnostic], int]:
    """(what is left, how many were suppressed), with the findings about the comments themselves.

    texts: path -> source, of the files that diagnostics stand in or that were checked.
    checked: paths whose own comments are judged; in the others they only silence.
    """
    found: dict[str, list[Directive]] = {path: list(directives(text)) for path, text in texts.items()}
    ignores = {path: [d for d in items if isinstance(d, Ignore)] for path, items in found.items()}
    used: set[tuple[str, int, int, str]] = set()
    unsure = set()
    left, count = [], 0
    for diagnostic in diagnostics:
        hits = [
            (ignore, code)
            for ignore in ignores.get(diagnostic.place.path, [])
            if diagnostic.place.line <= ignore.applies <= diagnostic.place.end_line
            or ignore.applies == diagnostic.place.line
            for code in ignore.codes
            if code.lower() in (diagnostic.code.lower(), diagnostic.name)
        ]
        used.update((diagnostic.place.path, i.comment.line, i.comment.column, code) for i, code in hits)
        if hits:
            count += 1
        else:
            left.append(diagnostic)
        if diagnostic.code in UNSURE:
            unsure.add((diagnostic.place.path, diagnostic.place.line))
            unsure.add((diagnostic.place.path, diagnostic.place.end_line))
    for path in checked:
        for directive in found.get(path, []):
            left.extend(_about(directive, path, texts[path], used, unsure))
    return left, count


def _about(
    directive: Directive,
    path: str,
    text: str,
    used: set[tuple[str, int, int, str]],
    unsure: set[tuple[str, int]],
) -> Iterable[Diagnostic]:
    from smemlint.rules import Severity

    if isinstance(directive, Malformed):
        place = _place(directive.comment, path, text)
        title = "this smemlint comment is not understood"
        yield Diagnostic(
            "SMEM905", "unknown-directive", Severity.WARNING, place, title, "expected ignore[CODE] reason"
        )
    if not isinstance(directive, Ignore):
        return
    place = _place(directive.comment, path, text)
    for code in directive.codes:
        if find_rule(code) is None:
            title = f"no rule is called `{code}`"
            yield Diagnostic(
                "SMEM905", "unknown-directive", Severity.WARNING, place, title, "see `smemlint rules`"
            )
        elif (path, directive.comment.line, directive.comment.column, code) not in used:
            if (path, directive.applies) in unsure:
                continue
            title = f"`ignore[{code}]` suppresses nothing"
            here = f"no {code} on line {directive.applies}"
            yield Diagnostic("SMEM904", "unused-suppression", Severity.WARNING, place, title, here)


def _place(comment: Comment, path: str, text: str) -> Place:
    """The comment's first line as a place; columns and offsets in bytes."""
    lines = text.split("\n")
    line = lines[comment.line - 1] if comment.line <= len(lines) else ""
    before = line[: comment.column - 1].encode(errors="replace")
    body = line[comment.column - 1 :].rstrip().encode(errors="replace")
    start = (
        len("\n".join(lines[: comment.line - 1]).encode(errors="replace")) + (comment.line > 1) + len(before)
    )
    column = len(before) + 1
    return Place(path, comment.line, column, comment.line, column + len(body), start, start + len(body))
