"""What CI is told to paste: the action's own steps, the README's pre-commit lines."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml", reason="PyYAML comes with pre-commit")

ROOT = Path(__file__).resolve().parent.parent
CONFLICT = """\
__global__ void column(float *out)
{
    __shared__ float tile[32][32];
    tile[threadIdx.y][threadIdx.x] = out[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
void start(float *out) { column<<<1, dim3(32, 8)>>>(out); }
"""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """One in which `smemlint` is the installed command."""
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    command = bin_folder / "smemlint"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m smemlint "$@"\n')
    command.chmod(0o755)
    clean = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    home = {"GIT_CONFIG_GLOBAL": os.devnull, "PRE_COMMIT_HOME": str(tmp_path / "home")}
    return {**clean, **home, "PATH": f"{bin_folder}:{os.environ['PATH']}"}


def test_the_check_of_the_action_annotates_and_writes_sarif(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    assert action["runs"]["using"] == "composite"
    (check,) = (s for s in action["runs"]["steps"] if s.get("name") == "check")
    inputs = {name: given["default"] for name, given in action["inputs"].items()}
    inputs |= {"paths": "src $(touch${IFS}broken)", "arguments": "--min-ways 2 --exit-zero"}
    known = {
        name: re.sub(r"\$\{\{ inputs\.(\S+) \}\}", lambda m: inputs[m[1]], value)
        for name, value in check["env"].items()
    }
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "k.cu").write_text(CONFLICT, encoding="utf-8")
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", check["run"]],
        cwd=tmp_path,
        env={**environment, **known},
        capture_output=True,
        text=True,
    )
    assert "::warning file=src/k.cu,line=6," in done.stdout
    assert (
        done.returncode == 2 and "$(touch${IFS}broken)" in done.stderr
    )  # a path that is none, not a command
    assert not (tmp_path / "broken").exists()
    sarif = json.loads((tmp_path / "smemlint.sarif").read_text())
    assert sarif["runs"][0]["results"][0]["ruleId"] == "SMEM101"


def test_every_input_of_the_action_reaches_a_script_through_its_environment() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    assert not any("${{" in step.get("run", "") for step in action["runs"]["steps"])


def test_the_pre_commit_lines_of_the_readme_work_as_printed(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    pytest.importorskip("pre_commit", reason="pre-commit is not installed")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (printed,) = re.findall(r"```yaml\n(repos:.*?)```", readme, flags=re.S)
    user = tmp_path / "user"
    user.mkdir()
    (user / ".pre-commit-config.yaml").write_text(printed, encoding="utf-8")
    (user / "k.cu").write_text(CONFLICT, encoding="utf-8")

    def run(*command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, cwd=user, env=environment, capture_output=True, text=True, timeout=120)

    assert shutil.which("git") and run("git", "init", "-q").returncode == 0
    assert run("git", "add", "-A").returncode == 0
    done = run(sys.executable, "-m", "pre_commit", "run", "--all-files")
    assert done.returncode == 1 and "warning[SMEM101]" in done.stdout, done.stdout + done.stderr
    (user / "k.cu").write_text(CONFLICT.replace("[32][32]", "[32][33]"), encoding="utf-8")
    assert run("git", "add", "-A").returncode == 0
    assert run(sys.executable, "-m", "pre_commit", "run", "--all-files").returncode == 0
