"""Which findings are shown: by rule, by severity."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from smemlint.diagnose.model import Access, Cause, Diagnostic, KernelReport
from smemlint.rules import Rule, Severity, all_rules, letters, matches

UNRESOLVED = ("SMEM901", "SMEM903", "SMEM906")
UNSEEN = "SMEM907"
"""Shown at every level: what was not looked at is not clean."""


def selected_rules(select: Sequence[str], ignore: Sequence[str]) -> frozenset[str]:
    """Codes of the rules that are on: all, or those that `select` means, less those that `ignore` means."""
    return frozenset(
        rule.code
        for rule in all_rules()
        if (not select or any(matches(rule, s) for s in select)) and not any(matches(rule, s) for s in ignore)
    )


def with_own_words(
    kernels: Sequence[KernelReport], chosen: Callable[[str, str], tuple[Sequence[str], Sequence[str]]]
) -> tuple[KernelReport, ...]:
    """The records, with what smemlint's own rules say where an added rule has spoken that is not on.

    chosen: the (select, ignore) lists of a path and a kernel.
    """

    def told(kernel: KernelReport, access: Access) -> Access:
        cause = access.cause
        if cause is None or cause.instead is None:
            return access
        if cause.rule in selected_rules(*chosen(access.place.path, kernel.name)):
            return access
        return replace(access, cause=Cause(*cause.instead, suggestion=cause.suggestion))

    return tuple(
        replace(k, accesses=tuple(told(k, a) for a in k.accesses))
        if any(a.cause is not None and a.cause.instead for a in k.accesses)
        else k
        for k in kernels
    )


def visible(
    diagnostics: Iterable[Diagnostic],
    *,
    select: Sequence[str],
    ignore: Sequence[str],
    level: Severity,
    show_unresolved: bool,
) -> tuple[list[Diagnostic], int]:
    """(findings to show, notes of selected rules that are kept back).

    A kernel that was not seen is shown unless `ignore` names it; any other note at level `note`, when
    --show-unresolved asks for it, or when `select` names a rule that makes nothing but notes.
    """
    on = selected_rules(select, ignore)
    if UNSEEN in selected_rules((), ignore):
        on |= {UNSEEN}
    asked = {
        r.code for r in all_rules() if r.severity is Severity.NOTE and any(_by_family(r, s) for s in select)
    }
    if show_unresolved:
        asked.update(UNRESOLVED)
    shown, hidden = [], 0
    for diagnostic in diagnostics:
        if diagnostic.code not in on and not (show_unresolved and diagnostic.code in UNRESOLVED):
            continue
        always = diagnostic.code == UNSEEN
        if always or diagnostic.severity.rank >= level.rank or diagnostic.code in asked:
            shown.append(diagnostic)
        else:
            hidden += 1
    return shown, hidden


def _by_family(rule: type[Rule], selector: str) -> bool:
    """Whether a selector names the rule or its family, not everything."""
    wanted = selector.strip().upper()
    return matches(rule, selector) and wanted not in ("ALL", letters(rule.code))
