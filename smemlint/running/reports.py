"""Say what the stages found of one file as plain records.

In: a Job, or what the stages gave for it. Out: a FileReport.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from smemlint.diagnose.advice import advised
from smemlint.diagnose.asking import Asking
from smemlint.diagnose.model import FileReport, Problem, UnparsedEntry, Unseen
from smemlint.diagnose.observe import observe
from smemlint.diagnose.unseen import IDLE, RUN_TIME, UNKNOWN_KERNEL
from smemlint.fix.model import renamed
from smemlint.frontend.text.kernels import QUOTED
from smemlint.ir import Function, Module, Place
from smemlint.ir.walk import nodes_of
from smemlint.launch.source.missing import missing_kernels
from smemlint.patterns import pattern
from smemlint.rules.added import added
from smemlint.running.pipeline import Examined, examine
from smemlint.score import KernelAnalysis, Sharing, idle_functions, idle_lambdas
from smemlint.system import clock

if TYPE_CHECKING:
    from smemlint.running.jobs import Job

_NOT_UTF8 = pattern("[\udc80-\udcff]")


def run_stages(job: Job, shown: Callable[[str], str]) -> FileReport:
    """Report on one file. A file that cannot be read or parsed at all is a Problem in it."""
    began = clock.now()
    found = examine(job, shown)
    return found if isinstance(found, FileReport) else report_of(found, job, shown, began)


def report_of(found: Examined, job: Job, shown: Callable[[str], str], began: float) -> FileReport:
    """Turn what was found into plain records. began: when the analysis did, in computing time."""
    numbers = {key: number for number, key in enumerate(found.suggestions)}
    cheap = {key for key, s in found.suggestions.items() if s.refused and s.refused.code == "not-worth-it"}
    shares = _shares(found.analyses, found.modules)
    asking = Asking(added()) if job.options.added else None
    kernels = tuple(
        observe(
            analysis,
            min_ways=job.options.min_ways,
            shown=shown,
            text=_decoded(found.texts.get(analysis.kernel.place.path)),
            suggestions=numbers,
            cheap=cheap,
            shares=shares.get(id(analysis), ""),
            asking=asking,
        )
        for analysis in found.analyses
    )
    failed = tuple(
        Problem(shown(at.path), said, at.line, at.column)
        for said, at in (asking.faults.values() if asking is not None else ())
    )
    report = FileReport(
        shown(job.path),
        kernels=kernels,
        unparsed=_unparsed(found.modules, shown),
        problems=(*found.problems, *failed),
        suggestions=tuple(renamed(s, shown) for s in found.suggestions.values()),
        lost=_lost(found.source.path, found.modules, found.analyses, shown),
        missing_headers=tuple(
            dict.fromkeys(name for module in found.modules for name in module.missing_includes)
        ),
        files=tuple(dict.fromkeys(shown(f) for module in found.modules for f in module.files)),
        seconds=clock.now() - began,
    )
    return advised(report)


def _decoded(data: bytes | None) -> str | None:
    """The text with `?` for each byte that is not UTF-8, so that offsets stay."""
    if data is None:
        return None
    text = data.decode("utf-8", errors="surrogateescape")
    return text if text.isascii() else _NOT_UTF8.sub("?", text)


def _unparsed(modules: Sequence[Module], shown: Callable[[str], str]) -> tuple[UnparsedEntry, ...]:
    """What no configuration parsed: a place that one of them has seen is not lost."""
    if not modules:
        return ()
    return tuple(
        UnparsedEntry(_moved(u.place, shown), u.text, u.reason, module.configuration)
        for module in modules
        for u in module.unparsed
    )


def _shares(analyses: Sequence[KernelAnalysis], modules: Sequence[Module]) -> dict[int, str]:
    """By id() of an analysis: in what way its kernel has to do with shared memory, where no launch of it gets
    to an access."""
    seen = {a.kernel.place for a in analyses if any(c.site.reached for c in a.conflicts)}
    readers = {m.configuration: Sharing(m) for m in modules}
    found: dict[int, str] = {}
    for a in analyses:
        kernel = a.kernel.side == "kernel" or (a.kernel.record or "").startswith("(lambda")
        if kernel and a.kernel.place not in seen and a.configuration in readers:
            found[id(a)] = readers[a.configuration].of(a.kernel, a.launch)
    return found


def _lost(
    path: str, modules: Sequence[Module], analyses: Sequence[KernelAnalysis], shown: Callable[[str], str]
) -> tuple[Unseen, ...]:
    """Kernels that did not reach the syntax tree, lambdas that no launch was seen to run, and kernels that
    are started here and defined nowhere."""
    why = "it declares `{}`; no known launch runs it"
    idle = tuple(
        Unseen("a lambda", _moved(f.place, shown), "not-reached", why.format(name))
        for f, name in idle_lambdas(analyses, modules)
    )
    lost = list(idle)
    why = "it declares `{}`; no kernel of this file calls it"
    lost += [
        Unseen(f"`{f.name}`", _moved(f.place, shown), IDLE, why.format(name), _last_line(f))
        for f, name in idle_functions(analyses, modules, path)
    ]
    lost += [
        Unseen(
            f"`{u.text}`", _moved(u.place, shown), RUN_TIME if u.reason == QUOTED else "unparsed", u.reason
        )
        for m in modules
        for u in m.lost
    ]
    missing = dict(pair for m in reversed(modules) for pair in missing_kernels(m, m.path))
    lost += [
        Unseen(
            f"`{name}`",
            _moved(place, shown),
            UNKNOWN_KERNEL,
            "it is started here, and no file that was read defines it",
        )
        for name, place in missing.items()
    ]
    return tuple(lost)


def _last_line(function: Function) -> int:
    places = [p for n in nodes_of(function.body) if isinstance(p := getattr(n, "place", None), Place)]
    return max((p.line for p in places if p.path == function.place.path), default=function.place.line)


def _moved(place: Place, shown: Callable[[str], str]) -> Place:
    return replace(place, path=shown(place.path))
