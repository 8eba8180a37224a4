"""The address of each lane as a formula of `threadIdx`, where there is one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
_SPLITS = (2, 4, 8, 16)


def by_thread(offsets: Ints, warps: Ints, block: tuple[int, int, int]) -> str | None:
    """Bytes as a linear form of threadIdx over some requests of one visit, None where there is none.

    offsets: shape (requests, 32), -1 inactive. warps: of each request.
    """
    thread = (warps[:, None] * 32 + np.arange(32)[None, :]).ravel()
    flat = offsets.ravel()
    active = flat >= 0
    x, rest = thread % block[0], thread // block[0]
    parts = {"threadIdx.x": x, "threadIdx.y": rest % block[1], "threadIdx.z": rest // block[1]}
    return _linear({name: part[active] for name, part in parts.items()}, flat[active])


def by_lane(row: Ints) -> str | None:
    """Bytes as a form of the lane's number in one request: linear, or in two parts."""
    lane = np.arange(32)[row >= 0]
    offsets = row[row >= 0]
    found = _linear({"lane": lane}, offsets)
    for split in _SPLITS:
        if found is None:
            found = _linear({f"(lane % {split})": lane % split, f"(lane / {split})": lane // split}, offsets)
    return found


def _linear(parts: dict[str, Ints], offsets: Ints) -> str | None:
    """`128 * threadIdx.x + 4 * threadIdx.y`; parts that do not vary are left out."""
    varying = {name: part for name, part in parts.items() if len(part) and part.min() != part.max()}
    matrix = np.stack([*varying.values(), np.ones(len(offsets), dtype=np.int64)], axis=1)
    if not len(offsets):
        return None
    solved = np.linalg.lstsq(matrix.astype(float), offsets.astype(float), rcond=None)[0]
    whole = np.rint(solved).astype(np.int64)
    if not np.array_equal(matrix @ whole, offsets):
        return None
    terms = [(int(n), name) for n, name in zip(whole, varying, strict=False) if n]
    constant = int(whole[-1])
    said = " + ".join(name if n == 1 else f"{n} * {name}" for n, name in terms).replace("+ -", "- ")
    if constant or not said:
        said = f"{said} + {constant}" if said else str(constant)
    return said.replace("+ -", "- ")
