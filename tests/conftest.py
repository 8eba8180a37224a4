"""The tests run against the installed package: the checkout comes last on the path, whoever put it first."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

sys.path[:] = [*(p for p in sys.path if Path(p or ".").resolve() != ROOT), str(ROOT)]

# What the tests keep is no user's, and what a user has kept answers no test.
os.environ["SMEMLINT_CACHE_DIR"] = tempfile.mkdtemp(prefix="smemlint-tests-")
