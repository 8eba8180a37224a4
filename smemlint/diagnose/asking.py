"""Asks the rules that other distributions add: what goes wrong in one of them costs that rule."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeVar

from smemlint.ir import Place
from smemlint.rules import ConflictRule, DeclarationRule, Finding, Label, Severity
from smemlint.rules.added import Added
from smemlint.score.model import Conflict, KernelAnalysis
from smemlint.system.workers import OutOfTimeError, at_stage

STAGE = "rule "
"""Begins the name of the stage in which an added rule is asked."""
SECONDS = 2.0
"""Of computing that one question may take."""
Answer = TypeVar("Answer")


class Asking:
    """The added rules, for one file. faults: code -> what went wrong, and in which kernel; a rule that has
    one is not asked again."""

    def __init__(self, rules: Added) -> None:
        self._rules = rules
        self.faults: dict[str, tuple[str, Place]] = {}

    def explains(self, conflict: Conflict, kernel: KernelAnalysis) -> tuple[str, Finding] | None:
        """(code, finding) of the first added rule that explains a conflict."""
        for rule in self._rules.conflict:
            found = self._ask(rule.code, kernel, partial(_explained, rule, conflict, kernel))
            if found is not None:
                return rule.code, found
        return None

    def declares(self, kernel: KernelAnalysis, text: str | None) -> Iterator[tuple[str, Place, Finding]]:
        """(code, place, finding) of everything that added rules say of a kernel's declarations."""
        for rule in self._rules.declaration:
            found = self._ask(rule.code, kernel, partial(_declared, rule, kernel, text))
            yield from ((rule.code, place, finding) for place, finding in found or ())

    def _ask(self, code: str, kernel: KernelAnalysis, question: Callable[[], Answer]) -> Answer | None:
        if code in self.faults:
            return None
        try:
            # What a rule prints is no part of a report.
            with at_stage(STAGE + code, SECONDS), contextlib.redirect_stdout(sys.stderr):
                return question()
        except OutOfTimeError:
            fault = f"took more than {SECONDS:g} s"
        except (Exception, SystemExit) as error:
            fault = f"{type(error).__name__}: {error}"
        source = self._rules.source(code)
        said = f"the rule `{code}` of {source} failed in `{kernel.kernel.name}`: {fault}"
        self.faults[code] = (f"{said}; its findings are left out", kernel.kernel.place)
        return None


def _explained(rule: ConflictRule, conflict: Conflict, kernel: KernelAnalysis) -> Finding | None:
    return _found(rule.explains(conflict, kernel))


def _declared(rule: DeclarationRule, kernel: KernelAnalysis, text: str | None) -> list[tuple[Place, Finding]]:
    return [_placed(pair) for pair in rule.check(kernel, text)]


def _found(answer: object) -> Finding | None:
    """The answer of a rule, as plain records. Raises TypeError."""
    if answer is None:
        return None
    if type(answer) is not Finding:
        raise TypeError(f"expected a Finding or None, got {type(answer).__name__}")
    _plain("here", answer.here, str)
    _plain("title", answer.title, str)
    if answer.severity is not None:
        _plain("severity", answer.severity, Severity)
    also, notes = tuple(answer.also), tuple(answer.notes)
    for label in also:
        _plain("also", label, Label)
        _plain("also", label.place, Place)
        _plain("also", label.text, str)
    for note in notes:
        _plain("notes", note, str)
    return Finding(answer.here, also, notes, answer.title, answer.severity)


def _placed(answer: object) -> tuple[Place, Finding]:
    if not isinstance(answer, tuple) or len(answer) != 2:
        raise TypeError("expected a place and a Finding")
    place, finding = answer
    _plain("the place", place, Place)
    found = _found(finding)
    if found is None or not found.title:
        raise TypeError("a finding on a declaration needs a `title`")
    return place, found


def _plain(name: str, value: object, kind: type) -> None:
    if type(value) is not kind:
        raise TypeError(f"`{name}`: expected {kind.__name__}, got {type(value).__name__}")
