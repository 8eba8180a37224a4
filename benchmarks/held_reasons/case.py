"""An array without an edit, as a claim about it needs it: what is said, its accesses, the text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

from held_reasons import by_force as force
from held_reasons.by_force import Requests
from smemlint.fix.model import Suggestion
from smemlint.score.model import Conflict

UNCHECKED = "unchecked: "
"""How what nobody can say here begins."""
WORTH = 0.02
"""The share of a kernel's wavefronts from which a layout without integer work is worth an edit."""
Check: TypeAlias = "Callable[[Case, re.Match[str]], str]"
"""'' where a clause is so, else what is wrong with it."""


def word(name: str) -> str:
    return rf"(?<![\w]){re.escape(name)}(?![\w])"


def uses(case: Case, name: str, text: str) -> Iterator[tuple[int, str]]:
    """(subscripts, what follows) of each use of a name."""
    for m in re.finditer(word(name), text):
        rest, count = text[m.end() :], 0
        while (bracket := re.match(r"\s*\[", rest)) is not None:
            depth, end = 0, None
            for i, c in enumerate(rest):
                depth += (c == "[") - (c == "]")
                if c == "]" and depth == 0:
                    end = i + 1
                    break
            if end is None:
                rest = rest[bracket.end() :]
                count += 1
                break
            rest, count = rest[end:], count + 1
        yield count, rest


def without_comments(text: str) -> str:
    """The text with its comments blanked, line by line."""
    return re.sub(
        r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/',
        lambda m: m[0] if m[0][0] == '"' else re.sub(r"[^\n]", " ", m[0]),
        text,
        flags=re.DOTALL,
    )


