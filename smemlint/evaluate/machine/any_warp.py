"""One warp of a block whose shape is not known: its place in the block is an unknown that its lanes share.

What is found for it holds for every warp of every block of whole warps: the unknown may rotate the banks and
decide which code runs, like any other number that is the same in all lanes.
"""

from __future__ import annotations

from collections.abc import Mapping

from smemlint.evaluate.values.number import Int
from smemlint.evaluate.values.unknowns import Unknowns
from smemlint.ir.types import UINT

WARPS = 32
"""Warps of the largest block."""


def any_warp(
    family: str, specials: Mapping[tuple[str, str], Int], unknowns: Unknowns
) -> dict[tuple[str, str], Int]:
    """What the hardware gives the lanes of a warp, where that depends on the block; nothing for ''."""
    if family.endswith("x"):
        warp = unknowns.value(UINT, "warp", low=0, high=WARPS - 1)
        first = {mono: 32 * c for mono, c in warp.terms.items()}
        size = unknowns.value(UINT, "warps", low=1, high=WARPS)
        threads = Int(0, UINT, {mono: 32 * c for mono, c in size.terms.items()})
        if family == "any x":
            threads = unknowns.value(UINT, "threads", low=1, high=32 * WARPS)
        return {
            ("warpid", ""): warp,
            ("threadIdx", "x"): Int(specials["laneid", ""].const, UINT, first),
            ("blockDim", "x"): threads,
        }
    found: dict[tuple[str, str], Int] = {}
    for axis in family:
        found["threadIdx", axis] = unknowns.value(UINT, f"threadIdx.{axis}", low=0, high=WARPS - 1)
        found["blockDim", axis] = unknowns.value(UINT, f"blockDim.{axis}", low=1, high=WARPS)
    if found:
        found["warpid", ""] = unknowns.value(UINT, "warp", low=0, high=WARPS - 1)
    return found
