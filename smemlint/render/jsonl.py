"""Findings for tools that read line by line: one JSON object a line, findings first, a summary last.

`kind` tells what a line is; its other keys are those of the JSON format, which says more (groups of findings,
text that was not parsed).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from smemlint.diagnose.model import Report
from smemlint.render.json import TOOL, VERSION, diagnostic_data, dumps, summary_data, unseen_data
from smemlint.render.order import shown
from smemlint.render.style import PLAIN, Look


def render(report: Report, look: Look = PLAIN) -> str:
    lines = [_line("error", asdict(p)) for p in report.problems]
    lines += [_line("not_analysed", unseen_data(u)) for u in report.unseen]
    lines += [_line("skipped", asdict(p)) for p in report.skipped]
    lines.append(_line("summary", {"version": VERSION, "tool": TOOL, **summary_data(report)}))
    return "".join([*findings(report, look), *lines])


def findings(report: Report, look: Look = PLAIN) -> Iterator[str]:
    """The lines of each finding, one a place."""
    for group in shown(report, look):
        yield "".join(_line("finding", diagnostic_data(d)) for d in group.all)


def _line(kind: str, data: dict[str, Any]) -> str:
    return dumps({"kind": kind, **data}, indent=None)
