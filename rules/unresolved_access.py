from __future__ import annotations

from smemlint.rules.base import Rule, Severity


class UnresolvedAccess(Rule):
    """An access of shared memory was seen, and its cost could not be told.

    ## Why it matters
    What is not understood is neither clean nor conflicting. The summary line always counts it; the reason
    says what stood in the way.

    ## Use instead
    Where the reason names a value that the source does not hold, give it: `--block`, `-D`, a template
    argument.

    ## Fix safety
    No fix.

    ## References
    docs/limits.md lists every reason.
    """

    code, name, severity = "SMEM901", "unresolved-access", Severity.NOTE
