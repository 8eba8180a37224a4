"""The few shapes that the pictures are made of, as SVG text. Coordinates are pixels."""

from __future__ import annotations

from collections.abc import Mapping
from xml.sax.saxutils import escape, quoteattr

from smemlint.records import record

STYLE = """\
text{font:11px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#1f2328}
.h{font-weight:700;font-size:13px}.d{fill:#656d76}.n{font-size:10px;text-anchor:middle}
.bg{fill:#fff}.grid{fill:#f6f8fa;stroke:#d8dee4}.free{fill:#aceebb;stroke:#4ac26b}.busy{fill:#ffcecb;stroke:#cf222e}
.b{font-weight:700}.line{fill:none;stroke:#0969da;stroke-width:1.5}.dot{fill:#0969da}.axis{stroke:#656d76}
.maybe{stroke-dasharray:2 2}"""
_CHARACTER = 6.7
"""Width of a character of 11 px, about."""


@record(frozen=True, slots=True)
class Drawing:
    """A part of a picture. shapes: SVG elements; width, height: what they fill from the origin."""

    shapes: tuple[str, ...]
    width: float
    height: float


def number(value: float) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".")


def text(x: float, y: float, said: str, kind: str = "") -> str:
    kinds = f" class={quoteattr(kind)}" if kind else ""
    return f'<text x="{number(x)}" y="{number(y)}"{kinds} xml:space="preserve">{escape(_valid(said))}</text>'


def rect(x: float, y: float, width: float, height: float, kind: str, more: str = "") -> str:
    box = f'x="{number(x)}" y="{number(y)}" width="{number(width)}" height="{number(height)}"'
    return f'<rect {box} class="{kind}" rx="2"{more}/>'


def group(inside: list[str], data: Mapping[str, object], title: str = "") -> str:
    """Shapes that stand for something: `data-` attributes name it, the title is what a pointer shows."""
    named = "".join(f" data-{key}={quoteattr(_valid(str(value)))}" for key, value in data.items())
    titled = f"<title>{escape(_valid(title))}</title>" if title else ""
    return f"<g{named}>{titled}{''.join(inside)}</g>"


def moved(drawing: Drawing, x: float, y: float) -> str:
    return f'<g transform="translate({number(x)} {number(y)})">{"".join(drawing.shapes)}</g>'


def text_width(said: str) -> float:
    return _CHARACTER * len(said)


_GAP = 16


def stacked(drawings: list[Drawing]) -> Drawing:
    """One below the other."""
    shapes, y = [], 0.0
    for each in drawings:
        shapes.append(moved(each, 0, y))
        y += each.height + _GAP
    return Drawing(tuple(shapes), max((d.width for d in drawings), default=0), max(0.0, y - _GAP))


def paragraph(lines: list[tuple[str, str]]) -> Drawing:
    """Lines of text, each with its class."""
    shapes = tuple(text(0, 12 + 16 * at, said, kind) for at, (said, kind) in enumerate(lines))
    return Drawing(shapes, max((text_width(said) for said, _ in lines), default=0), 16.0 * len(lines))


def document(drawing: Drawing, title: str, margin: float = 16) -> str:
    """A whole file."""
    width, height = drawing.width + 2 * margin, drawing.height + 2 * margin
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {number(width)} {number(height)}" '
        f'width="{number(width)}" height="{number(height)}" role="img">\n'
        f"<title>{escape(_valid(title))}</title>\n<style>{STYLE}</style>\n"
        f'<rect class="bg" width="100%" height="100%"/>\n{moved(drawing, margin, margin)}\n</svg>\n'
    )


def _valid(said: str) -> str:
    """Without characters that XML does not have."""
    return "".join(c if c in "\t\n\r" or " " <= c <= "\ud7ff" or c > "\ue000" else "?" for c in said)
