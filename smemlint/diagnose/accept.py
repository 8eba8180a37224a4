"""Writes the comments that silence findings: `--add-ignore`.

In: a text, and the codes to silence by line. Out: the text with the comments, in the file's own style, and
what has no place for one. A comment goes behind the line's code where the line gets no longer than others of
the file, else above it.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Mapping, Sequence

from smemlint.diagnose.directives import Ignore, directives
from smemlint.records import record
from smemlint.source.tokens import Token, literals

NARROW = 80
"""Columns that a line may have in any file."""
_TAB = 4


@record(frozen=True, slots=True)
class Accepted:
    """text: with the comments. left: line -> why it has none."""

    text: str
    left: Mapping[int, str]


def wrong_reason(reason: str) -> str | None:
    """What keeps a text from being the reason in a comment; None where nothing does."""
    if not reason.strip():
        return "a reason is needed"
    if not reason.isprintable():
        return "the reason is one line of printable text"
    if "*/" in reason or "/*" in reason or reason.rstrip().endswith("\\"):
        return "the reason may hold no `/*` or `*/` and not end in a backslash"
    return "the reason cannot begin with `[`" if reason.strip().startswith("[") else None


def with_ignores(text: str, wanted: Mapping[int, Iterable[str]], reason: str) -> Accepted:
    """The text with a comment for each line (from 1) and its codes.

    A line that has one already gets the codes that it lacks. reason: as `wrong_reason` allows.
    """
    page = _Page(text)
    present: dict[int, Ignore] = {}
    for d in directives(text):
        if isinstance(d, Ignore) and d.form == "ignore":
            present.setdefault(d.applies, d)
    edits: list[tuple[int, str]] = []
    left: dict[int, str] = {}
    for line, codes in sorted(wanted.items()):
        old = present.get(line)
        lacking = [c for c in dict.fromkeys(codes) if old is None or c not in old.codes]
        if not lacking:
            continue
        if old is not None:
            edits.append((text.index("]", old.comment.start), "".join(f", {c}" for c in lacking)))
            continue
        edit = page.comment(line, f"smemlint: ignore[{', '.join(lacking)}] {reason.strip()}")
        if edit is None:
            left[line] = "no comment can stand on this line or above it"
        else:
            edits.append(edit)
    done = text
    for at, words in sorted(edits, reverse=True):
        done = done[:at] + words + done[at:]
    return Accepted(done, left)


def lines_without(text: str, accepted: Accepted, wanted: Mapping[int, Iterable[str]]) -> list[int]:
    """Lines of the first text whose codes the second does not silence: none, or the comments are wrong."""
    moved = _new_lines(text, accepted.text)
    silenced: dict[int, set[str]] = {}
    for d in directives(accepted.text):
        if isinstance(d, Ignore) and d.form == "ignore":
            silenced.setdefault(d.applies, set()).update(d.codes)
    return [
        line
        for line, codes in wanted.items()
        if line not in accepted.left and not set(codes) <= silenced.get(moved.get(line, 0), set())
    ]


def _new_lines(before: str, after: str) -> dict[int, int]:
    """Line of the first text -> its line in the second, which has more lines and longer ones."""
    new = after.split("\n")
    found, at = {}, 0
    for number, line in enumerate(before.split("\n"), 1):
        start = line.rstrip("\r").rstrip("\\").rstrip()
        while at < len(new) and not _continues(new[at], start):
            at += 1
        found[number] = at + 1
        at += 1
    return found


def _continues(new: str, old: str) -> bool:
    """Whether a line is an old one, perhaps with a comment behind it or more codes in one."""
    return new.startswith(old) or ("smemlint:" in old and new.startswith(old.partition("]")[0]))


class _Page:
    """A text with what a comment must know of it: where lines end, where literals and comments stand."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = text.split("\n")
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line) + 1)
        self._tokens: Sequence[Token] = list(literals(text))
        self._token_starts = [t.start for t in self._tokens]
        kinds = {t.kind for t in self._tokens if t.is_comment}
        self._block = kinds == {"block"}
        self._width = max(NARROW, *(_columns(line) for line in self._lines))

    def comment(self, line: int, words: str) -> tuple[int, str] | None:
        """Where a comment for a line goes, and its text; None where there is no place."""
        if not 1 <= line <= len(self._lines):
            return None
        text = self._lines[line - 1].rstrip("\r")
        code = text.rstrip()
        start = self._starts[line - 1]
        if code.endswith("\\"):  # the line goes on: a comment to its end would take the next one along
            at = start + len(code) - 1
            return None if self._within(at) else (at, f"/* {words} */ ")
        said = f"/* {words} */" if self._block else f"// {words}"
        end = start + len(code)
        behind = (end, f"  {said}") if not self._within(end) else None
        if behind is not None and _columns(code) + len(said) + 2 <= self._width:
            return behind
        before = self._lines[line - 2].rstrip() if line > 1 else ""
        if before.endswith("\\") or self._within(start):
            return behind
        # The last line of a file has no end of its own.
        like = self._lines[line - 1] if line < len(self._lines) or line == 1 else self._lines[line - 2]
        ending = "\r\n" if like.endswith("\r") else "\n"
        indent = text[: len(text) - len(text.lstrip())]
        return start, f"{indent}{said}{ending}"

    def _within(self, at: int) -> bool:
        """Whether an offset is inside of a literal or a comment, or at the end of a `//` comment."""
        number = bisect.bisect_left(self._token_starts, at) - 1
        if number < 0:
            return False
        token = self._tokens[number]
        return token.end > at or (token.kind == "line" and token.end >= at)


def _columns(line: str) -> int:
    return len(line.rstrip().expandtabs(_TAB))
