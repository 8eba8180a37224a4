"""The bank map in a terminal: banks are columns, wavefronts rows, lanes stand in the cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from io import StringIO

from rich.console import Console
from rich.text import Text

from smemlint.banks import BANKS
from smemlint.look import Picture
from smemlint.render.summary import count
from smemlint.render.views.bank_words import facts, heading, phase, remarks, request
from smemlint.rules.words import lanes_text
from smemlint.view.bankmap import BankMap
from smemlint.view.site import SiteView
from smemlint.view.tile import Tile, tile_of

_MARGIN = 6
"""Columns left of bank 0."""
_WIDE = _MARGIN + 3 * BANKS + 12
"""Terminal columns from which each bank has three of its own."""
_ROWS = 32
"""Wavefronts and rows of a tile that are shown at most."""
_TILE_ROWS = 8
_CONFLICT, _FREE, _DIM = "bold white on red", "black on green", "bright_black"


def render_banks(pictures: Sequence[Picture], *, width: int = 80, color: bool = False) -> str:
    """All pictures, one after the other. width: of the terminal, in columns."""
    out = StringIO()
    console = Console(
        file=out,
        width=max(width, 40),
        force_terminal=color,
        no_color=not color,
        color_system="256" if color else None,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )
    for number, picture in enumerate(pictures):
        if number:
            console.print()
        for line in _picture(picture, width):
            console.print(line, soft_wrap=False)
    return "\n".join(line.rstrip() for line in out.getvalue().split("\n")) if not color else out.getvalue()


def render_map(bank_map: BankMap) -> str:
    """One map alone, in 80 columns and without colours."""
    return "\n".join(line.plain.rstrip() for line in _map(bank_map, 2))


def _picture(picture: Picture, width: int) -> Iterator[Text]:
    yield Text(heading(picture.now), "bold")
    yield from _view(picture.now, width)
    after = picture.after
    if after is None:
        return
    yield Text()
    code = f" `{after.code}`" if after.code else ""
    grown = f", {after.bytes_added:+d} B" if after.bytes_added else ""
    if after.view is None:
        yield Text(f"no fix is drawn: {after.why or after.words}")
        return
    yield Text(f"with the fix{code}{grown}", "bold")
    yield from _view(after.view, width)


def _view(view: SiteView, width: int) -> Iterator[Text]:
    for line in facts(view):
        yield Text(line)
    for other in view.others[:6]:
        yield Text(f"also: {other}", _DIM)
    if len(view.others) > 6:
        yield Text(f"also: {len(view.others) - 6} more instances or launches", _DIM)
    bank_map = view.map
    if bank_map is None:
        yield Text(f"no map: {view.no_map}")
        return
    yield Text()
    yield Text(request(view, bank_map))
    cell = 3 if width >= _WIDE else 2
    yield from _map(bank_map, cell)
    if cell == 2 and _touching(bank_map):
        yield Text(f"numbers of two digits touch: use {_WIDE} columns, or draw it: -o map.svg", _DIM)
    for line in remarks(view, bank_map):
        yield Text(line)
    if view.array is not None and not view.rotated:
        shown = tile_of(view.array, bank_map, most_rows=_TILE_ROWS)
        yield from _tile(view, shown, cell)


def _map(bank_map: BankMap, cell: int) -> Iterator[Text]:
    # Where numbers of two digits would touch, every second bank is named.
    named = [str(bank) if cell > 2 or bank % 2 == 0 else "" for bank in range(BANKS)]
    yield Text("bank".ljust(_MARGIN) + "".join(name.rjust(cell) for name in named).rstrip(), _DIM)
    conflicted = set(bank_map.conflicted)
    before = ""
    for number, each in enumerate(bank_map.passes[:_ROWS]):
        told = phase(bank_map, number)
        if told != before:
            yield Text(f"{' ' * _MARGIN}{told}", _DIM)
            before = told
        line = Text(f"w{number}".ljust(_MARGIN))
        by_bank = {served.bank: served for served in each.served}
        for bank in range(BANKS):
            served = by_bank.get(bank)
            if served is None:
                line.append("·".rjust(cell), _DIM)
            else:
                style = _CONFLICT if bank in conflicted else _FREE
                many = " underline" if len(served.lanes) > 1 else ""
                line.append(str(served.lanes[0]).rjust(cell), style + many)
        lanes = sorted({lane for served in each.served for lane in served.lanes})
        line.append(f"  {count(len(lanes), 'lane')}", _DIM)
        yield line
    if len(bank_map.passes) > _ROWS:
        yield Text(f"{' ' * _MARGIN}... {len(bank_map.passes) - _ROWS} more wavefronts", _DIM)


def _touching(bank_map: BankMap) -> bool:
    """Whether a lane of two digits stands right after another lane, in a map of two columns a bank."""
    rows = ({s.bank: s.lanes[0] for s in each.served} for each in bank_map.passes[:_ROWS])
    return any(lane >= 10 and bank - 1 in row for row in rows for bank, lane in row.items())


def _tile(view: SiteView, tile: Tile, cell: int) -> Iterator[Text]:
    assert view.array is not None and view.map is not None
    yield Text()
    yield Text(f"{view.array.declared}: the bank of each word that the request touches")
    margin = max(_MARGIN, *(len(row.label) + 1 for row in tile.rows))
    for row in tile.rows:
        line = Text(row.label.ljust(margin))
        for each in row.cells:
            if each.lanes:
                line.append(str(each.bank).rjust(cell), f"black on color({_color(each.bank)})")
            else:
                line.append("·".rjust(cell), _DIM)
        if tile.more_words:
            line.append(f" +{tile.more_words}", _DIM)
        yield line
    touched = {lane for row in tile.rows for each in row.cells for lane in each.lanes}
    left = [lane for lane, o in enumerate(view.map.used) if o is not None and lane not in touched]
    if left:
        yield Text(f"{' ' * _MARGIN}... {lanes_text(left)} further on", _DIM)


def _color(bank: int) -> int:
    """A colour of the 256 for each bank, neighbours alike."""
    ring = (196, 202, 208, 214, 220, 226, 190, 154, 118, 82, 46, 47, 48, 49, 50, 51)
    more = (45, 39, 33, 69, 63, 99, 93, 129, 165, 201, 200, 199, 198, 197, 203, 210)
    return (*ring, *more)[bank % BANKS]