@dataclass
class Case:
    """An array without an edit: what is said of it, its accesses, and the text of the files."""

    fix: Suggestion
    found: Any

    @property
    def name(self) -> str:
        return self.fix.array.name

    @property
    def text(self) -> str:
        return self.fix.refused.text if self.fix.refused is not None else ""

    @cached_property
    def texts(self) -> dict[str, str]:
        """By path, without comments."""
        given = {p: bytes(d).decode("latin-1") for p, d in self.found.texts.items()}
        given.setdefault(self.found.source.path, bytes(self.found.source.bytes).decode("latin-1"))
        return {path: without_comments(text) for path, text in given.items()}

    @property
    def path(self) -> str:
        return self.fix.array.place.path

    @property
    def file(self) -> str:
        return self.texts.get(self.path, "")

    @cached_property
    def lines(self) -> dict[str, list[str]]:
        return {path: ["", *text.split("\n")] for path, text in self.texts.items()}

    def at(self, number: int | str) -> str:
        """A statement by its line, in whichever file has that many: the line and what it goes on with."""
        return "\n".join(self.around(number))

    def around(self, number: int | str, more: int = 6) -> list[str]:
        n = int(number)
        return [" ".join(lines[max(n - 1, 0) : n + more]) for lines in self.lines.values() if len(lines) > n]

    def line(self, number: int | str) -> str:
        n = int(number)
        return "\n".join(lines[n] for lines in self.lines.values() if len(lines) > n)

    @cached_property
    def analyses(self) -> list[Any]:
        """Those that use the array; not under an assumed block where a launch of the same kernel was seen."""
        place = self.fix.array.place
        mine = [
            a
            for a in self.found.analyses
            if any((x.place.path, x.place.offset) == (place.path, place.offset) for x in a.arrays.values())
        ]
        seen = {(a.kernel.place.path, a.kernel.place.offset) for a in mine if not a.launch.assumed}
        return [
            a for a in mine if not (a.launch.assumed and (a.kernel.place.path, a.kernel.place.offset) in seen)
        ]

    @cached_property
    def arrays(self) -> list[Any]:
        place = self.fix.array.place
        return [
            x
            for a in self.analyses
            for x in a.arrays.values()
            if (x.place.path, x.place.offset) == (place.path, place.offset)
        ]

    def sites_in(self, analysis: Any) -> list[Conflict]:
        place = self.fix.array.place
        ids = {
            x.id
            for x in analysis.arrays.values()
            if (x.place.path, x.place.offset) == (place.path, place.offset)
        }
        return [c for c in analysis.conflicts if c.site.array in ids]

    @cached_property
    def sites(self) -> list[Conflict]:
        return [c for a in self.analyses for c in self.sites_in(a)]

    def named(self, expression: str, line: int | str) -> list[Conflict]:
        """The accesses of that spelling on that line, of any array."""
        found = [
            c
            for a in self.found.analyses
            for c in a.conflicts
            if c.site.place.line == int(line) and c.site.expression.startswith(expression.rstrip("."))
        ]
        return found or [
            c for a in self.found.analyses for c in a.conflicts if c.site.place.line == int(line)
        ]

    @cached_property
    def requests(self) -> list[list[Requests]] | None:
        """The accesses that are weighed, by analysis: those that the suggestion lists."""

        def key(site: Any) -> tuple[object, ...]:
            return site.place.path, site.place.offset, site.op, site.expression

        listed = {key(s.site) for s in self.fix.sites}
        result = []
        for a in self.analyses:
            mine = self.sites_in(a)
            kept = [c for c in mine if key(c.site) in listed] if listed else mine
            movable = [c for c in kept if not (c.trace.group is not None and c.trace.offsets.size == 0)]
            found = force.requests_of(movable)
            if found is None:
                return None
            result.append(found)
        return result

    @property
    def dims(self) -> list[tuple[int, ...]]:
        """Extents in each analysis, of a dynamic array as its bytes tell them."""
        result = []
        for analysis, array in zip(self.analyses, self.arrays, strict=True):
            known = [d for d in array.dims if d is not None]
            if len(known) == len(array.dims):
                result.append(tuple(known))
                continue
            inner = 1
            for d in known:
                inner *= d
            size = array.bytes
            if size is None and sum(1 for x in analysis.arrays.values() if x.dynamic) == 1:
                size = analysis.launch.dynamic
            if size is None:
                size = max(
                    (
                        int(c.trace.offsets.max()) + (c.trace.joined or c.site.width)
                        for c in self.sites_in(analysis)
                        if c.trace.offsets.size
                    ),
                    default=0,
                )
            result.append((-(-size // array.element // inner), *known))
        return result

    def counted(self, element: int) -> list[tuple[int, ...]]:
        """The same in elements of another size, as a pointer to them counts."""
        own = self.fix.array.element
        return [(*d[:-1], d[-1] * own // element) if own != element else d for d in self.dims]

    def constants(self, analysis: Any) -> dict[str, int]:
        """Names with a number, as the text and the launch tell them."""
        names = {"warpSize": 32}
        arguments = analysis.template_arguments
        names.update({k: int(v) for k, v in arguments.items() if re.fullmatch(r"-?\d+", str(v))})
        names.update(dict(analysis.launch.arguments))
        for d, n in zip("xyz", analysis.launch.block, strict=True):
            names[f"blockDim_{d}"] = n
        given = (
            r"#\s*define\s+(\w+)\s+([^\n]+)|\b(?:const|constexpr)\b[\w\s:]*?\b(\w+)\s*(?:=|\{)\s*([^;{},]+)"
        )
        place = analysis.kernel.place
        own = self.texts.get(place.path, "")[place.offset :].partition("__global__")[0]
        # Kernels of a file have names in common: the kernel's own constants first.
        said = [m for text in (own, *self.texts.values()) for m in re.finditer(given, text)]
        for _ in range(4):
            for m in said:
                known = force.value((m[2] or m[4]).replace("blockDim.", "blockDim_"), names)
                if known is not None:
                    names.setdefault(m[1] or m[3], known)
        return names
