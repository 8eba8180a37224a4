"""What a fix is: words for the reader, edits for the source, and the numbers that were promised."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from smemlint.records import record

if TYPE_CHECKING:
    from collections.abc import Callable

    from smemlint.evaluate.model import SharedArray, Site

Kind = Literal["padding", "pitch", "swizzle", "skew", "exchange", "layout"]
"""How an array is laid out anew; `layout` is advice that no edit carries out."""


@record(frozen=True, slots=True)
class TextEdit:
    """Replace the bytes [offset, end_offset) of a file, which read `original`, by `replacement`.

    Both texts are ASCII. An insertion has offset == end_offset. once: where another fix inserts the same
    there, one of them is enough.
    """

    path: str
    offset: int
    end_offset: int
    replacement: str
    original: str = ""
    once: bool = False


@record(frozen=True, slots=True)
class Refusal:
    """Why there is no edit. `code` is one of docs/fixes.md's names, `text` tells this case."""

    code: str
    text: str


@record(frozen=True, slots=True)
class SiteChange:
    """One access site of one kernel instance, in wavefronts of one block, before and after.

    apart: the compiler joins it with neighbours today and will not any more; after is then the sum over all
    of them, and the most that it can be.
    """

    kernel: str
    site: Site
    before: int
    after: int
    ideal: int
    apart: bool = False


@record(frozen=True, slots=True)
class Suggestion:
    """The best layout that was found for one array over all kernel instances that use it.

    words: the advice in one sentence. edits: None when refused. safe: every use is understood, so the
    edit cannot change what the program computes; else `unsafe_because` says what is open.
    blocks_per_sm: resident blocks that threads and shared memory allow, the least over the instances.
    code: the new declaration or expression as a reader would look for it (`tile[TILE_DIM][TILE_DIM + 1]`).
    kernel: shared-memory wavefronts of one block of the kernel, over all instances, before and after; None
    where some of its accesses are not resolved, or no better layout is known.
    """

    kind: Kind
    array: SharedArray
    words: str
    edits: tuple[TextEdit, ...] | None
    refused: Refusal | None
    safe: bool
    sites: tuple[SiteChange, ...]
    bytes_added: int = 0
    blocks_per_sm: tuple[int, int] | None = None
    unsafe_because: str = ""
    code: str = ""
    kernel: tuple[int, int] | None = None

    @property
    def before(self) -> int:
        """Wavefronts over all sites and instances as the source stands."""
        return sum(change.before for change in self.sites)

    @property
    def after(self) -> int:
        """Wavefronts over all sites and instances with the fix."""
        return sum(change.after for change in self.sites)


def renamed(suggestion: Suggestion, shown: Callable[[str], str]) -> Suggestion:
    """The suggestion with every path as the user reads it."""
    names: dict[str, str] = {}

    def name(path: str) -> str:
        return names.setdefault(path, shown(path))

    edits: tuple[TextEdit, ...] | None = None
    if suggestion.edits is not None:
        edits = tuple(replace(e, path=name(e.path)) for e in suggestion.edits)
    place = suggestion.array.place
    array = replace(suggestion.array, place=replace(place, path=name(place.path)))
    sites = tuple(
        replace(c, site=replace(c.site, place=replace(c.site.place, path=name(c.site.place.path))))
        for c in suggestion.sites
    )
    return replace(suggestion, edits=edits, array=array, sites=sites)
