"""Lines that an edit makes longer than any other of the file are wrapped behind a comma or an operator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from smemlint.fix.model import TextEdit
from smemlint.fix.text.brackets import depths
from smemlint.fix.text.source import Source, Token

_LEAST = 80
"""Columns that each file may have, however short its lines are."""
_BEHIND = frozenset((",", "=", "+", "-", "*", "/", "%", "&", "|", "^", "&&", "||", "?", ":", "+=", "-="))
"""Tokens behind which a line may end."""
_INDENT = "    "
_TAB = 8


def wrapped(
    edits: Sequence[TextEdit], sources: Mapping[str, Source], others: Sequence[TextEdit] = ()
) -> tuple[TextEdit, ...]:
    """The edits, and line breaks where a line would be longer than the file's longest (80 columns at least).

    others: edits of other arrays, which may be done as well. Only white space is added, at single spaces that
    no edit touches; a line without such a place stays long.
    """
    more: list[TextEdit] = []
    for path in dict.fromkeys(e.path for e in edits):
        source = sources.get(path)
        if source is not None:
            every = {e for e in (*edits, *others) if e.path == path}
            starts = {source.text.rfind("\n", 0, e.offset) + 1 for e in edits if e.path == path}
            more += _breaks(source, sorted(starts), sorted(every, key=lambda e: (e.offset, e.end_offset)))
    return (*edits, *more)


def _breaks(source: Source, starts: Sequence[int], edits: Sequence[TextEdit]) -> Iterator[TextEdit]:
    text = source.text
    limit = max(_LEAST, *(_columns(line) for line in text.splitlines()))
    for start in starts:
        end = text.find("\n", start) if "\n" in text[start:] else len(text)
        inside = [e for e in edits if start <= e.offset <= end]
        if any(e.end_offset > end for e in inside):
            continue
        line = source.code[source.index_at(start) : source.index_at(end)]
        tokens = [t for t in line if t.end <= end]
        if tokens:
            yield from _of_line(source, start, tokens, inside, limit)


def _of_line(
    source: Source, start: int, tokens: Sequence[Token], edits: Sequence[TextEdit], limit: int
) -> Iterator[TextEdit]:
    text, last = source.text, tokens[-1].end
    margin = text[start : len(text) - len(text[start:].lstrip(" \t"))]
    ending = "\r\n" if text[last:].split("\n", 1)[0].endswith("\r") else "\n"
    began, lead = start, ""
    while _columns(lead + _edited(text, began, last, edits)) > limit:
        fitting = [
            (depth, -at)
            for depth, at in _places(text, tokens, edits)
            if at > began + len(margin) and _columns(lead + _edited(text, began, at, edits)) <= limit
        ]
        if not fitting:
            return
        began, lead = -min(fitting)[1], margin + _INDENT[:-1]
        yield TextEdit(source.path, began, began, ending + lead, once=True)


def _places(text: str, tokens: Sequence[Token], edits: Sequence[TextEdit]) -> Iterator[tuple[int, int]]:
    """(depth, offset) of each single space behind which the next line may begin."""
    for (token, following), depth in zip(pairwise(tokens), depths(tokens), strict=False):
        single = text[token.end : following.offset] == " "
        touched = any(e.offset <= token.end <= e.end_offset for e in edits)
        if token.text in _BEHIND and single and not touched:
            yield depth, token.end


def _edited(text: str, start: int, end: int, edits: Sequence[TextEdit]) -> str:
    """The last line of a part of the text with its edits done."""
    pieces, position = [], start
    for e in edits:
        if start <= e.offset and e.end_offset <= end:
            pieces += [text[position : e.offset], e.replacement]
            position = e.end_offset
    return "".join((*pieces, text[position:end])).rsplit("\n", 1)[-1]


def _columns(line: str) -> int:
    return len(line.rstrip().expandtabs(_TAB))
