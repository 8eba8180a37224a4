"""Signals end a run; several that come at once are one."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from smemlint.system.stopping import AGAIN

PROGRAM = """
import os, sys, time
from smemlint.system.stopping import Stopped, stopped_by_signals
try:
    with stopped_by_signals():
        try:
            os.kill(os.getpid(), {first})
            time.sleep(9)
        finally:
            time.sleep(float(sys.argv[1]))
            os.kill(os.getpid(), {second})
            time.sleep(0.01)
            print("tidied", flush=True)
except Stopped as stopped:
    sys.exit(stopped.status)
"""


@pytest.mark.parametrize(("pause", "said"), [(0.0, "tidied\n"), (2 * AGAIN, "")])
def test_a_second_signal_cuts_tidying_short_only_where_it_is_not_one_of_a_volley(
    pause: float, said: str
) -> None:
    program = PROGRAM.format(first=int(signal.SIGTERM), second=int(signal.SIGTERM))
    run = subprocess.run(
        [sys.executable, "-c", program, str(pause)], capture_output=True, text=True, timeout=60
    )
    assert (run.stdout, run.returncode) == (said, 143)
