"""`smemlint inspect`: every access with its cost, guilty or not."""

from __future__ import annotations

import argparse

from smemlint.commands import CLEAN, FAILED
from smemlint.commands.common.jobs import analysed
from smemlint.commands.common.options import source_options, source_settings
from smemlint.system.streams import put


def options(parser: argparse.ArgumentParser) -> None:
    source_options(parser)
    parser.add_argument("--output-format", choices=("table", "json"), default="table", help="default: table")


def run(options: argparse.Namespace) -> int:
    _, report = analysed(options, source_settings(options))
    from smemlint.render import inspect

    render = inspect.render_json if options.output_format == "json" else inspect.render_table
    put(render(report))
    return FAILED if report.problems else CLEAN
