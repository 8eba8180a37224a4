"""The edit that an author prepared: the named constant that is the pitch of an array, made larger.

`#define LD 32`, `constexpr int PAD = 0;`: where a constant of that kind reaches an array and nothing else,
all that follows from it (indices, pools, sizes at the launch, the pitch of a fragment) moves with it.
The whole file is analysed again with each value that is tried.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from smemlint.evaluate.model import SharedArray
from smemlint.fix.model import Kind, Refusal, Suggestion
from smemlint.fix.proof.remapped import stays
from smemlint.fix.search.choices import locate
from smemlint.fix.search.members import Instance, granule
from smemlint.fix.text.constants import Constants
from smemlint.fix.text.declared import Declared, edit
from smemlint.fix.text.flat import terms
from smemlint.fix.text.names import Constant, Scopes, candidates, definitions, derived, only_pitch
from smemlint.fix.text.source import Source
from smemlint.fix.whole import STEPS, Program, Tried, offered
from smemlint.records import record
from smemlint.score.model import Conflict, KernelAnalysis

_NAMES = 3
"""Constants that are nothing but a pitch and are tried."""
_ROUNDS = 2
"""Constants that are changed together."""


@record(frozen=True, slots=True)
class Values:
    """Values of constants that were tried together."""

    constants: tuple[Constant, ...]
    tried: Tried


def named_pitch(instances: Sequence[Instance], program: Program) -> Suggestion | Refusal | None:
    """The best value of a constant for an array; a Refusal where one is there and may not be changed; None
    without any.

    program: the main file, which declares the array.
    """
    source = program.source
    if program.late():
        return None
    value = Constants(
        [source], instances[0].analysis.launch, block=False, near=instances[0].pool.place.offset
    ).value
    known = definitions(source)
    scopes = _scopes(source, ((a, array) for a in program.analyses for array in a.arrays.values()))
    own = _scopes(source, ((i.analysis, array) for i in instances for array in (i.pool, i.array)))
    refused: Refusal | None = None
    constants: list[Constant] = []
    for one in candidates(source, scopes, known, value, instances[0].pool.place.offset):
        constant = only_pitch(source, one, scopes, known)
        if isinstance(constant, Refusal):
            if refused is None and _counts_rows(source, one.name, instances[0]):
                refused = constant
        elif _serves(source, constant, own) and not _is_held(source, constant, instances):
            constants.append(constant)
    if all(stays(i.analysis, i.pool.id) for i in instances):
        return refused
    best: Values | None = None
    for _ in range(_ROUNDS):
        better: Values | None = None
        for constant in constants[:_NAMES]:
            if best is not None and constant in best.constants:
                continue
            found = _values(constant, best, instances, program)
            if isinstance(found, Refusal):
                refused = refused or found
            elif found is not None and found.tried.saved > max(_saved(best), _saved(better)):
                better = found
        if better is None:
            break
        best = better
        if best.tried.perfect:
            break
    if best is None:
        return refused
    sized = next((f"the bytes of a launch follow `{c.name}`" for c in best.constants if c.sized), "")
    unseen = _unseen(best, source) or sized
    how: tuple[Kind, str] = ("pitch", "make the named pitch larger")
    return offered(best.tried, how, unseen, instances[0].pool, instances, program)


def _saved(values: Values | None) -> int:
    return 0 if values is None else values.tried.saved


def _counts_rows(source: Source, name: str, instance: Instance) -> bool:
    """Whether a constant is in an inner extent of the array, or multiplies a row in one of its indices."""
    at = locate(instance, {source.path: source})
    if isinstance(at, Refusal):
        return False
    word = re.compile(rf"(?<![\w.]){re.escape(name)}\b")
    if any(word.search(at.extent(dim)) for dim in range(1, len(at.extents))):
        return True
    for each in derived(source, at.name, *at.scope):
        for use in source.uses(each, *at.scope, 1):
            products = (
                term.factors
                for bracket in use.subscripts
                for term in terms(source, bracket.open + 1, bracket.close)
                if len(term.factors) > 1
            )
            if any(word.search(factor.text) for factors in products for factor in factors):
                return True
    return False


def _serves(source: Source, constant: Constant, own: Scopes) -> bool:
    """Whether a constant is in a statement with the array, or a pointer into it: the pitch of other arrays
    alone moves nothing of this one. own: the array's names; none where its declaration is not found."""
    for offset in constant.uses if own.each else ():
        index = source.index_at(offset)
        first, last = source.statement(index)
        if any(t.text in own.at(index) for t in source.code[first:last]):
            return True
    return not (own.each and constant.uses)


