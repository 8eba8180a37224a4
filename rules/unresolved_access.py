from __future__ import annotations

from smemlint.rules.base import Rule, Severity


class UnresolvedAccess(Rule):
    """The cost of an access of shared memory could not be determined.

    ## Why it matters
    Such an access is neither clean nor conflicting. The last line always counts it; the reason says what
    stood in the way.

    ## Use instead
    Where the reason names a value that the source does not hold, give it: `--block`, `-D`, a template
    argument.

    ## Fix safety
    No fix.

    ## References
    docs/limits.md lists every reason; `smemlint explain REASON` shows one.
    """

    code, name, severity = "SMEM901", "unresolved-access", Severity.NOTE
