"""The cost of one access against one number: a stride, a padding, a constant, the width of the block."""

from __future__ import annotations

import re

from smemlint.patterns import pattern
from smemlint.records import record
from smemlint.score.model import Conflict

BLOCK, PAD = "block", "pad"
MOST_VALUES = 512
_OVER = pattern(r"([A-Za-z_]\w*)=(\d{1,7})\.\.(\d{1,7})(?::(\d{1,7}))?")


class SweepError(Exception):
    """It cannot be swept. The message is for the user."""


@record(frozen=True, slots=True)
class Over:
    """What is varied: `block` (threads in x), `pad` (elements behind each row), or the name of a constant."""

    name: str
    first: int
    last: int
    step: int = 1

    @property
    def values(self) -> range:
        return range(self.first, self.last + 1, self.step)


@record(frozen=True, slots=True)
class Point:
    """The access with one value. Wavefronts of one block; None with the reason where there is no number."""

    value: int
    wavefronts: int | None
    low: int | None
    ideal: int | None
    grade: str = ""
    reason: str = ""

    @property
    def ways(self) -> float | None:
        """wavefronts / ideal, the upper end."""
        if self.wavefronts is None or self.ideal is None:
            return None
        return self.wavefronts / self.ideal if self.ideal else 1.0


def over(text: str) -> Over:
    """`pad=0..32`, `stride=1..64`, `block=32..1024:32`. Raises SweepError."""
    found = _OVER.fullmatch(text.strip())
    if found is None:
        raise SweepError(
            f"`{text[:60]}`: expected NAME=FIRST..LAST or NAME=FIRST..LAST:STEP, such as pad=0..32"
        )
    swept = Over(found[1], int(found[2]), int(found[3]), int(found[4] or 1))
    if swept.step == 0 or swept.last < swept.first:
        raise SweepError(f"`{text}` has no value")
    if len(swept.values) > MOST_VALUES:
        raise SweepError(f"`{text}` has {len(swept.values)} values; at most {MOST_VALUES} are looked at")
    if swept.name == BLOCK and swept.first == 0:
        raise SweepError(f"`{text}`: a block has at least one thread")
    return swept


def point(value: int, conflict: Conflict | None, missing: str = "the access is not found with it") -> Point:
    """What an access costs with a value."""
    if conflict is None:
        return Point(value, None, None, None, reason=missing)
    reason = conflict.reason.text if conflict.reason is not None else ""
    return Point(
        value, conflict.wavefronts, conflict.wavefronts_low, conflict.ideal, conflict.grade.value, reason
    )


def padded(text: bytes, offset: int, name: str, by: int) -> bytes:
    """The text with the rows of the array declared at `offset` longer by some elements.

    Raises: SweepError where the declaration does not spell its extents.
    """
    start = text.find(name.encode(), offset)
    end = start + len(name)
    last = None
    while (found := re.compile(rb"\s*\[").match(text, end)) is not None:
        close = _closing(text, found.end())
        last, end = (found.end(), close), close + 1
    if start < 0 or last is None:
        raise SweepError(
            f"the rows of `{name}` cannot be padded: its declaration does not spell their length"
        )
    inside = text[last[0] : last[1]]
    if not inside.strip():
        raise SweepError(f"the rows of `{name}` cannot be padded: its length is not given")
    return text[: last[0]] + b"(" + inside + b") + " + str(by).encode() + text[last[1] :]


def _closing(text: bytes, at: int) -> int:
    depth = 1
    for position in range(at, len(text)):
        depth += {ord("["): 1, ord("]"): -1}.get(text[position], 0)
        if depth == 0:
            return position
    raise SweepError("the declaration has no closing bracket")


def with_constant(text: bytes, name: str, value: int) -> bytes | None:
    """The text with another value of a constant; None where it defines no such constant, or several."""
    word = re.escape(name.encode())
    found = [
        m
        for pattern in (
            rb"(?m)^([ \t]*#[ \t]*define[ \t]+" + word + rb"[ \t]+)((?:[^\n/\\]|/(?![/*]))+)",
            rb"(\bconst(?:expr)?\b[^;{}()=]*\b" + word + rb"\s*=\s*)([^;,]+)",
        )
        for m in re.finditer(pattern, text)
    ]
    if len(found) != 1:
        return None
    return text[: found[0].start(2)] + str(value).encode() + text[found[0].end(2) :]
