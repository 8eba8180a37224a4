"""Inline assembly: operands are cursors, the template and the constraints are text only."""

from __future__ import annotations

import re

from smemlint.frontend.clang import cursors
from smemlint.frontend.clang.cursors import Node
from smemlint.frontend.lower.context import Context
from smemlint.frontend.text.expansion import expanded
from smemlint.frontend.text.lexed import lex
from smemlint.ir import Asm, Expr, UnknownExpr
from smemlint.patterns import pattern

_ESCAPE = pattern(r"\\(n|t|r|\\|\"|'|\r?\n|[0-7]{1,3}|x[\da-fA-F]+)")
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", '"': '"', "'": "'", "\n": "", "\r\n": ""}


class AsmLowering:
    """Lowers `asm` statements."""

    def __init__(self, context: Context) -> None:
        self._c = context

    def lower(self, node: Node) -> Expr:
        c = self._c
        operands = c.exprs.lower_all(cursors.expressions(node))
        place = c.place(node)
        text = None if c.positions.in_macro(node) else c.positions.text(node)
        if text is None or not text.lstrip("_").startswith("asm"):
            text = c.positions.body_text(node) or text
        sections = self._sections(text) if text else None
        if sections is None:
            return UnknownExpr("inline assembly whose text was not found", operands, place)
        template, outputs, inputs = sections
        if len(outputs) + len(inputs) != len(operands):
            return UnknownExpr("inline assembly whose operands were not matched", operands, place)
        names = [name for name, _ in (*outputs, *inputs)]
        for index, name in enumerate(names):
            if name:
                template = template.replace(f"%[{name}]", f"%{index}")
        constraints = tuple(constraint for _, constraint in (*outputs, *inputs))
        count = len(outputs)
        return Asm(template, operands[:count], operands[count:], place, constraints)

    def _sections(self, text: str) -> tuple[str, list[tuple[str, str]], list[tuple[str, str]]] | None:
        """Template, outputs and inputs as (symbolic name, constraint)."""
        tokens = lex(expanded(text, self._c.positions.macros()))
        try:
            at = tokens.index("(")
        except ValueError:
            return None
        parts: list[list[str]] = [[]]
        depth = 0
        for token in tokens[at:]:
            if token in "([{":
                depth += 1
                if depth == 1:
                    continue
            elif token in ")]}":
                depth -= 1
                if depth == 0:
                    break
            if depth == 1 and token == ":":
                parts.append([])
            elif depth == 1 and token == "::":
                parts.extend(([], []))
            else:
                parts[-1].append(token)
        template = self._joined(parts[0])
        outputs = self._operands(parts[1]) if len(parts) > 1 else []
        inputs = self._operands(parts[2]) if len(parts) > 2 else []
        return template, outputs, inputs

    @staticmethod
    def _joined(tokens: list[str]) -> str:
        return "".join(_unquote(token) if token.endswith('"') else "" for token in tokens)

    def _operands(self, tokens: list[str]) -> list[tuple[str, str]]:
        found: list[tuple[str, str]] = []
        depth = 0
        name, constraint = "", ""
        before = ""
        for token in tokens:
            # nvcc needs no comma after an operand.
            if depth == 0 and before == ")" and constraint and token != ",":
                found.append((name, constraint))
                name, constraint = "", ""
            before = token
            if token in ("(", "[", "{"):
                depth += 1
            elif token in (")", "]", "}"):
                depth -= 1
            elif depth == 0 and token == ",":
                found.append((name, constraint))
                name, constraint = "", ""
            elif depth == 0 and token.endswith('"'):
                constraint += _unquote(token)
            elif depth == 1 and not constraint and re.match(r"[A-Za-z_]\w*$", token):
                name = token
        if constraint:
            found.append((name, constraint))
        return found


def _unquote(token: str) -> str:
    """The characters of a string literal, raw ones included."""
    raw = re.match(r'(?:u8|[uUL])?R"([^()\s\\]*)\((.*)\)\1"$', token, re.DOTALL)
    if raw:
        return raw.group(2)
    body = token[token.index('"') + 1 : -1]

    def plain(match: re.Match[str]) -> str:
        code = match.group(1)
        if code in _SIMPLE:
            return _SIMPLE[code]
        return chr(int(code[1:], 16) if code[0] == "x" else int(code, 8))

    return _ESCAPE.sub(plain, body)
