"""Source text to what lowering makes of it, for tests."""

from __future__ import annotations

from clang import cindex

from smemlint.frontend import load
from smemlint.frontend.unit import Unit
from smemlint.ir import Function, Module
from smemlint.ir.show import show
from smemlint.source import source_from_bytes


def module(text: str) -> Module:
    """The first configuration's module of a file called `k.cu`."""
    return load(source_from_bytes("k.cu", text.encode()))[0]


def function(text: str, name: str) -> Function:
    found = [f for f in module(text).functions.values() if f.name == name]
    assert len(found) == 1, f"{len(found)} functions are called {name}"
    return found[0]


def lines(text: str, name: str = "k") -> list[str]:
    """The body of a function, a line a statement, without indent and outer braces."""
    return [line.strip() for line in show(function(text, name).body).split("\n")][1:-1]


def kernel(body: str, *, before: str = "", head: str = "float *p, int n") -> list[str]:
    """The lines of one kernel `k` with this body."""
    return lines(f"{before}\n__global__ void k({head}) {{\n{body}\n}}\n")


def declared(unit: Unit) -> list[cindex.Cursor]:
    """What a file and its includes declare outside of functions, without the `operator new` given to each."""
    found = [c for c in unit.tu.cursor.get_children() if c.kind.is_declaration()]
    return [c for c in found if not c.spelling.startswith("operator new")]
