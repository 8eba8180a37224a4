"""The last line, and the statistics."""

from __future__ import annotations

from collections.abc import Mapping

from smemlint.diagnose.model import Summary
from smemlint.diagnose.unseen import phrase
from smemlint.render.style import wrapped
from smemlint.rules import find_rule

_SHOWN = 4
"""Reasons that are told one by one."""


def count(number: int, noun: str) -> str:
    if number == 1:
        return f"1 {noun}"
    return f"{number} {noun}es" if noun.endswith("s") else f"{number} {noun}s"


def places(findings: int, lines: int) -> str:
    """`4 findings (21 places)`, `1 finding`"""
    return count(findings, "finding") + (f" ({lines} places)" if lines > findings else "")


def summary_line(summary: Summary) -> str:
    """`1 finding in 1 of 3 files; 12 accesses, 9 resolved, 2 ranges, 1 unresolved; 0 unparsed`, and what was
    left out, always in this order."""
    return "; ".join(_parts(summary))


def summary_lines(summary: Summary, width: int) -> list[str]:
    """The same on one line where it fits, else a line for each part."""
    whole = summary_line(summary)
    if len(whole) <= width:
        return [whole]
    return [line for part in _parts(summary) for line in wrapped(part, width, 2)]


def _parts(summary: Summary) -> list[str]:
    found = places(summary.findings, summary.lines)
    of = f"{summary.files_with_findings} of {count(summary.files, 'file')}"
    if summary.files_with_findings > summary.files:  # in headers that they include, too
        of = count(summary.files_with_findings, "file")
    where = f"in {of}{_fixable(summary)}"
    if summary.withheld.accepted and not summary.findings:
        found, where = "no new findings", f"in {count(summary.files, 'file')}"
    accesses = f"{count(summary.accesses, 'access')}, {summary.resolved} resolved"
    if summary.ranges:
        accesses += f", {count(summary.ranges, 'range')}"
    if summary.unresolved:
        accesses += f", {summary.unresolved} unresolved"
    parts = [f"{found} {where}", f"{accesses}; {summary.unparsed} unparsed"]
    if summary.skipped:
        parts.append(f"{count(summary.skipped, 'file')} skipped (HIP)")
    if summary.unseen:
        parts.append(f"{count(summary.unseen, 'kernel')} not analysed{_why(summary.unseen_reasons)}")
    if summary.partial:
        parts.append(f"{count(summary.partial, 'kernel')} analysed in part{_why(summary.partial_reasons)}")
    if summary.missing_headers:
        names = list(summary.missing_headers)
        more = [f"{len(names) - _SHOWN} more"] if len(names) > _SHOWN else []
        parts.append(f"{count(len(names), 'header')} not read ({', '.join(names[:_SHOWN] + more)})")
    if summary.withheld.suppressed:
        parts.append(f"{summary.withheld.suppressed} suppressed")
    if summary.withheld.accepted:
        accepted = places(summary.withheld.accepted_findings, summary.withheld.accepted)
        parts.append(f"{accepted} accepted by the baseline")
    if summary.withheld.small:
        parts.append(f"{count(summary.withheld.small, 'finding')} below --min-share")
    if summary.withheld.hidden:
        parts.append(f"{count(summary.withheld.hidden, 'note')} not shown (--level note)")
    return parts


def _fixable(summary: Summary) -> str:
    """`, 2 fixable by --fix and 1 more by --unsafe-fixes`"""
    safe, unsafe = summary.fixable, summary.fixable_unsafe
    if safe and unsafe:
        return f", {safe} fixable by --fix and {unsafe} more by --unsafe-fixes"
    return f", {safe} fixable by --fix" if safe else f", {unsafe} fixable by --unsafe-fixes" if unsafe else ""


def _why(reasons: Mapping[str, int]) -> str:
    """` (CuTe tensors)`, or where kernels have several reasons, ` (3: CuTe tensors, 2: unknown size)`"""
    counts: dict[str, int] = {}
    for code, number in reasons.items():
        counts[phrase(code)] = counts.get(phrase(code), 0) + number
    most = sorted(counts.items(), key=lambda item: -item[1])
    if len(most) == 1:
        return f" ({most[0][0]})"
    words = [f"{number}: {text}" for text, number in most[:_SHOWN]]
    if len(most) > _SHOWN:
        words.append(f"{sum(n for _, n in most[_SHOWN:])}: other reasons")
    return f" ({', '.join(words)})" if words else ""


def statistics(summary: Summary) -> str:
    """Findings by rule and unresolved accesses by reason."""
    lines = []
    for code, number in summary.rules.items():
        rule = find_rule(code)
        lines.append(f"{number:6}  {code}  {rule.name if rule else ''}".rstrip())
    for reason, number in summary.reasons.items():
        lines.append(f"{number:6}  unresolved: {reason}")
    for reason, number in summary.unseen_reasons.items():
        lines.append(f"{number:6}  kernels not analysed: {reason}")
    for reason, number in summary.partial_reasons.items():
        lines.append(f"{number:6}  kernels analysed in part: {reason}")
    for name, number in summary.missing_headers.items():
        lines.append(f"{number:6}  headers not read: {name}")
    lines.append(f"{summary.kernels:6}  kernels")
    return "\n".join(lines) + "\n"
