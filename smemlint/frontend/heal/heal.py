"""From clang's complaints to declarations of what it misses.

A statement with an unknown name is dropped from the AST without a word, and with it the accesses inside.
Each complaint about an unknown name becomes a declaration of that name (type, function, value, namespace
or macro, as it is used), and the file is parsed again. A guess that turns out wrong is corrected by the
complaint that it causes, once.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from smemlint.frontend.heal.dispatch import calls_inside, code_macro, enclosing_calls, naming_macro
from smemlint.frontend.heal.uses import (
    DECLARATION_WORDS,
    Problem,
    Uses,
    asks_for_type,
    qualifier_macro,
    statement_macro,
)
from smemlint.frontend.text.healed import (
    ALIASES,
    FUNCTION,
    MACRO,
    NAMESPACE,
    NUMBER_TYPE,
    RANGE,
    TYPE,
    VALUE,
    Healed,
    HealedNames,
)
from smemlint.frontend.text.usage import argument_kinds, enclosing_template, namespaces_around, usage
from smemlint.ir.macros import is_check, is_macro_like
from smemlint.patterns import pattern
from smemlint.toolkit.warp_names import WARP_SIZE, is_warp_size

_RANKS = (VALUE, FUNCTION, NAMESPACE, NUMBER_TYPE, TYPE, MACRO)
"""What a name can turn into when a guess was wrong: only to the right."""
MAX_NAMES = 1500
MAX_LOOKS = 200
"""Complaints around which a macro that takes code is looked for: each reads thousands of characters."""


class Healing:
    """What was learnt about one file so far.

    names: what it begins with; they become its own. built: what the project's build files say that a macro
    stands for.
    """

    def __init__(
        self,
        read: Callable[[str], bytes],
        names: HealedNames | None = None,
        built: Callable[[str], str | None] = lambda _: None,
    ) -> None:
        self._uses = Uses(read)
        self._built = built
        self._names = names or HealedNames()
        self._given_up: set[str] = set()
        self._corrected: set[tuple[str, int]] = set()
        self._looked = 0
        self.numbers = False
        """Whether values are declared as integers."""

    def text(self) -> str:
        """Return the header that declares the healed names."""
        return self._names.text(numbers=self.numbers)

    @property
    def tree(self) -> HealedNames:
        return self._names

    def names(self) -> dict[str, str]:
        """Return the healed names, each with what it was taken for."""
        return {name: entry.describe() for name, entry in self._names.walk()}

    def learn(self, problems: list[Problem]) -> frozenset[str]:
        """Take in the errors of a round; the files whose errors told anything new."""
        if sum(1 for _ in self._names.walk()) > MAX_NAMES:
            return frozenset()
        told = self._read_aliases(problems)
        for problem in [p for p in problems if not p.kind]:
            for message, react in _REACTIONS:
                match = message.match(problem.message)
                if match:
                    if self._is_built(react, match, problem) or react(self, match, problem):
                        told.add(problem.path)
                    break
        return frozenset(told)

    def _is_built(self, react: object, match: re.Match[str], problem: Problem) -> bool:
        """Take the value of an unknown name from the project's build files, or from the name itself: a warp
        has the same size everywhere."""
        if react not in (Healing.undeclared, Healing.unknown_type):
            return False
        name = match.group(1)
        value = self._built(name)
        if value is None and react is Healing.undeclared and is_warp_size(name):
            value = str(WARP_SIZE)
        if value is None or re.search(rf"\b{name}\s*[={{]", self._uses.text(problem.path)):
            return False
        return self._macro(name, f" {value}")

    # Declaring.

    def _declare(self, scope: dict[str, Healed], entry: Healed) -> bool:
        """Add a name, or turn what it was into a kind that tells more; never back."""
        if entry.name in self._given_up:
            return False
        old = scope.get(entry.name)
        if old is None:
            scope[entry.name] = entry
            return True
        if _RANKS.index(entry.kind) <= _RANKS.index(old.kind):
            if old.parameters is None and entry.parameters is not None and old.kind == entry.kind:
                old.parameters = entry.parameters
                return True
            return False
        entry.children = old.children
        entry.parameters, entry.imported = entry.parameters or old.parameters, old.imported
        scope[entry.name] = entry
        return True

    def _top_level(self, entry: Healed) -> bool:
        scope = self._names.root if entry.kind == MACRO else self._names.importing(entry.name)
        return self._declare(scope.children, entry)

    def _macro(self, name: str, text: str = "") -> bool:
        return self._top_level(Healed(name, MACRO, text=text))

    def _text_before(self, problem: Problem, length: int = 200) -> str:
        """The text in front of where a complaint stands."""
        return self._uses.text(problem.path)[max(0, problem.offset - length) : problem.offset]

    def _source_line(self, problem: Problem) -> str:
        text = self._uses.text(problem.path)
        return text[max(0, text.rfind("\n", 0, problem.offset)) : problem.offset + 200]

    def _word(self, problem: Problem) -> str:
        """The name that a complaint stands at; empty where it is none."""
        word = _NAME.match(self._uses.text(problem.path), problem.offset)
        return word.group() if word else ""

    # Reactions, one for each kind of complaint.

    def undeclared(self, match: re.Match[str], problem: Problem) -> bool:
        """A name that nothing declares: a macro by its looks and surroundings, else what its use asks for."""
        name = match.group(1)
        around = self._uses.usage(problem, name)
        if name in ("override", "final") or name.startswith("~"):
            return False
        code = self._uses.code_macro(problem, name)
        if code is not None:
            return self._macro(name, code)
        if (
            around is not None
            and around.next.startswith("(")
            and is_macro_like(name)
            and around.starts_statement
            and not around.call_ends_statement
            and not (around.streamed and is_check(name))
        ):
            return self._macro(name, "(...)")
        if around is not None and around.next == "{" and is_macro_like(name) and around.starts_statement:
            return self._macro(name)
        if around is not None and is_macro_like(name) and around.following_word in ("for", "while", "do"):
            return self._macro(name, statement_macro(name, around))
        return self._top_level(self._uses.entry(name, around, problem))

    def unknown_type(self, match: re.Match[str], problem: Problem) -> bool:
        name = match.group(1)
        around = self._uses.usage(problem, name)
        code = self._uses.code_macro(problem, name)
        if code is not None:
            return self._macro(name, code)
        naming = naming_macro(self._uses.text(problem.path), problem.offset)
        if naming is not None and is_macro_like(naming) and not self._uses.defines(problem.path, naming):
            return self._macro(naming, "(smemlint_name, ...) smemlint_name")
        if around is not None and is_macro_like(name):
            word = around.following_word
            if word in ("for", "while", "do", "if", "switch") or "UNROLL" in name:
                return self._macro(name, statement_macro(name, around))
            if word in DECLARATION_WORDS or (word and self._uses.followed_by_two_words(problem, name)):
                return self._macro(name, self._uses.qualifier(problem, name))
            if around.previous in ("(", ",") and around.next[:1] in (")", ","):
                # `dim3 block(SIZE)` reads like a function's declaration
                return self._top_level(Healed(name, VALUE))
            plain = around.next.startswith("(") or word == ""
            if plain and (not around.call_ends_statement or around.next[:1] not in "*&(<:"):
                return self._macro(name, "(...)" if around.next.startswith("(") else "")
            if "KERNEL" in name or "GLOBAL" in name or "DEVICE" in name:
                return self._macro(name, qualifier_macro(name))
        if around is not None and around.next == "::":
            return self._top_level(Healed(name, NAMESPACE))
        if re.search(r"\bdim3\s+\w+\s*\([^;()]*\Z", self._text_before(problem, 100)):
            return self._top_level(Healed(name, VALUE))
        return self._top_level(self._uses.entry(name, around, problem, wants_type=True))

    def code_as_argument(self, match: re.Match[str], problem: Problem) -> bool:
        """Statements where an expression should stand: an unknown macro around them takes code."""
        if self._looked >= MAX_LOOKS:
            return False
        self._looked += 1
        text = self._uses.text(problem.path)
        for name, at in (*enclosing_calls(text, problem.offset), *calls_inside(text, problem.offset)):
            known = self._names.root.children.get(name)
            if not is_macro_like(name) or (known is not None and known.kind == MACRO):
                continue
            code = code_macro(text, at)
            if code is not None and not self._uses.defines(problem.path, name):
                return self._macro(name, code)
        return False

    def in_namespace(self, match: re.Match[str], problem: Problem) -> bool:
        """A name that a healed or known namespace lacks, or the global one."""
        what, name, space = match.group(1), match.group(2), match.group(3) or ""
        around = self._uses.usage(problem, name)
        entry = self._uses.entry(name, around, problem, wants_type=asks_for_type(what, around))
        if what == "template" and entry.parameters is None:
            entry = Healed(name, TYPE, "t")
        path = tuple(part for part in space.split("::") if part)
        if any("(" in part or "<" in part for part in path) or "anonymous" in space:
            return False
        if not path:
            return self._top_level(entry)
        scope = self._names.scope(path)
        if not self._uses.imports(problem):
            return self._declare(scope.children, entry)
        entry = self._uses.first_use(name, problem) or entry
        known = self._names.root.children.get(name)
        if known is not None and known.kind in (VALUE, FUNCTION, NUMBER_TYPE, TYPE):
            entry = self._names.root.children.pop(name)  # it was used before its namespace was known
        entry.imported = True
        return self._declare(scope.children, entry)

    def in_type(self, match: re.Match[str], problem: Problem) -> bool:
        """A member that a healed type lacks, asked of the class (clang keeps what is asked of an object)."""
        what, name, owner = match.group(1), match.group(2), match.group(3)
        around = self._uses.usage(problem, name)
        called = around is not None and around.template is not None and around.after_template[:1] == "("
        if around is None or not (around.previous == "::" or called or self._uses.is_gone_through(problem)):
            return False
        plain = re.sub(r"<.*>", "", owner).removeprefix("const ").strip()
        entry = self._names.find(tuple(plain.split("::"))) or self._names.find(
            self._uses.behind_alias(plain, problem)
        )
        if entry is None or entry.kind not in (TYPE, NUMBER_TYPE):
            return False
        member = self._uses.entry(
            name, around, problem, wants_type=what == "template" or asks_for_type(what, around)
        )
        if member.kind == NAMESPACE:
            member = Healed(name, TYPE)
        if name == entry.name:
            return False
        return self._declare(entry.children, member)

    def undeclared_special(self, match: re.Match[str], problem: Problem) -> bool:
        """A specialisation of a template that is declared where this file is included: clang would read it as
        the template itself."""
        name = match.group(1)
        entry = self._uses.entry(name, self._uses.usage(problem, name), problem, wants_type=True)
        entry = Healed(name, TYPE, entry.parameters or "t")
        scope = self._names.scope(namespaces_around(self._uses.text(problem.path), problem.offset))
        return self._declare(scope.children, entry)

    def _read_aliases(self, problems: list[Problem]) -> set[str]:
        """`namespace short = a::b;` where `a::b` is unknown: what is asked of `short` is asked of that, which
        the complaints about `short` in the same round do not say. Returns the files with such a line."""
        told: set[str] = set()
        for problem in problems:
            found = _NAMESPACE_ALIAS.match(self._source_line(problem))
            if found is None or found.group(1) in ALIASES or found.group(1) in self._given_up:
                continue
            self._take_back(found.group(1))
            self._given_up.add(found.group(1))
            told.add(problem.path)
            self._namespaces(found.group(2))
        return told

    def _namespaces(self, name: str) -> bool:
        """Declare `a` and, in it, `b`, for `a::b`."""
        path = tuple(part for part in name.split("::") if part)
        spaces = [self._names.scope(path[:depth]).children for depth in range(len(path))]
        new = [
            self._declare(space, Healed(part, NAMESPACE)) for space, part in zip(spaces, path, strict=True)
        ]
        return any(new)

    def expected_namespace(self, match: re.Match[str], problem: Problem) -> bool:
        """`using namespace a::b;` or an alias of it, where it is unknown."""
        found = re.search(r"namespace\s+(?:\w+\s*=\s*)?(?:::)?([\w:]+)\s*;", self._source_line(problem))
        return found is not None and self._namespaces(found.group(1))

    def wrong_argument(self, match: re.Match[str], problem: Problem) -> bool:
        """A template argument is of the other kind than guessed: correct the template, or what the argument
        names."""
        kind = "t" if match.group(1) == "non-type" else "v"
        text = self._uses.text(problem.path)
        found = enclosing_template(text, problem.offset)
        if found is None:
            return False
        template, number = found
        if (template, number) not in self._corrected:
            for _, guess in self._names.walk():
                if guess.name == template and guess.parameters is not None:
                    self._corrected.add((template, number))
                    padded = guess.parameters.ljust(number + 1, guess.parameters[-1:] or "t")
                    guess.parameters = padded[:number] + kind + padded[number + 1 :]
                    return True
        return kind == "v" and self._becomes(self._name_at(problem), TYPE, VALUE)

    def _name_at(self, problem: Problem) -> Healed | None:
        """What a complaint stands at."""
        path = re.compile(r"[\w:]+").match(self._uses.text(problem.path), problem.offset)
        return self._names.find(tuple(path.group().split("::"))) if path else None

    @staticmethod
    def _becomes(entry: Healed | None, kind: str, *guessed: str) -> bool:
        """Turn what was taken for another kind of thing into one of this kind; whether it was."""
        if entry is None or entry.kind not in guessed:
            return False
        if kind == NUMBER_TYPE and (entry.children or entry.parameters is not None):
            return False
        entry.kind = kind
        return True

    def redefinition(self, match: re.Match[str], problem: Problem) -> bool:
        """The program declares the name after all: take ours back."""
        return self._take_back(match.group(1).rsplit("::", 1)[-1])

    def _take_back(self, name: str) -> bool:
        for scope in [self._names.root, *(entry for _, entry in self._names.walk())]:
            known = scope.children.get(name)
            if known is not None and not (known.kind == NAMESPACE and known.children):
                del scope.children[name]
                self._given_up.add(name)
                return True
        return False

    def redeclared_template(self, match: re.Match[str], problem: Problem) -> bool:
        """The complaint stands at the `template` of the program's own, with other parameters than ours."""
        found = _TEMPLATE.match(self._uses.text(problem.path), problem.offset)
        return found is not None and self._take_back(found.group(1) or found.group(2))

    def hides_type(self, match: re.Match[str], problem: Problem) -> bool:
        """Our function or value stands beside a class of the program: only the class's keyword would do."""
        entry = self._names.find((match.group(1),))
        return entry is not None and entry.kind in (FUNCTION, VALUE) and self._take_back(entry.name)

    def conflicting_name(self, match: re.Match[str], problem: Problem) -> bool:
        """`using other::name;` or `typedef ... name;` where we declared that name."""
        word = self._word(problem)
        return word != "" and self._take_back(word)

    def incomplete(self, match: re.Match[str], problem: Problem) -> bool:
        """A class that is declared and never defined, or a macro between `class` and its name."""
        name = match.group(1)
        path = tuple(name.split("::"))
        if name in DECLARATION_WORDS:
            return name == "void" and self.stray_macro(match, problem)
        body = _CLASS_BODY.match(self._uses.text(problem.path), problem.offset)
        if body and is_macro_like(name) and _CLASS_BEFORE.search(self._text_before(problem)):
            return self._macro(name)  # `class LIBRARY_EXPORT Name {`
        return self._declare(self._names.scope(path[:-1]).children, Healed(path[-1], TYPE))

    def class_name(self, match: re.Match[str], problem: Problem) -> bool:
        """A name where a class is expected: as a base, or in front of `::`."""
        word = self._word(problem)
        if not word:
            return False
        around = usage(self._uses.text(problem.path), problem.offset, word)
        entry = self._uses.entry(word, around, problem, wants_type=True)
        scope = _SCOPE_BEFORE.search(self._text_before(problem))
        path = tuple(re.findall(r"\w+", scope.group())) if scope is not None else ()
        if entry.kind == NUMBER_TYPE:
            entry.kind = TYPE
        return self._declare(self._names.scope(path).children, entry)

    def stray_macro(self, match: re.Match[str], problem: Problem) -> bool:
        """A name in capitals where a declaration should begin or a body should stand, or between the type of
        a function and its name (`__global__ void LAUNCH_BOUNDS k(...)`)."""
        name = self._word(problem)
        if not is_macro_like(name):
            return False
        around = usage(self._uses.text(problem.path), problem.offset, name)
        has_arguments = around.next.startswith("(")
        return self._macro(name, "(...)" if has_arguments else self._uses.qualifier(problem, name))

    def not_a_scope(self, match: re.Match[str], problem: Problem) -> bool:
        """`X::` where X is no namespace, or is nothing at all behind `a::b::`."""
        name = match.group(1)
        if not self._uses.text(problem.path).startswith(name, problem.offset):
            return False
        prefix = _SCOPE_BEFORE.search(self._text_before(problem))
        path = tuple(re.findall(r"\w+", prefix.group())) if prefix else ()
        entry = self._names.find((*path, name))
        if entry is not None:
            return self._becomes(entry, TYPE, VALUE, FUNCTION, NUMBER_TYPE)
        owner = self._names.find(path) if path else None
        if owner is None or owner.kind != NAMESPACE:
            return False
        return self._declare(owner.children, Healed(name, NAMESPACE))

    def not_a_type(self, match: re.Match[str], problem: Problem) -> bool:
        """`X::y` was healed as a namespace, and then X is used as a type or a value."""
        name = match.group(1)
        entry = self._names.find((name,))
        around = self._uses.usage(problem, name)
        if entry is None or not self._becomes(entry, TYPE, NAMESPACE):
            return False
        if around is not None and around.template:
            entry.parameters = argument_kinds(around.template, self._uses.text(problem.path))
        return True

    def template_parameter(self, match: re.Match[str], problem: Problem) -> bool:
        """`template <X n>`: X is an integer."""
        return self._becomes(self._names.find(tuple(match.group(1).split("::"))), NUMBER_TYPE, TYPE)

    def expected_type(self, match: re.Match[str], problem: Problem) -> bool:
        """A name taken for a value stands where only a type can."""
        return self._becomes(self._name_at(problem), TYPE, VALUE, FUNCTION)

    def computes(self, match: re.Match[str], problem: Problem) -> bool:
        """A type taken for a class is calculated with."""
        for name in filter(None, match.groups()):
            entry = self._names.find(tuple(name.split("::")))
            if (name, -1) not in self._corrected and self._becomes(entry, NUMBER_TYPE, TYPE):
                self._corrected.add((name, -1))
                return True
        return False

    def ranged(self, match: re.Match[str], problem: Problem) -> bool:
        """`for (auto x : some)` over a class that was guessed, or over what an unknown function gives."""
        found = _BEHIND_COLON.match(self._uses.text(problem.path), problem.offset)
        named = self._names.find(tuple(re.findall(r"\w+", found.group(1)))) if found else None
        kind = self._names.find(tuple(match.group(1).split("::")))
        entry = kind if kind is not None and kind.kind == TYPE else named
        if entry is None or entry.kind not in (FUNCTION, TYPE) or entry.text:
            return False
        entry.text = RANGE
        return True

    def needs_class(self, match: re.Match[str], problem: Problem) -> bool:
        """A type taken for a number is a base class."""
        return self._becomes(self._name_at(problem), TYPE, NUMBER_TYPE)


