"""Kernels that a file starts and that no file which was read defines: nothing is known of them."""

from __future__ import annotations

from collections.abc import Iterator

from smemlint.ir import Cast, Declare, Function, Lambda, LaunchStmt, Module, Name, Place, Unary
from smemlint.ir.walk import nodes_of


def missing_kernels(module: Module, path: str) -> tuple[tuple[str, Place], ...]:
    """Name and first launch of each, of the launches that are written in one file."""
    found: dict[str, Place] = {}
    for f in module.functions.values():
        if f.side in ("host", "both"):
            for name, place in _launched(module, f):
                if place.path == path:
                    found.setdefault(name, place)
    return tuple(found.items())


def _launched(module: Module, f: Function) -> Iterator[tuple[str, Place]]:
    local: set[str] | None = None
    for n in nodes_of(f.body):
        if not isinstance(n, LaunchStmt):
            continue
        kernel = n.kernel
        while isinstance(kernel, Cast | Unary):
            kernel = kernel.operand
        if not isinstance(kernel, Name) or kernel.id:
            continue
        name = kernel.name.rsplit("::", 1)[-1]
        local = _locals(f) if local is None else local
        if name and name not in module.overloads and name not in local:
            yield kernel.name, n.place


def _locals(f: Function) -> set[str]:
    """Names of what a function declares: a pointer to a kernel is none."""
    names = {p.name for p in f.parameters} | {p.name for p in f.template}
    for n in nodes_of(f.body):
        if isinstance(n, Declare):
            names.add(n.var.name)
        elif isinstance(n, Lambda):
            names.update(p.name for p in n.parameters)
    return names
