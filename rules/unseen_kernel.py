from __future__ import annotations

from smemlint.rules.base import Rule, Severity


class UnseenKernel(Rule):
    """A kernel uses shared memory, and none of its accesses was seen.

    ## Why it matters
    Nothing is known of such a kernel: that no conflict is reported does not mean that it has none. It is
    listed at every level and counted in the last line; `--fail-on-unseen` makes it fail the run.

    ## Use instead
    The reason says what stood in the way: a launch or a template argument that is not known, a library whose
    headers were not read (`-I`), a budget that was used up.

    ## Fix safety
    No fix.

    ## References
    docs/limits.md lists every reason; `smemlint explain REASON` shows one.
    """

    code, name, severity = "SMEM907", "unseen-kernel", Severity.NOTE
