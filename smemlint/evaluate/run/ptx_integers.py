"""What PTX's integer instructions compute: at the width and sign that the instruction names."""

from __future__ import annotations

from smemlint.evaluate.analysis.ptx import PtxCompute
from smemlint.evaluate.language.conversions import as_int
from smemlint.evaluate.library.builtins import smaller_or_larger
from smemlint.evaluate.library.integers import (
    IntegerFunction,
    applied,
    field,
    find_last,
    inserted,
    logic,
    named_function,
    shifted,
)
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.memory.merging import merge
from smemlint.evaluate.run.operators import operate
from smemlint.evaluate.values import arithmetic as ar
from smemlint.evaluate.values.number import Int
from smemlint.evaluate.values.value import Other, Pointer, Value
from smemlint.ir import Scalar
from smemlint.ir.types import BOOL, CHAR, INT, LONG, SHORT, UCHAR, UINT, ULONG, USHORT

_ARITHMETIC = {"add": "+", "sub": "-", "div": "/", "rem": "%", "and": "&", "or": "|", "xor": "^"}
_COMPARE = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_SIGNED = {"8": CHAR, "16": SHORT, "32": INT, "64": LONG}
_UNSIGNED = {"8": UCHAR, "16": USHORT, "32": UINT, "64": ULONG}
_MOVES = ("mov", "to_shared", "from_shared")


def scalar(type: str) -> Scalar:
    """A register's type as the instruction takes it: bits without a sign are unsigned."""
    if type == "pred":
        return BOOL
    return (_SIGNED if type[0] == "s" else _UNSIGNED).get(type[1:], ULONG)


def computed(m: Machine, i: PtxCompute, values: list[Value]) -> Value:
    """The result of an instruction; values: its operands."""
    if any(isinstance(v, Pointer) for v in values) or i.operator in _MOVES:
        return _with_address(m, i, values)
    source, result = scalar(i.source_type), scalar(i.type)
    operator, *modes = i.operator.split(".")
    if operator == "selp" and len(values) == 3:
        chosen = ar.truth_of(as_int(m, values[2]), m.unknowns)
        return merge(m, chosen, _typed(m, values[0], result), _typed(m, values[1], result))
    if any(not isinstance(v, Int) for v in values):
        return Other(None, all(isinstance(v, Int | Other) and v.uniform for v in values))
    numbers = [_typed(m, v, source) for v in values]
    if operator == "setp":
        return _compared(m, modes, numbers, values)
    if operator in ("mul", "mad"):
        return _product(m, modes[0], numbers, values, result)
    if operator in ("min", "max"):
        return _typed(m, smaller_or_larger(m, numbers[0], numbers[1], operator), result)
    if operator in _ARITHMETIC:
        return _typed(m, ar.binary(_ARITHMETIC[operator], numbers[0], numbers[1], m.unknowns), result)
    if operator in ("shl", "shr"):
        return _shift(m, operator, numbers[0], _typed(m, values[1], UINT), result)
    if operator in ("cvt", "neg", "not", "cnot"):
        return _unary(m, operator, numbers[0], source, result)
    if operator == "part":
        whole = numbers[0]
        half = ar.binary(">>", whole, Int(8 * result.size), m.unknowns) if _is_one(values[1]) else whole
        return ar.convert(half, result, m.unknowns)
    if operator == "pack":
        low, high = (ar.convert(n, result, m.unknowns) for n in numbers)
        return ar.binary("|", ar.binary("<<", high, Int(8 * source.size), m.unknowns), low, m.unknowns)
    function = _function(operator, modes, source, values)
    return Other(None, False) if function is None else applied(m, i.operator, function, values)


def _typed(m: Machine, v: Value, t: Scalar) -> Int:
    return ar.convert(as_int(m, v), t, m.unknowns)


def _is_one(v: Value) -> bool:
    return isinstance(v, Int) and v.known and v.const == 1


def _with_address(m: Machine, i: PtxCompute, values: list[Value]) -> Value:
    """Moves, and arithmetic on addresses of shared memory, which are followed as pointers."""
    first = values[0] if values else Other()
    if i.operator in (*_MOVES, "cvt"):
        if isinstance(first, Pointer):
            return Pointer(first.object, first.offset, first.pointee, scalar(i.type))
        return first
    if i.operator in _ARITHMETIC and len(values) == 2:
        a, b = (v if isinstance(v, Pointer) else _distance(m, v, i.type) for v in values)
        return operate(m, _ARITHMETIC[i.operator], a, b, None)
    if i.operator == "selp" and len(values) == 3:
        return merge(m, ar.truth_of(as_int(m, values[2]), m.unknowns), values[0], values[1])
    if i.operator in ("mad.lo", "mad.wide") and len(values) == 3:
        product = operate(m, "*", _distance(m, values[0], "s64"), _distance(m, values[1], "s64"), None)
        return operate(m, "+", product, values[2], None)
    if i.operator.startswith("setp.") and len(values) == 2:
        return operate(m, _COMPARE[i.operator.split(".")[1]], values[0], values[1], None)
    uniform = all(isinstance(v, Int | Other) and v.uniform for v in values)
    return Other(None, uniform)


