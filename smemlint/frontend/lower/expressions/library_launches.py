"""Kernels that calls of the run-time library or of the driver start: `cudaLaunchKernel` and its relations."""

from __future__ import annotations

from smemlint.frontend.lower.expressions.launchers import without_casts
from smemlint.ir import Cast, Expr, InitList, LaunchStmt, Member, Place, Unary
from smemlint.ir.expr import uncast

_BY_ARRAY = ("cudaLaunchKernel", "cudaLaunchCooperativeKernel")
_BY_CONFIGURATION = ("cudaLaunchKernelEx", "cudaLaunchKernelExC")
_NODES = {
    "cudaGraphAddKernelNode": 4,
    "cudaGraphKernelNodeSetParams": 1,
    "cudaGraphExecKernelNodeSetParams": 2,
}
"""Which argument says what a kernel node of a graph starts."""
_OF_DRIVER = "cuLaunchKernel"
LAUNCHERS = frozenset((*_BY_ARRAY, *_BY_CONFIGURATION, *_NODES, _OF_DRIVER))
_NEEDED = {**_NODES, **dict.fromkeys(_BY_ARRAY, 3), **dict.fromkeys(_BY_CONFIGURATION, 1), _OF_DRIVER: 7}
"""The last argument without which nothing is known."""


def library_launch(name: str, given: tuple[Expr, ...], place: Place) -> tuple[LaunchStmt, ...]:
    """Return the launch that a call of one of `LAUNCHERS` stands for; none where arguments are missing."""
    if len(given) <= _NEEDED[name]:
        return ()
    passed: tuple[Expr, ...] = ()
    array = None
    if name in _NODES:
        node = given[_NODES[name]]
        kernel: Expr = _member(node, "func", place)
        grid, block, dynamic = _shape(node, "sharedMemBytes", place)
        array = _member(node, "kernelParams", place)
    elif name in _BY_CONFIGURATION:
        kernel, passed = without_casts(given[1]), given[2:]
        grid, block, dynamic = _shape(given[0], "dynamicSmemBytes", place)
        if name != _BY_CONFIGURATION[0]:
            passed, array = (), next(iter(passed), None)
    elif name == _OF_DRIVER:
        kernel, dynamic = given[0], given[7]
        grid, block = InitList(given[1:4]), InitList(given[4:7])
        array = next(iter(given[9:]), None)
    else:
        kernel, (grid, block, array) = without_casts(given[0]), given[1:4]
        dynamic = next(iter(given[4:]), None)
    return (
        LaunchStmt(kernel, grid, block, dynamic, passed, place, None if array is None else uncast(array)),
    )


def _shape(config: Expr, dynamic: str, place: Place) -> tuple[Expr, Expr, Expr | None]:
    return (
        _member(config, "gridDim", place),
        _member(config, "blockDim", place),
        _member(config, dynamic, place),
    )


def _member(pointer: Expr, name: str, place: Place) -> Expr:
    return Member(_pointee(pointer), name, False, place)


def _pointee(expr: Expr) -> Expr:
    """What `&config` points to."""
    if isinstance(expr, Unary) and expr.op == "&":
        return expr.operand
    return expr if not isinstance(expr, Cast) else _pointee(expr.operand)
