"""`smemlint rank`: kernels and their lines by the shared-memory wavefronts they waste."""

from __future__ import annotations

import argparse

from smemlint.commands import CLEAN, FAILED
from smemlint.commands.common.jobs import analysed
from smemlint.commands.common.options import number, source_options, source_settings, whole
from smemlint.commands.common.writing import look_of
from smemlint.system.streams import put


def options(parser: argparse.ArgumentParser) -> None:
    source_options(parser)
    add = parser.add_argument
    add("--top", type=whole("top"), metavar="N", help="only the first N kernels")
    add(
        "--min-share",
        type=number("min-share"),
        default=1.0,
        metavar="PERCENT",
        help="only lines that waste as much of their kernel's wavefronts (default: 1)",
    )
    add("--output-format", choices=("table", "json"), default="table", help="default: table")


def run(options: argparse.Namespace) -> int:
    run, report = analysed(options, source_settings(options))
    from smemlint.diagnose.ranking import ranked
    from smemlint.render import ranking

    kernels = ranked(report.kernels, min_share=options.min_share)
    if options.output_format == "json":
        put(ranking.render_json(kernels if options.top is None else kernels[: options.top], report))
    else:
        put(ranking.render_table(kernels, report, look_of(run.settings, options.top)))
    return FAILED if report.problems else CLEAN
