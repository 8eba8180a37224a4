"""The benchmarks are scripts, not a package: load them by path."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


def load_script(name: str) -> ModuleType:
    folder = str(ROOT / "benchmarks")
    if folder not in sys.path:
        sys.path.append(folder)
    spec = importlib.util.spec_from_file_location(f"benchmark_{name}", ROOT / "benchmarks" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def script() -> Callable[[str], ModuleType]:
    """Load a script by its path below benchmarks/, without its suffix; no other one is hidden by its name."""
    return load_script


@pytest.fixture(scope="session")
def silicon() -> ModuleType:
    return load_script("silicon")


@pytest.fixture(scope="session")
def corpus() -> ModuleType:
    return load_script("corpus")


@pytest.fixture(scope="session")
def speed() -> ModuleType:
    return load_script("speed")


@pytest.fixture(scope="session")
def fixtures_on_gpu() -> ModuleType:
    return load_script("fixtures_on_gpu")
