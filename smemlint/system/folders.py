"""Folders that are the user's own: where what is made once is kept."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folders() -> tuple[Path, ...]:
    """Folders to keep things in, the best first. Whether one is the user's alone, `is_ours` tells."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")  # noqa: PTH111, PTH118
    import tempfile

    return (Path(base) / "smemlint", Path(tempfile.gettempdir()) / f"smemlint-{_user()}")


def is_ours(folder: Path) -> bool:
    """Whether a folder is this user's, or is not there yet. One that somebody else made may hold anything."""
    try:
        return not hasattr(os, "getuid") or folder.stat().st_uid == _user()
    except FileNotFoundError:
        return True
    except OSError:
        return False


def _user() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0
