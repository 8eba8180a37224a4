from __future__ import annotations

from smemlint.rules.base import Rule, Severity


class BlockShapeAssumed(Rule):
    """The block shape of a kernel is not known, so a few usual shapes were tried.
    Where only some launches of a kernel tell it, the others are not analysed.

    ## Why it matters
    Bank conflicts depend on which threads share a warp. With an assumed shape a conflict is reported as a
    warning only when every shape that was tried has it.

    ## Use instead
    `--block KERNEL=X,Y,Z`, `[tool.smemlint.blocks]` in pyproject.toml, or `__launch_bounds__` on the kernel.

    ## Fix safety
    No fix.

    ## References
    None.
    """

    code, name, severity = "SMEM902", "block-shape-assumed", Severity.NOTE
