"""Kinds of expression cursors, as CXCursorKind numbers them."""

from __future__ import annotations

DECL_REF, MEMBER_REF_EXPR, CALL, PAREN, UNEXPOSED = 101, 102, 103, 111, 100
OVERLOADED, MEMBER_REF = 49, 47
TYPE_REF, TEMPLATE_REF, NAMESPACE_REF = 43, 45, 46
ARRAY_SUBSCRIPT = 113
INIT_LIST = 119


def is_expression(kind: int) -> bool:
    return 100 <= kind < 200 or kind == 280
