"""Operators of binary and unary expressions.

The library exports `clang_getCursorBinaryOperatorKind` and its sister since LLVM 17; the Python
binding of 18.1 lacks them. Codes are those of `CXBinaryOperatorKind` and `CXUnaryOperatorKind`.
"""

from __future__ import annotations

from ctypes import c_int

from smemlint.frontend.clang.cursors import Node, bind

_BINARY = (
    "", ".*", "->*", "*", "/", "%", "+", "-", "<<", ">>", "<=>", "<", ">", "<=", ">=", "==", "!=",
    "&", "^", "|", "&&", "||", "=", "*=", "/=", "%=", "+=", "-=", "<<=", ">>=", "&=", "^=", "|=", ",",
)  # fmt: skip
_UNARY = (
    "",
    "x++",
    "x--",
    "++x",
    "--x",
    "&",
    "*",
    "+",
    "-",
    "~",
    "!",
    "__real",
    "__imag",
    "__extension__",
    "co_await",
)

_binary_kind = bind("clang_getCursorBinaryOperatorKind", c_int, Node)
_unary_kind = bind("clang_getCursorUnaryOperatorKind", c_int, Node)


def binary_operator(node: Node) -> str:
    """`+`, `<<=`, `,` ... of a binary or compound assignment expression; '' when unknown."""
    kind = _binary_kind(node)
    return _BINARY[kind] if 0 <= kind < len(_BINARY) else ""


def unary_operator(node: Node) -> str:
    """`-`, `&`, `++x`, `x++` ... of a unary expression; '' when unknown."""
    kind = _unary_kind(node)
    return _UNARY[kind] if 0 <= kind < len(_UNARY) else ""
