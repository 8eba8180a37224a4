from __future__ import annotations

from smemlint.rules.base import Rule, Severity


class UnknownDirective(Rule):
    """A `smemlint:` comment is not understood, or names a rule that does not exist.

    ## Why it matters
    A misspelt suppression suppresses nothing, and nobody notices.

    ## Use instead
    `// smemlint: ignore[SMEM101] reason`; `smemlint rules` lists codes and names.

    ## Fix safety
    No fix.

    ## References
    None.
    """

    code, name, severity = "SMEM905", "unknown-directive", Severity.WARNING
