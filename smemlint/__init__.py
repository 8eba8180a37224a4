"""smemlint: shared-memory bank conflicts of CUDA code, told from the source."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from smemlint.banks import Cost, wavefronts
    from smemlint.diagnose.model import Report
    from smemlint.library import analyze, check

__version__ = "0.1.0"

__all__ = ["Cost", "Report", "__version__", "analyze", "check", "wavefronts"]

_LATER = {
    "wavefronts": "smemlint.banks",
    "Cost": "smemlint.banks",
    "Report": "smemlint.diagnose.model",
    "analyze": "smemlint.library",
    "check": "smemlint.library",
}


def __getattr__(name: str) -> Any:
    """Public names are imported when first used, so that `import smemlint` stays instant."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_LATER[name]), name)
