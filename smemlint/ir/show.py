"""Expressions, types and statements as compact C-like text, for reasons and tests."""

from __future__ import annotations

from smemlint.ir.nodes import (
    ArrayOf,
    Asm,
    Assign,
    Binary,
    Block,
    Break,
    Call,
    Cast,
    Conditional,
    Construct,
    Continue,
    Declare,
    Evaluate,
    Expr,
    FloatLiteral,
    Fold,
    FunctionRef,
    FunctionType,
    Goto,
    If,
    Index,
    InitList,
    Labeled,
    Lambda,
    LaunchStmt,
    Literal,
    Loop,
    Member,
    MemberType,
    Name,
    ObjectRef,
    OpaqueType,
    PackSize,
    Part,
    PointerTo,
    RecordRef,
    Return,
    Scalar,
    SizeOf,
    Special,
    StaticMember,
    Stmt,
    StringLiteral,
    Switch,
    TemplateArgument,
    This,
    Type,
    TypeParam,
    Unary,
    UnknownExpr,
    UnknownStmt,
    Var,
)

_LEVEL = {
    ",": 1, "||": 4, "&&": 5, "|": 6, "^": 7, "&": 8, "==": 9, "!=": 9, "<": 10, ">": 10, "<=": 10, ">=": 10,
    "<<": 11, ">>": 11, "+": 12, "-": 12, "*": 13, "/": 13, "%": 13,
}  # fmt: skip
_ASSIGNMENT, _CONDITIONAL, _UNARY, _POSTFIX = 2, 3, 14, 15
_DEPTH = 100
_TYPES = (
    *(Scalar, Part, PointerTo, ArrayOf, RecordRef, TypeParam),
    *(MemberType, FunctionType, FunctionRef, ObjectRef, OpaqueType),
)


def show(node: Expr | Stmt) -> str:
    """One expression on one line, or a statement over several with two spaces of indent."""
    if isinstance(
        node,
        (
            Declare,
            Evaluate,
            Block,
            If,
            Loop,
            Switch,
            Return,
            Break,
            Continue,
            Labeled,
            Goto,
            LaunchStmt,
            UnknownStmt,
        ),
    ):
        return "\n".join(_lines(node, 0))
    return _expr(node, 0, 0)


def show_type(type_: Type) -> str:
    """A type as one writes it, without a variable's name."""
    element, extents = _apart(type_)
    return _base(element) + extents


def _apart(type_: Type) -> tuple[Type, str]:
    """What an array holds, and its extents as written."""
    extents = ""
    while isinstance(type_, ArrayOf):
        extents += f"[{_expr(type_.extent, 0, 0) if type_.extent is not None else ''}]"
        type_ = type_.element
    return type_, extents


def _base(type_: Type) -> str:
    match type_:
        case Scalar(name):
            return name
        case PointerTo(ArrayOf() as to, reference):
            whole = show_type(to)
            at = whole.index("[")
            return f"{whole[:at]} ({'&' if reference else '*'}){whole[at:]}"
        case PointerTo(to, reference):
            return f"{show_type(to)}{'&' if reference else '*'}"
        case RecordRef(name, arguments):
            return name + _arguments(arguments)
        case TypeParam(_, name):
            return name
        case MemberType(owner, name, arguments):
            return f"{show_type(owner)}::{name}" + _arguments(arguments)
        case Part(of, start, bits):
            return f"{show_type(of)}:{start}+{bits}"
        case FunctionRef(name, _, arguments, of):
            return f"&{show_type(of)}::{name}" if of is not None else f"&{name}" + _arguments(arguments)
        case ObjectRef(of, numbers):
            return f"{show_type(of)}{{{', '.join(_expr(n, 2, 0) for _, n in numbers)}}}"
        case FunctionType(spelling) | OpaqueType(spelling):
            return spelling
        case _:
            return show_type(type_)


def _arguments(arguments: tuple[TemplateArgument, ...]) -> str:
    if not arguments:
        return ""
    return f"<{', '.join(show_type(a) if isinstance(a, _TYPES) else _expr(a, 11, 0) for a in arguments)}>"


def _list(parts: tuple[Expr, ...], depth: int) -> str:
    return ", ".join(_expr(part, _ASSIGNMENT, depth) for part in parts)


