"""A pool cut into parts: an array reached through local pointers, each part an array of its own.

In: the instances of one array and the text of its file. Out: instances of each part, with the sites that go
through its pointer and their offsets from its start. A dynamic array that no pointer cuts is one part.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from smemlint.banks import architecture
from smemlint.evaluate.model import Grade, SharedArray
from smemlint.fix.model import Refusal
from smemlint.fix.search.members import Instance, Member, Piece, granule, members, unplaced
from smemlint.fix.text.constants import Constants
from smemlint.fix.text.declared import Declared, Pool, declared, spelled
from smemlint.fix.text.flat import local_definition, terms
from smemlint.fix.text.fragments import as_element
from smemlint.fix.text.launches.known import unknown_launch
from smemlint.fix.text.launches.written import written_launch
from smemlint.fix.text.pointers import Pointer, pointers
from smemlint.fix.text.source import Source, Use
from smemlint.fix.text.views import SIZES
from smemlint.ir import Launch, Place
from smemlint.ir.nodes import PointerTo, Scalar
from smemlint.patterns import pattern
from smemlint.records import record
from smemlint.score.model import Conflict

_SIZEOF = pattern(r"\bsizeof\s*\(\s*([\w: ]+?)\s*\)")


@record(frozen=True, slots=True)
class Part:
    """One part of a pool in every instance, or why it may not be laid out anew."""

    name: str
    instances: tuple[Instance, ...]
    refused: Refusal | None = None


def cut(instances: Sequence[Instance], texts: Mapping[str, Source]) -> list[Part] | None:
    """The parts of an array that are accessed as such, None where it is no pool."""
    array = instances[0].array
    source = texts.get(array.place.path)
    if source is None or array.place.macro is not None or any(len(i.array.dims) != 1 for i in instances):
        return None
    at = _declared(array, source)
    if isinstance(at, Refusal) or not at.local:
        return None
    found = pointers(source, array.name, spelled_type(array, at), *at.scope)
    if not found and not array.dynamic:
        return None
    starts = [_starts(i, found, source) for i in instances]
    if not found:
        uses = [u for u in at.uses if u.context == "subscript"]
        if not uses:
            return None
        return [_part(array.name, None, uses, instances, starts, [], source)]
    parts = []
    rows = _rows(found, starts, instances[0], source)
    for pointer in found:
        if pointer.name in rows:
            continue
        inside = [p for p in found if rows.get(p.name) == pointer.name]
        uses = [use for p in (pointer, *inside) for use in subscripts(source, p)]
        if uses:
            named = tuple(p.name for p in inside)
            parts.append(_part(pointer.name, pointer, uses, instances, starts, found, source, named))
    return parts


def _rows(
    found: Sequence[Pointer], starts: Sequence[Mapping[str, int | None]], instance: Instance, source: Source
) -> dict[str, str]:
    """Pointers that each thread has for itself, to rows of a part (`float *row = Qs + threadIdx.x * D;`),
    with the pointer of that part."""
    parameters = {p.name for p in instance.analysis.kernel.parameters}
    types = {p.name: p.type for p in found}
    rows: dict[str, str] = {}
    for pointer in found:
        part = rows.get(pointer.base, pointer.base)
        if (
            part not in types
            or types[part] != pointer.type
            or any(s[pointer.name] is not None for s in starts)
        ):
            continue
        if any(s[part] is None for s in starts):
            continue
        scope = source.scope_of(pointer.index) or (0, 0)
        texts = [source.text[step.begin : step.end] for step in pointer.steps]
        for _ in range(4):
            texts = [_opened(text, scope, source)[0] for text in texts]
        if not parameters & {name for text in texts for name in re.findall(r"(?<![\w.])[A-Za-z_]\w*", text)}:
            rows[pointer.name] = part
    return rows


def _declared(pool: SharedArray, source: Source) -> Declared | Refusal:
    return declared(source, pool.name, pool.place.offset, pool.place.end_offset, 1)


def _element_type(array: SharedArray) -> str:
    return array.type.split("[", 1)[0].strip()


def spelled_type(array: SharedArray, at: Declared) -> str:
    """The element type as the declaration has it: pointers into the array say the same."""
    return spelled(at) or _element_type(array)


def subscripts(source: Source, pointer: Pointer) -> list[Use]:
    uses = (as_element(source, each) for each in _uses(source, pointer))
    return [use for use in uses if use.context == "subscript"]


def _uses(source: Source, pointer: Pointer) -> list[Use]:
    scope = source.scope_of(pointer.index)
    last = scope[1] if scope else len(source.code)
    return list(source.uses(pointer.name, pointer.index + 1, last, 1))


def size_of(type_: str, array: SharedArray, launch: Launch) -> int | None:
    """Bytes of a type as spelled, None when it is not known."""
    if type_ == _element_type(array):
        return array.element
    given = launch.template.get(type_)
    if isinstance(given, Scalar):
        return given.size
    if isinstance(given, PointerTo):
        return 8
    return SIZES.get(type_)


def step_value(
    text: str, scope: tuple[int, int], source: Source, instance: Instance, launched: bool = True
) -> int | None:
    """The value of a summand of a pointer's start under a launch.

    launched: what the launch gives counts; else only what the compiler knows.
    """
    pool = instance.piece.pool if instance.piece is not None else instance.array
    launch = instance.analysis.launch
    known = True

    def sized(match: re.Match[str]) -> str:
        nonlocal known
        size = size_of(match.group(1), pool, launch)
        known = known and size is not None
        return str(size or 0)

    plain = _SIZEOF.sub(sized, text)
    for _ in range(4):
        plain, names = _opened(plain, scope, source)
        if not names:
            break
    plain = _SIZEOF.sub(sized, plain)
    here = pool.place.offset if pool.place.path == source.path else None
    constants = Constants([source], launch, arguments=launched, block=launched, near=here)
    return constants.value(plain) if known else None


def _opened(text: str, scope: tuple[int, int], source: Source) -> tuple[str, int]:
    """The text with local integers replaced by what they are set to."""
    count = 0

    def opened(match: re.Match[str]) -> str:
        nonlocal count
        definition = local_definition(source, match.group(), scope)
        if definition is None:
            return match.group()
        count += 1
        return f"({source.text[definition[0] : definition[1]]})"

    return re.sub(r"(?<![\w.])[A-Za-z_]\w*(?![\w(:])", opened, text), count


def unknown_arguments(instance: Instance, source: Source) -> list[str]:
    """The kernel's integer parameters that no launch gives and that the parts of a pool start by, or that the
    indices of its accesses are multiplied by."""
    at = _declared(instance.array, source)
    if isinstance(at, Refusal):
        return []
    open_ = {
        p.name
        for p in instance.analysis.kernel.parameters
        if isinstance(p.type, Scalar)
        and p.type.kind in ("int", "uint")
        and p.name not in instance.analysis.launch.arguments
    }
    found = pointers(source, instance.array.name, spelled_type(instance.array, at), *at.scope)
    texts = [(source.text[s.begin : s.end], s.begin) for p in found for s in p.steps]
    uses = [u for p in found for u in subscripts(source, p)] or [
        u for u in at.uses if u.context == "subscript"
    ]
    for use in uses:
        first = use.subscripts[0]
        for term in terms(source, first.open + 1, first.close):
            texts += [(f.text, f.offset) for f in term.factors if len(term.factors) > 1]
    names: dict[str, None] = {}
    for text, offset in texts:
        scope = source.scope_of(source.index_at(offset)) or (0, 0)
        plain = text
        for _ in range(4):
            plain, count = _opened(plain, scope, source)
            if not count:
                break
        names.update(dict.fromkeys(n for n in re.findall(r"(?<![\w.])[A-Za-z_]\w*", plain) if n in open_))
    return list(names)


def _starts(instance: Instance, found: Sequence[Pointer], source: Source) -> dict[str, int | None]:
    """Bytes from the pool's beginning to where each pointer starts, None where that is not known."""
    result: dict[str, int | None] = {instance.array.name: 0}
    for pointer in found:
        total = result.get(pointer.base)
        scope = source.scope_of(pointer.index)
        for step in pointer.steps:
            unit = size_of(step.unit, instance.array, instance.analysis.launch)
            value = step_value(source.text[step.begin : step.end], scope or (0, 0), source, instance)
            total = None if total is None or unit is None or value is None else total + unit * value
        result[pointer.name] = total
    return result


