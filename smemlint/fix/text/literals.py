"""Integer literals as C++ writes them."""

from __future__ import annotations

from smemlint.patterns import pattern

_INTEGER = pattern(r"(0[xX][0-9a-fA-F']+|0[bB][01']+|[0-9][0-9']*)([uUlLzZ]*)\Z")


def integer(text: str) -> int | None:
    """The value of an integer literal, None for any other text."""
    match = _INTEGER.match(text.strip())
    if match is None:
        return None
    digits = match.group(1).replace("'", "")
    octal = len(digits) > 1 and digits[0] == "0" and digits.isdigit()
    try:
        return int(digits, 8) if octal else int(digits, 0)
    except ValueError:
        return None
