"""Each reason that smemlint can give has a line in docs/limits.md."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import smemlint

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