def _part(
    name: str,
    pointer: Pointer | None,
    uses: Sequence[Use],
    instances: Sequence[Instance],
    starts: Sequence[Mapping[str, int | None]],
    found: Sequence[Pointer],
    source: Source,
    rows: tuple[str, ...] = (),
) -> Part:
    made = []
    for instance, known in zip(instances, starts, strict=True):
        piece = _piece(name, pointer, uses, instance, known, found, source, rows)
        if isinstance(piece, Refusal):
            return Part(name, tuple(instances), piece)
        if rows and piece.piece is not None:
            open_ = piece.piece.open or f"`{name}` is reached through `{rows[0]}`"
            piece = replace(piece, piece=replace(piece.piece, rows=rows, open=open_))
        made.append(piece)
    return Part(name, tuple(made))


def _piece(
    name: str,
    pointer: Pointer | None,
    uses: Sequence[Use],
    instance: Instance,
    starts: Mapping[str, int | None],
    found: Sequence[Pointer],
    source: Source,
    rows: tuple[str, ...],
) -> Instance | Refusal:
    pool = instance.array
    start = starts.get(name)
    if start is None:
        return Refusal("part-start", f"where `{name}` starts in `{pool.name}` is no constant of the launch")
    element = pool.element if pointer is None else size_of(pointer.type, pool, instance.analysis.launch)
    whole = (instance.length or 0) * pool.element or None
    launch = instance.analysis.launch
    if pool.dynamic and launch.dynamic == 0 and not launch.assumed:
        return Refusal("size-elsewhere", f"a launch gives `{pool.name}` no bytes")
    after = [s for s in starts.values() if s is not None and s > start]
    end = min(after, default=whole)
    if end is None or element is None:
        return Refusal("size-elsewhere", f"how large `{name}` is at the launch is not known")
    mine: list[Member] = []
    others: list[Member] = []
    through = tuple(c for c in _sites(instance) if _through(c, uses, source))
    mapped = {id(c) for c in through}
    through += _lost(instance, mapped, [p for p in found if p.name not in (name, *rows)], source)
    for each in members(instance.analysis, pool):
        (mine if id(each.conflict) in mapped else others).append(each)
    strange = ""
    for each in tuple(others):
        reached = each.offsets[each.offsets >= 0]
        if reached.size and reached.min() < end and reached.max() + each.width > start:
            said = f"line {each.conflict.site.place.line} reaches the part of `{name}` in another way"
            if reached.min() < start or reached.max() + each.width > end or None in starts.values():
                return Refusal("part-overlaps", said)
            # Where it goes is known all the same: what a layout would cost can be said.
            strange = strange or said
            others.remove(each)
            mine.append(each)
            through = (*through, each.conflict)
    moved = []
    for each in mine:
        active = each.offsets >= 0
        inside = each.offsets[active]
        if inside.size and (inside.min() < start or inside.max() + each.width > end):
            line = each.conflict.site.place.line
            return Refusal(
                "part-overlaps", f"line {line} goes through `{name}` and leaves its part of `{pool.name}`"
            )
        moved.append(
            replace(
                each,
                offsets=np.where(active, each.offsets - start, -1),
                linear=each.linear if start == 0 else None,
            )
        )
    if moved and start % max(4, granule(moved)):
        return Refusal(
            "part-start", f"`{name}` starts at byte {start}, which is not aligned for its accesses"
        )
    place = pool.place
    length = (end - start) // element
    if pointer is not None:
        offset = source.code[pointer.index].offset
        place = replace(place, offset=offset, end_offset=offset + len(name), line=source.line_of(offset))
    array = replace(pool, name=name, dims=(length,), element=element, bytes=length * element, place=place)
    cuts = tuple((p, at) for p in found if (at := starts.get(p.name)) is not None)
    open_ = _open(instance, mapped, moved, pointer) or _direct(pool, cuts, source)
    sized = bool(after) or instance.given is not None
    if not open_ and not sized:
        open_ = f"how many bytes the launch gives `{pool.name}` is not known"
    piece = Piece(pool, start, end, tuple(others), pointer, through, cuts, open_, sized, strange)
    return Instance(instance.analysis, array, tuple(moved), piece)


