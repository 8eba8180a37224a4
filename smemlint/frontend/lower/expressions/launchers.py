"""Functions that nothing defines and that are given a kernel to start:
`gpu::LaunchKernel(kernel, grid, block, 0, stream, x, n)`."""

from __future__ import annotations

from collections.abc import Sequence

from smemlint.frontend.clang import cursors, kinds
from smemlint.frontend.clang.cursors import Node
from smemlint.frontend.lower.context import Context
from smemlint.ir import (
    STEPS,
    Assign,
    Call,
    Cast,
    Expr,
    FunctionType,
    InitList,
    LaunchStmt,
    Member,
    Name,
    OpaqueType,
    Place,
    PointerTo,
    RecordRef,
    Scalar,
    StaticMember,
    Type,
    TypeParam,
    Unary,
    UnknownExpr,
)
from smemlint.ir.expr import uncast
from smemlint.ir.walk import walk

_DIM3 = RecordRef("dim3")


def handed_on(
    c: Context, callee: Expr, nodes: Sequence[Node], arguments: Sequence[Expr], place: Place | None
) -> LaunchStmt | None:
    """The launch that a call stands for, whose arguments are a kernel, its shape (two dim3, or numbers where
    all the rest is there, too) and what the kernel takes, with the dynamic size and a stream between; None
    for any other call."""
    if place is None or len(arguments) < LEAST or not isinstance(callee, Name | Member | StaticMember):
        return None
    if isinstance(callee, Name) and callee.id:
        return None
    for at in range(min(len(arguments), len(nodes)) - 2):
        kernel = without_casts(arguments[at])
        takes = _parameters_of(c, kernel.name) if isinstance(kernel, Name) else set()
        if not takes or not (_shapes(c, nodes[at + 1 :]) or _whole_launch(c, nodes[at + 1 :], takes)):
            continue
        if not isinstance(callee, Name) and _has_body(c, callee.name):
            return None
        grid, block, *rest = arguments[at + 1 :]
        between = max(len(rest) - max(takes), 0)
        dynamic = rest[0] if between >= DYNAMIC_AND_STREAM else UnknownExpr("launch", (), place)
        passed = tuple(rest[between:]) if takes == {len(rest) - between} else ()
        return LaunchStmt(kernel, grid, block, dynamic, passed, place)
    return _by_address(c, callee, nodes, arguments, place)


def _shapes(c: Context, nodes: Sequence[Node]) -> bool:
    """Whether two dim3 follow a kernel."""
    return all(c.types.of(n) == _DIM3 for n in nodes[:2])


def _whole_launch(c: Context, nodes: Sequence[Node], takes: set[int]) -> bool:
    """Whether all of a launch follows a kernel, and nothing else: its shape, which may be of numbers, the
    size of dynamic memory, a stream, and as many arguments as the kernel takes."""
    if {len(nodes) - 4} != takes:
        return False
    *numbers, stream = (c.types.of(n) for n in nodes[:4])
    return not isinstance(stream, Scalar) and all(
        (isinstance(t, Scalar) and t.kind in ("int", "uint")) or t == _DIM3 or isinstance(t, OpaqueType)
        for t in numbers
    )


def _by_address(
    c: Context,
    callee: Name | Member | StaticMember,
    nodes: Sequence[Node],
    arguments: Sequence[Expr],
    place: Place,
) -> LaunchStmt | None:
    """The launch that a call of a function without a body stands for, which is given the address of a kernel
    and two dim3: `node(reinterpret_cast<void *>(f), grid, block, cluster, bytes, pointers)`."""
    types = [c.types.of(n) for n in nodes[:MOST_BEFORE]]
    at = next((i for i in range(len(types) - 2) if types[i + 1] == types[i + 2] == _DIM3), None)
    if at is None or not _leads_anywhere(types[at]) or _has_body(c, callee.name):
        return None
    kernel, grid, block, *rest = arguments[at:]
    numbers = (e for e, n in zip(rest, nodes[at + 3 :], strict=False) if isinstance(c.types.of(n), Scalar))
    dynamic = next(numbers, UnknownExpr("launch", (), place))
    passed = next(filter(None, map(c.decls.argument_array, rest)), ())
    return LaunchStmt(without_casts(kernel), grid, block, dynamic, passed, place)


def _has_body(c: Context, name: str) -> bool:
    """Whether any function or method of a name is defined in what was read."""
    if c.declarations.functions_named.get(name):
        return True
    members = (k for r in c.declarations.records.values() for k in cursors.children(r.node))
    return any(
        k.kind in (kinds.METHOD, kinds.FUNCTION_TEMPLATE)
        and cursors.spelling(k) == name
        and cursors.is_definition(k)
        for k in members
    )


def _leads_anywhere(t: Type) -> bool:
    """Whether a type is one under which any kernel's address can be handed on."""
    if isinstance(t, PointerTo) and not t.reference:
        return isinstance(t.to, TypeParam | FunctionType) or (
            isinstance(t.to, Scalar) and t.to.kind == "void"
        )
    return isinstance(t, TypeParam | FunctionType)


LEAST = 3
"""Arguments of what starts a kernel."""
MOST_BEFORE = 8
"""Arguments among which a kernel and its shape are looked for."""
DYNAMIC_AND_STREAM = 2
"""What stands between shape and arguments where the size of dynamic memory does."""


def _parameters_of(c: Context, name: str) -> set[int]:
    """How many parameters the kernels of a name have; empty where it is no kernel's."""
    counts: set[int] = set()
    for found in c.declarations.functions_named.get(name.rsplit("::", 1)[-1], ()):
        kids = cursors.children(found.node)
        if any(k.kind == kinds.GLOBAL_ATTRIBUTE for k in kids):
            counts.add(sum(k.kind == kinds.PARAMETER for k in kids))
    return counts


def changes(expr: Expr) -> bool:
    """Return whether an expression may change something: it steps, assigns, or calls the program's own."""
    return any(
        isinstance(n, Assign)
        or (isinstance(n, Unary) and n.op in STEPS)
        or (isinstance(n, Call) and not (isinstance(n.callee, Name) and not n.callee.id))
        for n in walk(expr)
    )


def without_casts(expr: Expr) -> Expr:
    """Return what a cast, or `&`, is applied to."""
    while isinstance(expr, Cast) or (isinstance(expr, Unary) and expr.op == "&"):
        expr = expr.operand
    return expr


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
