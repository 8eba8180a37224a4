"""The format for people: each finding with its source lines."""

from __future__ import annotations

from collections.abc import Mapping

from smemlint.diagnose.model import Diagnostic, Report
from smemlint.render.snippet import Line, Mark, snippet
from smemlint.render.style import SEVERITY_COLOR, paint
from smemlint.render.summary import summary_line
from smemlint.visible import visible, visible_path


def render(report: Report, *, color: bool = False) -> str:
    blocks = [diagnostic_text(d, report.texts, color=color) for d in report.diagnostics]
    blocks.append(summary_line(report.summary) + "\n")
    return "\n".join(blocks)


def diagnostic_text(diagnostic: Diagnostic, texts: Mapping[str, str], *, color: bool = False) -> str:
    """One finding: headline, place, source with carets, notes."""
    tint = SEVERITY_COLOR[diagnostic.severity]
    place = diagnostic.place
    head = paint(f"{diagnostic.severity.value}[{diagnostic.code}]", tint, "bold", color=color)
    title = paint(visible(f"{diagnostic.name}: {diagnostic.title}"), "bold", color=color)
    marks = [Mark(place, visible(diagnostic.here), True)]
    marks += [Mark(label.place, visible(label.text), False) for label in diagnostic.also]
    gutter = len(str(max(m.place.line for m in marks)))
    margin = " " * gutter
    arrow = paint("-->", "blue", color=color)
    lines = [f"{head} {title}", f"{margin}{arrow} {visible_path(place.path)}:{place.line}:{place.column}"]
    lines.append(paint(f"{margin} |", "blue", color=color))
    shown = snippet(texts.get(place.path), [m for m in marks if m.place.path == place.path])
    lines += [_line(line, gutter, tint, color) for line in shown]
    for path in dict.fromkeys(m.place.path for m in marks if m.place.path != place.path):
        others = [m for m in marks if m.place.path == path]
        first = others[0].place
        where = f"{visible_path(path)}:{first.line}:{first.column}"
        lines.append(f"{margin}{paint(':::', 'blue', color=color)} {where}")
        lines += [_line(line, gutter, tint, color) for line in snippet(texts.get(path), others)]
    equals = paint("=", "blue", color=color)
    lines += [f"{margin} {equals} {visible(note)}" for note in (*diagnostic.notes, *_fix(diagnostic))]
    return "\n".join(lines) + "\n"


def _line(line: Line, gutter: int, tint: str, color: bool) -> str:
    if line.kind == "gap":
        return paint(line.text, "blue", color=color)
    number = "" if line.number is None else str(line.number)
    bar = paint(f"{number:>{gutter}} |", "blue", color=color)
    style = {"primary": (tint, "bold"), "secondary": ("blue", "bold")}.get(line.kind)
    text = paint(line.text, *style, color=color) if style else line.text
    return f"{bar} {text}".rstrip()


def _fix(diagnostic: Diagnostic) -> tuple[str, ...]:
    fix = diagnostic.fix
    if fix is None:
        return ()
    if fix.edits is not None:
        return (
            (f"fix [*]: {fix.words}",) if fix.safe else (f"fix [unsafe]: {fix.words}; {fix.unsafe_because}",)
        )
    if fix.refused is not None and fix.refused.code == "no-better-layout":
        return (f"no fix: {fix.refused.text}",)
    if fix.refused is not None:
        return (f"fix: {fix.words}", f"no edit: {fix.refused.text}")
    return (f"fix: {fix.words}",)
