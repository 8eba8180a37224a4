"""What a suggestion says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from smemlint.fix.edits.helpers import skew_formula, swizzle_formula
from smemlint.fix.model import Kind, SiteChange
from smemlint.fix.search.candidates import Exchange, Padding, Skew, Swizzle, Trimmed
from smemlint.fix.search.choices import Choice, locate
from smemlint.fix.search.judge import Option
from smemlint.fix.search.members import Instance
from smemlint.fix.text.declared import Declared
from smemlint.fix.text.source import Source


def kind(choice: Choice) -> Kind:
    layout = choice.option.layout
    if isinstance(layout, Padding):
        return "pitch" if choice.pitch is not None else "padding"
    if isinstance(layout, Skew):
        return "skew"
    return "exchange" if isinstance(layout, Exchange) else "swizzle"


def _last(choice: Choice) -> str:
    """What the last subscript is called."""
    return "column" if len(choice.shapes[0].dims) > 1 else "index"


def described(choice: Choice, instance: Instance, texts: Mapping[str, Source]) -> str:
    """The layout as code that no edit writes."""
    from smemlint.fix.text.expressions import plus

    layout = choice.option.layout
    if isinstance(layout, Trimmed):
        layout = layout.swizzle
    if isinstance(layout, Swizzle):
        return swizzle_formula(layout)
    if isinstance(layout, Skew):
        return skew_formula(layout)
    if choice.pitch is not None and isinstance(layout, Padding):
        return plus(choice.pitch, layout.extra) or f"{choice.pitch} + {layout.extra}"
    shape = choice.shapes[0]
    at = locate(instance, texts)
    if isinstance(at, Declared) and isinstance(layout, Padding):
        new = plus(at.extent(layout.dim), layout.extra)
        if new is not None:
            return at.text({layout.dim: new})
    return instance.array.name + "".join(f"[{d}]" for d in layout.shape(shape).dims)


def words(choice: Choice, code: str, changes: Sequence[SiteChange]) -> str:
    layout = choice.option.layout
    if isinstance(layout, Padding) and layout.extra < 0:
        what = f"take the padding back: `{code}`"
    elif isinstance(layout, Padding):
        what = f"pad the row: `{code}`" if choice.pitch is None else f"pad the row pitch: `{code}`"
    elif isinstance(layout, Exchange):
        what = f"exchange the dimensions: `{code}`"
    elif isinstance(layout, Trimmed):
        what = f"take the padding back and swizzle the column: `{code}`"
    else:
        what = f"{'skew' if isinstance(layout, Skew) else 'swizzle'} the {_last(choice)}: `{code}`"
    effect = _effect(changes)
    if any(c.apart for c in changes):
        effect += ", neighbours are accessed one by one"
    return f"{what}; {effect}, {_price(choice.option)}"


def _effect(changes: Sequence[SiteChange]) -> str:
    sites = {(c.site.place, c.site.op) for c in changes}
    left = {(c.site.place, c.site.op) for c in changes if c.after > c.ideal}
    if not left:
        if len(sites) == 1:
            return "its only access is then conflict-free"
        each = "both" if len(sites) == 2 else f"all {len(sites)}"
        return f"{each} accesses of the array are then conflict-free"
    before, after = sum(c.before for c in changes), sum(c.after for c in changes)
    return f"{before} wavefronts become {after}, {len(left)} of {len(sites)} accesses keep a conflict"


def _price(option: Option) -> str:
    price = f"+{option.bytes_added} B" if option.bytes_added >= 0 else f"-{-option.bytes_added} B"
    before, after = option.blocks
    return f"{price}, resident blocks per SM {before} -> {after}" if after < before else price
