"""The value of a name that a size or an index mentions, as the text and the launch tell it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from smemlint.fix.text.literals import integer
from smemlint.fix.text.source import Source
from smemlint.ir import Launch
from smemlint.patterns import pattern

_DEFINE = pattern(r"#[ \t]*define[ \t]+(\w+)[ \t]+([^\n]*(?:\\\r?\n[^\n]*)*)")
_CONSTANT = pattern(
    r"\b(?:constexpr|const|enum)\b[^;={}()]*?[{\s*&]\s*(\w+)\s*=\s*([^;,{}]+?)\s*(?=[;,}])", re.DOTALL
)


class Constants:
    """Looks names up in a launch (template arguments, block shape), in files and in what they include.

    arguments: kernel arguments count as well, where the launch is seen to pass a known integer.
    block: so does the block shape; without it a value is one that the compiler knows.
    near: a byte of the first file: of a name that several functions define, the definition there counts.
    """

    def __init__(
        self,
        sources: Iterable[Source],
        launch: Launch,
        arguments: bool = False,
        block: bool = True,
        near: int | None = None,
    ) -> None:
        own = tuple(sources)
        self._sources = tuple(dict.fromkeys((*own, *(s for source in own for s in source.included))))
        self._launch = launch
        self._block = block
        self._near = near
        self._arguments = launch.arguments if arguments else {}

    def value(self, text: str) -> int | None:
        return self._value(text, ())

    def _value(self, text: str, within: tuple[str, ...]) -> int | None:
        literal = integer(text)
        if literal is not None:
            return literal
        from smemlint.fix.text.expressions import value_of

        return value_of(text, lambda name: self._find(name, within))

    def _find(self, name: str, within: tuple[str, ...]) -> int | None:
        """The value of a name; within: the names whose definitions led here."""
        if name in within:
            return None
        given = self._launch.template.get(name)
        if isinstance(given, int):
            return given
        if name in self._arguments:
            return self._arguments[name]
        if name.startswith("blockDim."):
            return dict(zip("xyz", self._launch.block, strict=True)).get(name[9:]) if self._block else None
        if name == "warpSize":
            return 32
        for source in self._sources:
            places: Sequence[tuple[int, str]] = _definitions(source).get(name, ())
            if len(places) > 1 and self._near is not None and source is self._sources[0]:
                places = _around(source, places, self._near) or places
            texts = [text for _, text in places]
            # Two definitions that differ in value (an #if, two kernels) leave it open.
            values = {self._value(text, (*within, name)) for text in texts}
            known = values - {None}
            if len(known) == 1:
                return known.pop()
            if texts:
                return None
        return None


def _around(source: Source, places: Sequence[tuple[int, str]], near: int) -> list[tuple[int, str]]:
    """Those of several definitions that stand in the innermost braces around a byte which hold any."""
    index = source.index_at(near)
    found: dict[int, list[tuple[int, str]]] = {}
    for offset, text in places:
        scope = source.scope_of(source.index_at(offset))
        if scope is not None and scope[0] <= index < scope[1]:
            found.setdefault(scope[0], []).append((offset, text))
    return found[max(found)] if found else []


@lru_cache(maxsize=64)
def _definitions(source: Source) -> dict[str, tuple[tuple[int, str], ...]]:
    """By name the text of each definition, with the byte where the name stands."""
    found: dict[str, tuple[tuple[int, str], ...]] = {}
    for shape in (_DEFINE, _CONSTANT):
        for match in shape.finditer(source.text):
            text = re.sub(r"//[^\n]*|/\*.*?\*/|\\\r?\n", " ", match.group(2), flags=re.DOTALL).strip()
            if text:
                found[match.group(1)] = (*found.get(match.group(1), ()), (match.start(1), text))
    return found
