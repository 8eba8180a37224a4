from __future__ import annotations

from smemlint.rules.base import Rule, Severity


class UnusedSuppression(Rule):
    """An `ignore` comment suppresses nothing.

    ## Why it matters
    A suppression that outlived its finding hides the next one.

    ## Use instead
    Delete the comment, or the codes in it that are not needed.

    ## Fix safety
    Safe: comments do not change the program.

    ## References
    None.
    """

    code, name, severity = "SMEM904", "unused-suppression", Severity.WARNING
