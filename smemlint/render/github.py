"""Annotations of GitHub Actions: workflow commands on stdout.

Percent signs, line ends and, in properties, colons and commas are escaped as GitHub's runner reads them; all
else that a terminal would obey is visible text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from smemlint.diagnose.group import by_cost, groups
from smemlint.diagnose.model import Report
from smemlint.render.full import places
from smemlint.render.style import Look
from smemlint.render.summary import summary_line
from smemlint.rules import Severity
from smemlint.system.visible import visible

_LEVEL = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


_BY_COST = Look(sort="cost")
_WORTH_A_WARNING = 0.02
"""Share of its kernel's wavefronts below which a conflict is only a notice."""


def render(report: Report, look: Look = _BY_COST) -> str:
    lines = []
    for problem in report.problems:
        where: dict[str, str | int] = {"file": problem.path, "line": problem.line or 1}
        lines.append(_command("error", where, problem.message))
    lines.append(summary_line(report.summary))
    return "".join(findings(report, look)) + "\n".join(lines) + "\n"


def findings(report: Report, look: Look = _BY_COST) -> Iterator[str]:
    """The command of each finding: the costliest first, since GitHub shows the first ten, unless paths are
    asked for."""
    found = groups(report.diagnostics)
    for group in found if look.sort == "path" else by_cost(found):
        d, together = group.lead, group.cost
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
        said = [d.message]
        if group.others:
            said.append(f"also: {places(group)}")
        if together is not None:
            said.append(f"cost: {group.cost_words}")
        message = "\n".join([*said, *d.notes, *([f"fix: {d.fix.words}"] if d.fix else [])])
        small = together is not None and together.excess_share < _WORTH_A_WARNING
        level = "notice" if small and d.severity is Severity.WARNING else _LEVEL[d.severity]
        yield _command(level, properties, message) + "\n"


def _command(level: str, properties: dict[str, str | int], message: str) -> str:
    named = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items())
    return f"::{level} {named}::{_data(message)}"


def _data(text: str) -> str:
    kept = re.split(r"([\r\n])", text.replace("%", "%25"))
    return "".join({"\r": "%0D", "\n": "%0A"}.get(part) or visible(part) for part in kept)


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
