"""The real command, killed while it fixes: files are old or new, nothing is left behind, nobody lives on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc")
def test_a_few_kills_leave_nothing_half_done() -> None:
    script = Path(__file__).parents[2] / "benchmarks" / "kills.py"
    command = [sys.executable, str(script), "--count", "4", "--files", "2", "--seed", "5"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("4 kills: every file old or new")
