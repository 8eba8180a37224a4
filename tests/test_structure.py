"""No object holds more than can be kept in mind: 20 attributes, whether declared or set in a method."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("smemlint", "rules", "benchmarks", "tests")
MOST = 20


def own_attributes(made: ast.ClassDef) -> set[str]:
    """Declared fields, slots, and what methods set of `self`."""
    found: set[str] = set()
    for s in made.body:
        if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name):
            found.add(s.target.id)
        elif isinstance(s, ast.Assign) and [ast.unparse(t) for t in s.targets] == ["__slots__"]:
            found.update(ast.literal_eval(s.value))
        elif isinstance(s, ast.FunctionDef):
            found.update(
                n.attr
                for n in ast.walk(s)
                if isinstance(n, ast.Attribute)
                and isinstance(n.ctx, ast.Store)
                and ast.unparse(n.value) == "self"
            )
    return found


def attributes(trees: dict[str, ast.Module]) -> Iterator[tuple[str, set[str]]]:
    """Each class of these files, with its attributes and those of bases that stand in the same file."""
    for path, tree in trees.items():
        classes = {n.name: n for n in ast.walk(tree) if isinstance(n, ast.ClassDef)}
        for name, made in classes.items():
            bases = [classes[n] for b in made.bases if (n := ast.unparse(b)) in classes and n != name]
            yield f"{path}: {name}", own_attributes(made).union(*map(own_attributes, bases))


def too_large(trees: dict[str, ast.Module]) -> dict[str, int]:
    return {name: len(held) for name, held in attributes(trees) if len(held) > MOST}


def test_no_class_holds_more_than_twenty_attributes() -> None:
    files = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
    trees = {str(p.relative_to(ROOT)): ast.parse(p.read_text(encoding="utf-8")) for p in files}
    assert len(trees) > 500 and too_large(trees) == {}


def test_declared_fields_slots_and_what_methods_set_are_counted() -> None:
    declared = "class A:\n" + "".join(f"    a{n}: int = 0\n" for n in range(19))
    sets = "    def __init__(self):\n        self.b, self.a0 = 1, 2\n"
    assert too_large({"x": ast.parse(declared + sets)}) == {}
    more = sets + "    def grow(self):\n        self.c += 1\n"
    assert too_large({"x": ast.parse(declared + more)}) == {"x: A": 21}
    slots = f"class B:\n    __slots__ = {tuple(f's{n}' for n in range(20))}\n"
    assert too_large({"x": ast.parse(f"{slots}class C(B):\n    one: int\n")}) == {"x: C": 21}
