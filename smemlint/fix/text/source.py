"""CUDA source as tokens with byte offsets: where an array is declared, its scope, and every use of its name.

Source is handled as latin-1, so that a character is a byte and whatever an author wrote survives as it is.
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from functools import cached_property

from smemlint.patterns import pattern
from smemlint.records import record

_TOKEN = pattern(
    r"""
    (?P<space>[ \t\r\n\f\v\\]+)
  | (?P<comment>//(?:\\\r?\n|[^\n])*|/\*.*?(?:\*/|\Z))
  | (?P<string>(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"
      |(?:u8|[uUL])?"(?:\\.|[^"\\\n])*"|(?:u8|[uUL])?'(?:\\.|[^'\\\n])*')
  | (?P<number>\.?[0-9](?:'?[0-9A-Za-z_.]|(?<=[eEpP])[+-])*)
  | (?P<name>[A-Za-z_$\x80-\xff][0-9A-Za-z_$\x80-\xff]*)
  | (?P<punct><<=|>>=|<=>|\.\.\.|->\*?|::|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_BOM = "\xef\xbb\xbf"
_CLOSING = {"(": ")", "[": "]", "{": "}"}


@record(frozen=True, slots=True)
class Token:
    """kind: name, number, string, punct, comment, or directive (a whole logical line)."""

    kind: str
    text: str
    offset: int

    @property
    def end(self) -> int:
        return self.offset + len(self.text)


@record(frozen=True, slots=True)
class Subscript:
    """`[ ... ]`: offsets of the two brackets; the text between them is [open + 1, close)."""

    open: int
    close: int


@record(frozen=True, slots=True)
class Use:
    """One appearance of a name. subscripts: the bracket groups that follow it directly.
    context: subscript, sizeof, whole (the name alone, or with fewer subscripts than asked) or macro.
    address: `&` stands before it. viewed: of a name that is cast and then subscripted, the bytes of the type
    that the subscript counts (`reinterpret_cast<float4 *>(a)[i]`: 16), and that subscript."""

    offset: int
    end: int
    subscripts: tuple[Subscript, ...]
    context: str
    line: int
    address: bool = False
    viewed: tuple[int, Subscript] | None = None


def tokenize(text: str) -> list[Token]:
    """All tokens but white space; a preprocessor directive is one token."""
    tokens: list[Token] = []
    position = len(_BOM) if text.startswith(_BOM) else 0
    fresh_line = True
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:  # pragma: no cover - the last alternative takes anything
            break
        kind = match.lastgroup or "punct"
        if kind == "mark":
            kind = "string"
        piece = match.group()
        if kind == "space":
            fresh_line = fresh_line or "\n" in piece
        elif piece == "#" and fresh_line:
            end = _directive_end(text, position)
            tokens.append(Token("directive", text[position:end], position))
            position = end
            continue
        else:
            tokens.append(Token(kind, piece, position))
            fresh_line = False
        position = match.end()
    return tokens


def _directive_end(text: str, start: int) -> int:
    position = start
    while True:
        end = text.find("\n", position)
        if end < 0:
            return len(text)
        if text[position:end].rstrip("\r").endswith("\\"):
            position = end + 1
            continue
        return end


class Source:
    """One file's text with what the fixes ask of it. included: further files in which constants may be
    defined."""

    def __init__(self, path: str, data: bytes, included: tuple[Source, ...] = ()) -> None:
        self.included = included
        self.path = path
        self.data = data
        self.text = data.decode("latin-1")

    @cached_property
    def tokens(self) -> list[Token]:
        return tokenize(self.text)

    @cached_property
    def code(self) -> list[Token]:
        """Tokens without comments and directives, and two of kind `end`: a look ahead finds something."""
        end = Token("end", "", len(self.text))
        return [*(t for t in self.tokens if t.kind not in ("comment", "directive")), end, end]

    @cached_property
    def _offsets(self) -> list[int]:
        return [t.offset for t in self.code]

    @cached_property
    def _partners(self) -> dict[int, int]:
        """Index in `code` of each bracket -> index of its partner."""
        partners: dict[int, int] = {}
        open_: list[int] = []
        for i, token in enumerate(self.code):
            if token.kind != "punct":
                continue
            if token.text in _CLOSING:
                open_.append(i)
            elif token.text in ")]}":
                # A closing brace ends whatever was left open inside it; other strays are skipped.
                while open_ and _CLOSING[self.code[open_[-1]].text] != token.text:
                    if token.text != "}":
                        break
                    open_.pop()
                if open_ and _CLOSING[self.code[open_[-1]].text] == token.text:
                    partners[i] = open_.pop()
                    partners[partners[i]] = i
        return partners

    def partner(self, index: int) -> int | None:
        """Index in `code` of the bracket that belongs to the one at a token, None where there is none."""
        return self._partners.get(index)

    @cached_property
    def newline(self) -> str:
        return "\r\n" if "\r\n" in self.text else "\n"

    @cached_property
    def in_shared(self) -> Counter[str]:
        """How often each word stands in a declaration of a shared variable."""
        found: Counter[str] = Counter()
        shared = False
        for token in self.code:
            if token.text in (";", "{", "}"):
                shared = False
            shared = shared or token.text == "__shared__"
            if shared:
                found[token.text] += 1
        return found

    def names(self) -> frozenset[str]:
        """Every identifier of the file, directives included."""
        found = {t.text for t in self.code if t.kind == "name"}
        for token in self.tokens:
            if token.kind == "directive":
                found.update(re.findall(r"[A-Za-z_]\w*", token.text))
        return frozenset(found)

    def line_of(self, offset: int) -> int:
        return self.text.count("\n", 0, offset) + 1

    def line_start(self, offset: int) -> int:
        return self.text.rfind("\n", 0, offset) + 1

    def indent_of(self, offset: int) -> str:
        start = self.line_start(offset)
        match = re.compile(r"[ \t]*").match(self.text, start)
        return match.group() if match else ""

    def index_at(self, offset: int) -> int:
        """Index in `code` of the first token that starts at or after an offset."""
        return bisect_left(self._offsets, offset)

    def find_declaration(self, name: str, offset: int, end: int) -> int | None:
        """Index in `code` of the declared name: the first token `name` at or after `offset`.

        `end` bounds the search when the place covers the declaration, else the statement does.
        """
        i = self.index_at(offset)
        code = self.code
        limit = max(end, offset + 1)
        while i < len(code) and (code[i].offset < limit or code[i].text not in ";{}"):
            if code[i].text == name and code[i].kind == "name":
                return i
            if code[i].text in ";{}" and code[i].offset >= offset + 1:
                return None
            i += 1
        return None

    def subscripts_after(self, index: int) -> tuple[Subscript, ...]:
        """Bracket groups directly after the token `index` of `code`."""
        groups: list[Subscript] = []
        i = index + 1
        while i < len(self.code) and self.code[i].text == "[" and i in self._partners:
            close = self._partners[i]
            groups.append(Subscript(self.code[i].offset, self.code[close].offset))
            i = close + 1
        return tuple(groups)

    def scope_of(self, index: int) -> tuple[int, int] | None:
        """(index of `{`, index of `}`) of the innermost block around a token; None at file scope."""
        for i in range(index - 1, -1, -1):
            if self.code[i].text == "{" and self._partners.get(i, -1) > index:
                return i, self._partners[i]
        return None

    def body_of(self, index: int) -> tuple[int, int] | None:
        """The same, but for the braces of namespaces and of `extern "C"`."""
        found = self.scope_of(index)
        while found is not None and self.is_namespace(found[0]):
            found = self.scope_of(found[0])
        return found

    def is_namespace(self, opening: int) -> bool:
        """Whether a brace opens a namespace, or `extern "C"`."""
        i = opening - 1
        while i >= 0 and (self.code[i].kind == "name" or self.code[i].text == "::"):
            if self.code[i].text == "namespace":
                return True
            i -= 1
        return i > 0 and self.code[i].text == '"C"' and self.code[i - 1].text == "extern"

    def users(self, name: str, index: int) -> tuple[int, int] | None:
        """(index of the first `{`, index of the last `}`) of the functions behind a declaration at file scope
        that name it; None where it is named outside of functions or declared again, or by none."""
        found: tuple[int, int] | None = None
        i = index + 1
        while i < len(self.code):
            end = None if self.code[i].text != "{" or self.is_namespace(i) else self._partners.get(i)
            if end is not None:
                named = [
                    j for j in range(i, end) if self.code[j].text == name and self.code[j].kind == "name"
                ]
                if named:
                    if self.code[i - 1].text not in (")", "const", "noexcept"):
                        return None
                    if any(self._is_pointer_of_its_own(j) for j in named):
                        return None
                    found = found[0] if found is not None else i, end
                i = end
            elif self.code[i].text == name and self.code[i].kind == "name":
                return None
            i += 1
        return found

    def _is_pointer_of_its_own(self, index: int) -> bool:
        """Whether a name is declared there, `float *t = p;`: other declarations have a type before it."""
        return self.code[index - 1].text in ("*", "&") and self.code[index + 1].text in ("=", ";", ":")

    def file_names(self, index: int) -> set[str]:
        """The names at file scope before a token, and those of macros."""
        found = {
            m[1]
            for t in self.tokens
            if t.kind == "directive" and (m := re.match(r"#\s*define\s+(\w+)", t.text))
        }
        i = 0
        while i < index:
            if self.code[i].text == "{" and not self.is_namespace(i):
                i = self._partners.get(i, index)
            elif self.code[i].kind == "name":
                found.add(self.code[i].text)
            i += 1
        return found

    def is_open(self, index: int) -> bool:
        """Whether a brace before a token is never closed."""
        return any(t.text == "{" and i not in self._partners for i, t in enumerate(self.code[:index]))

    def function_start(self, index: int) -> int | None:
        """Offset where the outermost function around a token begins, its leading comments included."""
        outermost: int | None = None
        i = index
        while (scope := self.scope_of(i)) is not None:
            opening = scope[0]
            before = self.code[opening - 1].text if opening else ""
            if before in (")", "const", "noexcept"):
                outermost = opening
            elif outermost is not None and self._is_record(opening):
                return None
            i = opening
        if outermost is None:
            return None
        return self._declaration_start(outermost)

    def _is_record(self, opening: int) -> bool:
        for i in range(opening - 1, -1, -1):
            text = self.code[i].text
            if text in ("struct", "class", "union"):
                return True
            if text in ";{}":
                return False
        return False

    def record_name(self, opening: int) -> str | None:
        """The name of the structure whose `{` a token is, '' where it has none; None where it opens none."""
        for i in range(opening - 1, -1, -1):
            text = self.code[i].text
            if text in ("struct", "class", "union"):
                i += 1
                while self.code[i].text in ("alignas", "__align__", "__attribute__"):
                    close = self._partners.get(i + 1)
                    if close is None:
                        return ""
                    i = close + 1
                return self.code[i].text if self.code[i].kind == "name" else ""
            if text in ";{}=":
                return None
        return None

    def _declaration_start(self, opening: int) -> int:
        start = opening
        while start > 0 and self.code[start - 1].text not in (";", "{", "}"):
            start -= 1
        first = self.code[start].offset
        # A directive between the last declaration and this one ends it as well.
        all_index = bisect_left([t.offset for t in self.tokens], first)
        while all_index > 0 and self.tokens[all_index - 1].kind == "comment":
            comment = self.tokens[all_index - 1]
            between = self.text[comment.end : first]
            if between.count("\n") > 1 or self.text[self.line_start(comment.offset) : comment.offset].strip():
                break
            first = comment.offset
            all_index -= 1
        return self.line_start(first) if not self.text[self.line_start(first) : first].strip() else first

    def statement(self, index: int) -> tuple[int, int]:
        """The tokens of `code` [first, last) between what ends a statement or a block before a token and the
        next such behind it; a `for` has several."""
        first = last = index
        while first > 0 and self.code[first - 1].text not in (";", "{", "}"):
            first -= 1
        while last < len(self.code) - 1 and self.code[last].text not in (";", "{", "}"):
            last += 1
        return first, last

    def statement_start(self, index: int) -> int:
        """Offset of the first token of the statement that a token of `code` stands in."""
        i = index
        depth = 0
        while i > 0:
            text = self.code[i - 1].text
            if text in ")]":
                depth += 1
            elif text in "([":
                depth -= 1
            elif depth == 0 and text in (";", "{", "}"):
                break
            i -= 1
        return self.code[i].offset

    def uses(self, name: str, first: int, last: int, subscripts: int) -> Iterator[Use]:
        """Each use of a name among the tokens [first, last) of `code`; members of that name are not meant.

        subscripts: how many bracket groups make a full access.
        """
        for i in range(first, min(last, len(self.code))):
            token = self.code[i]
            if token.text != name or token.kind != "name":
                continue
            before = self.code[i - 1].text if i else ""
            if before in (".", "->", "::"):
                continue
            groups = self.subscripts_after(i)[: max(subscripts, 1)]
            yield Use(
                token.offset,
                groups[-1].close + 1 if groups else token.end,
                groups,
                self._context(i, len(groups), subscripts),
                self.line_of(token.offset),
                self._address_taken(i),
            )

    def macro_uses(self, name: str) -> Iterator[Use]:
        """Uses of a name in preprocessor directives: bodies of macros and conditions."""
        pattern = re.compile(rf"(?<![\w.]){re.escape(name)}(?!\w)")
        for token in self.tokens:
            if token.kind != "directive":
                continue
            parameters = re.match(r"#\s*define\s+\w+\(([^)]*)\)", token.text)
            if parameters and name in re.split(r"[\s,]+", parameters.group(1)):
                continue
            for match in pattern.finditer(token.text):
                offset = token.offset + match.start()
                yield Use(offset, offset + len(name), (), "macro", self.line_of(offset))

    def _address_taken(self, index: int) -> bool:
        """Whether a unary `&` stands directly before a token."""
        if index < 1 or self.code[index - 1].text != "&":
            return False
        before = self.code[index - 2] if index > 1 else None
        return before is None or not (before.kind in ("name", "number") or before.text in (")", "]"))

    def _context(self, index: int, groups: int, wanted: int) -> str:
        i = index - 1
        while i > 0 and self.code[i].text == "(":
            i -= 1
        if i >= 0 and self.code[i].text in ("sizeof", "decltype", "alignof"):
            return "sizeof"
        return "subscript" if groups >= wanted else "whole"


def parse_range(source: Source, start: int, end: int) -> list[Token]:
    """Code tokens that lie in the byte range [start, end)."""
    first = source.index_at(start)
    last = source.index_at(end)
    return source.code[first:last]


def has_side_effect(tokens: list[Token]) -> bool:
    """Whether evaluating the tokens twice could differ from evaluating them once."""
    if any(
        t.text in ("++", "--", "=") or (len(t.text) > 1 and t.text.endswith("=") and t.text[0] in "+-*/%&|^")
        for t in tokens
    ):
        return True
    return any(
        a.kind == "name"
        and b.text == "("
        and a.text not in ("int", "unsigned", "sizeof", "min", "max", "size_t")
        for a, b in itertools.pairwise(tokens)
    )
