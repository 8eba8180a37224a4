"""What changed: against a revision of a real git repository, between reports, beyond a budget."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from command_line import Capture, run

KERNEL = """\
__global__ void {name}(float *out)
{{
    __shared__ float tile[32][{pitch}];
    tile[threadIdx.y][threadIdx.x] = out[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}}
void start(float *out) {{ {name}<<<1, dim3(32, 8)>>>(out); }}
"""


def kernel(name: str = "column", pitch: int = 32) -> str:
    return KERNEL.format(name=name, pitch=pitch)


def git(folder: Path, *arguments: str) -> None:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    environment |= {"GIT_CONFIG_GLOBAL": os.devnull}
    options = ("-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "init.defaultBranch=main")
    done = subprocess.run(
        ["git", *options, *arguments], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture(autouse=True)
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "repository"
    root.mkdir()
    (root / "old.cu").write_text(kernel(), encoding="utf-8")
    (root / "good.cu").write_text(kernel("good", 33), encoding="utf-8")
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "first")
    monkeypatch.chdir(root)
    return root


def test_only_findings_on_changed_lines_are_told(repository: Path, capsys: Capture) -> None:
    concise = ("--diff-base", "HEAD", "--output-format", "concise")
    assert run(capsys, ".", *concise)[0] == 0
    text = kernel().replace("__syncthreads();\n", "__syncthreads(); // now\n")
    (repository / "old.cu").write_text(text, encoding="utf-8")
    assert run(capsys, ".", *concise)[0] == 0
    (repository / "old.cu").write_text(text.replace("    out[", "    // moved\n    out["), encoding="utf-8")
    assert run(capsys, ".", *concise)[0] == 0
    (repository / "new file.cu").write_text(kernel("fresh"), encoding="utf-8")
    status, out, _ = run(capsys, ".", *concise)
    assert status == 1 and out.startswith("new file.cu:6:24") and "old.cu" not in out


def test_a_changed_declaration_brings_the_findings_of_its_array(repository: Path, capsys: Capture) -> None:
    (repository / "good.cu").write_text(kernel("good", 32), encoding="utf-8")
    status, out, _ = run(capsys, ".", "--diff-base", "HEAD", "--output-format", "concise")
    assert status == 1 and out.startswith("good.cu:6:24") and "old.cu" not in out


def test_a_revision_that_does_not_exist_is_an_error(capsys: Capture) -> None:
    for revision in ("nowhere", "--output=x", ""):
        status, _, err = run(capsys, ".", f"--diff-base={revision}")
        assert status == 2 and err.startswith("error: argument --diff-base: ")


def test_nothing_that_the_repository_configures_is_started(repository: Path, capsys: Capture) -> None:
    for key in ("diff.external", "core.fsmonitor"):
        git(repository, "config", key, f"touch {repository}/started; true")
    (repository / ".gitattributes").write_text("*.cu diff=own\n")
    git(repository, "config", "diff.own.textconv", f"touch {repository}/started; cat")
    (repository / "old.cu").write_text(kernel("column", 64), encoding="utf-8")
    assert run(capsys, ".", "--diff-base", "HEAD")[0] == 1
    assert not (repository / "started").exists()


def test_revisions_are_compared(repository: Path, capsys: Capture) -> None:
    (repository / "good.cu").write_text(kernel("good", 32), encoding="utf-8")
    (repository / "old.cu").write_text(kernel("column", 33), encoding="utf-8")
    status, out, _ = run(capsys, "diff", "HEAD")
    access = "SMEM101 tile[threadIdx.x][threadIdx.y]"
    told = f"new     good.cu:6: {access}: none -> 32-way\ngone    old.cu:6: {access}: 32-way -> none\n"
    assert (status, out) == (1, f"{told}0 worse, 1 new, 0 better, 1 gone, 0 same\n")
    git(repository, "commit", "-q", "-a", "-m", "second")
    assert run(capsys, "diff", "HEAD~..HEAD") == (1, out, "")
    assert run(capsys, "diff", "HEAD..HEAD")[:2] == (0, "0 worse, 0 new, 0 better, 0 gone, 1 same\n")


def test_reports_are_compared(repository: Path, capsys: Capture) -> None:
    for name, pitch in (("before", 33), ("after", 32)):
        (repository / "good.cu").write_text(kernel("good", pitch), encoding="utf-8")
        run(capsys, ".", "--output", f"json={name}.json")
    status, out, _ = run(capsys, "diff", "before.json", "after.json", "--output-format", "json")
    data = json.loads(out)
    assert status == 1 and data["summary"] == {"worse": 0, "new": 1, "better": 0, "gone": 0, "same": 1}
    assert [(c["kind"], c["path"]) for c in data["changes"]] == [("new", "good.cu"), ("same", "old.cu")]
    status, _, err = run(capsys, "diff", "before.json", "none.json")
    assert (status, err) == (2, "error: none.json: cannot be read: no such file or directory\n")


def test_a_kernel_beyond_its_budget_is_named(repository: Path, capsys: Capture) -> None:
    assert run(capsys, ".", "--write-budget", "budget.json")[0] == 0
    kernels = json.loads((repository / "budget.json").read_text())["kernels"]
    assert kernels == [
        {"path": "good.cu", "name": "good", "excess": 0.0},
        {"path": "old.cu", "name": "column", "excess": 248.0},
    ]
    assert run(capsys, ".", "--budget", "budget.json")[0] == 0
    (repository / "good.cu").write_text(kernel("good", 32), encoding="utf-8")
    status, _, err = run(capsys, ".", "--budget", "budget.json")
    assert (status, err) == (1, "over budget: good.cu: good: 248 excess wavefronts a block, 0 allowed\n")
    (repository / "budget.json").write_text("{}")
    status, _, err = run(capsys, ".", "--budget", "budget.json")
    assert status == 2 and "is no budget of version 1" in err


def test_what_git_says_has_one_prefix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    (tmp_path / "old.cu").write_text(kernel(), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    status, _, err = run(capsys, "old.cu", "--diff-base", "HEAD")
    assert status == 2 and err.startswith("error: argument --diff-base: not a git repository")
