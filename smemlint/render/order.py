"""The findings in the order and number in which people read them."""

from __future__ import annotations

from smemlint.diagnose.group import Group, by_cost, groups
from smemlint.diagnose.model import Report
from smemlint.render.style import Look
from smemlint.render.summary import count


def shown(report: Report, look: Look) -> list[Group]:
    """The findings that are to be shown."""
    found = groups(report.diagnostics)
    if look.sort == "cost":
        found = by_cost(found)
    return found if look.top is None else found[: look.top]


def left_out(report: Report, look: Look) -> list[str]:
    """A line that says how many findings `--top` leaves out, if any."""
    left = len(groups(report.diagnostics)) - (look.top or 0)
    return [f"{count(left, 'more finding')} not shown (--top)"] if look.top is not None and left > 0 else []
