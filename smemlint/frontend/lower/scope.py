"""The names that are visible where something is lowered."""

from __future__ import annotations

from dataclasses import field

from smemlint.ir import Expr, TemplateParam, Type
from smemlint.records import record


@record(slots=True)
class Scope:
    """Template parameters and local names that are visible, innermost last."""

    templates: list[tuple[TemplateParam, ...]] = field(default_factory=list)
    locals: dict[str, Expr] = field(default_factory=dict)
    types: dict[str, Type] = field(default_factory=dict)
    """Type names declared in the function, by name."""
    record: str | None = None
    around: str = ""
    """The qualified name of the function or class that is read."""

    def template(self, name: str) -> TemplateParam | None:
        """Return the template parameter that a name means here, the innermost one."""
        for frame in reversed(self.templates):
            for parameter in frame:
                if parameter.name == name:
                    return parameter
        return None

    def by_index(self, depth: int, index: int) -> TemplateParam | None:
        """Return a template parameter by its depth and position, as clang names unresolved ones."""
        frames = [frame for frame in self.templates if frame]
        if depth < len(frames) and index < len(frames[depth]):
            return frames[depth][index]
        return None

    def parameters(self) -> tuple[TemplateParam, ...]:
        """Return all template parameters that are visible."""
        return tuple(p for frame in self.templates for p in frame)
