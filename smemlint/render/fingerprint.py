"""GitHub's `primaryLocationLineHash`: which line an alert belongs to, whatever moves around it.

The hash of a line is a polynomial over the 100 UTF-16 units that follow its start, spaces and tabs left out
and line ends made one; equal hashes of one file are told apart by a running number.
"""

from __future__ import annotations

_WINDOW = 100
_FACTOR = 37
_MASK = (1 << 64) - 1
_END = 65535


def line_hashes(text: str) -> list[str]:
    """The hash of every line of a text, in order: `hash:n`, n counting equal hashes from 1."""
    units, starts = _units(text)
    units.append(_END)
    units += [0] * _WINDOW
    leaving = pow(_FACTOR, _WINDOW, 1 << 64)
    value = 0
    seen: dict[int, int] = {}
    result: list[str] = []
    wanted = set(starts)
    for index, unit in enumerate(units):
        dropped = units[index - _WINDOW] if index >= _WINDOW else 0
        value = (value * _FACTOR + unit - leaving * dropped) & _MASK
        if index - _WINDOW + 1 in wanted:
            seen[value] = seen.get(value, 0) + 1
            result.append(f"{value:x}:{seen[value]}")
    return result


def _units(text: str) -> tuple[list[int], list[int]]:
    """(UTF-16 units that count, index of each line's first one)."""
    data = text.replace("\r\n", "\n").replace("\r", "\n").encode("utf-16-le", errors="replace")
    units: list[int] = []
    starts: list[int] = []
    fresh = True
    for low, high in zip(data[::2], data[1::2], strict=True):
        unit = low | high << 8
        if unit in (0x20, 0x09):
            continue
        if fresh:
            starts.append(len(units))
        fresh = unit == 0x0A
        units.append(unit)
    if fresh:
        starts.append(len(units))
    return units, starts
