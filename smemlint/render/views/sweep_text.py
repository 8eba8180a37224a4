"""A sweep as a table with a bar for each value, as SVG and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from smemlint.render.json import dumps
from smemlint.render.views.bank_words import facts, heading
from smemlint.render.views.drawing import Drawing, document, group, paragraph, rect, stacked, text
from smemlint.rules.words import ways_text
from smemlint.system.visible import visible
from smemlint.view.site import SiteView
from smemlint.view.sweep import Over, Point

VERSION = 1
Series = Sequence[tuple[SiteView, Sequence[Point]]]
_BAR = 32
_STEP, _HEIGHT, _LEFT = 12.0, 200.0, 40.0


def render_sweep(over: Over, series: Series, *, width: int = 80) -> str:
    """One table an access."""
    return "\n".join(_table(over, view, points, width) for view, points in series)


def _table(over: Over, view: SiteView, points: Sequence[Point], width: int) -> str:
    lines = [heading(view), facts(view)[0], *facts(view)[1:-1], ""]
    lines.append(f"{over.name:>8}  wavefronts   at best   ways")
    most = max([_BAR, *(int(p.ways or 0) for p in points)])
    room = max(8, min(_BAR, width - 42))
    for each in points:
        if each.ways is None:
            lines.append(f"{each.value:>8}           -         -      -  {visible(each.reason)}")
            continue
        waves = (
            f"{each.wavefronts:,}" if each.low == each.wavefronts else f"{each.low:,}..{each.wavefronts:,}"
        )
        bar = "█" * max(1, round(each.ways * room / most))
        lines.append(f"{each.value:>8}{waves:>12}{each.ideal or 0:>10,}{ways_text(each.ways):>7}  {bar}")
    lines.append(best(over, points))
    return "\n".join(lines) + "\n"


def best(over: Over, points: Sequence[Point]) -> str:
    """Which values cost the least, in words."""
    known = [p for p in points if p.ways is not None]
    if not known:
        return "no value gives a number"
    least = min(p.ways or 0.0 for p in known)
    values = [p.value for p in known if (p.ways or 0.0) - least < 0.005]
    listed = ", ".join(map(str, values[:16])) + (", ..." if len(values) > 16 else "")
    share = f"{len(values)} of {len(known)} values"
    return f"{ways_text(least)}-way at {share}: {over.name} = {listed}"


def render_sweep_json(over: Over, series: Series) -> str:
    data = {
        "version": VERSION,
        "over": {"name": over.name, "first": over.first, "last": over.last, "step": over.step},
        "accesses": [
            {
                "path": view.path,
                "line": view.line,
                "column": view.column,
                "expression": view.expression,
                "op": view.op,
                "kernel": view.launch.kernel,
                "points": [_point(p) for p in points],
            }
            for view, points in series
        ],
    }
    return dumps(data, indent=1)


def _point(each: Point) -> dict[str, Any]:
    return {
        "value": each.value,
        "wavefronts": each.wavefronts,
        "wavefronts_low": each.low,
        "ideal": each.ideal,
        "ways": round(each.ways, 4) if each.ways is not None else None,
        "grade": each.grade or None,
        "reason": each.reason or None,
    }


def render_sweep_svg(over: Over, series: Series) -> str:
    parts: list[Drawing] = []
    for view, points in series:
        parts.append(paragraph([(heading(view), "h"), *((line, "") for line in facts(view)[:-1])]))
        parts.append(_chart(over, points))
        parts.append(paragraph([(best(over, points), "d")]))
    return document(stacked(parts), f"ways over {over.name}")


def _chart(over: Over, points: Sequence[Point]) -> Drawing:
    """Bars; the axis of ways goes in powers of two from 1 to 32, each as high as the last."""
    step = max(_STEP, 700 / max(1, len(points)))
    width = _LEFT + step * len(points)
    shapes = []
    for ways in (1, 2, 4, 8, 16, 32):
        y = _y(ways)
        shapes.append(f'<path class="axis" stroke-opacity=".25" d="M{_LEFT} {y:.1f}H{width:.1f}"/>')
        shapes.append(text(_LEFT - 8 - 7 * len(str(ways)), y + 4, str(ways), "d"))
    every = max(1, round(36 / step))
    for at, each in enumerate(points):
        x = _LEFT + at * step
        if each.ways is not None:
            y = _y(each.ways)
            kind = "free" if each.ways < 1.05 else "busy"
            data = {"value": each.value, "ways": f"{each.ways:.4g}", "wavefronts": each.wavefronts}
            title = f"{over.name} = {each.value}: {ways_text(each.ways)}-way, {each.wavefronts} wavefronts"
            shapes.append(group([rect(x + 1, y, step - 2, _HEIGHT - y, kind)], data, title))
        if at % every == 0:
            shapes.append(text(x + step / 2, _HEIGHT + 14, str(each.value), "n d"))
    shapes.append(text(width + 8, _HEIGHT + 14, over.name, "d"))
    return Drawing(tuple(shapes), width + 60, _HEIGHT + 20)


def _y(ways: float) -> float:
    """Height of the top of a bar: 1-way is a low bar, each doubling adds the same."""
    from math import log2

    return _HEIGHT - (log2(max(1.0, ways)) + 0.4) * (_HEIGHT - 10) / 5.4
