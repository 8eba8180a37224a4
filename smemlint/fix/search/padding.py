"""Padding that stands in the source already: what it frees, and what it costs.

A column that no access reaches, in an extent that is written as a sum or is a little more than a power of
two, is padding. Taking it away in the traces tells what it is good for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from smemlint.banks import Arch, architecture
from smemlint.evaluate.model import Grade, SharedArray
from smemlint.fix.search.candidates import Padding, Shape, addresses
from smemlint.fix.search.judge import worth
from smemlint.fix.search.layouts import last_column, options
from smemlint.fix.search.members import Instance, Member, granule, members, score
from smemlint.fix.text.literals import integer
from smemlint.fix.text.source import Source
from smemlint.ir.memo import by_identity
from smemlint.records import record
from smemlint.score.model import Conflict, KernelAnalysis

_DECLARATION = 4096
"""Bytes behind the name of an array that are read for its extents."""
MOST_BYTES = 32
"""A pad is narrow; more unused columns than this are something else."""


@record(frozen=True, slots=True)
class Padded:
    """A padded array under one launch. extra: elements a row; bytes: all of them.

    wavefronts, bare, ideal: over all its accesses, as it stands, without the padding, at best.
    worse: accesses that cost more with the padding than without.
    """

    array: SharedArray
    extra: int
    bytes: int
    wavefronts: int
    bare: int
    ideal: int
    worse: tuple[Conflict, ...]
    freed: tuple[Conflict, ...]
    instance: Instance
    shape: Shape
    arch: Arch

    @property
    def curable(self) -> bool:
        """Whether another layout pays. That is a search: ask last."""
        return any(worth(o, [self.instance]) for o in options([self.instance], [self.shape], self.arch))

    @property
    def needless(self) -> bool:
        """Whether the padding frees no access, and costs as much as none."""
        return not self.freed and self.bare <= self.wavefronts


def padded_arrays(analysis: KernelAnalysis, text: bytes | None) -> Iterator[Padded]:
    """Every array of a kernel that is padded, where all that reaches it is known exactly."""
    if text is None or analysis.launch.assumed or analysis.notes:
        return
    known = _known(analysis)
    if text not in known:
        each = [_padded(analysis, array, text, architecture("sm_90")) for array in analysis.arrays.values()]
        known[text] = tuple(found for found in each if found is not None)
    yield from known[text]


@partial(by_identity, most=4)
def _known(analysis: KernelAnalysis) -> dict[bytes, tuple[Padded, ...]]:
    """What was found for an analysis, by text; several rules ask for it."""
    return {}


def _padded(analysis: KernelAnalysis, array: SharedArray, text: bytes, arch: Arch) -> Padded | None:
    elsewhere = array.place.path != analysis.kernel.place.path
    if array.dynamic or array.escapes or len(array.dims) < 2 or elsewhere:
        return None
    conflicts = [c for c in analysis.conflicts if c.site.array == array.id]
    found = members(analysis, array)
    if not found or not all(_exact(c) for c in conflicts):
        return None
    dims = tuple(d for d in array.dims if d is not None)
    if len(dims) != len(array.dims):
        return None
    shape = Shape(dims, array.element)
    reached = max(last_column(m, shape) for m in found)
    extra = dims[-1] - 1 - reached
    if not 0 < extra * array.element <= MOST_BYTES or 2 * extra > dims[-1]:
        return None
    if not _written_as_padding(text, array, dims[-1], extra):
        return None
    bare = Padding(len(dims) - 1, -extra)
    costs = [_without(m, bare, shape) for m in found]
    if any(c is None for c in costs):
        return None
    without = [c or 0 for c in costs]
    pairs = list(zip(found, without, strict=True))
    return Padded(
        array,
        extra,
        shape.bytes - bare.shape(shape).bytes,
        sum(m.before for m in found),
        sum(without),
        sum(m.ideal for m in found),
        tuple(m.conflict for m, cost in pairs if m.before > cost),
        tuple(m.conflict for m, cost in pairs if m.before < cost),
        Instance(analysis, array, found),
        shape,
        arch,
    )


def _exact(conflict: Conflict) -> bool:
    trace = conflict.trace
    return (
        conflict.grade is Grade.EXACT and trace.maybe is None and trace.alignment == 0 and trace.ends is None
    )


def _without(each: Member, bare: Padding, shape: Shape) -> int | None:
    trace = each.conflict.trace
    moved = bare.apply(addresses(each.offsets, trace.alignment, shape), shape)
    if moved is None or bare.shape(shape).dims[-1] * shape.element % granule([each]):
        return None
    try:
        return score(each.conflict, each.width, moved, each.weights, 0, None)[0]
    except ValueError:  # the access would fault without the padding
        return None


def _written_as_padding(text: bytes, array: SharedArray, extent: int, extra: int) -> bool:
    start, end = array.place.offset, array.place.end_offset
    source = Source(array.place.path, text[start : end + _DECLARATION])
    index = source.find_declaration(array.name, 0, end - start)
    if index is None:
        return False
    groups = source.subscripts_after(index)
    if len(groups) != len(array.dims):
        return False
    written = source.text[groups[-1].open + 1 : groups[-1].close].strip()
    if integer(written) is not None:
        columns = extent - extra
        return columns & (columns - 1) == 0
    return re.search(r"\+\s*\w+\s*\Z", written) is not None
