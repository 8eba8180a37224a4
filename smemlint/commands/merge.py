"""`smemlint merge`: the reports of all shards become the one that a single run writes."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from smemlint.commands.common.options import whole
from smemlint.commands.common.usage import UsageError
from smemlint.config import DEFAULTS, FORMATS, SEVERITIES, Settings
from smemlint.system.visible import visible_path

if TYPE_CHECKING:
    from smemlint.commands.common.run import Run
    from smemlint.shards import Shard

_MAX_BYTES = 2**30


def options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("reports", nargs="+", metavar="REPORT", help="JSON or SARIF of every shard (check --shard I/N)")
    add("--output-format", choices=FORMATS, help="what goes to stdout (default: that of the reports)")
    add("--output", action="append", metavar="FORMAT=FILE", help="write another format to a file beside")
    add("--fail-on", choices=SEVERITIES, help=f"as for check (default: {DEFAULTS.gate.fail_on})")
    add("--exit-zero", action="store_true", default=None, help="exit status 0 whatever is found")
    add("--sort", choices=("cost", "path"), help="order of findings, as for check")
    add("--color", choices=("auto", "always", "never"), default="auto", help="colours (default: auto)")
    add("--top", type=whole("top"), metavar="N", help="show the first N findings")
    parser.epilog = (
        "Run it where the shards' sources lie, with the same configuration. What the shards' command lines "
        "said of what is shown holds here as well."
    )


def run(options: argparse.Namespace) -> int:
    from smemlint import shards
    from smemlint.api import shown
    from smemlint.commands.common.run import tell
    from smemlint.commands.common.writing import outputs_of, write

    outputs = outputs_of(options.output or ())
    if "html" in (options.output_format, *(name for name, _ in outputs)):
        raise UsageError("a merged report has no pictures: html is written by a run over all files")
    held: dict[str, Shard] = {}
    forms = set()
    for path in dict.fromkeys(options.reports):
        form, data = _read(path)
        forms.add(form)
        try:
            held[path] = shards.unpacked(data)
        except shards.ShardError as error:
            raise UsageError(f"{visible_path(path)}: {error}") from None
    if len(forms) > 1 and not options.output_format:
        raise UsageError("the reports are JSON and SARIF; say which with --output-format")
    try:
        ordered = shards.checked(held, shown)
    except shards.ShardError as error:
        raise UsageError(str(error)) from None
    merged = _run(options, ordered, forms.pop())
    try:
        report = merged.collect(merged.reports)
    except (TypeError, AttributeError, ValueError, KeyError):
        raise UsageError("the shards hold what smemlint did not write") from None
    tell(merged, report)
    return write(report, merged.settings, outputs, options)


def _read(path: str) -> tuple[str, Any]:
    """(format, the packed shard) of a report. Raises UsageError."""
    from smemlint.system.reading import UnreadableError, read_regular

    name = visible_path(path)
    try:
        data = json.loads(read_regular(path, _MAX_BYTES))
    except UnreadableError as error:
        raise UsageError(f"{name}: {error.message}") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{name}: is no JSON: {error}") from None
    if isinstance(data, dict):
        if isinstance(data.get("shard"), dict):
            return "json", data["shard"]
        runs = data.get("runs")
        first = runs[0] if isinstance(runs, list) and runs and isinstance(runs[0], dict) else {}
        properties = first.get("properties")
        if isinstance(properties, dict) and isinstance(properties.get("shard"), dict):
            return "sarif", properties["shard"]
    raise UsageError(f"{name}: is no report of a shard (`smemlint check --shard I/N --output-format json`)")


def _run(options: argparse.Namespace, ordered: Sequence[Shard], form: str) -> Run:
    """The run that the shards are parts of."""
    from smemlint.commands.common.run import Run, baseline_of, changed_since
    from smemlint.commands.common.sharding import settings_said
    from smemlint.configurations import Configurations
    from smemlint.running.jobs import Job

    said = dict(ordered[0].said)
    config, revision = said.pop("config", None), said.pop("diff_base", None)
    blocks = {name: tuple(block) for name, block in said.pop("blocks", {}).items()}
    lists = {name: tuple(value) for name, value in said.items() if isinstance(value, list)}
    here = Settings.of(
        output_format=options.output_format or form,
        sort=options.sort,
        fail_on=options.fail_on,
        exit_zero=options.exit_zero,
    )
    settings = here.over(Settings.of(**{**settings_said(said), **lists}, blocks=blocks or None))
    configurations = Configurations(settings, config)
    found = sorted((pair for shard in ordered for pair in shard.found), key=lambda pair: pair[0])
    jobs = [Job(path, text=shard.texts.get(path)) for shard in ordered for path in shard.digests]
    whole = configurations.shown(".")
    return Run(
        configurations,
        whole,
        jobs,
        [report for _, report in found] + list(ordered[0].lost),
        baseline_of(whole),
        changed_since(revision),
        wrong=ordered[0].wrong,
    )
