"""What does each site cost?

In: a Trace. Out: a Conflict: wavefronts, ideal, ways, the worst request and why.
May import evaluate's data and banks; never clang, never the renderers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smemlint.score.model import Conflict, KernelAnalysis, Request, Stride

if TYPE_CHECKING:
    from smemlint.score.sharing import Sharing
    from smemlint.score.site import score, score_all
    from smemlint.score.unreached import idle_functions, idle_lambdas, with_unreached

# What scores needs numpy; reports that were kept need the records alone.
_LATER = {
    "Sharing": "smemlint.score.sharing",
    "score": "smemlint.score.site",
    "score_all": "smemlint.score.site",
    "idle_functions": "smemlint.score.unreached",
    "idle_lambdas": "smemlint.score.unreached",
    "with_unreached": "smemlint.score.unreached",
}

__all__ = [
    "Conflict",
    "KernelAnalysis",
    "Request",
    "Sharing",
    "Stride",
    "idle_functions",
    "idle_lambdas",
    "score",
    "score_all",
    "with_unreached",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_LATER[name]), name)
