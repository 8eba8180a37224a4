"""All that one run found, before it is one report, and what went wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from smemlint.commands.common.from_settings import chosen_of
from smemlint.commands.common.usage import UsageError
from smemlint.config import Block, Settings
from smemlint.configurations import Configurations
from smemlint.records import record
from smemlint.system.stopping import Stopped
from smemlint.system.streams import say
from smemlint.system.visible import visible_path

if TYPE_CHECKING:
    from smemlint.api import View
    from smemlint.diagnose.baseline import Baseline
    from smemlint.diagnose.model import FileReport, Problem, Report
    from smemlint.running.cache import Cache
    from smemlint.running.jobs import Job

_STALE = 10
"""Stale entries of a baseline that are named one by one."""
_SKIPPED = 3
"""Files that were passed over and are named one by one: a project may have hundreds for HIP."""


@record(frozen=True, slots=True, eq=False)
class Run:
    """All that the analysis of the paths gave, before the files are merged into one report.

    settings: those of the working folder, for what concerns the whole run.
    """

    configurations: Configurations
    settings: Settings
    jobs: Sequence[Job]
    reports: Sequence[FileReport]
    baseline: Baseline | None = None
    changed: Callable[[str, int, int], bool] | None = None
    cache: Cache | None = None
    stopped: Stopped | None = None
    """The signal that ended it before all files were done."""
    part: tuple[int, int] | None = None
    """(number, count) where it is one shard of several."""
    wrong: Sequence[Problem] | None = None
    """What is wrong with the configurations, where it is known already."""

    def collect(self, reports: Sequence[FileReport], edited: Mapping[str, str] | None = None) -> Report:
        """One report of these files: merged, suppressed, selected; with what is wrong with the settings.

        edited: texts that stand for what lies on disk, by path as shown.
        """
        from smemlint import api

        texts = {api.shown(job.path): job.text for job in self.jobs if job.text is not None}
        texts.update(edited or {})
        report = api.collect(
            reports, _view(self.configurations, self.settings, self.baseline, self.changed), texts
        )
        wrong = list(broken(self.configurations) if self.wrong is None else self.wrong)
        if self.part is None:
            wrong += _unknown_kernels(self.configurations.said.reading.blocks, report)
        if self.stopped is not None:
            wrong = [_interrupted(self.stopped, len(reports), len(self.jobs))]
        wrong += _unusable_rules()
        return replace(report, problems=(*report.problems, *wrong))


def tell(run: Run, report: Report) -> None:
    """Say on stderr what could not be analysed, and what of the baseline is stale."""
    for problem in report.problems:
        say(str(problem))
    for skipped in report.skipped[:_SKIPPED]:
        say(f"skipped: {visible_path(skipped.path)}: {skipped.message}")
    if (more := len(report.skipped) - _SKIPPED) > 0:
        from smemlint.render.summary import count

        say(f"skipped: {count(more, 'more HIP source')}; `--output-format json` lists all of them")
    for entry in report.stale[:_STALE]:
        say(f"warning: stale in {run.settings.choice.baseline}: {entry}")
    if len(report.stale) > _STALE:
        say(f"warning: {len(report.stale) - _STALE} more entries of {run.settings.choice.baseline} are stale")


def changed_since(revision: str | None) -> Callable[[str, int, int], bool] | None:
    """Which lines differ from a revision. Raises UsageError where git does not tell."""
    if revision is None:
        return None
    from smemlint.source import revisions

    try:
        return revisions.changed_since(revision, Path.cwd()).touches
    except revisions.GitError as error:
        raise UsageError(f"argument --diff-base: {error}") from None


def baseline_of(whole: Settings) -> Baseline | None:
    """The findings that are accepted. Raises UsageError where the file cannot be read."""
    if not whole.choice.baseline:
        return None
    from smemlint.diagnose import baseline

    try:
        return baseline.read(Path(whole.choice.baseline))
    except baseline.BaselineError as error:
        raise UsageError(str(error)) from None


def _view(
    configurations: Configurations,
    whole: Settings,
    baseline: Baseline | None,
    changed: Callable[[str, int, int], bool] | None,
) -> View:
    from smemlint.api import View
    from smemlint.rules import Severity

    def chosen(path: str, kernel: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        return chosen_of(configurations.shown(path), kernel)

    level = min((Severity(whole.choice.level), Severity(whole.gate.fail_on)), key=lambda s: s.rank)
    return View(
        chosen, level, bool(whole.display.show_unresolved), whole.choice.min_share or 0.0, baseline, changed
    )


def _interrupted(stopped: Stopped, done: int, all_: int) -> Problem:
    from smemlint.diagnose.model import Problem

    return Problem("", f"ended by {stopped.name}: {done} of {all_} files are in this report")


def broken(configurations: Configurations) -> list[Problem]:
    """A problem for each configuration that cannot be followed, which says how many files that costs."""
    from smemlint.api import shown
    from smemlint.diagnose.model import Problem
    from smemlint.render.summary import count

    return [
        Problem(shown(path), f"{error.message}; {count(lost, 'file')} below it not analysed")
        for path, (error, lost) in configurations.broken.items()
    ]


def _unusable_rules() -> list[Problem]:
    """A problem for each rule that another distribution adds and that cannot be used."""
    from smemlint.diagnose.model import Problem
    from smemlint.rules.added import added

    return [Problem("", fault) for fault in added().faults]


def _unknown_kernels(blocks: Mapping[str, Block] | None, report: Report) -> list[Problem]:
    """A problem for each kernel that `--block` names and no file of the run has."""
    from smemlint.diagnose.model import Problem

    wanted = [name for name in blocks or {} if name]
    known = {k.name for k in report.kernels} | {u.name.strip("`") for u in report.unseen}
    if all(name in known for name in wanted):
        return []
    import difflib

    problems = []
    for name in [n for n in wanted if n not in known]:
        near = difflib.get_close_matches(name, known, n=1, cutoff=0.0)
        nearest = f"; the nearest one is `{near[0]}`" if near else ""
        problems.append(
            Problem("", f"argument --block: no kernel of these files is called `{name}`{nearest}")
        )
    return problems
