"""Inline assembly: operands are cursors, the template and the constraints are text only."""

from __future__ import annotations

import re

from smemlint.frontend.clang import cursors
from smemlint.frontend.clang.cursors import Node
from smemlint.frontend.clang.kinds import is_expression
from smemlint.frontend.lower.lowering import Context
from smemlint.frontend.text.textual import lex
from smemlint.ir import Asm, Expr, UnknownExpr
from smemlint.patterns import pattern

_ESCAPE = pattern(r"\\(n|t|r|\\|\"|'|\r?\n|[0-7]{1,3}|x[\da-fA-F]+)")
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", '"': '"', "'": "'", "\n": "", "\r\n": ""}
_MACRO_DEPTH = 6


class AsmLowering:
    """Lowers `asm` statements."""

    def __init__(self, context: Context) -> None:
        self._c = context

    def lower(self, node: Node) -> Expr:
        c = self._c
        operands = c.exprs.lower_all([k for k in cursors.children(node) if is_expression(k.kind)])
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
        tokens = lex(text)
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
        template = self._joined(self._expand(parts[0], 0))
        outputs = self._operands(parts[1]) if len(parts) > 1 else []
        inputs = self._operands(parts[2]) if len(parts) > 2 else []
        return template, outputs, inputs

    def _expand(self, tokens: list[str], depth: int) -> list[str]:
        """Object-like macros replaced; a macro with arguments by its body, arguments put in."""
        result: list[str] = []
        at = 0
        macros = self._c.positions.macros()
        while at < len(tokens):
            token = tokens[at]
            macro = macros.get(token)
            if macro is None or depth > _MACRO_DEPTH:
                result.append(token)
                at += 1
                continue
            if macro.parameters is None:
                result.extend(self._expand(lex(macro.body), depth + 1))
                at += 1
                continue
            arguments, at = _arguments(tokens, at + 1)
            given = dict(zip(macro.parameters, arguments, strict=False))
            expanded = {name: self._expand(argument, depth + 1) for name, argument in given.items()}
            result.extend(self._expand(_filled(lex(macro.body), given, expanded), depth + 1))
        return result

    @staticmethod
    def _joined(tokens: list[str]) -> str:
        return "".join(_unquote(token) if token.endswith('"') else "" for token in tokens)

    def _operands(self, tokens: list[str]) -> list[tuple[str, str]]:
        found: list[tuple[str, str]] = []
        depth = 0
        name, constraint = "", ""
        for token in self._with_constraint_macros(tokens):
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

    def _with_constraint_macros(self, tokens: list[str]) -> list[str]:
        """Macros outside the operands' parentheses may stand for a constraint."""
        result: list[str] = []
        depth = 0
        for token in tokens:
            depth += {"(": 1, ")": -1}.get(token, 0)
            if depth == 0 and token in self._c.positions.macros():
                result.extend(self._expand([token], 0))
            else:
                result.append(token)
        return result


def _arguments(tokens: list[str], at: int) -> tuple[list[list[str]], int]:
    """Arguments of a macro use whose parenthesis stands at an index, and the index after it."""
    if at >= len(tokens) or tokens[at] != "(":
        return [], at
    arguments: list[list[str]] = [[]]
    depth = 0
    while at < len(tokens):
        token = tokens[at]
        at += 1
        if token == "(":
            depth += 1
            if depth == 1:
                continue
        elif token == ")":
            depth -= 1
            if depth == 0:
                break
        if depth == 1 and token == ",":
            arguments.append([])
        else:
            arguments[-1].append(token)
    return arguments, at


def _filled(
    body: list[str], given: dict[str, list[str]], expanded: dict[str, list[str]] | None = None
) -> list[str]:
    """A macro's body with its arguments, macros in them replaced but for `#x`, which makes a string."""
    plain = given if expanded is None else expanded
    result: list[str] = []
    at = 0
    while at < len(body):
        token = body[at]
        if token == "#" and at + 1 < len(body) and body[at + 1] in given:
            text = "".join(given[body[at + 1]])
            result.append('"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"')
            at += 2
            continue
        result.extend(plain.get(token, [token]))
        at += 1
    return result


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
