"""A layout is judged by what it saves of the whole kernel, and by what it costs besides."""

from __future__ import annotations

from dataclasses import replace

from smemlint.evaluate.model import SharedArray, Unresolved
from smemlint.fix.search.candidates import Exchange, Padding, Shape, Skew, Swizzle
from smemlint.fix.search.judge import Option, harms, integer_work, kernel_wavefronts, order, worth
from smemlint.fix.search.members import Instance, member
from smemlint.score.model import Conflict
from tests.fix.cases import access, array, kernel

TILE = array(32, 32)
OTHER = array(32, 32, name="u", offset=9)


def column(of: SharedArray = TILE) -> Conflict:
    return access(of, (32, 1), lambda x, y: (x, y))


def instance(*others: Conflict, mine: tuple[Conflict, ...] = ()) -> Instance:
    mine = mine or (column(),)
    members = tuple(m for c in mine if (m := member(c)) is not None)
    return Instance(kernel((32, 1), [TILE, OTHER], [*mine, *others]), TILE, members)


def test_what_is_saved_is_held_against_all_of_the_kernel() -> None:
    freed = Option(Padding(1, 1), ((1,),), 128, (8, 8), (0,))
    assert worth(freed, [instance()])
    rows = [access(OTHER, (32, 1), lambda x, y: (y, x)) for _ in range(2000)]
    assert kernel_wavefronts(instance(*rows).analysis) == 2032
    assert not worth(freed, [instance(*rows)])


def test_a_kernel_of_which_a_part_is_not_known_is_not_held_against() -> None:
    rows = [access(OTHER, (32, 1), lambda x, y: (y, x)) for _ in range(2000)]
    whole = instance(*rows)
    cut = replace(whole, analysis=replace(whole.analysis, notes=(Unresolved("budget", "stopped"),)))
    assert kernel_wavefronts(cut.analysis) is None
    assert worth(Option(Padding(1, 1), ((1,),), 128, (8, 8), (0,)), [cut])


def test_an_access_that_gets_worse_asks_for_a_clear_gain() -> None:
    both = instance(mine=(column(), access(TILE, (32, 1), lambda x, y: (y, x))))
    assert worth(Option(Padding(1, 1), ((20, 2),), 128, (8, 8), (0,)), [both])
    assert not worth(Option(Padding(1, 1), ((29, 2),), 128, (8, 8), (0,)), [both])
    assert worth(Option(Padding(1, 1), ((30, 1),), 128, (8, 8), (0,)), [both])


def test_lost_blocks_must_be_paid_for() -> None:
    assert worth(Option(Padding(1, 1), ((20,),), 128, (8, 7), (0,)), [instance()])
    assert not worth(Option(Padding(1, 1), ((30,),), 128, (8, 4), (0,)), [instance()])


def test_a_padding_that_halves_the_resident_blocks_yields_to_a_swizzle_that_does_not() -> None:
    padding = Option(Padding(1, 1), ((4,),), 128, (2, 1), (0,))
    swizzle = Option(Swizzle(5, 0, 0), ((4,),), 0, (2, 2), (0,))
    assert order([(padding, False), (swizzle, False)], [instance()]) == [1, 0]


def test_of_equal_layouts_the_simplest_edit_comes_first() -> None:
    layouts = (Exchange(0), Swizzle(5, 0, 0), Padding(1, 1), Padding(1, -1), Skew(5, 1))
    options = [(Option(layout, ((1,),), 0, (8, 8), (0,)), False) for layout in layouts]
    best = [layouts[n] for n in order(options, [instance()])]
    assert best[:2] == [Padding(1, -1), Padding(1, 1)] and best[-1] == Exchange(0)


def test_a_layout_that_harms_an_instance_comes_last() -> None:
    row = instance(mine=(access(TILE, (32, 1), lambda x, y: (y, x)),))
    mixed = Option(Padding(1, 1), ((1,), (2,)), 128, (8, 8), (0, 0))
    clean = Option(Padding(1, 4), ((4,), (1,)), 512, (8, 8), (0, 0))
    assert harms(mixed, [instance(), row]) and not harms(clean, [instance(), row])
    assert order([(mixed, False), (clean, False)], [instance(), row]) == [1, 0]


def test_an_index_that_moves_alike_in_every_visit_is_computed_once() -> None:
    shape = Shape((32, 32), 4)
    rows = tuple(access(TILE, (32, 1), lambda x, y, r=r: (y + r, x)) for r in range(4))  # type: ignore[misc]
    loop = replace(
        rows[0],
        trace=replace(
            rows[0].trace,
            offsets=rows[0].trace.offsets.repeat(8, axis=0),
            weights=rows[0].trace.weights.repeat(8),
        ),
    )
    visits = instance(mine=(loop,))
    assert integer_work(Swizzle(1, 0, 4, linear=True), visits, shape) == 2
    changing = replace(loop, trace=replace(loop.trace, offsets=loop.trace.offsets.copy()))
    for n in range(8):
        changing.trace.offsets[n] += 128 * n
    assert integer_work(Swizzle(3, 0, 0), instance(mine=(changing,)), shape) == 16
