"""Which address has each lane?

In: an ir.Module, a kernel of it and a Launch. Out: a KernelTrace, one Trace per access site.
May import ir and grammar only; never clang, never the renderers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from smemlint.evaluate.model import (
    DataTerm,
    Grade,
    KernelTrace,
    Parameter,
    SharedArray,
    Site,
    Trace,
    Unresolved,
)

if TYPE_CHECKING:
    from smemlint.evaluate.kernel import evaluate
    from smemlint.evaluate.machine.machine import Budget

__all__ = [
    "Budget",
    "DataTerm",
    "Grade",
    "KernelTrace",
    "Parameter",
    "SharedArray",
    "Site",
    "Trace",
    "Unresolved",
    "evaluate",
]


def __getattr__(name: str) -> object:
    """What runs is loaded when it is asked for: reports that were kept need the records alone."""
    if name == "evaluate":
        from smemlint.evaluate.kernel import evaluate

        return evaluate
    if name == "Budget":
        from smemlint.evaluate.machine.machine import Budget

        return Budget
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
