"""The derivation of a number in sentences and small tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from smemlint.banks import BANKS, WORD
from smemlint.banks.request import group_of
from smemlint.render.summary import count
from smemlint.render.views.bank_words import facts, heading, request, totals
from smemlint.rules.words import lanes_text, ways_text
from smemlint.system.visible import visible, visible_path
from smemlint.view.bankmap import BankMap
from smemlint.view.why import Derivation, Lost

_LANES = 8
"""Lanes in a row of the table."""


def render_why(told: Sequence[Derivation], *, width: int = 80) -> str:
    """One access after the other. width: columns of the terminal."""
    return "\n".join("\n".join(_access(each, width)) + "\n" for each in told)


def _access(each: Derivation, width: int) -> Iterator[str]:
    view = each.view
    yield heading(view)
    yield from facts(view)[:-1]
    for other in view.others[:4]:
        yield f"also: {visible(other)}"
    yield ""
    yield "What it is made of"
    for line in each.loops:
        yield f"  in the loop of line {line.line}: {visible(line.text)}"
    names = max((len(o.name) for o in each.origins), default=0)
    for origin in each.origins:
        where = f"  {visible_path(origin.path)}:{origin.line}" if origin.line else ""
        yield f"  {visible(origin.name):{names}}  {visible(origin.value)}{where}"
        if origin.text:
            yield from _wrapped(visible(origin.text), width, names + 6)
        for number, text in origin.changes:
            yield from _wrapped(f"line {number}: {visible(text)}", width, names + 6)
    if each.lost is not None:
        yield ""
        yield from _lost(each.lost, view.cost.wavefronts is not None, width)
        if view.cost.wavefronts is not None:
            yield f"  {totals(view)}"
    bank_map = view.map
    if bank_map is None:
        if each.lost is None:
            yield f"No map: {view.no_map}"
        return
    yield ""
    yield f"What each lane asks ({request(view, bank_map)})"
    yield from _addresses(each, bank_map)
    yield ""
    yield "What it costs"
    for said in costs(each, bank_map):
        yield from _wrapped(said, width, 2)


def _wrapped(text: str, width: int, indent: int) -> list[str]:
    return wrap(text, width, initial_indent=" " * indent, subsequent_indent=" " * (indent + 2))


def _lost(lost: Lost, bounded: bool, width: int) -> Iterator[str]:
    yield "Why it is a range" if bounded else "Where certainty was lost"
    if lost.at is not None:
        yield f"  {visible_path(lost.at.path)}:{lost.at.line}: {visible(lost.at.text)}"
    yield from _wrapped(f"{lost.code}: {visible(lost.text)}", width, 2)
    if lost.helps:
        yield from _wrapped(f"what helps: {lost.helps}", width, 2)


def _addresses(each: Derivation, bank_map: BankMap) -> Iterator[str]:
    if each.formula:
        yield f"  bytes from the array's start: {each.formula}"
    else:
        yield "  bytes from the array's start follow no simple form of the lane"
    if each.left_out:
        names = ", ".join(f"`{visible(name)}`" for name in each.left_out[:4])
        yield f"  left out: {names}, the same for all lanes: it turns the banks and costs nothing"
    if each.step is not None:
        yield f"  from one iteration to the next: {each.step:+d} B"
    used = bank_map.used
    for first in range(0, len(used), _LANES):
        row = used[first : first + _LANES]
        if all(offset is None for offset in row):
            continue
        yield f"  {'lane':>5}" + "".join(f"{lane:>7}" for lane in range(first, first + len(row)))
        yield f"  {'byte':>5}" + "".join(f"{'-' if o is None else o:>7}" for o in row)
        banks = ("-" if o is None else str(o // WORD % BANKS) for o in row)
        yield f"  {'bank':>5}" + "".join(f"{bank:>7}" for bank in banks)


def costs(each: Derivation, bank_map: BankMap) -> list[str]:
    """From the addresses of one request to the number of the access."""
    lines = []
    size = group_of(bank_map.op, bank_map.width) if bank_map.op not in ("cas loop", "cas loop load") else 32
    if size < len(bank_map.used):
        lines.append(f"{bank_map.width} B a lane: the request runs in phases of {size} lanes")
    lines += _by_phase(bank_map)
    waves = len(bank_map.passes)
    active = sum(offset is not None for offset in bank_map.used)
    lines.append(
        f"together {count(waves, 'wavefront')}; {count(active, 'lane')} of {bank_map.width} B fill "
        f"{bank_map.ideal} at best: {ways_text(bank_map.ways)}-way"
    )
    if each.joined:
        others = ", ".join(f"`{visible(line.text)}` (line {line.line})" for line in each.joined)
        lines.append(
            f"the compiler joins it with {others} into one access of {each.view.width} B, which is what runs"
        )
    lines.append(totals(each.view))
    if len(each.view.by_visit) > 1:
        runs = ", ".join(
            f"{ways_text(ways)}" + (f" ({n} times)" if n > 1 else "") for ways, n in each.view.by_visit[:12]
        )
        lines.append(f"ways by iteration: {runs}")
    return lines


def _by_phase(bank_map: BankMap) -> list[str]:
    """What the busiest bank of each phase delivers; phases that are alike together."""
    turns: dict[tuple[object, int], dict[int, list[tuple[int, tuple[int, ...]]]]] = {}
    for each in bank_map.passes:
        if each.write:
            continue
        banks = turns.setdefault((each.phase, each.round), {})
        for served in each.served:
            banks.setdefault(served.bank, []).append((served.word, served.lanes))
    lines: dict[str, int] = {}
    for banks in turns.values():
        bank = max(banks, key=lambda b: (len(banks[b]), -b))
        most = len(banks[bank])
        words = {word for word, _ in banks[bank]}
        if most == 1:
            said = "no bank is asked for more than one word: 1 wavefront"
        elif len(words) < most:
            lanes = sorted(lane for _, who in banks[bank] for lane in who)
            said = f"bank {bank} serves {lanes_text(lanes)} one after the other: {count(most, 'wavefront')}"
        else:
            said = f"bank {bank} is asked for {most} words (and no bank for more): {count(most, 'wavefront')}"
        lines[said] = lines.get(said, 0) + 1
    if sum(lines.values()) == 1:
        return list(lines)
    return [f"{count(n, 'phase')}: {said}" for said, n in list(lines.items())[:8]]
