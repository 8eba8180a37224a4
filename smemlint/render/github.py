"""Annotations of GitHub Actions: workflow commands on stdout.

Percent signs, line ends and, in properties, colons and commas are escaped as GitHub's runner reads them; all
else that a terminal would obey is visible text.
"""

from __future__ import annotations

import re

from smemlint.diagnose.model import Report
from smemlint.render.summary import summary_line
from smemlint.rules import Severity
from smemlint.visible import visible

_LEVEL = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def render(report: Report, *, color: bool = False) -> str:
    lines = []
    for d in report.diagnostics:
        place = d.place
        properties: dict[str, str | int] = {
            "file": place.path,
            "line": place.line,
            "endLine": place.end_line,
            "col": place.column,
        }
        if place.end_line == place.line:  # GitHub drops columns of a range over several lines
            properties["endColumn"] = place.end_column
        properties["title"] = f"{d.code} {d.name}"
        message = "\n".join([d.message, *d.notes, *([f"fix: {d.fix.words}"] if d.fix else [])])
        lines.append(_command(_LEVEL[d.severity], properties, message))
    for problem in report.problems:
        where: dict[str, str | int] = {"file": problem.path, "line": problem.line or 1}
        lines.append(_command("error", where, problem.message))
    lines.append(summary_line(report.summary))
    return "\n".join(lines) + "\n"


def _command(level: str, properties: dict[str, str | int], message: str) -> str:
    named = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items())
    return f"::{level} {named}::{_data(message)}"


def _data(text: str) -> str:
    kept = re.split(r"([\r\n])", text.replace("%", "%25"))
    return "".join({"\r": "%0D", "\n": "%0A"}.get(part) or visible(part) for part in kept)


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
