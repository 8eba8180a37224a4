"""One line a finding: `path:line:column: severity[CODE] message`."""

from __future__ import annotations

from smemlint.diagnose.model import Report
from smemlint.render.style import SEVERITY_COLOR, paint
from smemlint.render.summary import summary_line
from smemlint.visible import visible, visible_path


def render(report: Report, *, color: bool = False) -> str:
    lines = []
    for d in report.diagnostics:
        head = paint(f"{d.severity.value}[{d.code}]", SEVERITY_COLOR[d.severity], "bold", color=color)
        mark = " [*]" if d.fix is not None and d.fix.edits is not None and d.fix.safe else ""
        where = f"{visible_path(d.place.path)}:{d.place.line}:{d.place.column}"
        lines.append(f"{where}: {head}{mark} {visible(d.message)}")
    lines.append(summary_line(report.summary))
    return "\n".join(lines) + "\n"
