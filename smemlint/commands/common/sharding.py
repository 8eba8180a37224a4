"""What a shard hands on to `smemlint merge`: its reports, and what its command line said of what is shown."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from smemlint import shards
from smemlint.commands.common.run import broken
from smemlint.config import Settings

if TYPE_CHECKING:
    from smemlint.commands.common.run import Run
    from smemlint.diagnose.model import FileReport
    from smemlint.running.jobs import Job

_SAID = (
    "select", "ignore", "min_share", "level", "fail_on", "fail_on_unseen", "exit_zero", "statistics",
    "show_unresolved", "baseline",
)  # fmt: skip
"""Settings of the command line that say what is shown of what was found."""


def handed_on(
    options: argparse.Namespace,
    run: Run,
    every: Sequence[Job],
    found: Sequence[tuple[int, FileReport]],
    missing: Sequence[FileReport],
) -> Mapping[str, object]:
    """What a shard's report hands on."""
    from smemlint.api import shown

    assert run.part is not None
    number, count = run.part
    names = [(shown(job.path), job.path, job.text) for job in run.jobs]
    return shards.packed(
        shards.Shard(
            number,
            count,
            shards.list_digest([shown(job.path) for job in every]),
            _said_of(options, run.configurations.said),
            tuple(found),
            tuple(missing),
            tuple(broken(run.configurations)),
            {name: shards.digest(path, text) for name, path, text in names},
            {name: text for name, _, text in names if text is not None},
        )
    )


def _said_of(options: argparse.Namespace, said: Settings) -> dict[str, Any]:
    """What a shard hands on of its command line."""
    every = said.said()
    found = {name: every[name] for name in _SAID if name in every}
    found["blocks"] = {name: list(block) for name, block in (said.reading.blocks or {}).items()}
    found["config"] = options.config
    found["diff_base"] = options.diff_base
    return json.loads(json.dumps(found))  # type: ignore[no-any-return]


def settings_said(said: Mapping[str, Any]) -> dict[str, Any]:
    """What was handed on of the settings."""
    return {name: value for name, value in said.items() if name in _SAID}
