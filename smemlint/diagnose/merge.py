"""From per-file records to findings: one per place and cause, over translation units, instances and launches.

A conflict is a warning when it is proved: the low end of its ways reaches the threshold under a launch that
the source or the user states, or under every candidate that was tried where the block shape is assumed.
Anything less is a note.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from smemlint.diagnose.advice import Site, refused, site_of
from smemlint.diagnose.cost import Costs
from smemlint.diagnose.launches import Sight, launch_notes, shape
from smemlint.diagnose.model import Access, Diagnostic, FileReport, KernelReport, Unseen
from smemlint.diagnose.threshold import proved
from smemlint.diagnose.unreached import line_of, reached, replaced, with_unreached
from smemlint.fix.model import Suggestion
from smemlint.ir import Place
from smemlint.rules import DeclarationRule, Rule, Severity, find_rule
from smemlint.rules.words import ways_text
from smemlint.score.model import STATED
from smemlint.view.help import HELP

_SHOWN_VISITS = 12
_SEEN = STATED | {"no-arguments", "block-shape", "whole-warps"}
"""What may be assumed of an access that a program without arguments has."""
_IN_A_ROW = 4
"""Equal visits that are told one by one."""


def merge_kernels(reports: Iterable[FileReport]) -> tuple[KernelReport, ...]:
    """One record per kernel, template instance and launch shape.

    Records of the same header kernel from several files, and of several preprocessor configurations, become
    one; an instance whose launch is known somewhere loses its assumed launches, and so does a kernel those
    of guessed instances, but not those of launches elsewhere that leave their block open. Accesses that no
    launch of any of the files reaches are kept.
    """
    records = [k for r in reports for k in r.kernels]
    every = sorted((reached(k) for k in records if not k.device), key=lambda k: k.configuration != "")
    known = {k.key for k in every if not k.launch.assumed}
    facts: set[object] = set()
    for k in every:
        if not k.launch.assumed:
            instance = (k.key, k.template_arguments)
            facts |= {
                instance,
                (k.key, k.launch.origin),
                (*instance, k.launch.origin),
                (*instance, k.launch.block),
            }
    merged: dict[object, KernelReport] = {}
    for kernel in every:
        instance = (kernel.key, kernel.template_arguments)
        if kernel.launch.filled:
            told = (kernel.key, kernel.launch.origin) in facts
        elif kernel.launch.opened:
            told = not facts.isdisjoint({(*instance, kernel.launch.opened), (*instance, kernel.launch.block)})
        else:
            told = instance in facts or kernel.launch.guessed
        if kernel.launch.assumed and told and kernel.key in known:
            records.append(replaced(kernel))
            continue
        identity = (
            kernel.key,
            kernel.template_arguments,
            kernel.launch.block,
            kernel.launch.grid,
            kernel.launch.dynamic,
            kernel.launch.variant,
        )
        first = merged.get(identity)
        merged[identity] = kernel if first is None else _joined(first, kernel)
    return with_unreached(tuple(merged.values()), records)


def _joined(first: KernelReport, second: KernelReport) -> KernelReport:
    """The first record with the accesses that only the second one has."""
    seen = {(site_of(a.place), a.op) for a in first.accesses}
    extra = tuple(a for a in second.accesses if (site_of(a.place), a.op) not in seen)
    names = {s.name for s in first.shared}
    return replace(
        first,
        accesses=first.accesses + extra,
        shared=first.shared + tuple(s for s in second.shared if s.name not in names),
        declared=tuple(d for d in first.declared if d in second.declared),
        notes=tuple(dict.fromkeys(first.notes + second.notes)),
        shares=first.shares or second.shares,
    )


def diagnose(
    kernels: Sequence[KernelReport], reports: Sequence[FileReport], not_seen: Sequence[Unseen] = ()
) -> list[Diagnostic]:
    """Every finding, notes included, in source order. not_seen: the kernels of which nothing is known."""
    found: list[Diagnostic] = []
    shapes: dict[object, int] = {}
    for kernel in kernels:
        shapes[kernel.key] = shapes.get(kernel.key, 0) + 1
    suggestions = {r.path: r.suggestions for r in reports}
    # By access: a kernel that several files show is a new record, with accesses of each.
    owners = {id(a): r.path for r in reports for k in r.kernels for a in k.accesses}
    sites: dict[Site, list[Sight]] = {}
    for kernel in kernels:
        for access in kernel.accesses:
            certain = proved(access, kernel.min_ways) and _is_seen(access, kernel)
            sites.setdefault(site_of(access.place), []).append(Sight(kernel, access, certain))
    unreached: set[object] = set()
    costs = Costs(kernels)
    for sights in sites.values():
        access = sights[0].access
        if not access.reached and line_of(access.place) in unreached:
            continue
        conflict = _conflict(_with_candidates(sights, shapes), costs)
        if conflict is not None:
            sight, diagnostic = conflict
            fixes = suggestions.get(owners.get(id(sight.access), ""), ())
            cost = costs.of(sight.kernel, ((s.kernel, s.access) for s in sights))
            found.append(replace(diagnostic, fix=_fix(sight.access, fixes), cost=cost))
        elif all(s.access.wavefronts is None for s in sights):
            found.append(_unresolved(sights[0]))
            if not access.reached:  # one note for all of a line
                unreached.add(line_of(access.place))
    found.extend(_declared(kernels))
    told = {site_of(u.place): u.text for u in not_seen}
    found.extend(d for d in _about_analysis(kernels, reports) if not _is_told(d, told))
    found.extend(_not_seen(not_seen))
    return sorted(found, key=order)


def order(d: Diagnostic) -> tuple[object, ...]:
    return (d.place.path, d.place.line, d.place.column, d.code, d.title)


def _fix(access: Access, suggestions: Sequence[Suggestion]) -> Suggestion | None:
    cause = access.cause
    if cause is None or cause.suggestion is None or cause.suggestion >= len(suggestions):
        return None
    fix = suggestions[cause.suggestion]
    return refused(fix, cause.unhelped) if cause.unhelped else fix


def _proved(sight: Sight) -> bool:
    return proved(sight.access, sight.kernel.min_ways)


def _is_seen(access: Access, kernel: KernelReport) -> bool:
    """Whether the launches of the program have this cost, or those that it makes without arguments."""
    if kernel.launch.is_supposed:
        return False
    return access.grade != "assumed" or all(kind in _SEEN for kind, _, _ in access.assumptions)


def _with_candidates(sights: list[Sight], shapes: dict[object, int]) -> list[Sight]:
    """Assumed sights become certain when every candidate shape of their kernel shows the conflict."""
    result = []
    for sight in sights:
        certain = sight.certain
        if sight.kernel.launch.assumed and _proved(sight) and not certain:
            same = [s for s in sights if s.kernel.key == sight.kernel.key]
            proved = {id(s.kernel) for s in same if _proved(s)}
            certain = len(proved) == shapes[sight.kernel.key]
        result.append(replace(sight, certain=certain))
    return result


def _conflict(sights: list[Sight], costs: Costs) -> tuple[Sight, Diagnostic] | None:
    """The conflict of one place, told by its worst proved sight, or its worst possible one."""
    explained = [s for s in sights if s.access.cause is not None]
    if not explained:
        return None
    proved = [s for s in explained if s.certain]
    # A launch that is known before shapes that another leaves open. Of equally bad ones the record that
    # stands for the kernel, so that the finding and its cost are one's.
    best = max(
        [s for s in proved if not s.kernel.launch.assumed] or proved or explained,
        key=lambda s: (*_rank(s.access, bool(proved)), costs.reference(s.kernel) is s.kernel),
    )
    access, kernel, cause = best.access, best.kernel, best.access.cause
    assert cause is not None
    rule, finding = _rule(cause.rule), cause.finding
    severity = (finding.severity or rule.severity) if proved else Severity.NOTE
    notes = list(finding.notes)
    visits = visits_text(access.spread.visits)
    if visits:
        notes.insert(0, f"per iteration: {visits} ways; {ways_text(access.ways or 0)} over all")
    if access.joined:
        done = "written" if access.op == "store" else "read"
        notes.append(f"joined: {done} with its neighbours as one {access.joined}-byte access")
    notes += launch_notes(best, proved or explained, sights, bool(proved))
    return best, Diagnostic(
        code=rule.code,
        name=rule.name,
        severity=severity,
        place=access.place,
        title=finding.title or _headline(access, rule, proved=bool(proved)),
        here=finding.here,
        also=finding.also,
        notes=tuple(notes),
        kernel=kernel.name,
        array=access.array,
        grade=access.grade,
        measure=access.measure,
        configuration=kernel.configuration,
        expression=access.expression,
        stands_for=cause.instead[0] if cause.instead is not None else "",
    )


def _rule(code: str) -> type[Rule]:
    rule = find_rule(code)
    assert rule is not None, code
    return rule


def _rank(access: Access, proved: bool) -> tuple[float, float]:
    on_way = access.on_way[0] if access.on_way is not None else 0
    return (max(access.worst_low or 0, on_way) if proved else 0, access.worst or 0)


def _headline(access: Access, rule: type[Rule], *, proved: bool) -> str:
    low, ways = access.worst_low or 0, access.worst or 0
    noun = "serialised atomic" if rule.name == "serialised-atomic" else "bank conflict"
    if access.on_way is not None and proved and low <= 1.05:
        return f"{ways_text(access.on_way[0])}-way {noun} where `{access.on_way[1]}`"
    if access.grade not in ("bound", "parametric") or ways_text(low) == ways_text(ways):
        return f"{ways_text(ways)}-way {noun}"
    if low > 1.05:
        return f"{ways_text(low)}- to {ways_text(ways)}-way {noun}"
    return f"up to {ways_text(ways)}-way {noun}"


def visits_text(visits: tuple[tuple[float, int], ...]) -> str:
    """`2, 4, 8, 8, 8, 4, 2, 1`, or `1.9 (25 times), 1.4 (25 times)`; empty where all visits cost the same."""
    runs: list[tuple[str, int]] = []
    for ways, count in visits:
        told = ways_text(ways)
        if runs and runs[-1][0] == told:
            count += runs.pop()[1]
        runs.append((told, count))
    if len({told for told, _ in runs}) < 2:
        return ""
    parts: list[str] = []
    for told, count in runs:
        parts += [told] * count if count <= _IN_A_ROW else [f"{told} ({count:,} times)"]
    more = ", ..." if len(parts) > _SHOWN_VISITS else ""
    return ", ".join(parts[:_SHOWN_VISITS]) + more


def _plain(code: str, place: Place, title: str, here: str = "", **more: object) -> Diagnostic:
    rule = _rule(code)
    return Diagnostic(rule.code, rule.name, rule.severity, place, title, here, **more)  # type: ignore[arg-type]


def _unresolved(sight: Sight) -> Diagnostic:
    access = sight.access
    code, text = access.reason or ("unknown", "no reason was given")
    return _plain(
        "SMEM901",
        access.place,
        f"the cost of this {access.op} is not known",
        text,
        notes=_because(code),
        kernel=sight.kernel.name,
        array=access.array,
        grade=access.grade,
    )


def _declared(kernels: Sequence[KernelReport]) -> Iterator[Diagnostic]:
    """Declaration findings, each once; where a rule asks for it, all instances of a kernel must agree."""
    seen: set[tuple[str, Site]] = set()
    instances = Counter(k.key for k in kernels)
    said = Counter((k.key, d.rule, site_of(d.place)) for k in kernels for d in set(k.declared))
    for kernel in kernels:
        for declared in kernel.declared:
            key = (declared.rule, site_of(declared.place))
            if key in seen:
                continue
            rule = _rule(declared.rule)
            place = (kernel.key, *key)
            agreed = said[place] == instances[kernel.key]
            if issubclass(rule, DeclarationRule) and rule.unanimous and not agreed:
                continue
            seen.add(key)
            finding = declared.finding
            diagnostic = _plain(
                declared.rule,
                declared.place,
                finding.title,
                finding.here,
                also=finding.also,
                notes=finding.notes,
            )
            yield replace(diagnostic, kernel=kernel.name, severity=finding.severity or diagnostic.severity)


def _not_seen(kernels: Iterable[Unseen]) -> Iterator[Diagnostic]:
    for kernel in kernels:
        title = f"no shared-memory access of {kernel.name} was seen"
        yield _plain(
            "SMEM907",
            kernel.place,
            title,
            kernel.text,
            notes=_because(kernel.code),
            kernel=kernel.name.strip("`"),
        )


def _because(code: str) -> tuple[str, ...]:
    """The name of a reason, and what would bring a number, where anything does."""
    helps = HELP.get(code, "nothing")
    reason = f"reason: {code}"
    return (reason,) if helps.startswith("nothing") else (reason, f"what helps: {helps}")


def _is_told(d: Diagnostic, not_seen: Mapping[tuple[str, int, int, int, int], str]) -> bool:
    """Whether that a kernel was analysed in part says no more than that no access of it was seen."""
    text = not_seen.get(site_of(d.place)) if d.code == "SMEM906" else None
    return text is not None and (d.notes[:1] == ("reason: no-access",) or text.endswith(d.here))


def _assumed(kernel: KernelReport, what: str, tried: str) -> Diagnostic:
    return _plain(
        "SMEM902", kernel.place, f"{what} of `{kernel.name}` is assumed", f"tried {tried}", kernel=kernel.name
    )


def _by_kernel(kernels: Iterable[KernelReport]) -> Iterable[list[KernelReport]]:
    """Instances and launches of each kernel together."""
    found: dict[object, list[KernelReport]] = {}
    for kernel in kernels:
        found.setdefault(kernel.key, []).append(kernel)
    return found.values()


def _about_analysis(kernels: Sequence[KernelReport], reports: Sequence[FileReport]) -> Iterator[Diagnostic]:
    for every in _by_kernel(k for k in kernels if k.launch.assumed and any(a.reached for a in k.accesses)):
        if same := [k for k in every if k.launch.filled]:
            tried = "; ".join(dict.fromkeys(k.instance for k in same))
            yield _assumed(same[0], "an instance", f"{tried}: no launch tells all arguments")
        if same := [k for k in every if not k.launch.filled]:
            tried = ", ".join(dict.fromkeys(shape(k) for k in same))
            opened = ", ".join(dict.fromkeys(k.launch.opened for k in same if k.launch.opened))
            tried += f": {opened} leaves it open" if opened else ""
            yield _assumed(same[0], "the block shape", f"{tried}; give it with --block {same[0].name}=X,Y,Z")
    for every in _by_kernel(k for k in kernels if k.launch.beside):
        where = ", ".join(dict.fromkeys(x for k in every for x in k.launch.beside))
        title = f"the block shape of a launch of `{every[0].name}` is not known"
        text = f"what is started in {where} is not analysed"
        yield _plain("SMEM902", every[0].place, title, text, kernel=every[0].name)
    seen: set[object] = set()
    for report in reports:
        for entry in report.unparsed:
            if (key := (entry.place.path, entry.place.offset)) not in seen:
                seen.add(key)
                yield _plain("SMEM903", entry.place, "shared memory that was not parsed", entry.reason)
    for kernel in kernels:
        for note in kernel.notes:
            if (stop := (note.code, site_of(note.place))) not in seen:
                seen.add(stop)
                yield _plain(
                    "SMEM906",
                    note.place,
                    f"`{kernel.name}` was analysed in part",
                    note.text,
                    notes=_because(note.code),
                    kernel=kernel.name,
                )