def _lost(
    instance: Instance, mapped: set[int], others: Sequence[Pointer], source: Source
) -> tuple[Conflict, ...]:
    """Accesses of a pool that may go to a part, since nobody knows where they go: no subscript of the part,
    and not through the pointer of another part either (`((float2 *)pool)[data]`, a call)."""
    sites = _sites(instance)
    elsewhere = [use for pointer in others for use in _uses(source, pointer)]
    return tuple(
        c
        for c in sites
        if id(c) not in mapped
        and (c.grade is Grade.UNRESOLVED or unplaced(c, sites))
        and not _through(c, elsewhere, source)
    )


def _direct(pool: SharedArray, cuts: Sequence[tuple[Pointer, int]], source: Source) -> str:
    """How a pool that is cut is used besides, '' when it is not."""
    at = _declared(pool, source)
    if isinstance(at, Refusal) or not cuts:
        return ""
    known = {pointer.used for pointer, _ in cuts}
    other = next((use for use in at.uses if use.offset not in known and use.context != "sizeof"), None)
    return f"`{pool.name}` itself is used on line {other.line}" if other is not None else ""


def _sites(instance: Instance) -> list[Conflict]:
    return [c for c in instance.analysis.conflicts if c.site.array == instance.array.id]


def _through(conflict: Conflict, uses: Sequence[Use], source: Source) -> bool:
    """Whether a site is an access through one of the uses."""
    places = [
        (p.offset, p.end_offset) for p in (conflict.site.place, *conflict.site.via) if p.path == source.path
    ]
    places += [bound for begin, end in places if (bound := _bound(source, begin, end)) is not None]
    return any(begin < use.end and use.offset < end for begin, end in places for use in uses)


