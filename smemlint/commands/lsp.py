"""`smemlint lsp`: the language server on stdin and stdout."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from smemlint.commands import CLEAN
from smemlint.commands.common.from_settings import chosen_of, options_of
from smemlint.commands.common.options import reading_options, source_settings
from smemlint.commands.common.usage import UsageError
from smemlint.config import SEVERITIES, TIMEOUT, ConfigError, Settings
from smemlint.configurations import Configurations

if TYPE_CHECKING:
    from smemlint.api import View
    from smemlint.running.jobs import Job

_INSTALL = "pip install 'PATH_OF_THE_CLONE[lsp]'"


def options(parser: argparse.ArgumentParser) -> None:
    reading_options(parser)
    parser.add_argument(
        "--level", choices=SEVERITIES, help="show findings of this severity or more (default: warning)"
    )
    parser.epilog = f"How editors start it: docs/editors.md. Needs pygls: {_INSTALL}."


def run(options: argparse.Namespace) -> int:
    from smemlint.running.jobs import Job

    said = Settings.of(level=options.level).over(source_settings(options))
    Configurations(said, options.config)  # a mistake in it is told now
    try:
        from smemlint.lsp.server import Server
    except ImportError as error:
        raise UsageError(f"the language server needs pygls ({error}): {_INSTALL}") from None

    def job_of(path: str, text: str) -> tuple[Job, View] | None:
        try:
            settings = Configurations(said, options.config).of(path)
        except ConfigError:
            return None
        if settings is None:
            return None
        return Job(path, options_of(settings, exhibits=True), text, settings.timeout or TIMEOUT), _view(
            settings
        )

    Server(job_of).run()
    return CLEAN


def _view(settings: Settings) -> View:
    """Which of its findings are shown."""
    from smemlint.api import View
    from smemlint.rules import Severity

    def chosen(path: str, kernel: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        return chosen_of(settings, kernel)

    return View(chosen, Severity(settings.choice.level), bool(settings.display.show_unresolved))
