"""Each reason that smemlint can give has a line in docs/limits.md."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import smemlint
from smemlint.view.reasons import REASONS

DOCS = Path(__file__).resolve().parent.parent / "docs"
NAMERS = {"Unresolved", "note"}


def reasons(tree: ast.AST) -> Iterator[str]:
    """The literal first argument of each call that names a reason."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            if name in NAMERS and isinstance(node.args[0].value, str):
                yield node.args[0].value


def test_every_reason_is_documented() -> None:
    text = (DOCS / "limits.md").read_text(encoding="utf-8")
    package = Path(smemlint.__file__).parent
    found = {r for p in package.rglob("*.py") for r in reasons(ast.parse(p.read_text(encoding="utf-8")))}
    assert len(found) > 10
    assert sorted(r for r in found if f"`{r}`" not in text) == []


def test_smemlint_explains_each_reason_as_the_page_does() -> None:
    """`smemlint explain budget` says what the tables of the page say, which may go on (links, examples)."""
    told: dict[str, dict[str, str]] = {}
    for part in (DOCS / "limits.md").read_text(encoding="utf-8").split("\n## ")[1:]:
        rows = [line.strip("|").split("|") for line in part.splitlines() if line.startswith("| `")]
        if rows:
            cells = {name: text.strip() for names, text, *_ in rows for name in re.findall("`(.*?)`", names)}
            told[part.partition("\n")[0]] = cells
    assert {head: set(table) for head, table in told.items()} == {h: set(t) for h, t in REASONS.items()}
    page = [(name, told[h][name], text) for h, table in REASONS.items() for name, text in table.items()]
    assert [name for name, cell, text in page if not cell.startswith(text)] == []
