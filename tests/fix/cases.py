"""Analyses of one kernel made by hand: an array, and what address each lane of each access has."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from smemlint.banks import cost_of
from smemlint.evaluate.model import Grade, SharedArray, Site, Trace
from smemlint.ir import Block, Function, Launch, Place
from smemlint.ir.types import VOID
from smemlint.score.load import Load
from smemlint.score.model import Conflict, KernelAnalysis

Index = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, ...]]


def joined(text: str) -> str:
    """An edited text as it were if lines could have any length."""
    return re.sub(r"(?<=[-,=+*/%&|^?:])\r?\n[ \t]+", " ", text)


def place(offset: int = 0, line: int = 1) -> Place:
    return Place("a.cu", line, 1, line, 2, offset, offset + 1)


def array(*dims: int, element: int = 4, name: str = "t", offset: int = 0) -> SharedArray:
    size = int(np.prod(dims)) * element
    return SharedArray(name, name, "float", dims, element, size, place(offset), False, element)


def access(
    of: SharedArray,
    block: tuple[int, int],
    index: Index,
    op: str = "load",
    width: int | None = None,
    joined: int | None = None,
    line: int = 1,
) -> Conflict:
    """One access by all threads of a block; index(x, y) gives the index per dimension."""
    threads = np.arange(block[0] * block[1], dtype=np.int64)
    x, y = threads % block[0], threads // block[0]
    indices = np.stack([np.broadcast_to(i, threads.shape) for i in index(x, y)]).astype(np.int64)
    strides = [int(np.prod([d or 1 for d in of.dims[n + 1 :]])) for n in range(len(of.dims))]
    flat = sum(i * s for i, s in zip(indices, strides, strict=True)) * of.element
    requests = -(-len(threads) // 32)
    padded = np.full(requests * 32, -1, dtype=np.int64)
    padded[: len(threads)] = flat
    offsets = padded.reshape(requests, 32)
    site = Site(place(1000 + line, line), op, width or of.element, of.id, f"{of.name}[...]")
    weights = np.ones(requests, dtype=np.int64)
    trace = Trace(site, offsets, weights, Grade.EXACT, joined=joined)
    wavefronts, ideal = cost_of(op, joined or site.width, offsets)
    total, least = int(wavefronts.sum()), int(ideal.sum())
    loads = (Load(total, least, requests),)
    return Conflict(site, trace, requests, total, total, least, Grade.EXACT, joined=joined, loads=loads)


def kernel(block: tuple[int, int], arrays: list[SharedArray], conflicts: list[Conflict]) -> KernelAnalysis:
    function = Function("k", "k", (), Block(()), "kernel", place(), VOID)
    launch = Launch((block[0], block[1], 1), origin="a.cu:1")
    return KernelAnalysis(function, launch, "", {}, {a.id: a for a in arrays}, tuple(conflicts))