def _bound(source: Source, begin: int, end: int) -> tuple[int, int] | None:
    """What a reference is bound to, `P[i]` of `float &p = P[i];`, where an access is its name alone."""
    name = source.text[begin:end]
    if not re.fullmatch(r"[A-Za-z_]\w*", name):
        return None
    code = source.code
    for i in range(source.index_at(begin) - 1, 1, -1):
        if code[i].text != name or code[i + 1].text != "=" or code[i - 1].text != "&":
            continue
        last = i + 2
        while code[last].text not in (";", ""):
            last += 1
        return code[i + 2].offset, code[last - 1].end
    return None


def _open(instance: Instance, mapped: set[int], mine: Sequence[Member], pointer: Pointer | None) -> str:
    """What is not known of the rest of the pool, '' when nothing."""
    for conflict in _sites(instance):
        if id(conflict) not in mapped and conflict.grade is Grade.UNRESOLVED:
            line = conflict.site.place.line
            return f"the access of `{instance.array.name}` on line {line} is not resolved"
    if pointer is not None:
        for each in mine:
            if each.conflict.trace.alignment:
                line = each.conflict.site.place.line
                return f"how far the access on line {line} goes is not known"
    return ""


def places_of(instances: Sequence[Instance]) -> list[Place]:
    launches = [i.analysis.launch for i in instances]
    return [launch.place for launch in launches if launch.place is not None and not launch.is_supposed]


def pool_of(instances: Sequence[Instance], source: Source) -> Pool | Refusal:
    """What must change with the size of a part of a dynamic pool."""
    first = instances[0]
    name, kernel = first.pool.name, first.analysis.kernel.name
    places = places_of(instances)
    if len(places) != len(instances) or any(p.path != source.path or p.macro is not None for p in places):
        line = written_launch(source, kernel)
        if line is not None and not places:
            said = f"the size of `{name}` is given by the launch on line {line}, whose block is not known"
            return Refusal("launch-elsewhere", said)
        return Refusal(
            "launch-elsewhere", f"the size of `{name}` is given by a launch that this file does not show"
        )
    if first.piece is None:
        return Refusal("size-elsewhere", f"the size of `{name}` is given at the launch")
    after: list[tuple[Pointer, int]] = []
    moved: set[str] = set()
    for pointer, start in first.piece.cuts:
        if start < first.piece.end:
            continue
        moved.add(pointer.name)
        if pointer.base not in moved:
            unit = size_of(pointer.steps[-1].unit, first.pool, first.analysis.launch) if pointer.steps else 0
            after.append((pointer, unit or 0))
    if any(not unit for _, unit in after):
        return Refusal("part-start", f"where the parts behind `{first.array.name}` start is not read")

    def value(text: str) -> list[int] | None:
        scope = at.scope if isinstance(at := _declared(first.pool, source), Declared) else (0, 0)
        values = [step_value(text, scope, source, i) for i in instances]
        known = [v for v in values if v is not None]
        return known if len(known) == len(values) else None

    def fixed(text: str) -> bool:
        scope = at.scope if isinstance(at := _declared(first.pool, source), Declared) else (0, 0)
        return all(step_value(text, scope, source, i, launched=False) is not None for i in instances)

    mine = first.piece.pointer
    return Pool(
        tuple(after),
        tuple(places),
        value,
        unknown_launch(source, kernel, places),
        kernel,
        mine.type if mine is not None else _element_type(first.pool),
        others=bool(first.piece.cuts),
        fixed=fixed,
        allowed=any(
            (i.analysis.launch.dynamic or 0) > architecture("sm_90").shared_static for i in instances
        ),
    )
