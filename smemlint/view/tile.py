"""An array as declared: the words of its rows, the bank of each, and which lanes touch them."""

from __future__ import annotations

from smemlint.banks import BANKS, WORD
from smemlint.records import record
from smemlint.view.bankmap import BankMap, words_of
from smemlint.view.site import ArrayView

FLAT_ROW = BANKS * WORD
"""Bytes of a row of an array without rows."""


@record(frozen=True, slots=True)
class TileCell:
    """A word of a row. word: its number from the array's start; lanes: that touch it."""

    word: int
    bank: int
    lanes: tuple[int, ...]


@record(frozen=True, slots=True)
class TileRow:
    """label: the index of the row (`[3]`), or the first word of a flat array's row."""

    label: str
    cells: tuple[TileCell, ...]


@record(frozen=True, slots=True)
class Tile:
    """rows: of the array that the request touches, and those between. pitch: bytes of a row. more_words: of
    each row that are not in `cells`."""

    rows: tuple[TileRow, ...]
    pitch: int
    more_words: int


def tile_of(array: ArrayView, bank_map: BankMap, *, most_rows: int, most_words: int = BANKS) -> Tile:
    """The rows from the first one that the request touches, at most `most_rows`."""
    touched = words_of(bank_map)
    pitch = array.pitch or FLAT_ROW
    first = min(touched, default=0) * WORD // pitch
    last = max(touched, default=0) * WORD // pitch
    rows = []
    for row in range(first, min(last + 1, first + most_rows)):
        start, end = row * pitch // WORD, ((row + 1) * pitch + WORD - 1) // WORD
        cells = tuple(
            TileCell(word, word % BANKS, tuple(touched.get(word, ())))
            for word in range(start, min(end, start + most_words))
        )
        rows.append(TileRow(_label(array, row, start), cells))
    return Tile(tuple(rows), pitch, max(0, pitch // WORD - most_words))


def _label(array: ArrayView, row: int, word: int) -> str:
    if array.pitch is None:
        return f"+{word * WORD}"
    rest, parts = row, []
    for extent in reversed(array.dims[1:-1]):
        if not extent:
            break
        parts.append(rest % extent)
        rest //= extent
    return "".join(f"[{n}]" for n in (rest, *reversed(parts)))
