"""The state of one evaluation: masks, frames, memory and the log of shared accesses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from smemlint.evaluate.arithmetic import Unknowns, one_of_two, select, too_long
from smemlint.evaluate.copies import Copied
from smemlint.evaluate.layout import Bindings, Types, is_vector
from smemlint.evaluate.lines import line_of
from smemlint.evaluate.memory import Object
from smemlint.evaluate.model import Unresolved
from smemlint.evaluate.slicing import Slice
from smemlint.evaluate.values import (
    Closure,
    FunctionValue,
    Int,
    Method,
    Monomial,
    Other,
    Pointer,
    RecordValue,
    Value,
    collapse,
    same,
)
from smemlint.ir import (
    ArrayOf,
    Expr,
    Function,
    LaunchStmt,
    Literal,
    Module,
    Place,
    PointerTo,
    RecordRef,
    Scalar,
    Type,
    Var,
)
from smemlint.ir.types import INT, UINT

Mask = NDArray[np.bool_]


class SliceLike(Protocol):
    """id() of the statements that can be passed over; quiet: in iterations that leave no trace.

    open: branches that are taken every way when all of host code is to be seen.
    """

    skippable: set[int]
    quiet: set[int]
    open: set[int]
    sets: dict[int, frozenset[str]]


Slicer: TypeAlias = Callable[[Function, frozenset[str]], SliceLike]
BYTE = Scalar("unsigned char", 1, "uint")


class BudgetExceededError(Exception):
    """The evaluation was stopped: too many steps or too many recorded addresses."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Per kernel: expression steps, recorded lane addresses; per loop: iterations that are enumerated, and
    steps after which one more iteration stands for all that are left."""

    steps: int = 400_000
    loop_steps: int = 10_000
    addresses: int = 24_000_000
    iterations: int = 1100


@dataclass(slots=True)
class Event:
    """One execution of a site by the whole block. offset in bytes; weight: times it runs.

    region: accesses of one region stand in one straight line once loops are unrolled.
    """

    site: SiteLog
    offset: Int
    must: Mask
    may: Mask
    weight: int
    region: int
    order: int
    flow: int = 0
    """Accesses of one flow stand in one loop, with no branch or barrier between."""
    volatile: bool = False
    copied: Copied | None = None


@dataclass(slots=True)
class Barrier:
    """Something that no access is moved across."""

    region: int
    order: int


@dataclass(slots=True)
class SiteLog:
    """All events of one access as written."""

    place: Place
    line: int
    op: str
    width: int
    matrices: int
    object: Object
    via: tuple[Place, ...]
    events: list[Event] = field(default_factory=list)
    reason: Unresolved | None = None
    dims: tuple[tuple[int, int], ...] = ()


@dataclass(slots=True)
class Frame:
    """One call in progress."""

    bindings: Bindings
    function: Function | None = None
    this: Pointer | None = None
    parent: Frame | None = None
    variables: dict[str, Object] = field(default_factory=dict)
    returned: Mask | None = None
    result: Value | None = None
    call: Place | None = None
    place: bool = False
    """A lambda called for the place it names (`f(t) = x`), where it returns one."""
    names_place: bool = False
    skippable: set[int] | None = None
    """id() of the statements that nothing of interest depends on."""
    quiet: set[int] | None = None
    """The same in iterations that leave no trace."""
    open: set[int] | None = None
    sets: dict[int, frozenset[str]] = field(default_factory=dict)
    instance: tuple[object, ...] = ()
    """Tells apart the same function under other template arguments."""
    arguments: tuple[object, ...] = ()
    """The expressions (or values) that the parameters were given."""


class Machine:
    """Runs IR for all threads of one block at once. One instance, one evaluation."""

    def __init__(
        self,
        module: Module,
        block: tuple[int, int, int],
        *,
        grid: tuple[int | None, int | None, int | None] = (None, None, None),
        budget: Budget | None = None,
        on_launch: Callable[[Machine, LaunchStmt], None] | None = None,
        host: bool = False,
        defaults: bool = False,
        explore: bool = False,
        slicer: Slicer = Slice,
    ) -> None:
        self.module = module
        self.block = block
        self.budget = budget or Budget()
        self.on_launch = on_launch
        self.host = host
        self.defaults = defaults
        self.explore = explore
        self.unknowns = Unknowns()
        self.types = Types(module, self.constant)
        threads = block[0] * block[1] * block[2]
        self.size = 1 if host else -(-threads // 32) * 32
        self.linear: NDArray[np.int64] = np.arange(self.size, dtype=np.int64)
        self.present: Mask = self.linear < threads
        self.nobody: Mask = np.zeros(self.size, dtype=bool)
        self.must: Mask = self.present
        self.may: Mask = self.present
        self.weight = 1
        self.region = 0
        self.regions = 0
        self.flow = 0
        self.asked: set[tuple[str, str]] = set()
        """What the kernel asked of the launch: the compiler does not know it."""
        self.order = 0
        self.steps = 0
        self.addresses = 0
        self.silent = 0
        self.depth = 0
        self.frames: list[Frame] = [Frame({})]
        self.globals: dict[str, Object] = {}
        self.shared: dict[str, Object] = {}
        self.sites: dict[tuple[object, ...], SiteLog] = {}
        self.log: list[Event | Barrier] = []
        self.notes: list[Unresolved] = []
        self.sizes: dict[tuple[int, tuple[object, ...]], tuple[int, int]] = {}
        self.slicer = slicer
        self.loop_kinds: dict[tuple[int, tuple[object, ...]], dict[tuple[str, int], str]] = {}
        self.slices: dict[tuple[str, frozenset[str]], SliceLike] = {}
        self.touched = 0
        self.operations = 0
        self.specials = self._specials(grid)
        self.loops: list[object] = []
        self.discarded: Expr | None = None
        self.definitions: dict[str, dict[str, list[Expr]]] = {}
        """By function: the values that each variable is given there."""

    # ------------------------------------------------------------------ what the hardware gives

    def _specials(self, grid: tuple[int | None, int | None, int | None]) -> dict[tuple[str, str], Int]:
        bx, by, _ = self.block
        specials: dict[tuple[str, str], Int] = {
            ("warpSize", ""): Int(32, INT),
            ("laneid", ""): Int(self.linear % 32, UINT),
            ("warpid", ""): Int(collapse(self.linear // 32, self.present), UINT),
        }
        index = (self.linear % bx, self.linear // bx % by, self.linear // (bx * by))
        for axis, lanes, extent, blocks in zip("xyz", index, self.block, grid, strict=True):
            specials["threadIdx", axis] = Int(lanes if extent > 1 else 0, UINT)
            specials["blockDim", axis] = Int(extent, UINT)
            if blocks == 1:
                specials["blockIdx", axis] = Int(0, UINT)
            else:
                high = None if blocks is None else blocks - 1
                specials["blockIdx", axis] = self.unknowns.value(
                    UINT, f"blockIdx.{axis}", low=0, high=high, rank=2
                )
            specials["gridDim", axis] = (
                Int(blocks, UINT)
                if blocks is not None
                else self.unknowns.value(UINT, f"gridDim.{axis}", low=1, rank=2)
            )
        return specials

    # ------------------------------------------------------------------ frames

    @property
    def frame(self) -> Frame:
        return self.frames[-1]

    @property
    def bindings(self) -> Bindings:
        return self.frames[-1].bindings

    def find(self, id: str) -> Object | None:
        """The object of a variable visible here."""
        frame: Frame | None = self.frames[-1]
        while frame is not None:
            found = frame.variables.get(id)
            if found is not None:
                return found
            frame = frame.parent
        return self.globals.get(id)

    def constant(self, expr: Expr, bindings: Bindings) -> int | None:
        """The number an expression folds to, or None."""
        from smemlint.evaluate.expressions import rvalue

        if isinstance(expr, Literal):
            return expr.value
        own = bindings is self.bindings
        if not own:
            self.frames.append(Frame(bindings))
        self.silent += 1
        try:
            v = rvalue(self, expr)
        except BudgetExceededError:
            raise
        finally:
            self.silent -= 1
            if not own:
                self.frames.pop()
        if isinstance(v, Int) and v.known:
            c = collapse(v.const, self.present)
            return c if isinstance(c, int) else None
        return None

    def resolve(self, t: Type) -> Type:
        return self.types.resolve(t, self.bindings)

    def enter(self, frame: Frame, f: Function) -> None:
        """Set up what can be skipped in a function, given where its arguments point."""
        pointing = frozenset(id for id, o in frame.variables.items() if _may_be_shared(o))
        key = (f.id, pointing)
        if key not in self.slices:
            self.slices[key] = self.slicer(f, pointing)
        frame.skippable = self.slices[key].skippable
        frame.quiet = self.slices[key].quiet
        frame.sets = self.slices[key].sets
        frame.open = self.slices[key].open if self.explore else None
        frame.instance = tuple(
            (id, b.const if isinstance(b, Int) and isinstance(b.const, int) else str(b))
            for id, b in sorted(frame.bindings.items())
        )

    def forget(self, ids: frozenset[str]) -> None:
        """Variables that a skipped statement would have set are unknown from here on."""
        for id in ids:
            o = self.find(id)
            if o is None or o.storage != "local":
                continue
            target = o.cells.get(0)
            if isinstance(o.type, PointerTo) and isinstance(target, Pointer):
                o = target.object
            if o.storage == "local" and not (o.havoc and not o.cells):
                o.cells = {}
                o.havoc = True
                o.uniform = False

    def anyone(self) -> bool:
        """Whether some lane is active."""
        return self.may is self.present or bool(self.may.any())

    def step(self) -> None:
        self.steps += 1
        if self.steps > self.budget.steps:
            raise BudgetExceededError(f"stopped after {self.budget.steps} evaluation steps")

    def note(self, code: str, text: str, at: Place | None = None) -> Unresolved:
        reason = Unresolved(code, text, at)
        if not self.silent and reason not in self.notes:
            self.notes.append(reason)
        return reason

    # ------------------------------------------------------------------ unknown values

    def unknown(
        self,
        t: Type,
        name: str,
        *,
        uniform: bool,
        reason: Unresolved | None = None,
        rank: int = 0,
        size: bool = False,
    ) -> Value:
        """Some value of a resolved type; `size`: taken as a non-negative problem size."""
        if isinstance(t, Scalar):
            if t.kind == "float" or t.kind == "void":
                return Other(t, uniform, reason)
            low: int | None = None
            high: int | None = None
            if t.kind == "bool":
                low, high = 0, 1
            elif t.kind == "uint":
                low, high = 0, (1 << (8 * t.size)) - 1 if t.size < 4 else None
            elif t.size < 4:
                low, high = -(1 << (8 * t.size - 1)), (1 << (8 * t.size - 1)) - 1
            elif size:
                low = 0
            return self.unknowns.value(
                t, name, varying=not uniform and not self.host, low=low, high=high, rank=rank, reason=reason
            )
        if isinstance(t, PointerTo):
            return Pointer(Object(f"global:{name}", name, t.to, "global"), Int(0), t.to)
        if isinstance(t, RecordRef):
            return RecordValue(t, {})
        return Other(t, uniform, reason)

    # ------------------------------------------------------------------ memory

    def declare(self, var: Var, t: Type, *, storage: str = "local") -> Object:
        o = Object(var.id, var.name, t, storage, var)
        self.frame.variables[var.id] = o
        return o

    def load(self, p: Pointer, place: Place | None, node: Expr | None = None) -> Value:
        """The value at an address; an access if it lies in shared memory. node: what decides its line."""
        t = p.pointee
        o = p.object
        if isinstance(t, ArrayOf):
            return Pointer(o, p.offset, t.element)
        if o.storage == "local":
            return self._read_cells(p, t, place)
        self.touched += 1
        if o.storage == "shared":
            self._record_typed("load", p, t, place, node)
        return self._loaded(p, t, place)

    def _loaded(self, p: Pointer, t: Type, place: Place | None) -> Value:
        uniform = p.offset.uniform and not self.host
        key = ("load", id(p.object), p.offset.key(), t) if uniform or self.host else None
        if key is not None and isinstance(t, Scalar) and t.kind not in ("float", "void"):
            symbol = self.unknowns.memo.get(key)
            if symbol is not None:
                return Int(0, t, {(symbol,): 1})
        reason = None
        if not uniform:
            reason = Unresolved("data-dependent", f"depends on values loaded from `{p.object.name}`", place)
        v = self.unknown(t, f"{p.object.name}[...]", uniform=uniform, reason=reason, rank=3 if uniform else 0)
        if key is not None and isinstance(v, Int) and len(v.terms) == 1:
            self.unknowns.memo[key] = next(iter(v.terms))[0]
        return v

    def _read_cells(self, p: Pointer, t: Type, place: Place | None) -> Value:
        o = p.object
        at = self.known_offset(p)
        if at is None:
            return self._gather(p, t, place)
        if isinstance(t, RecordRef):
            size = self.types.size_of(t)
            if size is None:
                whole = o.cells.get(at)
                return whole if whole is not None else RecordValue(t, {})
            if at in o.cells and not isinstance(o.cells[at], Int | Pointer | Other):
                return o.cells[at]
            return RecordValue(t, {k - at: v for k, v in o.cells.items() if at <= k < at + size})
        v = o.cells.get(at)
        if v is None:
            if o.havoc or o.var is None or o.var.storage != "local":
                return self._untracked(p, t, place)
            return self.unknown(
                t,
                o.name,
                uniform=False,
                reason=Unresolved("uninitialised", f"`{o.name}` is read before it is set", place),
            )
        if isinstance(v, Int) and isinstance(t, Scalar):
            if t.kind == "float":
                return Other(t, v.uniform)
            if t.size != v.type.size:
                return self.unknown(
                    t,
                    o.name,
                    uniform=v.uniform,
                    reason=Unresolved("untracked-local", f"`{o.name}` is read in parts", place),
                )
            return v.typed(t) if t.kind != "bool" else v
        if isinstance(v, Other) and isinstance(t, Scalar) and t.kind not in ("float", "void"):
            return self.unknown(t, o.name, uniform=v.uniform, reason=v.reason)
        return v

    def _untracked(self, p: Pointer, t: Type, place: Place | None) -> Value:
        """A part of an object that was set elsewhere; the same part always gives the same unknown."""
        o = p.object
        reason = Unresolved("untracked-local", f"`{o.name}` has a value that is not followed", place)
        v = self.unknown(
            t, o.name, uniform=o.uniform, reason=reason, rank=3 if o.uniform else 0, size=o.uniform
        )
        at = self.known_offset(p)
        if at is not None and o.uniform and isinstance(v, Int | Pointer):
            o.cells[at] = v
        return v

    def known_offset(self, p: Pointer) -> int | None:
        if p.offset.terms:
            return None
        c = p.offset.const
        if not isinstance(c, int):
            c = collapse(c, self.may)
        return c if isinstance(c, int) else None

    def _gather(self, p: Pointer, t: Type, place: Place | None) -> Value:
        """Each lane reads its own element of a local array."""
        o = p.object
        offsets = p.offset.const
        if p.offset.known and not isinstance(offsets, int):
            result: Value | None = None
            for at in np.unique(offsets[self.may]).tolist():
                v = o.cells.get(at)
                if v is None or not isinstance(v, Int):
                    result = None
                    break
                result = v if result is None else select(Int((offsets == at).astype(np.int64)), v, result)  # type: ignore[arg-type]
            if result is not None:
                return result
        bounds = [v for v in o.cells.values() if isinstance(v, Int)]
        uniform = p.offset.uniform and all(v.uniform for v in bounds)
        if uniform and bounds and len(bounds) == len(o.cells) and not o.havoc and isinstance(t, Scalar):
            return self._one_of(bounds, t, o.name)
        if p.offset.uniform and o.cells and all(isinstance(v, Pointer) for v in o.cells.values()):
            return self._one_pointer(list(o.cells.values()), o.name)
        return self.unknown(
            t,
            f"{o.name}[...]",
            uniform=uniform,
            reason=Unresolved("local-array", f"`{o.name}` is read at an index that is not known", place),
        )

    def _one_of(self, options: list[Int], t: Scalar, name: str) -> Value:
        """One of a few uniform numbers, which one is not known."""
        from math import gcd

        first = options[0]
        if all(v.known and isinstance(v.const, int) for v in options):
            numbers = [v.const for v in options if isinstance(v.const, int)]
            step = 0
            for n in numbers:
                step = gcd(step, n - numbers[0])
            if step == 0:
                return first
            low, high = min(numbers), max(numbers)
            s = self.unknowns.fresh(f"{name}[...]", low=0, high=(high - low) // step)
            return Int(low, t, {(s,): step})
        return self.unknown(t, f"{name}[...]", uniform=True)

    def _one_pointer(self, options: list[Value], name: str) -> Value:
        """One of a few pointers; into one object they differ by a uniform unknown."""
        result = options[0]
        for v in options[1:]:
            result = self.merge(
                Int(0, INT, {(self.unknowns.fresh(f"which {name}", low=0, high=1),): 1}), v, result
            )
        return result

    def store(self, p: Pointer, v: Value, place: Place | None, node: Expr | None = None) -> None:
        t, o = p.pointee, p.object
        if o.storage != "local":
            self.touched += 1
        if o.storage == "shared":
            self._record_typed("store", p, t, place, node)
            if isinstance(v, Pointer) and v.object.storage == "shared":
                v.object.escapes = True
            return
        if o.storage != "local":
            if isinstance(v, Pointer) and v.object.storage == "shared":
                v.object.escapes = True
            return
        at = self.known_offset(p)
        if at is None:
            self._scatter(p, v)
        else:
            self.write_cell(o, at, v, t)

    def write_cell(self, o: Object, at: int, v: Value, t: Type) -> None:
        """Set a cell of a local object for the lanes of the mask."""
        if isinstance(v, RecordValue):
            size = self.types.size_of(v.type)
            if size is not None and size <= 4096:
                for k in [k for k in o.cells if at <= k < at + size and k - at not in v.cells]:
                    del o.cells[k]
                    o.havoc = True
                if not v.cells:
                    o.havoc = True
                for k, leaf in v.cells.items():
                    self._set(o, at + k, leaf)
                return
        self._set(o, at, v)

    def _set(self, o: Object, at: int, v: Value) -> None:
        old = o.cells.get(at)
        if old is None or self.may is self.present or same(old, v):
            o.cells[at] = v
            return
        o.cells[at] = self.masked(v, old)

    def masked(self, new: Value, old: Value) -> Value:
        """`new` in the lanes of the mask, `old` elsewhere."""
        if self.may.sum() == self.present.sum():
            return new
        return self.merge(Int(self.may.astype(np.int64)), new, old)

    def merge(self, c: Int, new: Value, old: Value) -> Value:
        """c ? new : old for a 0/1 value c of any kind."""
        if same(new, old):
            return new
        if self.defaults and not c.known and known_number(new) != known_number(old):
            # `int n = 1024; if (argc > 1) n = atoi(argv[1]);`: what the program does when told nothing
            return new if known_number(new) else old
        if isinstance(new, Int) and isinstance(old, Int):
            if too_long(c, new, old):
                return one_of_two(c, new, old, self.unknowns)
            return select(c, new, old)
        if isinstance(new, Pointer) and isinstance(old, Pointer):
            if new.object is old.object:
                offset = self.merge(c, new.offset, old.offset)
                assert isinstance(offset, Int)
                return Pointer(new.object, offset, new.pointee, new.integer)
            return new if new.object.storage == "shared" or old.object.storage != "shared" else old
        if isinstance(new, RecordValue) and isinstance(old, RecordValue):
            keys = new.cells.keys() & old.cells.keys()
            return RecordValue(new.type, {k: self.merge(c, new.cells[k], old.cells[k]) for k in keys})
        if isinstance(new, FunctionValue | Closure | Method):
            return new
        uniform = (
            isinstance(new, Other) and isinstance(old, Other) and new.uniform and old.uniform and c.uniform
        )
        return Other(getattr(new, "type", None), uniform)

    def _scatter(self, p: Pointer, v: Value) -> None:
        o = p.object
        offsets = p.offset.const
        if p.offset.known and not isinstance(offsets, int):
            keep = self.may
            for at in np.unique(offsets[keep]).tolist():
                self.may = keep & (offsets == at)
                self._set(o, at, v)
            self.may = keep
            return
        size = self.types.size_of(p.pointee) or 1
        uniform = p.offset.uniform and (isinstance(v, Other) or (isinstance(v, Int) and v.uniform))
        for at in list(o.cells):
            old = o.cells[at]
            if isinstance(old, Int) and isinstance(v, Int) and uniform and old.uniform:
                o.cells[at] = self._one_of([old, v], old.type, o.name)
            elif not isinstance(old, Other):
                o.cells[at] = Other(None, False)
        o.uniform = uniform
        o.havoc = True
        del size

    # ------------------------------------------------------------------ accesses

    def _record_typed(self, op: str, p: Pointer, t: Type, place: Place | None, node: Expr | None) -> None:
        """An access of a whole value: split the way the compiler moves it."""
        size = self.types.size_of(t)
        if size is None:
            self.record(
                op,
                0,
                p,
                place,
                reason=Unresolved("unknown-size", "the accessed type has an unknown size", place),
            )
            return
        if isinstance(t, Scalar | PointerTo) or (
            is_vector(t) and self.types.align_of(t) == size and size <= 16
        ):
            self.record(op, size, p, place, node=node)
            return
        width = min(self.types.align_of(t) or 1, 16)
        at = 0
        while at < size:
            w = width
            while w > size - at:
                w //= 2
            self.record(op, w, Pointer(p.object, Int_add(p.offset, at), t), place, node=node)
            at += w

    def record(
        self,
        op: str,
        width: int,
        p: Pointer,
        place: Place | None,
        *,
        matrices: int = 1,
        reason: Unresolved | None = None,
        mask: Mask | None = None,
        node: Expr | None = None,
        copied: Copied | None = None,
    ) -> None:
        """Log one access by the lanes of the mask. node: the expression whose end decides its line;
        copied: where a cp.async past L1 reads."""
        if self.silent or place is None or p.object.storage != "shared":
            return
        may = self.may if mask is None else self.may & mask
        if not may.any():
            return
        key = (
            place.path,
            place.line,
            place.column,
            place.offset,
            place.end_offset,
            op,
            width,
            matrices,
            p.object.id,
        )
        log = self.sites.get(key)
        if log is None:
            via = tuple(f.call for f in reversed(self.frames) if f.call is not None)
            log = self.sites[key] = SiteLog(place, line_of(node, place), op, width, matrices, p.object, via)
        if reason is not None:
            log.reason = log.reason or reason
        self.addresses += self.size
        if self.addresses > self.budget.addresses:
            raise BudgetExceededError(f"stopped after {self.budget.addresses} recorded addresses")
        must = self.must if mask is None else self.must & mask
        event = Event(
            log, p.offset, must, may, self.weight, self.region, self.order, self.flow, p.object.volatile
        )
        event.copied = copied
        log.events.append(event)
        self.log.append(event)
        self.order += 1

    def barrier(self) -> None:
        """A synchronisation or fence."""
        if not self.silent:
            self.log.append(Barrier(self.region, self.order))
            self.order += 1
        self.flow += 1
        self.straight()

    def straight(self) -> None:
        """What follows is no longer in one straight line with what was before."""
        self.regions += 1
        self.region = self.regions


def known_number(v: Value) -> bool:
    return isinstance(v, Int) and v.known and isinstance(v.const, int)


def _may_be_shared(o: Object) -> bool:
    """Whether a parameter may lead to shared memory."""
    if o.havoc and isinstance(o.type, RecordRef) and o.var is not None and o.var.storage == "param":
        return any(isinstance(v, Pointer) and v.object.storage == "shared" for v in o.cells.values())
    for v in o.cells.values():
        if isinstance(v, Pointer):
            if v.object.storage == "shared":
                return True
            if v.object.storage == "local" and any(
                isinstance(c, Pointer | Closure) for c in v.object.cells.values()
            ):
                return True
        elif isinstance(v, Closure | Method | RecordValue | FunctionValue):
            return True
    return False


def Int_add(a: Int, n: int) -> Int:  # noqa: N802 - reads as a constructor
    return a if n == 0 else Int(a.const + n, a.type, a.terms)


def variables_of(frames: Mapping[str, Object]) -> dict[str, dict[int, Value]]:
    return {k: dict(o.cells) for k, o in frames.items()}


__all__ = [
    "BYTE",
    "Budget",
    "BudgetExceededError",
    "Event",
    "Frame",
    "Int_add",
    "Machine",
    "Mask",
    "Monomial",
    "SiteLog",
]
