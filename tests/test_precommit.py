"""The hook, run by the real pre-commit on a scratch repository."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pre_commit", reason="pre-commit is not installed")

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


def run(*command: str, cwd: Path, home: Path, timeout: float = 60) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    environment |= {"PRE_COMMIT_HOME": str(home), "GIT_CONFIG_GLOBAL": os.devnull}
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=timeout)


def commit(folder: Path, home: Path) -> None:
    git = ("git", "-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "init.defaultBranch=main")
    for command in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "all")):
        done = run(*git, *command, cwd=folder, home=home)
        assert done.returncode == 0, done.stderr


def test_the_hook_stops_a_commit_with_a_conflict_and_passes_a_clean_one(tmp_path: Path) -> None:
    home, hook, user = tmp_path / "home", tmp_path / "hook", tmp_path / "user"
    hook.mkdir()
    for name in ("pyproject.toml", ".pre-commit-hooks.yaml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, hook)
    skip = shutil.ignore_patterns("__pycache__")
    for name in ("smemlint", "grammar", "rules"):
        shutil.copytree(ROOT / name, hook / name, ignore=skip)
    commit(hook, home)
    user.mkdir()
    (user / "transpose.cu").write_text(CONFLICT, encoding="utf-8")
    (user / "host.cpp").write_text("int main() {}\n", encoding="utf-8")
    revision = run("git", "rev-parse", "HEAD", cwd=hook, home=home).stdout.strip()
    (user / ".pre-commit-config.yaml").write_text(
        f"repos:\n- repo: {hook.as_uri()}\n  rev: {revision}\n  hooks:\n  - id: smemlint\n", encoding="utf-8"
    )
    commit(user, home)
    pre_commit = (sys.executable, "-m", "pre_commit")
    installed = run(*pre_commit, "install-hooks", cwd=user, home=home, timeout=300)
    if installed.returncode != 0:
        pytest.skip(
            "the hook's environment cannot be installed, no package index: " + installed.stdout[-400:]
        )

    bad = run(*pre_commit, "run", "--all-files", cwd=user, home=home)
    assert bad.returncode == 1, bad.stdout + bad.stderr
    assert "exit code: 1" in bad.stdout
    assert "transpose.cu:6:24" in bad.stdout and "SMEM101" in bad.stdout
    assert "host.cpp" not in bad.stdout

    (user / "transpose.cu").write_text(CONFLICT.replace("[32][32]", "[32][33]"), encoding="utf-8")
    good = run(*pre_commit, "run", "--all-files", cwd=user, home=home)
    assert good.returncode == 0, good.stdout + good.stderr
