"""What the text around a complaint, and its own spelling, say of the name that clang misses."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import islice

from clang.cindex import Diagnostic

from smemlint.frontend.heal.dispatch import MAX_CODE, code_macro, opening
from smemlint.frontend.text.healed import FUNCTION, KERNEL, NAMESPACE, NUMBER_TYPE, RANGE, TYPE, VALUE, Healed
from smemlint.frontend.text.scalars import library_scalar
from smemlint.frontend.text.usage import (
    Usage,
    argument_kinds,
    declares_variables,
    enclosing_template,
    find_word,
    in_parameter_list,
    matching,
    usage,
)
from smemlint.ir.macros import is_macro_like
from smemlint.patterns import pattern
from smemlint.records import record

_MISSING_INCLUDE = pattern(r"'(.+)' file not found")
_MACRO = pattern(r"^[ \t]*#[ \t]*define[ \t]+\w+(?:\([^)\n]*\))?((?:[^\n\\]|\\\r?\n|\\.)*)", re.MULTILINE)
_USING_BEFORE = pattern(r"\busing\s+(?:::\s*)?(?:\w+\s*::\s*)+\Z")
MAX_USES = 5
"""Uses of a name that a using declaration brings in that are looked at."""
_LOOP_BEFORE = pattern(r".*\bfor\s*\(([^;]*)\Z", re.DOTALL)
_COLON = pattern(r"(?<!:):(?!:)")
_MADE_OF = pattern(r"\bauto\b[\s&*]*(\w+)\s*=\s*\{?[^;{}]*\Z")
_ALIAS_BEFORE = pattern(r"\busing\s+\w+\s*=\s*(?:typename\s+)?(?:\w+::)*\Z")


@record(frozen=True, slots=True)
class Problem:
    """An error of clang: its sentence and where. kind is 'include' for a header that was not found
    (name), else ''. offset counts bytes."""

    message: str
    path: str
    offset: int
    line: int
    column: int
    kind: str = ""
    name: str = ""

    @staticmethod
    def from_diagnostic(diagnostic: Diagnostic) -> Problem:
        place = diagnostic.location
        missing = _MISSING_INCLUDE.match(diagnostic.spelling)
        return Problem(
            diagnostic.spelling,
            place.file.name if place.file else "",
            place.offset,
            place.line,
            place.column,
            "include" if missing else "",
            missing.group(1) if missing else "",
        )


class Uses:
    """Reads the files in which names are missed. read: gives the bytes of a file."""

    def __init__(self, read: Callable[[str], bytes]) -> None:
        self._read = read
        self._texts: dict[str, str] = {}
        self._bodies: dict[str, list[tuple[int, int]]] = {}

    def text(self, path: str) -> str:
        """Decoded byte by byte, so that clang's offsets are indices."""
        if path not in self._texts:
            self._texts[path] = self._read(path).decode("latin-1")
        return self._texts[path]

    def usage(self, problem: Problem, name: str) -> Usage | None:
        """Return how a name is used at a problem; in a macro, at its first use there. None: it is not
        found."""
        text = self.text(problem.path)
        if text.startswith(name, problem.offset):
            return usage(text, problem.offset, name)
        # In a macro the place is that of the expansion; the name is in its arguments or in a macro's body.
        found = next(find_word(text, name, problem.offset, problem.offset + 400), None)
        if found is None:
            bodies = (next(find_word(text, name, *span), None) for span in self._macro_bodies(problem.path))
            found = next((body for body in bodies if body is not None), None)
        return usage(text, found, name) if found is not None else None

    def _macro_bodies(self, path: str) -> list[tuple[int, int]]:
        """Where the bodies of a file's macros stand."""
        if path not in self._bodies:
            self._bodies[path] = [match.span(1) for match in _MACRO.finditer(self.text(path))]
        return self._bodies[path]

    def entry(self, name: str, around: Usage | None, problem: Problem, wants_type: bool = False) -> Healed:
        """The kind of thing that a use asks for."""
        entry = self._asked_for(name, around, problem, wants_type)
        if entry.kind in (VALUE, FUNCTION) and not entry.text and self.is_gone_through(problem):
            entry.text = RANGE
        return entry

    def is_gone_through(self, problem: Problem) -> bool:
        """Whether a name stands in what a loop goes through, or in what a variable is that one does."""
        text = self.text(problem.path)
        before = text[max(0, problem.offset - 200) : problem.offset]
        loop = _LOOP_BEFORE.search(before)
        if loop is not None and _COLON.search(loop.group(1)):
            return matching(before, loop.start(1) - 1) is None
        made = _MADE_OF.search(before)
        if made is None:
            return False
        over = rf"\bfor\s*\([^;()]*:\s*{made.group(1)}\s*\)"
        return re.compile(over).search(text, problem.offset, problem.offset + 5000) is not None

    def _asked_for(self, name: str, around: Usage | None, problem: Problem, wants_type: bool) -> Healed:
        if around is None:
            return Healed(name, type_kind(name) if wants_type else VALUE)
        text = self.text(problem.path)
        if around.template is not None:
            kinds = argument_kinds(around.template, text)
            if (
                wants_type
                or around.after_template.startswith(("::", "{"))
                or re.match(r"\w", around.after_template)
            ):
                return Healed(name, TYPE, kinds)
            if _ALIAS_BEFORE.search(text[max(0, problem.offset - 200) : problem.offset]):
                return Healed(name, TYPE, kinds)
            if around.after_template == "<<":  # a kernel is started
                return Healed(name, FUNCTION, kinds, KERNEL)
            if around.after_template.startswith("("):
                return Healed(name, FUNCTION, kinds)
            if around.after_template[:1] in (">", ",", "&", "*", ")") and not name.endswith("_v"):
                return Healed(name, TYPE, kinds)
            return Healed(name, VALUE, kinds)
        if around.next == "::":
            return Healed(name, TYPE if wants_type else NAMESPACE)
        if wants_type:
            return Healed(name, type_kind(name))
        if declares_variables(name, text):
            return Healed(name, type_kind(name))
        if around.next.startswith("("):
            return Healed(name, FUNCTION)
        if around.next[:1] == "{" and not around.starts_statement:
            return Healed(name, TYPE)
        if reads_like_type(name):
            return Healed(name, type_kind(name))
        if around.next[:1] in (",", ">") and self._is_type_argument(name, problem):
            return Healed(name, type_kind(name))
        if around.pointer_like and (
            around.starts_statement
            or around.previous in ("(", "<", ",", "const", "static", "volatile", "sizeof")
        ):
            # `Foo* p`, `(Foo*)`, `<Foo*>`; an address `(&foo)` starts with the sign, not with the name.
            return Healed(name, type_kind(name))
        if (
            around.previous in ("(", ",", "const")
            and around.next[:1] in ("*", "&")
            and in_parameter_list(text, problem.offset)
        ):
            return Healed(name, type_kind(name))
        if around.following_word and around.following_word not in ("and", "or", "if", "else", "return"):
            return Healed(name, type_kind(name))
        return Healed(name, VALUE)

    def _is_type_argument(self, name: str, problem: Problem) -> bool:
        """Whether a name that ends a template argument reads like a type."""
        text = self.text(problem.path)
        if not text.startswith(name, problem.offset):
            return False
        start = problem.offset
        while text[start - 2 : start] == "::":
            word = re.search(r"\w*\Z", text[max(0, start - 100) : start - 2])
            start -= 2 + (len(word.group()) if word else 0)
        before = text[max(0, start - 40) : start].rstrip()
        if not before.endswith(("<", ",", "typename")) or enclosing_template(text, start) is None:
            return False
        return argument_kinds((text[start : problem.offset + len(name)],), text) == "t"

    def imports(self, problem: Problem) -> bool:
        """Whether a problem stands in `using space::name;`, which does not say what the name is."""
        text = self.text(problem.path)
        return _USING_BEFORE.search(text[max(0, problem.offset - 200) : problem.offset]) is not None

    def first_use(self, name: str, problem: Problem) -> Healed | None:
        """What a name that a using declaration brings in is used as behind it, where the file says so."""
        text = self.text(problem.path)
        for at in islice(find_word(text, name, problem.offset + len(name), len(text)), MAX_USES):
            place = replace(problem, offset=at)
            entry = self.entry(name, usage(text, at, name), place)
            if entry.kind != VALUE and not self.imports(place):
                return entry
        return None

    def code_macro(self, problem: Problem, name: str) -> str | None:
        """The macro's text where an unknown name in capitals is given code."""
        text = self.text(problem.path)
        if not is_macro_like(name):
            return None
        # In another macro's arguments the place is that of the outer use.
        at = next(find_word(text, name, problem.offset, problem.offset + MAX_CODE), None)
        return None if at is None else code_macro(text, opening(text, at + len(name)))

    def defines(self, path: str, name: str) -> bool:
        """Whether a file defines a macro of this name."""
        return re.search(rf"#[ \t]*define[ \t]+{name}\b", self.text(path)) is not None

    def followed_by_two_words(self, problem: Problem, name: str) -> bool:
        """Whether a name stands in front of a declaration: a type, then what it declares."""
        rest = self.text(problem.path)[problem.offset + len(name) : problem.offset + len(name) + 300]
        return re.match(r"\s+[\w:]+(?:\s*<[^;{}()]*>)?[\s*&]+[\w:~]+\s*[(\[;={,<]", rest) is not None

    def qualifier(self, problem: Problem, name: str) -> str:
        """What a qualifier in capitals stands for: that of `LIB_SHARED float tile[64];` is `__shared__`."""
        rest = self.text(problem.path)[problem.offset + len(name) : problem.offset + len(name) + 200]
        shared = ("SHARED" in name or "SMEM" in name) and _AN_ARRAY.match(rest) is not None
        return " __shared__ " if shared else qualifier_macro(name)

    def behind_alias(self, name: str, problem: Problem) -> tuple[str, ...]:
        """The type that `using name = ...` or `typedef ... name` of the file leads to, () without one."""
        last = re.escape(name.rsplit("::", 1)[-1])
        found = re.search(
            rf"\busing\s+{last}\s*=([^;]*);|\btypedef\b([^;]*?)\b{last}\s*;", self.text(problem.path)
        )
        if found is None:
            return ()
        target = found.group(1) or found.group(2) or ""
        depth, plain = 0, []
        for character in target:
            depth += (character == "<") - (character == ">")
            if depth == 0 and character != ">":
                plain.append(character)
        words = re.sub(r"\b(?:typename|template|const|struct)\b|\s", "", "".join(plain))
        return tuple(part for part in words.split("::") if part)