def _expr(node: Expr, level: int, depth: int) -> str:
    """Text of an expression; in parentheses when its operator binds weaker than `level`."""
    if depth > _DEPTH:
        return "..."
    text, own = _parts(node, depth + 1)
    return f"({text})" if own < level else text


def _parts(node: Expr, depth: int) -> tuple[str, int]:
    """An expression as text, and how tightly its outermost operator binds."""
    return _atom(node) or _operation(node, depth) or _postfix(node, depth)


def _atom(node: Expr) -> tuple[str, int] | None:
    """What holds no other expression; None for all else."""
    match node:
        case Literal(value, type_):
            return _literal(value, type_), _POSTFIX if value >= 0 else _UNARY
        case FloatLiteral(value, type_):
            return f"{value!r}{'f' if type_.size == 4 else ''}", _POSTFIX
        case StringLiteral(value):
            return value, _POSTFIX
        case Name(_, name, _, arguments):
            return name + _arguments(arguments), _POSTFIX
        case Special(name, axis):
            return f"{name}.{axis}" if axis else name, _POSTFIX
        case This():
            return "this", _POSTFIX
        case Lambda(parameters, _):
            return f"[&]({', '.join(_variable(p) for p in parameters)}) {{ ... }}", _POSTFIX
    return None


def _operation(node: Expr, depth: int) -> tuple[str, int] | None:
    """Operators and casts; None for all else."""
    match node:
        case Unary(op, operand):
            if op.startswith("x"):
                return _expr(operand, _POSTFIX, depth) + op[1:], _POSTFIX
            return op.rstrip("x") + _expr(operand, _UNARY, depth), _UNARY
        case Binary(op, left, right):
            own = _LEVEL.get(op, 12)
            space = "" if op == "," else " "
            return f"{_expr(left, own, depth)}{space}{op} {_expr(right, own + 1, depth)}", own
        case Assign(op, target, value_):
            return f"{_expr(target, _UNARY, depth)} {op} {_expr(value_, _ASSIGNMENT, depth)}", _ASSIGNMENT
        case Conditional(condition, then, otherwise):
            first = _expr(condition, _CONDITIONAL + 1, depth)
            rest = f"{_expr(then, 0, depth)} : {_expr(otherwise, _ASSIGNMENT, depth)}"
            return f"{first} ? {rest}", _CONDITIONAL
        case Cast(to, operand, reinterpret):
            if reinterpret:
                return f"reinterpret_cast<{show_type(to)}>({_expr(operand, 0, depth)})", _POSTFIX
            return f"({show_type(to)}){_expr(operand, _UNARY, depth)}", _UNARY
    return None


def _postfix(node: Expr, depth: int) -> tuple[str, int]:
    """Places, calls, lists and what could not be read. Raises TypeError for what is no expression."""
    match node:
        case Index(base, index):
            return f"{_expr(base, _POSTFIX, depth)}[{_expr(index, 0, depth)}]", _POSTFIX
        case Member(base, name, arrow, _, arguments):
            dot = "->" if arrow else "."
            return f"{_expr(base, _POSTFIX, depth)}{dot}{name}{_arguments(arguments)}", _POSTFIX
        case StaticMember(owner, name, _, arguments):
            return f"{show_type(owner)}::{name}{_arguments(arguments)}", _POSTFIX
        case Call(callee, arguments_):
            return f"{_expr(callee, _POSTFIX, depth)}({_list(arguments_, depth)})", _POSTFIX
        case Construct(to, arguments_):
            return f"{show_type(to)}({_list(arguments_, depth)})", _POSTFIX
        case InitList(elements):
            return f"{{{_list(elements, depth)}}}", _POSTFIX
        case PackSize(pack):
            return (
                f"sizeof...({show_type(pack) if isinstance(pack, _TYPES) else _expr(pack, 0, depth)})",
                _POSTFIX,
            )
        case SizeOf(of, align):
            inner = show_type(of) if isinstance(of, _TYPES) else _expr(of, 0, depth)
            return f"{'alignof' if align else 'sizeof'}({inner})", _POSTFIX
        case Asm(text, outputs, inputs):
            first = text.strip().split("\n")[0]
            return f'asm("{first}" : {_list(outputs, depth)} : {_list(inputs, depth)})', _POSTFIX
        case Fold(op, pattern, init, left):
            if init is not None:
                return f"({_list((init,), depth)} {op} ... {op} {_list((pattern,), depth)})", _POSTFIX
            shown = _list((pattern,), depth)
            return (f"(... {op} {shown})" if left else f"({shown} {op} ...)"), _POSTFIX
        case UnknownExpr(reason, parts):
            return f"<{reason}>" + (f"({_list(parts, depth)})" if parts else ""), _POSTFIX
    raise TypeError(type(node).__name__)


