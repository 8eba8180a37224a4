"""One finding for each cause: accesses of one array that conflict for one reason and that one fix frees."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from hashlib import sha256

from smemlint.diagnose import cost
from smemlint.diagnose.model import Cost, Diagnostic
from smemlint.records import record


@record(frozen=True, slots=True)
class Group:
    """A finding and the places that have its cause too. lead: the costliest place, which tells it."""

    id: str
    lead: Diagnostic
    others: tuple[Diagnostic, ...] = ()

    @property
    def all(self) -> tuple[Diagnostic, ...]:
        return (self.lead, *self.others)

    @property
    def cost(self) -> Cost | None:
        """Of all places together."""
        return cost.joined([d.cost for d in self.all if d.cost is not None])

    @property
    def cost_words(self) -> str | None:
        """What all places cost together, as people read it; of a range its upper end."""
        together, sizes = self.cost, [d.measure for d in self.all]
        most = any(m.wavefronts_low is not None and m.wavefronts_low != m.wavefronts for m in sizes)
        return None if together is None else cost.words(together, most=most)


def with_groups(diagnostics: Sequence[Diagnostic]) -> list[Diagnostic]:
    """The findings, each with the name of its group."""
    numbers: dict[str, int] = {}
    names: dict[object, str] = {}
    found = []
    for d in diagnostics:
        cause = _cause(d)
        if cause not in names:
            # No line in it: the name outlives edits elsewhere in the file. Equal ones are numbered.
            text = "\0".join((d.place.path, d.code, d.kernel, d.array, "" if d.array else d.title))
            digest = sha256(text.encode(errors="replace")).hexdigest()[:12]
            numbers[digest] = numbers.get(digest, 0) + 1
            names[cause] = digest if numbers[digest] == 1 else f"{digest}-{numbers[digest]}"
        found.append(replace(d, group=names[cause]))
    return found


def groups(diagnostics: Iterable[Diagnostic]) -> list[Group]:
    """The groups, in the order in which their first places come."""
    members: dict[str, list[Diagnostic]] = {}
    for number, d in enumerate(diagnostics):
        members.setdefault(d.group or f"#{number}", []).append(d)
    found = []
    for name, some in members.items():
        lead = max(some, key=_weight)
        found.append(Group(name, lead, tuple(d for d in some if d is not lead)))
    return found


def by_cost(found: Iterable[Group]) -> list[Group]:
    """The costliest first: by excess wavefronts of a block; those without a cost in their order behind."""
    return sorted(found, key=lambda g: -g.cost.own.excess if g.cost is not None else 0.0)


def _weight(d: Diagnostic) -> tuple[float, float]:
    return (d.cost.own.excess if d.cost is not None else -1.0, d.worst_ways or 0.0)


def _cause(d: Diagnostic) -> object:
    if d.worst_ways is None or not d.array:
        return (d.place, d.code, d.title, d.here)
    # A fix is one of an array; it need not free all of its accesses.
    layout = d.fix.code if d.fix is not None else ""
    return (d.place.path, d.code, d.severity, d.kernel, d.array, d.configuration, layout)
