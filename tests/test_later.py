"""What few files need is read when it is needed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from smemlint.later import later

CLEAN = """
__global__ void scale(float* out, const float* in) {
  __shared__ float tile[256];
  int t = threadIdx.x;
  tile[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  out[blockIdx.x * 256 + t] = 2.0f * tile[255 - t];
}
void run(float* a, float* b) { scale<<<8, 256>>>(a, b); }
"""


def test_a_function_is_looked_up_when_it_is_first_called() -> None:
    missing = later("smemlint.nowhere", "f")
    with pytest.raises(ModuleNotFoundError):
        missing()
    assert later("math", "gcd")(12, 18) == 6


@pytest.mark.parametrize(
    ("code", "read"),
    [(CLEAN, False), (CLEAN.replace("tile[t] =", "for (int i = 0; i < 3; i++) tile[t] ="), True)],
)
def test_what_runs_loops_is_read_for_a_file_with_a_loop(tmp_path: Path, code: str, read: bool) -> None:
    path = tmp_path / "a.cu"
    path.write_text(code)
    asked = (
        "import sys; from smemlint.api import Job, analyse_file; analyse_file(Job(sys.argv[1]));"
        "print(*(n in sys.modules for n in sys.argv[2:]))"
    )
    names = ("smemlint.evaluate.run.loops.loop", "smemlint.fix.suggest", "fractions")
    call = [sys.executable, "-c", asked, str(path), *names]
    # Not where the sources lie: there the package is without its rules.
    run = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert run.stdout.split() == [str(read), "False", "False"]
