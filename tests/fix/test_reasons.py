"""Every reason for which there is no edit is explained to users."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import smemlint.fix
from smemlint.cli import main
from smemlint.fix.refusals import REASONS, explained

ROOT = Path(__file__).resolve().parents[2]


def test_every_reason_stands_in_the_docs_and_no_other() -> None:
    package = Path(smemlint.fix.__file__).parent
    text = "".join(p.read_text(encoding="utf-8") for p in package.rglob("*.py"))
    given = set(re.findall(r'Refusal\(\s*"([a-z-]+)"', text))
    table = (ROOT / "docs" / "fixes.md").read_text(encoding="utf-8").split("## Why there may be no edit")[1]
    told = [line for line in table.split("## ")[0].splitlines() if line.startswith("| `")]
    assert given == set(REASONS)
    assert told == [f"| `{code}` | {meaning} | {helps} |" for code, (meaning, helps) in REASONS.items()]


def test_every_reason_is_explained_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "passed-on"]) == 0
    assert capsys.readouterr().out.startswith("# passed-on\n\nWhy an array that conflicts gets no edit: ")
    assert all(text is not None and text.endswith(".\n") for text in map(explained, REASONS))


def test_layouts_that_were_not_looked_at_are_not_said_to_cost_more(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of rows of 6 words padding to 7 would cost less: nobody looked, since the launch is not known."""
    (tmp_path / "k.cu").write_text(
        "__global__ void __launch_bounds__(256) k(float *p, int first, int n) {\n"
        "    extern __shared__ float buffer[];\n"
        "    float *rows = buffer + first;\n"
        "    for (int i = 0; i < n; i++) p[threadIdx.x] += rows[threadIdx.x * 6];\n}\n"
    )
    main(["check", str(tmp_path / "k.cu"), "--level", "note", "--no-cache"])
    said = " ".join(capsys.readouterr().out.replace(" = ", " ").split())
    assert "2-way bank conflict" in said and "no better layout was found" in said
    assert "costs less" not in said