_NAME = pattern(r"[A-Za-z_]\w*")
_OPERAND = r"'(?:const )?([\w:]*)[^']*'(?: \(aka '[^']*'\))?"
_TEMPLATE = pattern(
    r"template\s*<[^;{}]*>\s*(?:(?:struct|class|union)\s+(?:__?\w+\s*\([^)]*\)\s*)?([A-Za-z_]\w*)"
    r"|[^;{}()=<>]*?([A-Za-z_]\w*)\s*[=;{\[])"
)
_CLASS_BEFORE = pattern(r"\b(?:class|struct|union)\s+\w+\s+\Z")
_CLASS_BODY = pattern(r"\w+\s*(?:<[^;{}]*>\s*)?(?:final\s*)?(?:\{|:(?!:))")
_SCOPE_BEFORE = pattern(r"(?:\w+\s*::\s*)+\Z")
_BEHIND_COLON = pattern(r":\s*(?:::)?(\w+(?:\s*::\s*\w+)*)")
_NAMESPACE_ALIAS = pattern(r"\s*namespace\s+(\w+)\s*=\s*(?:::)?(\w+(?:::\w+)*)\s*;")
_Reaction = Callable[[Healing, "re.Match[str]", Problem], bool]
_REACTIONS: tuple[tuple[re.Pattern[str], _Reaction], ...] = tuple(
    (pattern(text), reaction)
    for text, reaction in (
        (r"use of undeclared identifier '([A-Za-z_]\w*)'", Healing.undeclared),
        (r"unknown type name '([A-Za-z_]\w*)'", Healing.unknown_type),
        (
            r"no (type|member|template) named '([A-Za-z_]\w*)' in (?:namespace '([^']+)'|the global)",
            Healing.in_namespace,
        ),
        (r"no (type|member|template) named '([A-Za-z_]\w*)' in '([^']+)'", Healing.in_type),
        (r"no (template) named '([A-Za-z_]\w*)'()", Healing.in_namespace),
        (
            r"explicit specialization of undeclared template \w+ '([A-Za-z_]\w*)'",
            Healing.undeclared_special,
        ),
        (r"expected namespace name", Healing.expected_namespace),
        (
            r"template argument for (non-type|template type) (?:template )?parameter must be an? ",
            Healing.wrong_argument,
        ),
        (r"redefinition of '([^']+)'", Healing.redefinition),
        (
            r"(?:definition of|redeclaration of) (?:type )?'([^']+)' (?:conflicts|as different)",
            Healing.redefinition,
        ),
        (r"reference to '([^']+)' is ambiguous", Healing.redefinition),
        (
            r"target of using declaration conflicts with declaration|typedef redefinition",
            Healing.conflicting_name,
        ),
        (r"use of '([^']+)' with tag type that does not match", Healing.redefinition),
        (r"static declaration of '([^']+)' follows non-static", Healing.redefinition),
        (r"must use '\w+' tag to refer to type '([A-Za-z_]\w*)'", Healing.hides_type),
        (r"too (?:few|many) template parameters in template redeclaration", Healing.redeclared_template),
        (
            r".*incomplete (?:definition of )?type '(?:struct |class |union )?([A-Za-z_][\w:]*)'",
            Healing.incomplete,
        ),
        (r"a non-type template parameter cannot have type '(?:const )?([\w:]+)'", Healing.template_parameter),
        (r"expected a type", Healing.expected_type),
        (rf".*(?:binary expression \(|operand types ){_OPERAND} and {_OPERAND}\)", Healing.computes),
        (r"cannot (?:in|de)crement value of type '(?:const )?([\w:]+)'", Healing.computes),
        (r"base specifier must name a class", Healing.needs_class),
        (r"invalid range expression of type '(?:const )?([\w:]+)", Healing.ranged),
        (r"(?:expected class name|unknown class name)", Healing.class_name),
        (
            r"'([A-Za-z_]\w*)'(?: \(aka '.*'\))? is not a class, namespace, or enumeration",
            Healing.not_a_scope,
        ),
        (r"'([A-Za-z_]\w*)' (?:does not refer to a (?:type|value)|does not name a)", Healing.not_a_type),
        (r"unexpected namespace name '([A-Za-z_]\w*)'", Healing.not_a_type),
        (
            r"(?:a type|C\+\+ requires a type) specifier|expected (?:function body after|unqualified-id)",
            Healing.stray_macro,
        ),
        (r"expected ';' after top level declarator", Healing.stray_macro),
        (r"expected expression|unexpected type name", Healing.code_as_argument),
    )
)
