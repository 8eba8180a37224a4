"""The bank map as SVG: the same rows and columns as in the terminal, with the words behind each cell.

Each cell is a group with `data-wavefront`, `data-bank`, `data-word` and `data-lanes`, so that programs (and
tests) read the numbers back.
"""

from __future__ import annotations

from collections.abc import Sequence

from smemlint.banks import BANKS
from smemlint.look import Picture
from smemlint.render.summary import count
from smemlint.render.views.bank_words import facts, heading, phase, remarks, request
from smemlint.render.views.drawing import Drawing, document, group, paragraph, rect, stacked, text
from smemlint.rules.words import lanes_text
from smemlint.view.bankmap import BankMap
from smemlint.view.site import SiteView
from smemlint.view.tile import Tile, tile_of

_CELL, _ROW, _LEFT, _RIGHT = 24, 20, 52, 150
_TILE_ROWS = 32


def render_banks_svg(pictures: Sequence[Picture]) -> str:
    """One file with all pictures."""
    parts: list[Drawing] = []
    for picture in pictures:
        parts.append(paragraph([(heading(picture.now), "h")]))
        parts += site_drawings(picture.now)
        if picture.after is not None and picture.after.view is not None:
            code = picture.after.code or picture.after.words
            parts.append(paragraph([(f"with the fix {code}, {picture.after.bytes_added:+d} B", "h")]))
            parts += site_drawings(picture.after.view)
    title = heading(pictures[0].now) if pictures else "banks"
    return document(stacked(parts), f"banks: {title}")


def site_drawings(view: SiteView) -> list[Drawing]:
    """Words, map and tile of one access."""
    parts = [paragraph([(line, "") for line in facts(view)])]
    if view.map is None:
        return [*parts, paragraph([(f"no map: {view.no_map}", "d")])]
    parts.append(paragraph([(request(view, view.map), "b")]))
    parts.append(map_drawing(view.map))
    said = remarks(view, view.map)
    if said:
        parts.append(paragraph([(line, "d") for line in said]))
    if view.array is not None and not view.rotated:
        tile = tile_of(view.array, view.map, most_rows=_TILE_ROWS)
        title = f"{view.array.declared}: the bank of each word, touched ones in colour"
        parts += [paragraph([(title, "")]), tile_drawing(tile)]
    return parts


def map_drawing(bank_map: BankMap) -> Drawing:
    """Banks are columns, wavefronts rows."""
    shapes = [text(_LEFT + (bank + 0.5) * _CELL, 12, str(bank), "n d") for bank in range(BANKS)]
    shapes.append(text(0, 12, "bank", "d"))
    conflicted, maybe = set(bank_map.conflicted), set(bank_map.maybe)
    y, before = 18.0, ""
    for number, each in enumerate(bank_map.passes):
        told = phase(bank_map, number)
        if told != before:
            shapes.append(text(_LEFT, y + 13, told, "d"))
            y, before = y + 18, told
        shapes.append(text(0, y + 14, f"w{number}", "d"))
        shapes += [rect(_LEFT + b * _CELL, y, _CELL - 2, _ROW - 2, "grid") for b in range(BANKS)]
        for served in each.served:
            x = _LEFT + served.bank * _CELL
            kind = "busy" if served.bank in conflicted else "free"
            kind += " maybe" if maybe.issuperset(served.lanes) else ""
            label = str(served.lanes[0]) + ("+" if len(served.lanes) > 1 else "")
            title = f"wavefront {number}, bank {served.bank}, word {served.word}: {lanes_text(served.lanes)}"
            data = {
                "wavefront": number,
                "bank": served.bank,
                "word": served.word,
                "lanes": " ".join(map(str, served.lanes)),
            }
            inside = [
                rect(x, y, _CELL - 2, _ROW - 2, kind),
                text(x + _CELL / 2 - 1, y + 13, label, "n"),
            ]
            shapes.append(group(inside, data, title))
        lanes = {lane for served in each.served for lane in served.lanes}
        shapes.append(text(_LEFT + BANKS * _CELL + 8, y + 14, count(len(lanes), "lane"), "d"))
        y += _ROW
    data = {
        "op": bank_map.op,
        "width": bank_map.width,
        "wavefronts": len(bank_map.passes),
        "ideal": bank_map.ideal,
        "warp": bank_map.warp,
        "visit": bank_map.visit,
    }
    return Drawing((group(shapes, data),), _LEFT + BANKS * _CELL + _RIGHT, y)


def tile_drawing(tile: Tile) -> Drawing:
    """Rows of the array; the number in a cell is the bank."""
    left = max([_LEFT, *(8 + 7 * len(row.label) for row in tile.rows)])
    shapes, y = [], 0.0
    for row in tile.rows:
        shapes.append(text(0, y + 14, row.label, "d"))
        for at, each in enumerate(row.cells):
            x = left + at * _CELL
            color = f' style="fill:hsl({each.bank * 360 // BANKS} 80% 78%)"' if each.lanes else ""
            inside = [
                rect(x, y, _CELL - 2, _ROW - 2, "grid", color),
                text(x + _CELL / 2 - 1, y + 13, str(each.bank), "n b" if each.lanes else "n d"),
            ]
            data = {"cell": each.word, "at": each.bank}
            if each.lanes:
                title = f"word {each.word}, bank {each.bank}: {lanes_text(each.lanes)}"
                shapes.append(group(inside, {**data, "lanes": " ".join(map(str, each.lanes))}, title))
            else:
                shapes.append(group(inside, data))
        if tile.more_words:
            shapes.append(text(left + len(row.cells) * _CELL + 8, y + 14, f"+{tile.more_words} words", "d"))
        y += _ROW
    return Drawing(tuple(shapes), left + BANKS * _CELL + _RIGHT, y)
