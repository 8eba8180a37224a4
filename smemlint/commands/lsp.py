"""`smemlint lsp`: the language server on stdin and stdout."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING

from smemlint.commands import CLEAN
from smemlint.commands.options import UsageError, reading_options, source_settings
from smemlint.config import SEVERITIES, ConfigError
from smemlint.configurations import Configurations

if TYPE_CHECKING:
    from smemlint.api import View
    from smemlint.jobs import Job


def options(parser: argparse.ArgumentParser) -> None:
    reading_options(parser)
    parser.add_argument("--level", choices=SEVERITIES, help="findings below are not shown (default: warning)")
    parser.epilog = "How editors start it: docs/editors.md. Needs pygls: pip install 'smemlint[lsp]'."


def run(options: argparse.Namespace) -> int:
    from smemlint.commands.jobs import options_from, view_of
    from smemlint.jobs import Job

    said = source_settings(options)
    said = replace(said, level=options.level)
    Configurations(said, options.config)  # a mistake in it is told now
    try:
        from smemlint.lsp.server import Server
    except ImportError as error:
        raise UsageError(f"the language server needs pygls ({error}): pip install 'smemlint[lsp]'") from None

    def job_of(path: str, text: str) -> tuple[Job, View] | None:
        try:
            configurations = Configurations(said, options.config)
        except ConfigError:
            return None
        settings = configurations.of(path)
        if settings is None:
            return None
        made = options_from(settings, suggest=True, exhibits=True)
        view = view_of(configurations, settings)
        return Job(path, made, text, settings.timeout or 40.0), view

    Server(job_of).run()
    return CLEAN
