"""One line a finding: `path:line:column: severity[CODE] message`."""

from __future__ import annotations

from collections.abc import Iterator

from smemlint.diagnose import cost
from smemlint.diagnose.model import Report
from smemlint.render.full import places
from smemlint.render.order import left_out, shown
from smemlint.render.style import PLAIN, SEVERITY_COLOR, Look, paint
from smemlint.render.summary import summary_line
from smemlint.system.visible import visible, visible_path


def render(report: Report, look: Look = PLAIN) -> str:
    last = [*left_out(report, look), summary_line(report.summary)]
    return "".join(findings(report, look)) + "\n".join(last) + "\n"


def findings(report: Report, look: Look = PLAIN) -> Iterator[str]:
    """The line of each finding."""
    for group in shown(report, look):
        d, together = group.lead, group.cost
        head = paint(f"{d.severity.value}[{d.code}]", SEVERITY_COLOR[d.severity], "bold", color=look.color)
        mark = " [*]" if d.fix is not None and d.fix.edits is not None and d.fix.safe else ""
        where = f"{visible_path(d.place.path)}:{d.place.line}:{d.place.column}"
        more = f"; also {places(group)}" if group.others else ""
        share = f"; {cost.percent(together.share)} of the kernel" if together is not None else ""
        yield f"{where}: {head}{mark} {visible(d.message + more + share)}\n"