def _literal(value: int, type_: Scalar) -> str:
    if type_.kind == "bool":
        return "true" if value else "false"
    suffix = ("u" if type_.kind == "uint" and type_.size >= 4 else "") + ("ll" if type_.size == 8 else "")
    return f"{value}{suffix}"


def _variable(var: Var) -> str:
    storage = {"shared": "__shared__ ", "extern_shared": "extern __shared__ ", "static": "static "}.get(
        var.storage, ""
    )
    type_, suffix = _apart(var.type)
    align = f"alignas({_expr(var.align, 0, 0)}) " if var.align is not None else ""
    init = f" = {_expr(var.init, _ASSIGNMENT, 0)}" if var.init is not None else ""
    return f"{storage}{align}{show_type(type_)} {var.name}{suffix}{init}"


def _lines(stmt: Stmt, depth: int) -> list[str]:
    pad = "  " * depth
    if depth > _DEPTH:
        return [f"{pad}..."]
    match stmt:
        case Declare(var):
            return [f"{pad}{_variable(var)};"]
        case Evaluate(expr):
            return [f"{pad}{_expr(expr, 0, 0)};"]
        case Block(body):
            return [f"{pad}{{", *(line for s in body for line in _lines(s, depth + 1)), f"{pad}}}"]
        case If(condition, then, otherwise, constexpr):
            head = f"{pad}if{' constexpr' if constexpr else ''} ({_expr(condition, 0, 0)})"
            rest = [] if otherwise is None else [f"{pad}else", *_lines(otherwise, depth + 1)]
            return [head, *_lines(then, depth + 1), *rest]
        case Loop():
            return _loop(stmt, depth)
        case Switch(value, cases):
            lines = [f"{pad}switch ({_expr(value, 0, 0)})"]
            for case in cases:
                label = "default" if case.value is None else f"case {_expr(case.value, 0, 0)}"
                lines.append(f"{pad}{label}:")
                lines.extend(line for s in case.body for line in _lines(s, depth + 1))
            return lines
        case Return(value_):
            return [f"{pad}return{'' if value_ is None else ' ' + _expr(value_, 0, 0)};"]
        case Break():
            return [f"{pad}break;"]
        case Continue():
            return [f"{pad}continue;"]
        case Goto(label):
            return [f"{pad}goto {label};"]
        case Labeled(label, body, again):
            inner = _lines(body, depth)
            return [f"{pad}{label}:", *inner] if again else [*inner, f"{pad}{label}:"]
        case LaunchStmt(kernel, grid, block, dynamic, arguments, _, array):
            shape = ", ".join(
                "?" if part is None else _expr(part, _ASSIGNMENT, 0) for part in (grid, block, dynamic)
            )
            passed = _list(arguments, 0) if array is None else "*" + _expr(array, _POSTFIX, 0)
            return [f"{pad}{_expr(kernel, _POSTFIX, 0)}<<<{shape}>>>({passed});"]
        case UnknownStmt(reason, parts):
            return [f"{pad}<{reason}>", *(line for s in parts for line in _lines(s, depth + 1))]
    raise TypeError(type(stmt).__name__)


def _loop(loop: Loop, depth: int) -> list[str]:
    pad = "  " * depth
    unroll = [] if loop.unroll is None else [f"{pad}#pragma unroll{f' {loop.unroll}' if loop.unroll else ''}"]
    condition = "" if loop.condition is None else _expr(loop.condition, 0, 0)
    if not loop.test_first:
        return [*unroll, f"{pad}do", *_lines(loop.body, depth + 1), f"{pad}while ({condition});"]
    init = "" if loop.init is None else " ".join(line.strip() for line in _lines(loop.init, 0)).rstrip(";")
    step = "" if loop.step is None else _expr(loop.step, 0, 0)
    return [*unroll, f"{pad}for ({init}; {condition}; {step})", *_lines(loop.body, depth + 1)]
