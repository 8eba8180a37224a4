"""What does each site cost?

In: a Trace. Out: a Conflict: wavefronts, ideal, ways, the worst request and why.
May import evaluate's data and banks; never clang, never the renderers.
"""

from smemlint.score.model import Conflict, KernelAnalysis, Request, Stride
from smemlint.score.sharing import Sharing
from smemlint.score.site import score, score_all
from smemlint.score.unreached import idle_lambdas, with_unreached

__all__ = [
    "Conflict",
    "KernelAnalysis",
    "Request",
    "Sharing",
    "Stride",
    "idle_lambdas",
    "score",
    "score_all",
    "with_unreached",
]
