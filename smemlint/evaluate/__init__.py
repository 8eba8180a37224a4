"""Which address has each lane?

In: an ir.Module, a kernel of it and a Launch. Out: a KernelTrace, one Trace per access site.
May import ir and grammar only; never clang, never the renderers.
"""

from smemlint.evaluate.kernel import evaluate
from smemlint.evaluate.language.record_conversions import by_conversion
from smemlint.evaluate.machine.dispatch import answer_by
from smemlint.evaluate.machine.machine import Budget
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
from smemlint.evaluate.run.evaluators import BUILDERS, PLACES, RUNNERS, VALUES

answer_by(VALUES, PLACES, RUNNERS, BUILDERS, by_conversion)

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
