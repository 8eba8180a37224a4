"""What a request may be: operations, widths, alignment. Everything else is refused in words."""

from __future__ import annotations

BANKS = 32
WORD = 4
"""Bytes of one word, the width of a bank."""
BANK_CYCLE = BANKS * WORD
"""Bytes after which the banks repeat."""
LANES = 32

MATRIX_ROW = 16
"""Bytes of one row of an 8x8 matrix of 16-bit elements: what one lane's address of ldmatrix stands for."""

WIDTHS = {
    "load": (1, 2, 4, 8, 16),
    "store": (1, 2, 4, 8, 16),
    "atomic": (2, 4, 8, 16),
    "cas": (2, 4, 8, 16),
    "increment": (4,),
    "ldmatrix": (MATRIX_ROW,),
    "stmatrix": (MATRIX_ROW,),
    "cp.async": (4, 8, 16),
}
"""Bytes a lane that each operation can move. For ldmatrix and stmatrix: the row that an address names."""

OPERATIONS = tuple(WIDTHS)
MATRIX_OPERATIONS = ("ldmatrix", "stmatrix")
CAS_LOOP_LOAD = "cas loop load"
CAS_LOOP = "cas loop"
"""The loads and the compare-and-swaps of the loop that the compiler makes of an atomic without an
instruction; `cas_loop` tells the cost of both."""
CAS_LOOPS = (CAS_LOOP_LOAD, CAS_LOOP)
ONE_ROUND = {CAS_LOOP_LOAD: "load", CAS_LOOP: "cas"}
"""What one round of a loop does."""
LANE_OPERATIONS = ("atomic", "cas", "cp.async")
"""Operations for which lanes on the same word take turns: lanes count, not distinct words."""


def check(op: str, width: int, matrices: int = 1) -> None:
    """Raise ValueError, in words, unless the hardware has this operation at this width."""
    if op not in WIDTHS:
        raise ValueError(f"unknown operation {op!r}; one of: {', '.join(OPERATIONS)}")
    if width not in WIDTHS[op]:
        known = ", ".join(map(str, WIDTHS[op]))
        raise ValueError(f"{op} of {width} bytes a lane does not exist; widths: {known}")
    if op in MATRIX_OPERATIONS:
        if matrices not in (1, 2, 4):
            raise ValueError(f"{op} moves 1, 2 or 4 matrices, not {matrices}")
    elif matrices != 1:
        raise ValueError(f"matrices belongs to ldmatrix and stmatrix; {op} got {matrices}")


def unit_of(width: int) -> int:
    """Bytes that stay together: a word, or the lane's whole aligned access where that is wider."""
    return max(WORD, width)


def group_of(op: str, width: int) -> int:
    """Lanes that one pass can serve at best: as many as 128 bytes hold, at most the warp."""
    return 8 if op in MATRIX_OPERATIONS else min(LANES, BANK_CYCLE // width)


def lanes_of(op: str, matrices: int) -> int:
    """Lanes whose address matters: ldmatrix and stmatrix take 8 row addresses a matrix."""
    return 8 * matrices if op in MATRIX_OPERATIONS else LANES


def passes_of(op: str) -> int:
    """Passes that each turn takes: compare-and-swap reads in one and writes in the next."""
    return 2 if op == "cas" else 1
