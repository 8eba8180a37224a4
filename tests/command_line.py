"""Commands as a terminal runs them: exit status, stdout and stderr."""

from __future__ import annotations

import pytest

from smemlint.cli import main

Capture = pytest.CaptureFixture[str]


def run(capsys: Capture, *arguments: str) -> tuple[int, str, str]:
    """Run a command; return its exit status and what it wrote to stdout and stderr."""
    status = main(arguments)
    captured = capsys.readouterr()
    return status, captured.out, captured.err
