from __future__ import annotations

from smemlint.rules.base import Rule, Severity


class IncompleteAnalysis(Rule):
    """A part of a kernel was not analysed: a budget was hit, or a function could not be followed.

    ## Why it matters
    There may be accesses that were never seen.

    ## Use instead
    The note says where analysis stopped and why.

    ## Fix safety
    No fix.

    ## References
    docs/limits.md lists every reason; `smemlint explain REASON` shows one.
    """

    code, name, severity = "SMEM906", "incomplete-analysis", Severity.NOTE
