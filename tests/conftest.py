"""The tests run against the installed package: the checkout comes last on the path, whoever put it first."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

sys.path[:] = [*(p for p in sys.path if Path(p or ".").resolve() != ROOT), str(ROOT)]
