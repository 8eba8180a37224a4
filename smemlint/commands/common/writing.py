"""A report as text, to standard output and to files, and the exit status that it makes."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from smemlint.commands import CLEAN, FAILED, FINDINGS
from smemlint.commands.common.usage import UsageError
from smemlint.config import FORMATS, Settings
from smemlint.system import streams
from smemlint.system.streams import OutputError, put, say

if TYPE_CHECKING:
    from smemlint.commands.common.streaming import Stream
    from smemlint.diagnose.model import Report
    from smemlint.render.style import Look

ENDINGS = {".sarif": "sarif", ".json": "json", ".jsonl": "jsonl", ".html": "html", ".txt": "full"}
"""Endings of files that tell a format."""


def outputs_of(texts: Sequence[str]) -> list[tuple[str, Path]]:
    """Format and file of each `--output`. Raises UsageError."""
    outputs = []
    for text in texts:
        name, equals, file = text.partition("=")
        if not equals and (ending := ENDINGS.get(Path(text).suffix)):
            name, equals, file = ending, "=", text
        if not equals or not file:
            raise UsageError(f"--output {text}: expected FORMAT=FILE, such as sarif=smemlint.sarif")
        if name not in FORMATS:
            raise UsageError(f"--output {text}: the formats are {', '.join(FORMATS)}")
        outputs.append((name, Path(file)))
    return outputs


def write(
    report: Report,
    settings: Settings,
    outputs: Sequence[tuple[str, Path]],
    options: argparse.Namespace,
    stream: Stream | None = None,
) -> int:
    """Write all formats, to standard output what a stream has not written yet; the exit status."""
    from smemlint.render import render
    from smemlint.render.summary import statistics

    written = [write_file(path, render(name, report, _plain_look(name, settings))) for name, path in outputs]
    form = form_of(settings)
    text = render(form, report, printed_look(form, settings, options))
    put(text if stream is None else stream.rest(text))
    if settings.display.statistics:
        text = statistics(report.summary)
        if form in ("full", "concise"):
            put(text)
        else:
            say(text.rstrip("\n"), lines=True)
    return status_of(report, settings) if all(written) else FAILED


def status_of(report: Report, settings: Settings) -> int:
    from smemlint.diagnose.select import UNSEEN
    from smemlint.rules import Severity

    if report.problems:
        return FAILED
    gate = Severity(settings.gate.fail_on).rank
    gated = any(d.severity.rank >= gate for d in report.diagnostics)
    if settings.gate.fail_on_unseen:
        gated = gated or any(d.code == UNSEEN for d in report.diagnostics)
    return FINDINGS if gated and not settings.gate.exit_zero else CLEAN


def write_file(path: Path, text: str) -> bool:
    try:
        streams.write_file(path, text.encode("utf-8", errors="replace"))
    except (OSError, ValueError, OutputError) as error:
        said = error.strerror if isinstance(error, OSError) else None
        say(f"error: {path}: cannot be written: {(said or str(error)).lower()}")
        return False
    return True


def form_of(settings: Settings) -> str:
    return settings.display.output_format or "full"


def printed_look(form: str, settings: Settings, options: argparse.Namespace) -> Look:
    """How a format looks on standard output. GitHub shows the first ten findings: the costliest ones."""
    color = {"auto": None, "always": True, "never": False}[options.color]
    look = look_of(settings, options.top, color)
    return replace(look, sort="cost") if form == "github" and not settings.display.sort else look


def _plain_look(form: str, settings: Settings) -> Look:
    """How it looks in a file."""
    from smemlint.render.style import Look

    return Look(sort="cost" if form == "github" else "path", docs=settings.display.docs_url or "")


def look_of(settings: Settings, top: int | None = None, color: bool | None = None) -> Look:
    """How text for people looks where it goes. color: None where the terminal and the environment tell."""
    from smemlint.render.style import Look

    terminal = sys.stdout.isatty()
    if color is None:
        plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
        color = not plain and (terminal or bool(os.environ.get("FORCE_COLOR")))
    sort = settings.display.sort or ("cost" if terminal or top is not None else "path")
    return Look(color, streams.columns(), sort, top, settings.display.docs_url or "")
