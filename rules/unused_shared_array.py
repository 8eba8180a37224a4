from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from smemlint.rules.base import DeclarationRule, Finding, Kernel, shared
from smemlint.rules.body import body_range

from smemlint.ir import Name, Place
from smemlint.ir.macros import is_macro_like
from smemlint.ir.walk import nodes_of
from smemlint.source.blank import blank_comments

if TYPE_CHECKING:
    from smemlint.score.model import KernelAnalysis


class UnusedSharedArray(DeclarationRule):
    """A shared array is declared and its name is never used again.

    ## Why it matters
    The compiler may drop it, but a reader counts it, and sizes computed from it stay in launches and
    occupancy estimates. Most often it is the leftover of a change.

    ## Use instead
    Delete the declaration.

    ## Fix safety
    The name must not be used by an `#if` branch of another configuration; the rule looks at the text of all
    of them. It says nothing of a kernel that uses names in capitals which nothing defines: macros, which may
    use the array.

    ## References
    None.
    """

    code, name = "SMEM201", "unused-shared-array"
    conflicting = (
        Kernel("s[threadIdx.x] = 0;", shared("float s[32]", "float old[32]"), (32,)),
        Kernel("s[threadIdx.x] = 0;  // old[0] = 1;", shared("float s[32]", "float old[32]"), (32,)),
    )
    clean = (
        Kernel("s[threadIdx.x] = 0;", shared("float s[32]"), (32,)),
        Kernel("s[threadIdx.x] = 0;\nTRANSFORM", shared("float s[32]", "float spare[32]"), (32,)),
    )

    def check(self, kernel: KernelAnalysis, text: str | None) -> Iterator[tuple[Place, Finding]]:
        # What is accessed may be by a macro that another file defines.
        accessed = {conflict.site.array for conflict in kernel.conflicts}
        unaccessed = [array for name, array in kernel.arrays.items() if name not in accessed]
        if text is None or "##" in text or not unaccessed or _uses_unknown_macros(kernel):
            return
        place = kernel.kernel.place
        start, end = body_range(text, place.offset)
        code = blank_comments(text.encode().decode("latin-1"))  # a character for each byte
        body = code.encode("latin-1")[start:end]
        for array in unaccessed:
            inside = array.place.path == place.path and start <= array.place.offset < end
            if not inside or array.dynamic or array.place.macro:
                continue
            if len(re.findall(rb"\b" + re.escape(array.name.encode()) + rb"\b", body)) == 1:
                yield (
                    array.place,
                    Finding("declared, never used", title=f"shared array `{array.name}` is never used"),
                )


def _uses_unknown_macros(kernel: KernelAnalysis) -> bool:
    names = (n for n in nodes_of(kernel.kernel.body) if isinstance(n, Name) and not n.id)
    return any(is_macro_like(n.name) for n in names)
