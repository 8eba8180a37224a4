"""A public repository on disk, and the part of it that a program needs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

SOURCE_SUFFIXES = {".cu", ".cuh", ".h", ".hpp", ".hxx", ".inl", ".inc", ".c", ".cc", ".cpp"}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^">\n]+)[">]', re.MULTILINE)


class Checkout:
    """A repository on disk, with its source files by base name."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._by_name: dict[str, list[Path]] | None = None

    def files_named(self, name: str) -> list[Path]:
        if self._by_name is None:
            self._by_name = {}
            for path in self.root.rglob("*"):
                if path.suffix in SOURCE_SUFFIXES and path.is_file():
                    self._by_name.setdefault(path.name, []).append(path)
        return self._by_name.get(name, [])

    def resolve(self, include: str, includer: Path) -> Path | None:
        """The file that an include means: beside the includer, else the nearest with that path suffix."""
        beside = includer.parent / include
        if beside.is_file() and beside.resolve().is_relative_to(self.root.resolve()):
            return beside.resolve()
        tail = Path(include).parts
        tail = tuple(part for part in tail if part not in ("..", "."))
        matches = [p for p in self.files_named(tail[-1]) if p.parts[-len(tail) :] == tail] if tail else []
        return max(matches, key=lambda p: (_common(p, includer), str(p)), default=None)

    def closure(self, starts: Iterable[Path]) -> set[Path]:
        """The files and everything of the repository that they include."""
        seen: set[Path] = set()
        todo = [p.resolve() for p in starts]
        while todo:
            path = todo.pop()
            if path in seen:
                continue
            seen.add(path)
            text = path.read_text(encoding="utf-8", errors="replace")
            found = (self.resolve(name, path) for name in INCLUDE.findall(text))
            todo.extend(p.resolve() for p in found if p is not None)
        return seen


def _common(a: Path, b: Path) -> int:
    same = 0
    for x, y in zip(a.parts, b.parts, strict=False):
        if x != y:
            break
        same += 1
    return same