_AN_ARRAY = pattern(r"(?:\s+\w+(?:\([^()]*\))?)*?\s+[\w:]+(?:\s*<[^;{}()]*>)?\s+\w+\s*\[[^;()]*;")
_DECLARATION_STARTS = """
    void int float double char bool short long unsigned signed auto const constexpr static inline
    extern template typename struct class union enum typedef using namespace operator virtual
    explicit friend volatile size_t half dim3 __global__ __device__ __host__ __forceinline__
    __inline__ __launch_bounds__ __shared__ __constant__ __attribute__ uint32_t int32_t uint64_t
    int64_t uint8_t
"""
DECLARATION_WORDS = frozenset(_DECLARATION_STARTS.split())


_TYPE_NAME = pattern(r"\w+_t(?:_\d+)?|\w*(?:_type|Type|scalar)(?:_t)?(?:_\d+)?")


def reads_like_type(name: str) -> bool:
    """`scalar_t`, `scalar_t_0`, `elem_type`: what dispatch macros call the types that they choose; and the
    narrow floats of libraries."""
    return _TYPE_NAME.fullmatch(name) is not None or library_scalar(name) is not None


def type_kind(name: str) -> str:
    """`fp`, `real_t`, `DTYPE` are mostly numbers, `Params` is a class."""
    return NUMBER_TYPE if name.islower() or name.isupper() else TYPE


def asks_for_type(what: str, around: Usage | None) -> bool:
    """clang says "no type named" of a call that begins a statement (`ns::f(x);`), which might have been a
    declaration."""
    return what == "type" and not (
        around is not None and (around.next[:1] == "(" or around.after_template[:1] == "(")
    )


def statement_macro(name: str, around: Usage) -> str:
    arguments = "(...)" if around.next.startswith("(") else ""
    return arguments + (' _Pragma("unroll")' if "UNROLL" in name and "NO" not in name else "")


def qualifier_macro(name: str) -> str:
    """What a qualifier in capitals most probably stands for, as the text of its macro."""
    if "KERNEL" in name or "GLOBAL" in name:
        return " static __global__ " if "STATIC" in name else " __global__ "
    qualifiers = [
        q
        for word, q in (("HOST", "__host__"), ("DEVICE", "__device__"), ("INLINE", "inline"))
        if word in name
    ]
    if (
        name.endswith(("_HD", "_HOSTDEV", "_HDI", "_XINLINE", "_DEV", "_FUNC", "_CUDA"))
        or "HOSTDEVICE" in name
    ):
        qualifiers = ["__host__", "__device__"]
    return f" {' '.join(qualifiers)}"
