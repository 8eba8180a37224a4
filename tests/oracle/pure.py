"""Expressions without memory, evaluated at once."""

from __future__ import annotations

from oracle.frames import Frame, Part, Ref
from oracle.memory import SHARED
from oracle.values import (
    Num,
    UnsupportedError,
    binary,
    convert,
    unary,
)
from smemlint.ir import (
    Binary,
    Cast,
    Expr,
    FloatLiteral,
    Literal,
    Name,
    Scalar,
    Special,
    Unary,
)
from smemlint.ir.types import INT, UINT

_LEAVES = (Literal, FloatLiteral, Special)


class Pure(Part):
    """Expressions of numbers in local variables."""

    def is_pure(self, expr: Expr) -> bool:
        known = self._pure.get(id(expr))
        if known is None:
            known = (
                isinstance(expr, (*_LEAVES, Name))
                or (isinstance(expr, Unary) and expr.op in "+-~!" and self.is_pure(expr.operand))
                or (
                    isinstance(expr, Binary)
                    and expr.op not in ("&&", "||", ",")
                    and self.is_pure(expr.left)
                    and self.is_pure(expr.right)
                )
                or (isinstance(expr, Cast) and isinstance(expr.type, Scalar) and self.is_pure(expr.operand))
            )
            self._pure[id(expr)] = known
        return known

    def quick(self, expr: Expr, frame: Frame) -> Num | None:
        """The value of an expression of numbers in local variables; None: it is not one."""
        if isinstance(expr, Literal | FloatLiteral):
            return convert(Num(expr.value, expr.type), expr.type)
        if isinstance(expr, Special):
            return self.special(expr)
        if isinstance(expr, Name):
            ref = frame.env.get(expr.id)
            if isinstance(ref, Ref) and ref.address < SHARED and isinstance(ref.type, Scalar):
                value = self.read(ref)
                return value if isinstance(value, Num) else None
            return None
        if isinstance(expr, Unary):
            operand = self.quick(expr.operand, frame)
            return None if operand is None else unary(expr.op, operand)
        if isinstance(expr, Binary):
            left = self.quick(expr.left, frame)
            right = None if left is None else self.quick(expr.right, frame)
            return None if left is None or right is None else binary(expr.op, left, right)
        if isinstance(expr, Cast) and isinstance(expr.type, Scalar) and expr.type.kind != "void":
            operand = self.quick(expr.operand, frame)
            return None if operand is None else convert(operand, expr.type)
        return None

    def special(self, expr: Special) -> Num:
        launch = self.machine.launch
        x, y, z = self.index
        bx, by, _ = launch.block
        linear = x + bx * (y + by * z)
        if expr.name in ("warpSize", "laneid", "warpid"):
            number = {"warpSize": 32, "laneid": linear % 32, "warpid": linear // 32}[expr.name]
            return Num(number, INT if expr.name == "warpSize" else UINT)
        grid = tuple(1 if g is None else g for g in launch.grid)
        vector = {
            "threadIdx": self.index,
            "blockDim": launch.block,
            "blockIdx": self.machine.block_index,
            "gridDim": grid,
        }.get(expr.name)
        if vector is None or expr.axis not in ("x", "y", "z"):
            raise UnsupportedError(f"{expr.name}.{expr.axis}")
        return Num(vector["xyz".index(expr.axis)], UINT)
