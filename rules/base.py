"""What a rule is, and what it says.

A rule is one class in one file: code, name, severity, a docstring with fixed headings, and examples that
are its tests. Nothing here imports numpy, clang or a renderer, so that listing the rules costs nothing.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Iterator
from enum import Enum
from typing import TYPE_CHECKING, ClassVar

from smemlint.ir import Place
from smemlint.records import record

if TYPE_CHECKING:
    from smemlint.score.model import Conflict, KernelAnalysis


class Severity(Enum):
    """How much a finding weighs; `rank` orders them."""

    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"

    @property
    def rank(self) -> int:
        return ("note", "warning", "error").index(self.value)


@record(frozen=True, slots=True)
class Label:
    """A second place that belongs to a finding, and what is to be seen there."""

    place: Place
    text: str


@record(frozen=True, slots=True)
class Finding:
    """What a rule says about one place.

    here: the words beside the carets. title: overrides the headline, which for conflicts is made
    from the ways. severity: overrides the rule's own.
    """

    here: str
    also: tuple[Label, ...] = ()
    notes: tuple[str, ...] = ()
    title: str = ""
    severity: Severity | None = None


@record(frozen=True, slots=True)
class Kernel:
    """An example: a kernel body over some shared declarations, and the ways of its worst access."""

    body: str
    shared: str
    block: tuple[int, ...]
    ways: float = 1
    parameters: str = "float *out, int k, int n"
    before: str = ""
    """Text in front of the kernel: structs, constants."""

    def source(self) -> str:
        """The example as a CUDA source file."""
        declarations = "".join(f"    {d.strip()};\n" for d in self.shared.split(";") if d.strip())
        body = "".join(f"    {line}\n" for line in self.body.strip().splitlines())
        before = self.before.strip() + "\n\n" if self.before else ""
        return f"{before}__global__ void kernel({self.parameters}) {{\n{declarations}{body}}}\n"


def shared(*declarations: str) -> str:
    """`shared("float t[32][32]")` -> the text of `__shared__` declarations for a Kernel."""
    return "; ".join(f"__shared__ {d}" for d in declarations)


SLOW_HEADINGS = ("Why it is slow", "Use instead", "Fix safety", "References")
OTHER_HEADINGS = ("Why it matters", "Use instead", "Fix safety", "References")


class Rule:
    """One finding that smemlint can make. The docstring is the documentation."""

    code: ClassVar[str]
    name: ClassVar[str]
    severity: ClassVar[Severity] = Severity.WARNING
    page: ClassVar[str] = ""
    """Address of the rule's page, for SARIF; of smemlint's own rules it follows from the site's."""
    conflicting: ClassVar[tuple[Kernel, ...]] = ()
    clean: ClassVar[tuple[Kernel, ...]] = ()

    @classmethod
    def text(cls) -> str:
        return inspect.cleandoc(cls.__doc__ or "")

    @classmethod
    def summary(cls) -> str:
        """The docstring's first paragraph, on one line."""
        return " ".join(cls.text().split("\n\n", 1)[0].split())

    @classmethod
    def sections(cls) -> dict[str, str]:
        """Heading -> text, in the order written."""
        result: dict[str, str] = {}
        for part in cls.text().split("\n## ")[1:]:
            heading, _, text = part.partition("\n")
            result[heading.strip()] = text.strip()
        return result

    @classmethod
    def markdown(cls) -> str:
        """The whole documentation, examples included, headings at level 2."""
        parts = [f"# {cls.code}: {cls.name}\n\n{cls.summary()}\n"]
        parts.append(f"Severity: {cls.severity.value}.\n")
        for heading, text in cls.sections().items():
            if heading == "Use instead" and cls.conflicting:
                parts.append("## Example\n\n" + "\n\n".join(_shown(e) for e in cls.conflicting) + "\n")
            parts.append(f"## {heading}\n\n{text}\n")
            if heading == "Use instead" and cls.clean:
                parts.append("\n\n".join(_shown(e) for e in cls.clean) + "\n")
        return "\n".join(parts)


class ConflictRule(Rule, ABC):
    """A rule about one access: recognises the cause of its conflict, or says None."""

    @abstractmethod
    def explains(self, conflict: Conflict, kernel: KernelAnalysis) -> Finding | None:
        """What to say of a conflict; None when its cause is another."""


class DeclarationRule(Rule, ABC):
    """A rule about a kernel's shared memory as declared."""

    unanimous: ClassVar[bool] = False
    """Whether every instance and launch of the kernel must agree before anything is said."""

    @abstractmethod
    def check(self, kernel: KernelAnalysis, text: str | None) -> Iterator[tuple[Place, Finding]]:
        """text: the source of the file that holds the kernel, None where it cannot be read."""


def _shown(example: Kernel) -> str:
    block = ", ".join(map(str, example.block))
    ways = f", {example.ways:g}-way" if example.ways > 1 else ", no conflict"
    return f"```cuda\n// block ({block}){ways}\n{example.source()}```"