def _is_held(source: Source, constant: Constant, instances: Sequence[Instance]) -> bool:
    """Whether an access that the constant would move is in a kernel where the array cannot be moved: then a
    trial, which analyses the whole file, would fail in any case."""
    places = [
        c.site.place
        for i in instances
        if stays(i.analysis, i.pool.id)
        for c in i.analysis.conflicts
        if c.site.reached and c.site.array == i.pool.id and c.site.place.path == source.path
    ]
    return any(p.offset <= use < p.end_offset for use in constant.uses for p in places)


def _scopes(source: Source, arrays: Iterable[tuple[KernelAnalysis, SharedArray]]) -> Scopes:
    """Where names of shared arrays and pointers into them stand."""
    found: dict[tuple[str, int], tuple[int, int, frozenset[str]]] = {}
    for analysis, array in arrays:
        key = (array.name, array.place.offset)
        if array.place.path != source.path or key in found:
            continue
        at = locate(Instance(analysis, array, ()), {source.path: source})
        if isinstance(at, Declared):
            found[key] = (*at.scope, derived(source, array.name, *at.scope))
    return Scopes(tuple(found.values()))


def _values(
    constant: Constant,
    others: Values | None,
    instances: Sequence[Instance],
    program: Program,
) -> Values | Refusal | None:
    """The best value of a constant beside what others have already, a Refusal where none holds."""
    from smemlint.fix.text.expressions import plus

    source = program.source
    together = max((granule(i.members) for i in instances), default=1)
    fragments = any("matrix_sync" in c.site.expression for c in _sites(instances))
    unit = max(16 if fragments else together, instances[0].array.element) // instances[0].array.element
    old = source.text[constant.begin : constant.end]
    best: Values | None = None
    for step in STEPS:
        if program.late():
            break
        new = plus(old, unit * step)
        if new is None:
            return Refusal("extent-not-an-expression", f"`{old}` is not read as a C expression")
        if not new.strip().isalnum() and _is_macro(source, constant):
            new = f"({new})"
        changed = edit(source, constant.begin, constant.end, new)
        if isinstance(changed, Refusal):
            return changed
        edits = (*(others.tried.edits if others else ()), changed)
        said = (*(others.tried.texts if others else ()), f"{constant.name} = {new.strip()}")
        found = program.attempt(edits, said)
        if isinstance(found, Refusal):
            if best is None and found.code == "not-proved":
                return replace(found, text=f"with `{constant.name}` as `{new}`, {found.text}")
            return best or found
        if best is None or found.saved > best.tried.saved:
            best = Values((*(others.constants if others else ()), constant), found)
        if found.perfect:
            break
    return best


def _sites(instances: Sequence[Instance]) -> list[Conflict]:
    return [c for i in instances for c in i.analysis.conflicts if c.site.array == i.pool.id]


def _is_macro(source: Source, constant: Constant) -> bool:
    line = source.text[source.line_start(constant.begin) : constant.begin]
    return line.lstrip().startswith("#")


def _unseen(best: Values, source: Source) -> str:
    """The first use of the constant in an access that no launch runs, as far as was seen, '' when none."""
    places = [p for c in best.tried.changes for p in (c.site.place, *c.site.via) if p.path == source.path]
    for name, offset in ((c.name, o) for c in best.constants for o in c.uses):
        line = source.text[source.line_start(offset) : offset]
        statement = source.text[source.text.rfind(";", 0, offset) + 1 : source.text.find(";", offset)]
        left = statement.partition("=")[0]
        if "__shared__" in line + statement or "*" in left or "auto" in left.split():
            continue
        if not any(p.offset <= offset < p.end_offset for p in places):
            where = f"`{name}` on line {source.line_of(offset)}"
            return f"no launch that was seen runs the use of {where}"
    return ""
