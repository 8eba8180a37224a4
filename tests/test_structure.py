"""No object holds more than 20 attributes; no modules import in a ring; no name hides a builtin."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("smemlint", "rules", "benchmarks", "tests")
MOST = 20


def own_attributes(made: ast.ClassDef) -> set[str]:
    """Declared fields, slots, and what methods set of `self`."""
    found: set[str] = set()
    for s in made.body:
        if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name):
            found.add(s.target.id)
        elif isinstance(s, ast.Assign) and [getattr(t, "id", "") for t in s.targets] == ["__slots__"]:
            found.update(ast.literal_eval(s.value))
        elif isinstance(s, ast.FunctionDef):
            found.update(
                n.attr
                for n in ast.walk(s)
                if isinstance(n, ast.Attribute)
                and isinstance(n.ctx, ast.Store)
                and getattr(n.value, "id", "") == "self"
            )
    return found


def attributes(trees: dict[str, ast.Module]) -> Iterator[tuple[str, set[str]]]:
    """Each class of these files, with its attributes and those of bases that stand in the same file."""
    for path, tree in trees.items():
        classes = {n.name: n for n in ast.walk(tree) if isinstance(n, ast.ClassDef)}
        for name, made in classes.items():
            bases = [classes[n] for b in made.bases if (n := getattr(b, "id", "")) in classes and n != name]
            yield f"{path}: {name}", own_attributes(made).union(*map(own_attributes, bases))


def too_large(trees: dict[str, ast.Module]) -> dict[str, int]:
    return {name: len(held) for name, held in attributes(trees) if len(held) > MOST}


@cache
def of_file(path: Path) -> tuple[dict[str, int], frozenset[tuple[str, str]]]:
    """The classes of a file that hold too much, and what it imports; its tree is not kept."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return too_large({str(path.relative_to(ROOT)): tree}), frozenset(imported(tree))


def test_no_class_holds_more_than_twenty_attributes() -> None:
    files = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
    assert len(files) > 500
    assert [found for path in files if (found := of_file(path)[0])] == []


def test_declared_fields_slots_and_what_methods_set_are_counted() -> None:
    declared = "class A:\n" + "".join(f"    a{n}: int = 0\n" for n in range(19))
    sets = "    def __init__(self):\n        self.b, self.a0 = 1, 2\n"
    assert too_large({"x": ast.parse(declared + sets)}) == {}
    more = sets + "    def grow(self):\n        self.c += 1\n"
    assert too_large({"x": ast.parse(declared + more)}) == {"x: A": 21}
    slots = f"class B:\n    __slots__ = {tuple(f's{n}' for n in range(20))}\n"
    assert too_large({"x": ast.parse(f"{slots}class C(B):\n    one: int\n")}) == {"x: C": 21}


def imported(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Module and name of each import that runs as a module is loaded: none in functions, none for types."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        n = waiting.pop()
        if isinstance(n, ast.ImportFrom):
            yield from ((n.module or "", a.name) for a in n.names)
        elif isinstance(n, ast.Import):
            yield from ((a.name, "") for a in n.names)
        elif isinstance(n, ast.If) and "TYPE_CHECKING" in ast.unparse(n.test):
            waiting += n.orelse
        elif not isinstance(n, ast.FunctionDef):
            waiting += ast.iter_child_nodes(n)


def order(modules: Mapping[str, Iterable[tuple[str, str]]]) -> list[str]:
    """An order in which modules can be loaded, by their imports. Raises CycleError where there is none."""
    found = {
        name: {x for m, n in imports for x in (f"{m}.{n}" if f"{m}.{n}" in modules else m,)} - {name}
        for name, imports in modules.items()
    }
    return [x for x in TopologicalSorter(found).static_order() if x in modules]


def test_no_modules_import_each_other_in_a_ring() -> None:
    modules = {}
    for folder, package in (("smemlint", "smemlint"), ("rules", "smemlint.rules")):
        for path in (ROOT / folder).rglob("*.py"):
            parts = path.relative_to(ROOT / folder).with_suffix("").parts
            name = ".".join((package, *(part for part in parts if part != "__init__")))
            modules[name] = of_file(path)[1]
    assert len(order(modules)) == len(modules) > 500


def test_a_ring_is_found_through_packages_and_not_where_it_is_for_types_only() -> None:
    back = "from p.a import x"
    forth = {"p": "", "p.a": "from p import b", "p.b": "from p.c import y", "p.c": back}
    with pytest.raises(CycleError):
        order({name: imported(ast.parse(text)) for name, text in forth.items()})
    forth["p.c"] = f"if TYPE_CHECKING:\n    {back}\ndef f():\n    {back}\n"
    assert order({name: imported(ast.parse(text)) for name, text in forth.items()})[-1] == "p.a"


def bound(n: ast.AST) -> set[str]:
    """What comprehensions in a tree name their variables."""
    targets = [c.target for c in ast.walk(n) if isinstance(c, ast.comprehension)]
    return {n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)}


def hiding(tree: ast.AST) -> Iterator[str]:
    """Builtins after which a comprehension names its variable, and that another of the function reads: from
    Python 3.12 on that may be the first one's variable."""
    for f in (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)):
        made = [n for n in ast.walk(f) if isinstance(n, ast.ListComp | ast.SetComp | ast.DictComp)]
        read = [{n.id for n in ast.walk(c) if isinstance(n, ast.Name)} - bound(c) for c in made]
        both = set().union(*map(bound, made)) & set().union(*read) & set(dir(builtins))
        yield from (f"{f.name}: {name}" for name in sorted(both))


def test_no_comprehension_hides_a_builtin_from_another() -> None:
    first = "def f(v):\n    own = {id for id in v}\n    return {id(n): 1 for n in own}\n"
    assert [*hiding(ast.parse(first))] == ["f: id"]
    assert [*hiding(ast.parse(first.replace("id for id", "name for name")))] == []
    files = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
    assert [
        f"{path}: {x}" for path in files for x in hiding(ast.parse(path.read_text(encoding="utf-8")))
    ] == []
