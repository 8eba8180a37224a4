"""Layouts as edits that hold: the edited text is analysed again, and each access is where it was promised."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from smemlint.evaluate.model import SharedArray
from smemlint.fix.edits import apply as application
from smemlint.fix.model import Refusal, Suggestion
from smemlint.fix.proof.guessed import borne_out
from smemlint.fix.proof.promise import OTHERWISE, STRAYED, Analyse, Promise, check
from smemlint.fix.search.candidates import Padding, addresses, moved_step
from smemlint.fix.search.choices import Choice
from smemlint.fix.search.members import Instance, Member, repeated, score
from smemlint.fix.search.padding import padded_arrays
from smemlint.fix.text.declared import Edited
from smemlint.fix.text.source import Source
from smemlint.records import record
from smemlint.score.model import KernelAnalysis

Broken: TypeAlias = "tuple[Refusal, tuple[SharedArray, ...]]"
"""Why edits do not hold, and the arrays that are to blame."""


@record(frozen=True, slots=True)
class Move:
    """A layout of one array, or of one part of a pool, as edits that were proved."""

    suggestion: Suggestion
    choice: Choice
    used: tuple[Instance, ...]
    edited: Edited

    @property
    def pool(self) -> SharedArray:
        return self.used[0].pool


def growth_of(choice: Choice, number: int) -> int:
    """Bytes that a layout adds to a part of a dynamic pool in one instance; 0 for an array with extents."""
    shape = choice.shapes[number]
    if choice.pool is None or not choice.pool.dynamic or not isinstance(choice.option.layout, Padding):
        return 0
    return choice.option.layout.shape(shape).bytes - shape.bytes


def prove(
    moves: Sequence[Move],
    source: Source,
    analyse: Analyse | None,
    wrong: set[int] | None = None,
    edited: dict[int, KernelAnalysis] | None = None,
) -> Refusal | None:
    """Whether every lane of every site of the arrays reaches the address that the layouts predict.

    wrong: takes the id() of each analysis under a guessed launch that the edits show to be wrong; edited: by
    the id() of each other one, takes that of the edited text.
    """
    broken = blame(moves, source, analyse, wrong, edited)
    return None if broken is None else broken[0]


def blame(
    moves: Sequence[Move],
    source: Source,
    analyse: Analyse | None,
    wrong: set[int] | None = None,
    edited: dict[int, KernelAnalysis] | None = None,
) -> Broken | None:
    """Why moves do not hold, and the arrays that are to blame where it is some of them; None where they hold.

    Kernels that cost least are analysed first: what does not hold shows early.
    """
    if analyse is None:
        return Refusal("not-proved", "the edited file was not analysed again"), ()
    try:
        text = application.apply(
            sorted((e for m in moves for e in m.edited.edits), key=lambda e: (e.offset, e.end_offset)),
            source.data,
        )
    except application.EditError as error:
        return Refusal("not-proved", str(error)), ()
    analyses: dict[int, KernelAnalysis] = {}
    for move in moves:
        for n, instance in enumerate(move.used):
            before = analyses.get(id(instance.analysis), instance.analysis)
            launch = before.launch
            if launch.dynamic:
                launch = replace(launch, dynamic=launch.dynamic + growth_of(move.choice, n))
            analyses[id(instance.analysis)] = replace(before, launch=launch)
    analyses = dict(sorted(analyses.items(), key=lambda pair: pair[1].work))
    again: dict[int, KernelAnalysis] = {} if edited is None else edited
    strayed: dict[int, Broken] = {}
    for key, now in zip(analyses, analyse(source.path, text, list(analyses.values())), strict=True):
        found = _broken(key, now, moves)
        if (
            found is not None
            and analyses[key].launch.is_guess
            and found[0].text.endswith((STRAYED, OTHERWISE))
        ):
            strayed[key] = found
        elif found is not None:
            return found  # the instances that were not analysed yet never are
        elif now is not None:
            again[key] = now
    if strayed and not borne_out([(m.choice, m.used) for m in moves], strayed.keys(), again.keys()):
        return next(iter(strayed.values()))
    if wrong is not None:
        wrong.update(strayed)
    for pool in _pools(moves):
        mine = [m for m in moves if m.pool.id == pool.id]
        asked = {id(i.analysis) for m in mine for i in m.used} & again.keys()
        if all(_needless(mine, again[key], text) for key in asked):
            return Refusal("not-proved", "the padding frees no access that a narrower one does not"), (pool,)
    return None


def _pools(moves: Sequence[Move]) -> list[SharedArray]:
    return list({m.pool.id: m.pool for m in moves}.values())


def _broken(key: int, edited: KernelAnalysis | None, moves: Sequence[Move]) -> Broken | None:
    """What does not hold in one instance: the first reason, and all arrays that have one."""
    mine = [(m, n, i) for m in moves for n, i in enumerate(m.used) if id(i.analysis) == key]
    _, _, first = mine[0]
    if edited is None:
        name = first.analysis.kernel.name
        why = "the time was over, or it stands in a file that the analysed one includes"
        return Refusal("not-proved", f"`{name}` was not analysed again: {why}"), ()
    pools = list({i.pool.id: i.pool for _, _, i in mine}.values())  # one for each instance of a template
    broken: list[tuple[str, SharedArray]] = []
    for pool in pools:
        promised = _promised([each for each in mine if each[2].pool.id == pool.id])
        others = [p for p in pools if p.id != pool.id]
        why_not = (
            "part of an address is not known"
            if promised is None
            else check(first.analysis, pool, promised, edited, others)
        )
        if why_not is not None:
            broken.append((why_not, pool))
    if not broken:
        return None
    return Refusal("not-proved", broken[0][0]), tuple(pool for _, pool in broken)


def _needless(moves: Sequence[Move], edited: KernelAnalysis, text: bytes) -> bool:
    """Whether an edited array would be told to be padded for nothing."""
    padded = {
        m.pool.name
        for m in moves
        if isinstance(m.choice.option.layout, Padding) and m.choice.option.layout.extra > 0
    }
    return any(p.array.name in padded and p.needless for p in padded_arrays(edited, text))


def _promised(
    moves: Sequence[tuple[Move, int, Instance]],
) -> list[Promise] | None:
    """Where each site of an array must go in one instance when all the moves are done."""
    growth = [(i.piece.end, growth_of(m.choice, n)) for m, n, i in moves if i.piece is not None]
    promised = []
    done = set()
    for move, n, instance in moves:
        shape = move.choice.shapes[n]
        start = instance.piece.start if instance.piece is not None else 0
        start += sum(bytes_ for end, bytes_ in growth if start >= end)
        for each in instance.members:
            at = addresses(each.offsets, each.conflict.trace.alignment, shape)
            layout = move.choice.option.layout
            moved = layout.apply(at, shape)
            steps = [moved_step(layout, step, shape) for step in each.conflict.trace.shifts.steps]
            if moved is None or None in steps:
                return None
            cost = _once(each, moved, layout.alignment(at, shape))
            known = tuple(sorted(step for step in steps if step is not None))
            promised.append(Promise(each, np.where(moved >= 0, moved + start, -1), cost, known))
            done.add(id(each.conflict))
    for _, _, instance in moves[:1]:
        for each in instance.piece.rest if instance.piece is not None else ():
            if id(each.conflict) in done:
                continue
            moved = each.offsets
            for end, bytes_ in growth:
                moved = np.where(each.offsets >= end, moved + bytes_, moved)
            cost = _once(each, each.offsets, each.conflict.trace.alignment)
            promised.append(Promise(each, moved, cost, each.conflict.trace.shifts.steps))
    return promised


def _once(each: Member, offsets: NDArray[np.int64], alignment: int) -> int:
    """Wavefronts of a site with other addresses, a loop of unknown length counted once, as a trace has it."""
    trace = each.conflict.trace
    maybe = None if trace.maybe is None else repeated(trace.maybe, trace.ways, each.steps)
    weights = repeated(trace.weights, trace.ways, each.steps)
    return score(each.conflict, each.width, offsets, weights, alignment, maybe)[0]
