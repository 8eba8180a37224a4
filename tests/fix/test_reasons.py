"""Every reason for which there is no edit is explained to users."""

from __future__ import annotations

import re
from pathlib import Path

import smemlint.fix

ROOT = Path(__file__).resolve().parents[2]


def test_every_reason_stands_in_the_docs_and_no_other() -> None:
    package = Path(smemlint.fix.__file__).parent
    text = "".join(p.read_text(encoding="utf-8") for p in package.glob("*.py"))
    given = set(re.findall(r'Refusal\(\s*"([a-z-]+)"', text))
    table = (ROOT / "docs" / "fixes.md").read_text(encoding="utf-8").split("## Why there may be no edit")[1]
    rows = [line.split("|")[1] for line in table.split("## ")[0].splitlines() if line.startswith("| `")]
    told = {code for row in rows for code in re.findall(r"`([a-z-]+)`", row)}
    assert given == told
