"""Where the names of an index come from: what declares them, what changes them, which value they have."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from smemlint.ir import Assign, Declare, Function, Loop, Module, Name, Place, Special, Unary, Var
from smemlint.ir.expr import STEPS
from smemlint.ir.walk import nodes_of, walk
from smemlint.patterns import pattern
from smemlint.records import record
from smemlint.score.model import KernelAnalysis

MOST = 16
"""Names that are told."""
_CHANGES = 3
"""Statements that change a name, told at most."""
_WORD = pattern(r"[A-Za-z_]\w*")


@record(frozen=True, slots=True)
class Origin:
    """A name in an index. value: what is known of it, in words. path, line, text: of the source line that
    says so; line 0: there is none. changes: (line, text) of what sets it later."""

    name: str
    value: str
    path: str = ""
    line: int = 0
    text: str = ""
    changes: tuple[tuple[int, str], ...] = ()


def origins(
    place: Place,
    analysis: KernelAnalysis,
    module: Module,
    texts: Mapping[str, bytes],
    shown: Callable[[str], str],
) -> tuple[Origin, ...]:
    """What the text at a place depends on, its own names first, then what they are made of."""
    reader = _Reader(analysis, module, texts, shown)
    reader.read(place)
    return tuple(reader.found.values())[:MOST]


class _Reader:
    def __init__(
        self,
        analysis: KernelAnalysis,
        module: Module,
        texts: Mapping[str, bytes],
        shown: Callable[[str], str],
    ) -> None:
        self.analysis = analysis
        self.module = module
        self.texts = texts
        self.shown = shown
        self.found: dict[str, Origin] = {}
        self.waiting: list[object] = []

    def read(self, place: Place) -> None:
        bodies = [f for f in self.module.functions.values() if f.place.path == place.path]
        here = [n for f in bodies for n in nodes_of(f.body) if _inside(n, place)]
        scope = next(
            (f for f in bodies if any(_inside(n, place) for n in nodes_of(f.body))), self.analysis.kernel
        )
        self.waiting = list(here)
        self._macros(place)
        while self.waiting and len(self.found) < MOST:
            node = self.waiting.pop(0)
            if isinstance(node, Special):
                self._special(node)
            elif isinstance(node, Name) and node.id not in self.found:
                self._name(node, scope)

    def _special(self, node: Special) -> None:
        name = f"{node.name}.{node.axis}" if node.axis else node.name
        block, axis = self.analysis.launch.block, "xyz".find(node.axis or "x")
        launch = f"block ({', '.join(map(str, block))})"
        origin = f" from {self.analysis.launch.origin}" if self.analysis.launch.origin else ""
        value = {
            "threadIdx": f"0..{block[axis] - 1}, {launch}{origin}",
            "blockDim": f"{block[axis]}, {launch}{origin}",
            "blockIdx": "the same for all lanes of a request",
            "gridDim": "the same for all lanes of a request",
            "warpSize": "32",
        }.get(node.name, "the lane's own")
        self.found.setdefault(name, Origin(name, value))

    def _name(self, node: Name, scope: Function) -> None:
        if node.name in self.analysis.template_arguments:
            origin = self.analysis.launch.origin
            value = f"{self.analysis.template_arguments[node.name]}, template argument"
            place = self.analysis.launch.place
            self._told(node, value + (f" from {origin}" if origin and place is None else ""), place)
            return
        var = self._declaration(node.id, scope)
        if var is None:
            return
        if var.storage == "param":
            known = self.analysis.launch.arguments.get(var.name)
            passed = f"{known}, passed at {self.analysis.launch.origin}" if known is not None else ""
            value = passed or "an argument, the same for all lanes unless they compute it"
        elif var.storage in ("shared", "extern_shared"):
            value = "shared memory"
            self.waiting += walk(var.type)
        else:
            value = "constant" if var.const or var.storage == "constant" else "variable"
        self._told(node, value, var.place, tuple(self._changes(node.id, scope)))
        if var.init is not None:
            self.waiting += walk(var.init)
            self._macros(var.place)

    def _told(
        self, node: Name, value: str, place: Place | None, changes: tuple[tuple[int, str], ...] = ()
    ) -> None:
        path, line = (self.shown(place.path), place.line) if place is not None else ("", 0)
        text = self._line(place.path, line) if place is not None else ""
        self.found[node.id] = Origin(node.name, value, path, line, text, changes)

    def _declaration(self, id_: str, scope: Function) -> Var | None:
        if id_ in self.module.globals:
            return self.module.globals[id_]
        for function in (scope, self.analysis.kernel):
            for var in function.parameters:
                if var.id == id_:
                    return var
            for node in nodes_of(function.body):
                if isinstance(node, Declare) and node.var.id == id_:
                    return node.var
        return None

    def _changes(self, id_: str, scope: Function) -> Iterator[tuple[int, str]]:
        declared = self._declaration(id_, scope)
        seen: set[int] = {declared.place.line} if declared is not None else set()
        for node in walk(scope.body):
            target = node.target if isinstance(node, Assign) else None
            if isinstance(node, Unary) and node.op in STEPS:
                target = node.operand
            place = getattr(node, "place", None)
            if not isinstance(target, Name) or target.id != id_ or place is None or place.line in seen:
                continue
            seen.add(place.line)
            if len(seen) <= _CHANGES + 1:
                yield place.line, self._line(place.path, place.line)

    def _macros(self, place: Place) -> None:
        """Macros that the text at a place names."""
        line = self._line(place.path, place.line)
        for word in dict.fromkeys(_WORD.findall(line)):
            self._macro(word)

    def _macro(self, word: str) -> None:
        if f"#{word}" in self.found or not word:
            return
        pattern = re.compile(rb"(?m)^[ \t]*#[ \t]*define[ \t]+" + re.escape(word.encode()) + rb"\b([^\n]*)")
        for path, text in self.texts.items():
            for match in pattern.finditer(text):
                line = text.count(b"\n", 0, match.start()) + 1
                said = self._line(path, line)
                value = match[1].decode("utf-8", "replace").split("//")[0].strip()
                self.found[f"#{word}"] = Origin(word, f"{value}, macro", self.shown(path), line, said)
                for inner in _WORD.findall(value):
                    self._macro(inner)
                return

    def _line(self, path: str, line: int) -> str:
        lines = self.texts.get(path, b"").split(b"\n")
        return " ".join(lines[line - 1].decode("utf-8", "replace").split()) if 0 < line <= len(lines) else ""


def _inside(node: object, place: Place) -> bool:
    at = getattr(node, "place", None)
    return (
        isinstance(node, (Name, Special))
        and isinstance(at, Place)
        and at.path == place.path
        and place.offset <= at.offset < max(place.end_offset, place.offset + 1)
    )


def loops_around(place: Place, functions: Sequence[Function]) -> list[Loop]:
    """The loops whose text holds a place, outermost first."""
    found = [
        node
        for function in functions
        for node in nodes_of(function.body)
        if isinstance(node, Loop)
        and node.place is not None
        and node.place.path == place.path
        and node.place.offset <= place.offset < node.place.end_offset
    ]
    return sorted(found, key=lambda loop: loop.place.offset if loop.place is not None else 0)
