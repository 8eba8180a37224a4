"""The block shape that a kernel's own code implies: shared arrays that are indexed by threadIdx itself."""

from __future__ import annotations

from collections.abc import Mapping

import smemlint.evaluate.run.evaluators  # noqa: F401  says which function runs what
from smemlint.evaluate.kernel import bind_kernel
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.types.spelling import dims_of
from smemlint.ir import (
    Binary,
    Cast,
    Conditional,
    Declare,
    Expr,
    Function,
    If,
    Index,
    Launch,
    Literal,
    Module,
    Name,
    Special,
    TemplateValue,
)
from smemlint.ir.walk import nodes_of, walk


def implied_blocks(
    kernel: Function, module: Module, template: Mapping[str, TemplateValue], axes: str
) -> list[tuple[tuple[int, int, int], str]]:
    """At most one shape, with its reason: `tile[16][17]` indexed by `[threadIdx.y][threadIdx.x]` implies
    (16, 16)."""
    m = Machine(module, (1, 1, 1), host=True)
    m.frame.bindings = bind_kernel(kernel, Launch((1, 1, 1), template=template))
    m.frame.function = kernel
    dims: dict[str, tuple[str, tuple[int | None, ...]]] = {}
    aliases: dict[str, Expr] = {}
    for node in nodes_of(kernel.body):
        if isinstance(node, Declare):
            if node.var.storage == "shared":
                dims[node.var.id] = (node.var.name, dims_of(m.resolve(node.var.type))[0])
            elif node.var.init is not None:
                aliases[node.var.id] = node.var.init
    for variable, var in module.globals.items():
        if var.storage == "shared":
            dims[variable] = (var.name, dims_of(m.resolve(var.type))[0])
    found: dict[str, tuple[int, str]] = {}
    of_some = _of_some_threads(kernel, aliases)
    for node in nodes_of(kernel.body):
        if not isinstance(node, Index) or id(node) in of_some:
            continue
        indices: list[Expr] = []
        base: Expr = node
        while isinstance(base, Index):
            indices.insert(0, base.index)
            base = base.base
        if not isinstance(base, Name) or base.id not in dims:
            continue
        name, extents = dims[base.id]
        if len(extents) != len(indices):
            continue
        for index, extent in zip(indices, extents, strict=True):
            axis, offset = _thread_axis(index, aliases)
            if axis and extent is not None:
                n = _round(extent - offset)
                if axis not in found or n > found[axis][0]:
                    text = name + "".join("[]" if e is None else f"[{e}]" for e in extents)
                    found[axis] = (n, f"implied by {text}")
    if "x" not in found or any(a not in found for a in axes):
        return []
    x, y, z = (found[a][0] if a in found else 1 for a in "xyz")
    if not 1 <= x * y * z <= 1024 or x * y * z < 8:
        return []
    return [((x, y, z), found["x"][1])]


def _of_some_threads(kernel: Function, aliases: Mapping[str, Expr]) -> set[int]:
    """id() of what only some threads of each block run: `if (threadIdx.x < 32) s[threadIdx.x] = 0;`."""
    found: set[int] = set()
    for node in nodes_of(kernel.body):
        if isinstance(node, If | Conditional) and _chooses_threads(node.condition, aliases):
            found.update(id(n) for n in walk(node.then))
    return found


def _chooses_threads(e: object, aliases: Mapping[str, Expr], depth: int = 0) -> bool:
    """Whether a condition compares the place in the block, and not that in the grid."""
    nodes = list(walk(e))
    beyond = [aliases[n.id] for n in nodes if isinstance(n, Name) and n.id in aliases] if depth < 4 else []
    special = {n.name for n in nodes if isinstance(n, Special)}
    return "blockIdx" not in special and (
        "threadIdx" in special or any(_chooses_threads(x, aliases, depth + 1) for x in beyond)
    )


def _round(extent: int) -> int:
    """The power of two or multiple of 32 that a padded or haloed extent stands for."""
    for pad in range(9):
        n = extent - pad
        if n > 0 and (n & (n - 1) == 0 or n % 32 == 0):
            return n
    return max(extent, 1)


def _thread_axis(e: Expr, aliases: Mapping[str, Expr], depth: int = 0) -> tuple[str, int]:
    """The axis when e is threadIdx.axis, plus a constant; ('', 0) otherwise."""
    if isinstance(e, Special) and e.name == "threadIdx":
        return e.axis, 0
    if isinstance(e, Cast):
        return _thread_axis(e.operand, aliases, depth)
    if isinstance(e, Name) and e.id in aliases and depth < 4:
        return _thread_axis(aliases[e.id], aliases, depth + 1)
    if isinstance(e, Binary) and e.op == "+":
        for a, b in ((e.left, e.right), (e.right, e.left)):
            if isinstance(b, Literal):
                axis, offset = _thread_axis(a, aliases, depth)
                return (axis, offset + b.value) if axis else ("", 0)
    return "", 0
