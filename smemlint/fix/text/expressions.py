"""C expressions as text: values, and printing `extent + k` with the right parentheses.

pycparser reads and prints; what C lacks (qualified names, template arguments) passes as a plain name.
Imported only where an edit is written or a constant is looked up: most files need neither.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from pycparser import c_ast, c_generator, c_parser

from smemlint.fix.text.literals import integer
from smemlint.patterns import pattern
from smemlint.source.blank import blank_comments

_QUALIFIED = pattern(r"(?:::)?[A-Za-z_]\w*(?:<[^<>;{}()]*>)?(?:::[A-Za-z_]\w*(?:<[^<>;{}()]*>)?)+")
_CAST = pattern(r"\bstatic_cast<[\w ]+>(?=\()")
_CALLED_CAST = "static_cast_to"
_OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "<<": lambda a, b: a << b if 0 <= b < 64 else 0,
    ">>": lambda a, b: a >> b if 0 <= b < 64 else 0,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "<": lambda a, b: int(a < b),
    ">": lambda a, b: int(a > b),
    "<=": lambda a, b: int(a <= b),
    ">=": lambda a, b: int(a >= b),
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "&&": lambda a, b: int(bool(a) and bool(b)),
    "||": lambda a, b: int(bool(a) or bool(b)),
}
_MAX_DEPTH = 16
_TYPES = ("size_t", "ptrdiff_t", "uint", *(f"{u}int{n}_t" for u in ("", "u") for n in (8, 16, 32, 64)))
"""Types of the library that a cast may name: `(size_t)n * sizeof(float)`."""


@lru_cache(maxsize=4096)
def parse(text: str) -> c_ast.Node | None:
    """The expression as pycparser reads it, None when it is not one."""
    plain = _CAST.sub(_CALLED_CAST, blank_comments(text))
    names: dict[str, str] = {}

    def hide(match: re.Match[str]) -> str:
        return names.setdefault(match.group(), f"qualified_name_{len(names)}")

    plain = _QUALIFIED.sub(hide, plain)
    types = [*_TYPES, *(p for name, p in names.items() if name.removeprefix("std::") in _TYPES)]
    known = "".join(f"typedef int {t};" for t in types if t in plain)
    if not plain.strip() or ";" in plain or "{" in plain:
        return None
    try:
        unit = c_parser.CParser().parse(f"{known}int extent = ({plain});")
    except (c_parser.ParseError, AssertionError, RecursionError):
        return None
    if len(unit.ext) != 1 + known.count(";"):
        return None
    node: c_ast.Node = unit.ext[-1].init
    _restore(node, {placeholder: name for name, placeholder in names.items()})
    return node


def _restore(node: c_ast.Node, names: dict[str, str]) -> None:
    if isinstance(node, c_ast.ID):
        node.name = names.get(node.name, node.name)
    elif isinstance(node, c_ast.IdentifierType):
        node.names = [names.get(name, name) for name in node.names]
    for _, child in node.children():  # type: ignore[no-untyped-call]
        _restore(child, names)


def plus(text: str, k: int) -> str | None:
    """`text + k` as an author would write it: a literal is folded, a sum's literal as well, comments and
    spelling stay. None when the text is not an expression."""
    stripped = text.strip()
    bare = blank_comments(text)
    value = integer(bare.strip())
    if value is not None:
        at = bare.index(bare.strip())
        return f"{text[:at]}{value + k}{text[at + len(bare.strip()) :]}" if value + k >= 0 else None
    node = parse(text)
    if node is None:
        return None
    tail = re.search(r"\+(\s*)(\d+)\s*\Z", bare)
    if tail is not None and isinstance(node, c_ast.BinaryOp) and node.op == "+":
        total = int(tail.group(2)) + k
        head = text[: tail.start()]
        if total == 0:
            return head.rstrip()
        if total > 0:
            return f"{head}+{tail.group(1)}{total}{text[tail.end(2) :]}"
    lead = text[: len(text) - len(text.lstrip())]
    trail = text[len(text.rstrip()) :]
    return f"{lead}{_joined(node, stripped)} {'+' if k >= 0 else '-'} {abs(k)}{trail}"


def added(text: str, more: str) -> str | None:
    """`text + more` with the spelling kept; `more` must bind as a product does. None when the text is no
    expression."""
    node = parse(text)
    if node is None:
        return None
    lead = text[: len(text) - len(text.lstrip())]
    trail = text[len(text.rstrip()) :]
    return f"{lead}{_joined(node, text.strip())} + {more}{trail}"


def _joined(node: c_ast.Node, spelling: str) -> str:
    """The operand as spelled, in parentheses where the generator prints a sum of it with some."""
    if "//" in spelling.rpartition("\n")[2]:
        spelling += "\n"
    total = _binary("+", node, "1")
    # The generator reduces only what precedence allows when asked to; `a * b + 1` then stays bare.
    printed = c_generator.CGenerator(reduce_parentheses=True).visit(total)
    bare = c_generator.CGenerator(reduce_parentheses=True).visit(node)
    return f"({spelling})" if printed.startswith(f"({bare})") else spelling


def _binary(op: str, left: c_ast.Node, right: str) -> c_ast.Node:
    constant = c_ast.Constant("int", right)  # type: ignore[no-untyped-call]
    return c_ast.BinaryOp(op, left, constant)  # type: ignore[no-untyped-call]


def times(text: str, factor: str) -> str | None:
    """`text * factor`, the left operand in parentheses when it needs them; None when it is no expression."""
    node = parse(text)
    if node is None or "//" in text:
        return None
    stripped = text.strip()
    if isinstance(node, (c_ast.ID, c_ast.Constant, c_ast.StructRef, c_ast.FuncCall, c_ast.ArrayRef)):
        return f"{stripped} * {factor}"
    if isinstance(node, c_ast.BinaryOp) and node.op in ("*", "/"):
        return f"{stripped} * {factor}"
    return f"({stripped}) * {factor}"


def value_of(text: str, names: Callable[[str], int | str | None], depth: int = 0) -> int | None:
    """The value of a constant expression. names: identifier -> its value, its defining text, or None."""
    if depth > _MAX_DEPTH:
        return None
    literal = integer(text)
    if literal is not None:
        return literal
    node = parse(text)
    return None if node is None else _value(node, names, depth)


def _value(node: c_ast.Node, names: Callable[[str], int | str | None], depth: int) -> int | None:
    if isinstance(node, c_ast.Constant):
        return integer(node.value)
    if isinstance(node, c_ast.ID):
        found = names(node.name)
        return value_of(found, names, depth + 1) if isinstance(found, str) else found
    if isinstance(node, c_ast.StructRef) and isinstance(node.name, c_ast.ID) and node.type == ".":
        found = names(f"{node.name.name}.{node.field.name}")
        return value_of(found, names, depth + 1) if isinstance(found, str) else found
    if isinstance(node, c_ast.Cast):
        return _value(node.expr, names, depth)
    if isinstance(node, c_ast.FuncCall) and getattr(node.name, "name", "") == _CALLED_CAST and node.args:
        return _value(node.args.exprs[0], names, depth)
    if isinstance(node, c_ast.UnaryOp) and node.op in ("+", "-", "~", "!"):
        inner = _value(node.expr, names, depth)
        if inner is None:
            return None
        return {"+": inner, "-": -inner, "~": ~inner, "!": int(not inner)}[node.op]
    if isinstance(node, c_ast.TernaryOp):
        condition = _value(node.cond, names, depth)
        if condition is None:
            return None
        return _value(node.iftrue if condition else node.iffalse, names, depth)
    if isinstance(node, c_ast.BinaryOp):
        left, right = _value(node.left, names, depth), _value(node.right, names, depth)
        if left is None or right is None:
            return None
        if node.op in ("/", "%"):
            if right == 0:
                return None
            quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
            return quotient if node.op == "/" else left - quotient * right
        operation = _OPERATIONS.get(node.op)
        return operation(left, right) if operation else None
    return None
