"""The last line, and the statistics."""

from __future__ import annotations

from smemlint.diagnose.model import Summary
from smemlint.rules import find_rule


def count(number: int, noun: str) -> str:
    if number == 1:
        return f"1 {noun}"
    return f"{number} {noun}es" if noun.endswith("s") else f"{number} {noun}s"


def summary_line(summary: Summary) -> str:
    """`1 finding in 1 of 3 files; 12 accesses, 11 resolved; 0 unparsed`, always in this order."""
    found = count(summary.findings, "finding")
    where = f"in {summary.files_with_findings} of {count(summary.files, 'file')}"
    parts = [f"{found} {where}", f"{count(summary.accesses, 'access')}, {summary.resolved} resolved"]
    parts.append(f"{summary.unparsed} unparsed")
    if summary.partial:
        parts.append(f"{count(summary.partial, 'kernel')} analysed in part")
    if summary.suppressed:
        parts.append(f"{summary.suppressed} suppressed")
    if summary.hidden:
        parts.append(f"{count(summary.hidden, 'note')} not shown (--level note)")
    return "; ".join(parts)


def statistics(summary: Summary) -> str:
    """Findings by rule and unresolved accesses by reason."""
    lines = []
    for code, number in summary.rules.items():
        rule = find_rule(code)
        lines.append(f"{number:6}  {code}  {rule.name if rule else ''}".rstrip())
    for reason, number in summary.reasons.items():
        lines.append(f"{number:6}  unresolved: {reason}")
    lines.append(f"{summary.kernels:6}  kernels")
    return "\n".join(lines) + "\n"
