"""Where cursors stand: files, places, and the text behind a cursor.

A location's raw number is the start of its file's slot plus an offset, so for code outside macros a
place costs no foreign call but the extent. In macros the rule of `clang_getFileLocation` holds: where the
macro is used, or where the macro's argument is written.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace

from clang import cindex

from smemlint.frontend.clang import cursors
from smemlint.frontend.clang.cursors import MACRO_BIT, CType, Extent, Location, Node
from smemlint.frontend.text.expansion import DEFINE, Macro, Uses, macro_of, put_in, uses_below
from smemlint.frontend.text.healed import VIRTUAL
from smemlint.ir import Place
from smemlint.patterns import pattern
from smemlint.records import record

_IDENTIFIER = pattern(rb"[A-Za-z_]\w*")
_LOGICAL_LINE = pattern(rb"(?:[^\n\\]|\\\r?\n|\\.)*")
_NEWLINE = pattern(rb"\n")
__all__ = ["CType", "FileText", "Positions"]


@record(slots=True)
class FileText:
    """One file as clang read it."""

    path: str
    data: bytes
    project: bool
    starts: list[int] = field(default_factory=list)
    uses: dict[int, int] = field(default_factory=dict)
    """Ends of macro uses by where they begin."""
    places: dict[tuple[int, int, str | None, int | None], Place] = field(default_factory=dict)
    """Places in macros, by range, macro and outermost use."""
    bodies: dict[int, str] = field(default_factory=dict)
    """Text from an offset to the end of its logical line."""
    defining: dict[int, Macro | None] = field(default_factory=dict)
    """The macro in whose definition an offset stands."""
    expanded: dict[int, Uses] = field(default_factory=dict)
    """Of an outermost use, by where it begins."""

    def line_column(self, offset: int) -> tuple[int, int]:
        """Both counted from 1, the column in bytes."""
        if not self.starts:
            self.starts = [0, *(m.end() for m in _NEWLINE.finditer(self.data))]
        line = bisect_right(self.starts, offset)
        return line, offset - self.starts[line - 1] + 1

    def slice(self, begin: int, end: int) -> str:
        """Return the text between two byte offsets."""
        return self.data[begin:end].decode("utf-8", "replace")

    def place(self, begin: int, end: int, macro: str | None = None) -> Place:
        """Return the place between two byte offsets, with lines and columns."""
        line, column = self.line_column(begin)
        if line < len(self.starts) and end < self.starts[line]:
            return Place(self.path, line, column, line, column + end - begin, begin, end, macro)
        end_line, end_column = self.line_column(end)
        return Place(self.path, line, column, end_line, end_column, begin, end, macro)


class Positions:
    """Maps cursors of one translation unit to files, places and text.

    skipped: by path, the byte ranges that the preprocessor left out.
    """

    def __init__(
        self,
        tu: cindex.TranslationUnit,
        is_project: Callable[[str | None], bool],
        skipped: Mapping[str, Sequence[tuple[int, int]]] | None = None,
    ) -> None:
        self._tu = tu
        self._skipped = skipped or {}
        self._is_project = is_project
        self._files: dict[int, FileText] = {}
        self._bases: list[int] = []
        self._slots: list[FileText] = []
        self._macros: dict[str, Macro] | None = None
        self._again: dict[str, list[tuple[FileText, int, Macro]]] = {}
        self._here: tuple[FileText, int] | None = None
        self._low = self._high = 0
        self._current: FileText | None = None

    def _file(self, handle: int) -> FileText:
        known = self._files.get(handle)
        if known is None:
            path = os.path.normpath(cursors.file_name(handle))
            data = cursors.file_contents(self._tu, handle)
            known = self._files[handle] = FileText(path, data, self._is_project(path))
        return known

    def resolve(self, where: Location | Extent, raw: int) -> tuple[FileText, int] | None:
        """File and offset of a location outside macros."""
        if self._low <= raw <= self._high and self._current is not None:
            return self._current, raw - self._low
        if raw == 0:
            return None
        slot = bisect_right(self._bases, raw) - 1
        if slot >= 0 and raw <= self._bases[slot] + len(self._slots[slot].data):
            self._low, self._current = self._bases[slot], self._slots[slot]
            self._high = self._low + len(self._current.data)
            return self._current, raw - self._low
        handle, offset = cursors.file_location(Location(where.p0, where.p1, raw))
        if not handle:
            return None
        file = self._file(handle)
        base = raw - offset
        at = bisect_right(self._bases, base)
        self._bases.insert(at, base)
        self._slots.insert(at, file)
        return file, offset

    def start(self, node: Node) -> tuple[FileText, int] | None:
        """File and offset where a cursor begins (macro use or argument text)."""
        e = cursors.extent(node)
        if not e.begin & MACRO_BIT:
            return self.resolve(e, e.begin)
        handle, offset = cursors.file_location(Location(e.p0, e.p1, e.begin))
        return (self._file(handle), offset) if handle else None

    def between(self, first: Node, second: Node) -> tuple[FileText, int, int] | None:
        """The file in which two cursors begin, and where each does; None where these are two."""
        start, end = self.start(first), self.start(second)
        return (*start, end[1]) if start is not None and end is not None and start[0] is end[0] else None

    def point(self, node: Node) -> tuple[FileText, int] | None:
        """File and offset of a cursor's name (what clang calls its location)."""
        where = cursors.location(node)
        if not where.raw & MACRO_BIT:
            return self.resolve(where, where.raw)
        handle, offset = cursors.file_location(where)
        return (self._file(handle), offset) if handle else None

    def is_healed(self, node: Node) -> bool:
        """Whether a declaration is one of ours, for a name that the program does not declare."""
        where = self.point(node)
        return where is not None and where[0].path.startswith(VIRTUAL)

    def in_macro(self, node: Node) -> bool:
        e = cursors.extent(node)
        return bool((e.begin | e.end) & MACRO_BIT)

    def place(self, node: Node) -> Place | None:
        e = cursors.extent(node)
        begin, end = e.begin, e.end
        if not (begin | end) & MACRO_BIT:
            at = self.resolve(e, begin)
            if at is None:
                return None
            file, offset = at
            return file.place(offset, max(offset, end - begin + offset) if end >= begin else offset)
        return self._macro_place(e)

    def _macro_place(self, e: Extent) -> Place | None:
        """Most of what a macro's body holds has the same place; it is made once."""
        span = self._macro_span(e)
        if span is None:
            return None
        file, begin, end, macro, use = span
        key = (begin, end, macro, use)
        known = file.places.get(key)
        if known is None:
            known = file.place(begin, max(begin, min(end, len(file.data))), macro)
            if use is not None:
                line, _ = file.line_column(use)
                known = known if line == known.line else replace(known, macro_line=line)
            file.places[key] = known
        return known

    def _macro_span(self, e: Extent) -> tuple[FileText, int, int, str | None, int | None] | None:
        """File, begin, end and macro of a range that touches a macro, and where the outermost use begins."""
        end_file, end = self._span_end(e)
        if not e.begin & MACRO_BIT:
            at = self.resolve(e, e.begin)
            if at is None:
                return None
            return at[0], at[1], end if end_file is at[0] else at[1], None, None
        where = Location(e.p0, e.p1, e.begin)
        handle, offset = cursors.file_location(where)
        use_handle, use = cursors.expansion_location(where)
        if not handle or not use_handle:
            return None
        file, outer = self._file(handle), self._file(use_handle)
        if end_file is not file:
            end = offset
        use_end = self.use_end(outer, use)
        ends_outside = not e.end & MACRO_BIT
        if ends_outside and end > use_end and outer is file:
            return file, use, end, None, use
        if offset != use and ends_outside:
            return outer, use, use_end, self._identifier(outer, use), use
        name = self._identifier(file, offset)
        if offset == use:
            return file, use, max(end, use_end), name, use
        known_use = use if outer is file else None
        if name is not None and name in self.macros():
            return file, offset, self.use_end(file, offset), name, known_use
        return file, offset, end, None, known_use

    def _span_end(self, e: Extent) -> tuple[FileText | None, int]:
        if e.end & MACRO_BIT:
            handle, offset = cursors.file_location(Location(e.p0, e.p1, e.end))
            return (self._file(handle), offset) if handle else (None, 0)
        return self.resolve(e, e.end) or (None, 0)

    @staticmethod
    def _identifier(file: FileText, offset: int) -> str | None:
        found = _IDENTIFIER.match(file.data, offset)
        return found.group().decode() if found else None

    def use_end(self, file: FileText, offset: int) -> int:
        """One past a macro use that begins at offset: past its closing parenthesis if it takes arguments."""
        known = file.uses.get(offset)
        if known is None:
            known = file.uses[offset] = self._use_end(file, offset)
        return known

    def _use_end(self, file: FileText, offset: int) -> int:
        found = _IDENTIFIER.match(file.data, offset)
        if not found:
            return offset
        end = found.end()
        macro = self.macros().get(found.group().decode())
        if macro is not None and macro.parameters is None:
            return end
        data, at = file.data, end
        while at < len(data) and data[at] in b" \t\r\n\\":
            at += 1
        if at >= len(data) or data[at] != 0x28:
            return end
        depth = 0
        for position in range(at, min(len(data), at + 20_000)):
            byte = data[position]
            if byte == 0x28:
                depth += 1
            elif byte == 0x29:
                depth -= 1
                if depth == 0:
                    return position + 1
        return end

    def text(self, node: Node) -> str | None:
        """Source text of a cursor when it is written in one piece, outside a macro's body."""
        e = cursors.extent(node)
        if not (e.begin | e.end) & MACRO_BIT:
            at = self.resolve(e, e.begin)
            return at[0].slice(at[1], at[1] + e.end - e.begin) if at and e.end > e.begin else None
        span = self._macro_span(e)
        if span is None or span[3] is not None:
            return None
        return span[0].slice(span[1], span[2])

    def goes_on(self, node: Node, mark: str) -> bool:
        """Whether this stands behind a cursor's source text."""
        e = cursors.extent(node)
        at = self.resolve(e, e.begin) if not (e.begin | e.end) & MACRO_BIT else None
        if at is None:
            return False
        end = at[1] + e.end - e.begin
        return at[0].slice(end, end + 80).lstrip().startswith(mark)

    def body_text(self, node: Node) -> str | None:
        """Text from a cursor's first token to the end of the macro's definition it stands in, with what this
        use of the macro gives for its parameters."""
        e = cursors.extent(node)
        if not e.begin & MACRO_BIT:
            return None
        at = cursors.spelled_location(self._tu, Extent(e.p0, e.p1, e.begin, e.begin))
        if at is None or not at[0]:
            return None
        file = self._file(at[0])
        known = file.bodies.get(at[1])
        if known is None:
            found = _LOGICAL_LINE.match(file.data, at[1])
            text = found.group().decode("utf-8", "replace") if found else ""
            known = file.bodies[at[1]] = text.replace("\\\r\n", " ").replace("\\\n", " ")
        macro = self._defining(file, at[1])
        if macro is None or not macro.parameters:
            return known
        given = self._macro_arguments(e, macro.name, (file.path, at[1]))
        return put_in(known, given) if given else known

    def _defining(self, file: FileText, offset: int) -> Macro | None:
        """The macro in whose definition an offset of a file stands."""
        if offset not in file.defining:
            begin = file.data.rfind(b"\n", 0, offset) + 1
            while file.data[max(0, begin - 3) : begin].endswith((b"\\\n", b"\\\r\n")):
                begin = file.data.rfind(b"\n", 0, begin - 1) + 1
            found = DEFINE.match(file.slice(begin, offset))
            file.defining[offset] = macro_of(*found.groups(default="")) if found else None
        return file.defining[offset]

    def _macro_arguments(self, e: Extent, macro: str, token: tuple[str, int]) -> Mapping[str, str] | None:
        """What the use of a macro that a range stands in gives for its parameters."""
        handle, use = cursors.expansion_location(Location(e.p0, e.p1, e.begin))
        if not handle:
            return None
        outer = self._file(handle)
        uses = outer.expanded.get(use)
        if uses is None:
            text = outer.slice(use, self.use_end(outer, use))
            uses = outer.expanded[use] = uses_below(text, self.macros())
        return uses.arguments(macro, token, e.begin)

    def project_files(self) -> list[FileText]:
        """Project files in which something was located so far."""
        return [file for file in self._files.values() if file.project]

    def macros(self) -> dict[str, Macro]:
        """Macros that the project's own files define, as text; the last definition of a name stands. What is
        switched off stands only where the name has no other."""
        if self._macros is None:
            files = [f for f in self._files.values() if f.project]
            cuts = [self._skipped.get(f.path, ()) for f in files]
            texts = [_without(f.data, ()) for f, cut in zip(files, cuts, strict=True) if cut]
            texts += [_without(f.data, cut) for f, cut in zip(files, cuts, strict=True)]
            self._macros, again = {}, False
            for text in texts:
                for parts in DEFINE.findall(text):
                    macro = macro_of(*parts)
                    again |= self._macros.setdefault(macro.name, macro).body != macro.body
                    self._macros[macro.name] = macro
            self._again = _defined_again(files, cuts) if again else {}
        return self._macros

    def macro(self, name: str) -> Macro | None:
        """A macro as text, as it is where the statement at hand stands."""
        last = self.macros().get(name)
        if self._here is None or name not in self._again:
            return last
        file, offset = self._here
        return next((m for f, at, m in reversed(self._again[name]) if f is file and at <= offset), last)

    def at(self, node: Node | None) -> None:
        """Set the statement at which macros are looked up from now on; None: outside of functions."""
        if node is None:
            self._here = None
        elif self.macros() and self._again:
            self._here = self.start(node)


def _defined_again(
    files: Sequence[FileText], cuts: Sequence[Sequence[tuple[int, int]]]
) -> dict[str, list[tuple[FileText, int, Macro]]]:
    """Where macros are defined that have several bodies in what is compiled, by name."""
    found: dict[str, list[tuple[FileText, int, Macro]]] = {}
    for file, cut in zip(files, cuts, strict=True):
        for match in DEFINE.finditer(file.data.decode("latin-1")):
            if not any(begin <= match.start() < end for begin, end in cut):
                macro = macro_of(*match.groups(default=""))
                found.setdefault(macro.name, []).append((file, match.start(), macro))
    return {name: uses for name, uses in found.items() if len({m.body for _, _, m in uses}) > 1}


def _without(data: bytes, ranges: Sequence[tuple[int, int]]) -> str:
    """A file's text without some byte ranges, which are in order and may lie in one another."""
    kept, at = [], 0
    for begin, end in ranges:
        kept.append(data[at : max(begin, at)])
        at = max(at, end)
    return b"\n".join((*kept, data[at:])).decode("utf-8", "replace")