def _distance(m: Machine, v: Value, type: str) -> Value:
    """What is added to an address, with a sign: -16 is 4294967280 in a register."""
    n = as_int(m, v)
    return ar.convert(n, LONG if type.endswith("64") else INT, m.unknowns) if n.known else n


def _compared(m: Machine, modes: list[str], numbers: list[Int], values: list[Value]) -> Int:
    result = ar.compare(_COMPARE[modes[0]], numbers[0], numbers[1], m.unknowns)
    if len(modes) == 1 or len(values) < 3:
        return result
    other = ar.truth_of(as_int(m, values[2]), m.unknowns)
    if modes[1] == "and":
        return ar.logical_and(result, other)
    if modes[1] == "or":
        return ar.logical_or(result, other)
    return ar.compare("!=", result, other, m.unknowns)


def _product(m: Machine, mode: str, numbers: list[Int], values: list[Value], result: Scalar) -> Int:
    a, b = numbers[:2]
    if mode == "hi":
        short = "__umul" if a.type.kind == "uint" else "__mul"
        product = _typed(
            m, applied(m, *named_function(short + ("64hi" if a.type.size == 8 else "hi")), (a, b)), result
        )
    else:
        a, b = ar.convert(a, result, m.unknowns), ar.convert(b, result, m.unknowns)
        product = _typed(m, ar.binary("*", a, b, m.unknowns), result)
    if len(values) < 3:
        return product
    return _typed(m, ar.binary("+", product, _typed(m, values[2], result), m.unknowns), result)


def _shift(m: Machine, operator: str, a: Int, by: Int, result: Scalar) -> Int:
    shifted_value = ar.binary("<<" if operator == "shl" else ">>", a, by, m.unknowns)
    return ar.convert(shifted_value, result, m.unknowns)


def _unary(m: Machine, operator: str, a: Int, source: Scalar, result: Scalar) -> Int:
    if operator == "neg":
        a = ar.binary("-", Int(0, a.type), a, m.unknowns)
    elif operator == "not":
        a = (
            ar.logical_not(a, m.unknowns)
            if source is BOOL
            else ar.binary("^", a, Int(-1, a.type), m.unknowns)
        )
    elif operator == "cnot":
        a = ar.logical_not(ar.truth_of(a, m.unknowns), m.unknowns)
    return ar.convert(a, result, m.unknowns)


_BITS = {"popc": ("__popc", "__popcll"), "clz": ("__clz", "__clzll"), "brev": ("__brev", "__brevll")}


def _function(operator: str, modes: list[str], t: Scalar, values: list[Value]) -> IntegerFunction | None:
    """What computes an instruction on bits, by its operands' numbers; None for one that is not known."""
    bits, signed = 8 * t.size, t.kind == "int"
    if operator in _BITS:
        return named_function(_BITS[operator][bits == 64])[1]
    if operator == "bfe":
        return IntegerFunction(lambda x, at, n: field(x, at, n, signed, bits), (t, UINT, UINT), t)
    if operator == "bfi":
        return IntegerFunction(lambda x, y, at, n: inserted(x, y, at, n, bits), (t, t, UINT, UINT), t)
    if operator == "bfind":
        return IntegerFunction(lambda x: find_last(x, bits, signed), (t,), UINT)
    if operator == "abs":
        return IntegerFunction(abs, (t,), t)
    if operator == "lop3" and len(values) == 4:
        return IntegerFunction(logic, (UINT,) * 4, UINT)
    if operator == "sad":
        return IntegerFunction(lambda a, b, c: abs(a - b) + c, (t, t, t), t)
    if operator == "prmt":
        return named_function("__byte_perm")[1]
    if operator == "shf" and len(modes) == 2:
        left, clamp = modes[0] == "l", modes[1] == "clamp"
        return IntegerFunction(lambda a, b, n: shifted(a, b, n, left, clamp), (UINT,) * 3, UINT)
    if operator in ("mul24", "mad24"):
        name = "__mul24" if signed else "__umul24"
        return None if operator == "mad24" else named_function(name)[1]
    return None
