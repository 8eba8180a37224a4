"""Findings in the words of the protocol: lines from 0, columns in UTF-16."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from lsprotocol import types

from smemlint.diagnose.model import Access, Diagnostic, KernelReport
from smemlint.fix.model import Suggestion, TextEdit
from smemlint.ir import Place
from smemlint.lsp.answer import Answer
from smemlint.render.views.bank_words import totals
from smemlint.render.views.banks_text import render_map
from smemlint.rules import Severity
from smemlint.rules.words import ways_text
from smemlint.source.text import MAX_BYTES
from smemlint.system.reading import UnreadableError, read_regular

SEVERITY = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.NOTE: types.DiagnosticSeverity.Information,
}
_CONFLICT = 1.05
Moved = Mapping[int, int]


def utf16(line: str, column: int) -> int:
    """A column in bytes from 1 as one in UTF-16 units from 0."""
    before = line.encode("utf-8", "surrogateescape")[: column - 1].decode("utf-8", "replace")
    return len(before.encode("utf-16-le")) // 2


def column_at(line: str, character: int) -> int:
    """A column in UTF-16 units from 0 as one in bytes from 1."""
    before = line.encode("utf-16-le")[: 2 * character].decode("utf-16-le", "replace")
    return len(before.encode("utf-8", "surrogateescape")) + 1


def range_of(place: Place, lines: list[str], moved: Moved | None = None) -> types.Range | None:
    """The range of a place in the text as it is now; None where its line is gone."""
    start = place.line if moved is None else moved.get(place.line)
    end = place.end_line if moved is None else moved.get(place.end_line)
    if start is None or end is None or not 0 < start <= len(lines) or not 0 < end <= len(lines):
        return None
    return types.Range(
        types.Position(start - 1, utf16(lines[start - 1], place.column)),
        types.Position(end - 1, utf16(lines[end - 1], place.end_column)),
    )


def diagnostics(answer: Answer, text: str, moved: Moved | None) -> list[types.Diagnostic]:
    """All findings in the file, where their lines are still there."""
    lines = text.splitlines()
    found = []
    for each in answer.report.diagnostics:
        at = range_of(each.place, lines, moved) if each.place.path == answer.path else None
        if at is not None:
            found.append(_diagnostic(each, at, answer, lines, moved))
    for problem in answer.file.problems:
        line = problem.line if 0 < problem.line <= len(lines) else 1
        at = types.Range(types.Position(line - 1, 0), types.Position(line - 1, 999))
        found.append(types.Diagnostic(at, problem.message, types.DiagnosticSeverity.Error, source="smemlint"))
    return found


def _diagnostic(
    each: Diagnostic, at: types.Range, answer: Answer, lines: list[str], moved: Moved | None
) -> types.Diagnostic:
    uri = Path(answer.path).absolute().as_uri()
    related = []
    for label in each.also:
        place = range_of(label.place, lines, moved) if label.place.path == answer.path else None
        if place is not None:
            related.append(types.DiagnosticRelatedInformation(types.Location(uri, place), label.text))
    return types.Diagnostic(
        at,
        "\n".join([each.message, *each.notes]),
        SEVERITY[each.severity],
        code=each.code,
        source="smemlint",
        related_information=related or None,
    )


def hints(answer: Answer, text: str, moved: Moved | None, first: int, last: int) -> list[types.InlayHint]:
    """The ways behind each access that conflicts, of lines first to last (from 1, as they are now)."""
    lines = text.splitlines()
    worst: dict[tuple[int, int], tuple[Access, float]] = {}
    for kernel in answer.file.kernels:
        for access in kernel.accesses:
            ways = access.ways or 0.0
            key = (access.place.line, access.place.column)
            if access.place.path == answer.path and ways > max(_CONFLICT, worst.get(key, (access, 0.0))[1]):
                worst[key] = (access, ways)
    found = []
    for access, ways in worst.values():
        at = range_of(access.place, lines, moved)
        if at is not None and first <= at.end.line + 1 <= last:
            shown = max(ways, access.worst or 0.0)
            tooltip = f"{access.wavefronts:,} wavefronts a block, {access.ideal:,} at best"
            found.append(
                types.InlayHint(at.end, f"{ways_text(shown)}-way", padding_left=True, tooltip=tooltip)
            )
    return found


def lenses(answer: Answer, text: str, moved: Moved | None) -> list[types.CodeLens]:
    """The cost of each kernel above its name: under the launch where it costs the most."""
    lines = text.splitlines()
    worst: dict[tuple[str, int, int], tuple[int, int, KernelReport]] = {}
    for kernel in answer.file.kernels:
        known = [a for a in kernel.accesses if a.wavefronts is not None]
        cost = sum(a.wavefronts or 0 for a in known), sum(a.ideal or 0 for a in known)
        held = worst.get(kernel.key)
        if kernel.place.path == answer.path and known and (held is None or cost > held[:2]):
            worst[kernel.key] = (*cost, kernel)
    found = []
    for waves, ideal, kernel in worst.values():
        at = range_of(kernel.place, lines, moved)
        if at is None:
            continue
        block = ", ".join(map(str, kernel.launch.block))
        title = f"{waves:,} shared-memory wavefronts a block of ({block}), {ideal:,} at best"
        found.append(types.CodeLens(at, types.Command(title, "")))
    return found


def hover(answer: Answer, line: int, column: int) -> str:
    """What is known of the accesses at a place of the analysed text, as Markdown; '' where there is none."""
    parts: dict[str, None] = {}
    seen: set[tuple[int, int, str]] = set()
    found = sorted(answer.accesses(line), key=lambda pair: -(pair[1].ways or 0.0))
    inside = [pair for pair in found if _covers(pair[1].place, line, column)]
    for kernel, access in inside or found:
        key = (access.place.line, access.place.column, access.op)
        if key not in seen:
            seen.add(key)
            parts[_access(answer, kernel, access)] = None
    return "\n\n---\n\n".join(parts)


def _covers(place: Place, line: int, column: int) -> bool:
    return (place.line, place.column) <= (line, column) < (place.end_line, place.end_column)


def _access(answer: Answer, kernel: KernelReport, access: Access) -> str:
    exhibit = answer.exhibit(access)
    expression = " ".join(access.expression.split()).replace("`", "'")
    lines = [f"**{access.op}** `{expression}`, {access.joined or access.width} B a lane"]
    block = ", ".join(map(str, kernel.launch.block))
    origin = f" from {kernel.launch.origin}" if kernel.launch.origin else ""
    lines.append(f"{kernel.full_name}, block ({block}){origin}")
    if exhibit is None:
        lines.append(_numbers(access))
        return "  \n".join(lines)
    lines.append(totals(exhibit.now.view))
    text = "  \n".join(lines)
    if exhibit.now.maps:
        text += f"\n\n```text\n{render_map(exhibit.now.maps[0])}\n```"
    if exhibit.fix and exhibit.after is not None:
        text += f"\n\nwith the fix `{exhibit.fix}`: {totals(exhibit.after.view)}"
    return text


def _numbers(access: Access) -> str:
    if access.wavefronts is None or access.ways is None:
        return f"{access.grade}: {access.reason[1] if access.reason else ''}"
    ways = ways_text(access.ways)
    if access.ways_low is not None and access.wavefronts_low != access.wavefronts:
        ways = f"{ways_text(access.ways_low)} to {ways}"
    return (
        f"{ways}-way ({access.grade}): {access.executions:,} requests, {access.wavefronts:,} wavefronts, "
        f"{access.ideal:,} at best"
    )


def actions(answer: Answer, uri: str, wanted: types.Range) -> Iterator[types.CodeAction]:
    """A fix for each array with a finding in a range; only for the text that was analysed."""
    lines = answer.text.splitlines()
    seen: set[int] = set()
    for each in answer.report.diagnostics:
        at = range_of(each.place, lines) if each.place.path == answer.path else None
        fix = each.fix
        if at is None or fix is None or not fix.edits or id(fix) in seen:
            continue
        if at.end.line < wanted.start.line or at.start.line > wanted.end.line:
            continue
        seen.add(id(fix))
        changes = _changes(answer, uri, fix)
        if changes is None:
            continue
        ways = "" if fix.safe else " (not safe: " + (fix.unsafe_because or "look at it") + ")"
        yield types.CodeAction(
            f"smemlint: {fix.words}{ways}",
            kind=types.CodeActionKind.QuickFix,
            is_preferred=fix.safe,
            diagnostics=[types.Diagnostic(at, each.message, SEVERITY[each.severity], code=each.code)],
            edit=types.WorkspaceEdit(changes=changes),
        )


def _changes(answer: Answer, uri: str, fix: Suggestion) -> dict[str, list[types.TextEdit]] | None:
    """The edits by file; None where a file cannot be read as it was."""
    found: dict[str, list[types.TextEdit]] = {}
    for edit in fix.edits or ():
        if edit.path == answer.path:
            text, name = answer.text, uri
        else:
            try:
                text = read_regular(edit.path, MAX_BYTES).decode("utf-8", "surrogateescape")
            except UnreadableError:
                return None
            name = Path(edit.path).absolute().as_uri()
        made = _edit(edit, text.encode("utf-8", "surrogateescape"))
        if made is None:
            return None
        found.setdefault(name, []).append(made)
    return found


def _edit(edit: TextEdit, data: bytes) -> types.TextEdit | None:
    if data[edit.offset : edit.end_offset] != edit.original.encode():
        return None
    return types.TextEdit(
        types.Range(_position(data, edit.offset), _position(data, edit.end_offset)), edit.replacement
    )


def _position(data: bytes, offset: int) -> types.Position:
    before = data[:offset]
    line = before.count(b"\n")
    start = before.rfind(b"\n") + 1
    character = len(before[start:].decode("utf-8", "replace").encode("utf-16-le")) // 2
    return types.Position(line, character)
