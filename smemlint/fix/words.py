"""What a suggestion says."""

from __future__ import annotations

from collections import Counter
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


def words(
    choice: Choice, code: str, changes: Sequence[SiteChange], launches: int, *, unread: bool = False
) -> str:
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
    does = effect(changes, launches, unread=unread)
    if any(c.apart for c in changes):
        does += ", neighbours are accessed one by one"
    return f"{what}; {does}, {_price(choice.option)}"


def effect(changes: Sequence[SiteChange], launches: int = 1, *, unread: bool = False) -> str:
    """What a layout does to the accesses of its array: wavefronts of all, and how many got better.

    launches: how many the changes are summed over, instances and assumed blocks among them. unread: whether
    the text shows a use of the array that is none of them (a statement that clang dropped): nothing is said
    of all accesses then.
    """
    sites: dict[object, list[SiteChange]] = {}
    for change in changes:
        sites.setdefault((change.site.place, change.site.op), []).append(change)
    if all(c.after <= c.ideal for c in changes):
        if len(sites) == 1:
            return f"its only access {'that was analysed ' if unread else ''}is then conflict-free"
        each = "both" if len(sites) == 2 else f"all {len(sites)}"
        which = "that were analysed" if unread else "of the array"
        return f"{each} accesses {which} are then conflict-free"
    before, after, ideal = (sum(getattr(c, of) for c in changes) for of in ("before", "after", "ideal"))
    counts = Counter(map(_outcome, sites.values()))
    said = [f"{counts[name]} {name}" for name in _OUTCOMES if counts[name]]
    # What one access pays above its ideal, another may stay below it by: pairs of lanes that agree share.
    best = f"{ideal:,} at best; " if ideal < after else ""
    over = f" over {launches} launches" if launches > 1 else ""
    return f"{before:,} wavefronts{over} become {after:,} ({best}accesses: {', '.join(said)})"


_OUTCOMES = ("conflict-free", "with fewer conflicts", "as before", "with more conflicts")


def _outcome(changes: Sequence[SiteChange]) -> str:
    """Of one access over all instances; '' where it was clean and is."""
    before, after, ideal = (sum(getattr(c, of) for c in changes) for of in ("before", "after", "ideal"))
    if after > before:
        return _OUTCOMES[3]
    if after == before:
        return _OUTCOMES[2] if after > ideal else ""
    return _OUTCOMES[1] if after > ideal else _OUTCOMES[0]


def _price(option: Option) -> str:
    price = f"+{option.bytes_added} B" if option.bytes_added >= 0 else f"-{-option.bytes_added} B"
    before, after = option.blocks
    return f"{price}, resident blocks per SM {before} -> {after}" if after < before else price
