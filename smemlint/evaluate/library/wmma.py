"""`nvcuda::wmma` loads and stores: which lanes move which bytes, with what instruction, on sm_90.

In memory a fragment is a tile of rows that lie `ldm` elements apart: rows run along M (matrix_a,
accumulator) or
K (matrix_b) for row_major, along the other dimension for col_major. What the compiler makes of it was read
from
the machine code of every shape and layout (nvcc 13.0, sm_90):

- 2-byte half matrices: ldmatrix over 8x8 tiles, 4 tiles or 2 at once, transposed or not;
- 1-byte matrices whose K runs along the rows: ldmatrix over 8 rows of 16 bytes, else byte loads;
- sub-byte matrices: one ldmatrix;
- everything else: the lanes' own elements, lane / 4 along one dimension and lane % 4 (pairs for
  accumulators) along the other, as wide as neighbours in memory allow. bfloat16 and half accumulators always
  move pairs along the row and transpose in registers.

bfloat16, tf32 and double use generic loads and stores, which meet in the same banks.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from smemlint.evaluate.language.accesses import record_access
from smemlint.evaluate.language.conversions import as_int
from smemlint.evaluate.machine.dispatch import lvalue, rvalue
from smemlint.evaluate.machine.functions import Arguments, called, named, number, short_name
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.model import Unresolved
from smemlint.evaluate.values.number import Int, add, scale
from smemlint.evaluate.values.value import Other, Pointer, Value
from smemlint.ir import Call, Expr, RecordRef, Scalar, Type
from smemlint.ir.types import LONG
from smemlint.records import record

Ints = NDArray[np.int64]
LANE: Ints = np.arange(32, dtype=np.int64)

_BITS = {"s4": 4, "u4": 4, "b1": 1, "tf32": 32}
_MATRICES = ("matrix_a", "matrix_b")


@record(frozen=True, slots=True)
class Fragment:
    """use: matrix_a, matrix_b or accumulator. bits: of one element in memory. kind: half, bfloat16, tf32, ...
    row_major: None where the call decides (accumulators)."""

    use: str
    m: int
    n: int
    k: int
    bits: int
    kind: str
    row_major: bool | None


@record(frozen=True, slots=True)
class Move:
    """One instruction: row and byte within the row of each of the 32 lanes (the first 8 * matrices count)."""

    op: str
    width: int
    rows: Ints
    bytes: Ints
    matrices: int = 1


def fragment_of(t: Type) -> Fragment | None:
    """What a fragment type says; None for another type or one whose arguments are not known."""
    if not isinstance(t, RecordRef) or short_name(t.name) != "fragment" or len(t.arguments) < 5:
        return None
    use, element = t.arguments[0], t.arguments[4]
    sizes = [number(a) for a in t.arguments[1:4]]
    if not isinstance(use, RecordRef) or any(s is None for s in sizes):
        return None
    m, n, k = (s for s in sizes if s is not None)
    if isinstance(element, Scalar):
        bits, kind = 8 * element.size, element.name
    elif isinstance(element, RecordRef) and short_name(element.name) in _BITS:
        kind = short_name(element.name)
        bits = _BITS[kind]
    else:
        return None
    layout = t.arguments[5] if len(t.arguments) > 5 else None
    name = short_name(layout.name) if isinstance(layout, RecordRef) else ""
    row_major = {"row_major": True, "col_major": False}.get(name)
    return Fragment(short_name(use.name), m, n, k, bits, kind, row_major)


_SHAPES = frozenset([(16, 16, 16), (32, 8, 16), (8, 32, 16), (16, 16, 8), (8, 8, 4), (8, 8, 32), (8, 8, 128)])
"""M, N and K of the matrices that wmma has."""


def moves(f: Fragment, row_major: bool, store: bool) -> list[Move] | None:
    """The instructions of one load or store; None for a combination that is not known."""
    if (f.m, f.n, f.k) not in _SHAPES:
        return None
    if f.use == "accumulator":
        return _accumulator(f, row_major, "store" if store else "load")
    if f.use not in _MATRICES or store:
        return None
    along_k = row_major == (f.use == "matrix_a")
    """K runs along the rows of memory."""
    outer = f.m if f.use == "matrix_a" else f.n
    rows, columns = (outer, f.k) if along_k else (f.k, outer)
    if f.bits < 8:
        return _tiles(rows, 16, 1) if along_k else None
    if f.bits == 8:
        return _tiles(rows, columns, 1) if along_k else _bytes_of_columns(outer)
    if f.kind == "__half":
        return _tiles(rows, 2 * columns, 2)
    if f.kind == "__nv_bfloat16":
        return _pairs("load", rows, columns)
    if f.kind == "tf32" or f.kind == "double":
        return _elements(rows, columns, f.bits // 8, along_k)
    return None


def _tiles(rows: int, row_bytes: int, across: int) -> list[Move]:
    """ldmatrix over tiles of 8 rows of 16 bytes; `across` tiles side by side in one instruction."""
    found: list[Move] = []
    down = 2 if rows >= 16 else 1
    side = min(across, row_bytes // 16)
    if side == 1 and across == 2:
        down = min(4, rows // 8)
    matrices = down * side
    for top in range(0, rows, 8 * down):
        for left in range(0, row_bytes, 16 * side):
            tile = LANE // 8 % matrices
            found.append(
                Move("ldmatrix", 16, top + 8 * (tile % down) + LANE % 8, left + 16 * (tile // down), matrices)
            )
    return found


def _bytes_of_columns(outer: int) -> list[Move]:
    """1-byte matrices with K down the rows: each lane gathers 4 rows, byte by byte."""
    return [Move("load", 1, LANE % 4 * 4 + i, LANE // 4 + 8 * j) for j in range(outer // 8) for i in range(4)]


def _pairs(op: str, rows: int, columns: int) -> list[Move]:
    """Pairs of 2-byte elements along the row, in tiles of 8 rows by 8 columns."""
    return [
        Move(op, 4, top + LANE // 4, 2 * left + LANE % 4 * 4)
        for top in range(0, rows, 8)
        for left in range(0, columns, 8)
    ]


def _elements(rows: int, columns: int, size: int, along_k: bool) -> list[Move]:
    """One element a lane: lane / 4 along M or N, lane % 4 along K."""
    outer, k = LANE // 4, LANE % 4
    down, right = (outer, k) if along_k else (k, outer)
    step_down, step_right = (8, 4) if along_k else (4, 8)
    return [
        Move("load", size, top + down, size * (left + right))
        for top in range(0, rows, step_down)
        for left in range(0, columns, step_right)
    ]


def _accumulator(f: Fragment, row_major: bool, op: str) -> list[Move] | None:
    """Pairs of elements along N; along M for m8n32, which runs as its transpose."""
    rows, columns = (f.m, f.n) if row_major else (f.n, f.m)
    if f.bits == 16:
        return _pairs(op, rows, columns)
    size = f.bits // 8
    if size not in (4, 8):
        return None
    natural = row_major != (f.m == 8 and f.n == 32)
    tiles = [(top, left) for top in range(0, rows, 8) for left in range(0, columns, 8)]
    if natural:
        return [Move(op, 2 * size, top + LANE // 4, size * (left + LANE % 4 * 2)) for top, left in tiles]
    return [
        Move(op, size, top + LANE % 4 * 2 + i, size * (left + LANE // 4))
        for top, left in tiles
        for i in (0, 1)
    ]


@named(*(f"{s}{op}_matrix_sync" for s in ("nvcuda::wmma::", "wmma::", "") for op in ("load", "store")))
def _matrix(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
    if len(e.arguments) >= 3:
        store = "store_matrix" in called(e)
        fragment, address = e.arguments[1::-1] if store else e.arguments[:2]
        layout = e.arguments[3] if len(e.arguments) > 3 else None
        _move(m, e, fragment, address, e.arguments[2], layout, store=store)
    return Other()


def _move(
    m: Machine, e: Call, fragment: Expr, address: Expr, pitch: Expr, layout: Expr | None, *, store: bool
) -> None:
    held = lvalue(m, fragment)
    p = rvalue(m, address)
    ldm = as_int(m, rvalue(m, pitch), e.place, "ldm")
    major = rvalue(m, layout) if layout is not None else None
    if not isinstance(p, Pointer):
        m.note("wmma-address", f"`{called(e)}`: its address is not followed", e.place)
        return
    m.code_size.touched += 1
    if p.object.storage != "shared":
        return
    t = held.pointee if isinstance(held, Pointer) else getattr(held, "type", None)
    f = fragment_of(t) if t is not None else None
    op, size = ("store" if store else "load"), m.types.size_of(p.pointee) or 4
    if f is None:
        reason = Unresolved("wmma-fragment", "shape or type of the fragment is not known", e.place)
        record_access(m, op, size, p, e.place, reason=reason)
        return
    row_major = f.row_major
    if row_major is None and major is not None:
        n = number(major)
        row_major = None if n is None else n == 0
    found = None if row_major is None else moves(f, row_major, store)
    if found is None:
        what = "layout of the fragment is not known" if row_major is None else "no such fragment on sm_90"
        record_access(m, op, size, p, e.place, reason=Unresolved("wmma-fragment", what, e.place))
        return
    pitch_bytes = _pitch(ldm, f.bits)
    if pitch_bytes is None:
        reason = Unresolved("wmma-fragment", "rows of elements smaller than a byte, ldm not known", e.place)
        record_access(m, op, size, p, e.place, reason=reason)
        return
    for move in found:
        _record(m, e, move, p, pitch_bytes)


def _pitch(ldm: Int, bits: int) -> Int | None:
    """Bytes from row to row; None for a fraction of an unknown number."""
    if bits >= 8:
        return scale(ldm, bits // 8, LONG)
    return Int(ldm.const * bits // 8, LONG) if ldm.known else None


def _record(m: Machine, e: Call, move: Move, p: Pointer, pitch: Int) -> None:
    lane = m.threads.linear % 32
    within = add(scale(pitch, move.rows[lane], LONG), Int(move.bytes[lane], LONG), LONG)
    target = Pointer(p.object, add(p.offset, within, LONG), p.pointee)
    mask = lane < 8 * move.matrices if move.op == "ldmatrix" else None
    record_access(m, move.op, move.width, target, e.place, matrices=move.matrices, mask=mask, fragment=True)
