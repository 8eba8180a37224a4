"""The tests run against the installed package: the checkout comes last on the path, whoever put it first."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

sys.path[:] = [*(p for p in sys.path if Path(p or ".").resolve() != ROOT), str(ROOT)]

# What the tests keep is no user's, and what a user has kept answers no test. The processes of a run share it.
if "PYTEST_XDIST_WORKER" not in os.environ:
    os.environ["SMEMLINT_CACHE_DIR"] = tempfile.mkdtemp(prefix="smemlint-tests-")


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        shutil.rmtree(os.environ["SMEMLINT_CACHE_DIR"], ignore_errors=True)


@pytest.fixture(autouse=True)
def _no_columns() -> None:
    """Text has the width of a pipe, whatever the terminal is from which the tests were started."""
    os.environ.pop("COLUMNS", None)
