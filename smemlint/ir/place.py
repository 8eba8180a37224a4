"""Where something stands in the source."""

from __future__ import annotations

from smemlint.records import record


@record(frozen=True, slots=True)
class Place:
    """A half-open range of source text.

    line and column count from 1 (columns in bytes of UTF-8, as clang counts), offset from 0.
    In a macro's body the range is where the macro is used, which is what a profiler attributes
    the instruction to, and `macro` names the macro; text written in a macro's argument keeps
    its own place and has no `macro`.
    """

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    offset: int
    end_offset: int
    macro: str | None = None
    macro_line: int | None = None
    """Line on which the outermost macro use begins that this is an argument of, where that is another line:
    the compiler sees all that a macro expands to on that line. Of a structured binding by reference, the line
    that declares it: the compiler sees the element of the object there."""

    @property
    def compiled_line(self) -> int:
        """The line on which the compiler sees the first token."""
        return self.line if self.macro_line is None else self.macro_line
