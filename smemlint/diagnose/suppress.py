"""`smemlint: ignore[...]` comments: what they silence, and which of them silence nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from smemlint.diagnose.directives import Comment, Directive, Ignore, Malformed, directives
from smemlint.diagnose.model import Diagnostic
from smemlint.ir import Place
from smemlint.rules import find_rule

UNSURE = ("SMEM901", "SMEM903", "SMEM906", "SMEM907")
"""Findings that say that something was not understood; a suppression beside one is never called unused."""


def suppress(
    diagnostics: Iterable[Diagnostic], texts: Mapping[str, str], checked: Sequence[str]
) -> tuple[list[Diagnostic], int]:
    """(what is left, how many were suppressed), with the findings about the comments themselves.

    texts: path -> source, of the files that diagnostics stand in or that were checked.
    checked: paths whose own comments are judged; in the others they only silence.
    """
    found: dict[str, list[Directive]] = {path: list(directives(text)) for path, text in texts.items()}
    ignores: dict[tuple[str, int], list[Ignore]] = {}
    wide: dict[str, list[Ignore]] = {}
    for path, items in found.items():
        for d in items:
            if isinstance(d, Ignore) and d.form == "ignore":
                ignores.setdefault((path, d.applies), []).append(d)
            elif isinstance(d, Ignore):
                wide.setdefault(path, []).append(d)
    used: set[tuple[str, int, int, str]] = set()
    unsure = set()
    left, count = [], 0
    for diagnostic in diagnostics:
        place = diagnostic.place
        hits = [
            (path, ignore, code)
            for path, ignore in _about_place(diagnostic, ignores, wide)
            for code in ignore.codes
            if code.lower() in _names(diagnostic)
        ]
        used.update((path, i.comment.line, i.comment.column, code) for path, i, code in hits)
        if hits:
            count += 1
        else:
            left.append(diagnostic)
        if diagnostic.code in UNSURE:
            unsure.add((place.path, place.line))
            unsure.add((place.path, place.end_line))
    for path in checked:
        text = _Bytes(texts[path])
        for directive in found.get(path, []):
            left.extend(_about(directive, path, text, used, unsure))
    return left, count


def _names(d: Diagnostic) -> tuple[str, ...]:
    """What a comment may call a finding: code and name of its rule, and of the one that it stands for."""
    instead = find_rule(d.stands_for) if d.stands_for else None
    more = (instead.code.lower(), instead.name) if instead is not None else ()
    return (d.code.lower(), d.name, *more)


def _about_place(
    d: Diagnostic, ignores: Mapping[tuple[str, int], Sequence[Ignore]], wide: Mapping[str, Sequence[Ignore]]
) -> Iterator[tuple[str, Ignore]]:
    """The comments that may silence a finding: on its lines, around them, or on its array's declaration."""
    place = d.place
    for line in range(place.line, max(place.line, place.end_line) + 1):
        yield from ((place.path, ignore) for ignore in ignores.get((place.path, line), ()))
    for ignore in wide.get(place.path, ()):
        if ignore.form == "ignore-file" or ignore.applies <= place.line <= ignore.last:
            yield place.path, ignore
    for label in d.also if d.array else ():
        at = (label.place.path, label.place.line)
        yield from ((at[0], ignore) for ignore in ignores.get(at, ()))


def _about(
    directive: Directive,
    path: str,
    text: _Bytes,
    used: set[tuple[str, int, int, str]],
    unsure: set[tuple[str, int]],
) -> Iterable[Diagnostic]:
    from smemlint.rules import Severity

    if isinstance(directive, Malformed):
        place = text.place(directive.comment, path)
        title = "this smemlint comment is not understood"
        yield Diagnostic(
            "SMEM905", "unknown-directive", Severity.WARNING, place, title, "expected ignore[CODE] reason"
        )
    if not isinstance(directive, Ignore):
        return
    place = text.place(directive.comment, path)
    for code in directive.codes:
        if find_rule(code) is None:
            title = f"no rule is called `{code}`"
            yield Diagnostic(
                "SMEM905", "unknown-directive", Severity.WARNING, place, title, "see `smemlint rules`"
            )
        elif (path, directive.comment.line, directive.comment.column, code) not in used:
            if any(at == path and _speaks_of(directive, line) for at, line in unsure):
                continue
            title = f"`ignore[{code}]` suppresses nothing"
            here = f"no {code} on {directive.lines}"
            yield Diagnostic("SMEM904", "unused-suppression", Severity.WARNING, place, title, here)


def _speaks_of(ignore: Ignore, line: int) -> bool:
    return ignore.form == "ignore-file" or ignore.applies <= line <= ignore.last


class _Bytes:
    """Offsets in characters as offsets in bytes, asked in rising order: one pass over the text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = self._bytes = 0
        self._line = (0, 0)
        """Start of the line asked for last, in characters and in bytes."""

    def place(self, comment: Comment, path: str) -> Place:
        """Return the comment's first line as a place; columns and offsets in bytes."""
        line = comment.start - comment.column + 1
        if line != self._line[0]:
            self._line = (line, self._before(line))
        start = self._before(comment.start)
        column = start - self._line[1] + 1
        text = self._text[comment.start : comment.end].partition("\n")[0]
        size = len(_encoded(text.rstrip()))
        return Place(path, comment.line, column, comment.line, column + size, start, start + size)

    def _before(self, offset: int) -> int:
        if offset < self._at:
            self._at = self._bytes = 0
        self._bytes += len(_encoded(self._text[self._at : offset]))
        self._at = offset
        return self._bytes


def _encoded(text: str) -> bytes:
    return text.encode(errors="replace")
