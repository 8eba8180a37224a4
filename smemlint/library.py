"""The Python interface: the same findings and numbers as the command, for programs.

`check` looks at paths, `analyze` at a text. Options have the names of the configuration, with `_` for `-`.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

from smemlint.diagnose.model import Report

__all__ = ["analyze", "check"]


def check(
    paths: Iterable[str | Path],
    *,
    config: str | Path | None = None,
    jobs: int = 1,
    executor: Executor | None = None,
    suggest: bool = True,
    **options: Any,
) -> Report:
    """The findings of files and folders, as `smemlint check` has them.

    config: the one configuration file to read; without it the closest one holds for each file. jobs:
    processes. executor: runs the files instead, one call each, in whatever it is made of; it must be able to
    import smemlint, and a file that ends its process is its affair. suggest: look for fixes. options: keys of
    the configuration (`min_ways=4`, `blocks={"k": (32, 8, 1)}`), over what files say.

    Raises: TypeError for an option that does not exist; ConfigError for a value that cannot be used or a
    configuration file that is named and broken. What is wrong with a file is in `Report.problems`.
    """
    return _report([str(p) for p in paths], {}, config, jobs, executor, suggest, options)


def analyze(
    text: str,
    *,
    filename: str = "stdin.cu",
    config: str | Path | None = None,
    suggest: bool = True,
    **options: Any,
) -> Report:
    """The findings of a text that stands for a file, whether that exists or not. As `check` otherwise."""
    return _report([filename], {filename: text}, config, 1, None, suggest, options)


def _report(
    paths: Sequence[str],
    texts: Mapping[str, str],
    config: str | Path | None,
    processes: int,
    executor: Executor | None,
    suggest: bool,
    options: Mapping[str, Any],
) -> Report:
    from dataclasses import replace

    from smemlint import api
    from smemlint.commands.common.jobs import jobs_of
    from smemlint.commands.common.run import Run, baseline_of
    from smemlint.config import settings_from
    from smemlint.configurations import Configurations

    said = settings_from(options, Path.cwd())
    configurations = Configurations(said, None if config is None else str(config))
    whole = configurations.shown(".")
    asked = Namespace(paths=list(paths), stdin_filename=None, diff_base=None)
    jobs, missing = jobs_of(asked, configurations, suggest=suggest)
    jobs = [replace(job, text=texts[job.path]) if job.path in texts else job for job in jobs]
    if executor is None:
        found = dict(api.analyse(jobs, processes=processes))
        reports = [found[i] for i in sorted(found)]
    else:
        reports = list(executor.map(api.analyse_alone, jobs))
    return Run(configurations, whole, jobs, reports + missing, baseline_of(whole)).collect(reports + missing)
