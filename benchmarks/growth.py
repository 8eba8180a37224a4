"""How the work of the parent process grows with what a project holds.

    python benchmarks/growth.py

The parent finds the files, reads the comments, merges and prints; the files are analysed in workers
with a budget. Each row runs one of these with a size and with twice the size, and prints the seconds of
computing time of both and the exponent of growth: 1 is linear, 2 is what an attacker would wish for.
"""

from __future__ import annotations

import math
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from smemlint.rules import Severity

from smemlint import api
from smemlint.diagnose.directives import directives
from smemlint.diagnose.model import Diagnostic, FileReport, Problem, Report
from smemlint.diagnose.suppress import suppress
from smemlint.ir import Place
from smemlint.render import render
from smemlint.source import discover
from smemlint.source.gitignore import patterns, verdict

Case = Callable[[int], Callable[[], object]]
"""Given a size, prepares what is measured."""

_IGNORE = "smemlint: ignore[SMEM101] why"


def comments(size: int) -> Callable[[], object]:
    text = f"// {_IGNORE}\n" * size
    return lambda: suppress([], {"k.cu": text}, ["k.cu"])


def comments_on_one_line(size: int) -> Callable[[], object]:
    text = f"/* {_IGNORE} */ " * size
    return lambda: suppress([], {"k.cu": text}, ["k.cu"])


def raw_strings(size: int) -> Callable[[], object]:
    text = f"// {_IGNORE}\n" + ' R"a(' * size
    return lambda: list(directives(text))


def unclosed_strings(size: int) -> Callable[[], object]:
    text = f"// {_IGNORE}\n" + "\"a 'b \\\n" * size
    return lambda: list(directives(text))


def _report(findings: int, width: int) -> Report:
    line = "t[i]; " * (width // 6)
    places = [Place("k.cu", 1, 1 + 6 * i, 1, 5 + 6 * i, 6 * i, 6 * i + 4) for i in range(findings)]
    found = tuple(
        Diagnostic("SMEM101", "column-access", Severity.WARNING, place, "32-way bank conflict", "lanes meet")
        for place in places
    )
    return Report(diagnostics=found, texts={"k.cu": line})


def findings_on_one_line(name: str) -> Case:
    def case(size: int) -> Callable[[], object]:
        report = _report(size, 120 * size)
        return lambda: render(name, report)

    return case


def stars(size: int) -> Callable[[], object]:
    found = patterns("*a*a*a*a*b\n")
    return lambda: [verdict(found, ["a" * size], False) for _ in range(50)]


def nested_folders(size: int) -> Callable[[], object]:
    top = Path(tempfile.mkdtemp(prefix="smemlint-growth-"))
    here = os.open(top, os.O_RDONLY)
    for _ in range(size):
        os.mkdir("d", dir_fd=here)
        inner = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(os.open("k.cu", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)
    return lambda: list(discover([top]))


def files(size: int) -> Callable[[], object]:
    reports = [FileReport(f"f{n}.cu", problems=(Problem(f"f{n}.cu", "is empty"),)) for n in range(size)]
    return lambda: api.collect(reports)


CASES: dict[str, tuple[Case, int]] = {
    "suppressions, one a line": (comments, 10_000),
    "suppressions, all on one line": (comments_on_one_line, 10_000),
    "raw strings that are never closed": (raw_strings, 20_000),
    "strings and characters that are never closed": (unclosed_strings, 20_000),
    "findings on one long line, full": (findings_on_one_line("full"), 300),
    "findings on one long line, sarif": (findings_on_one_line("sarif"), 300),
    "findings on one long line, github": (findings_on_one_line("github"), 300),
    "letters of a name against `*a*a*a*a*b`": (stars, 500),
    "folders in folders": (nested_folders, 700),
    "files that cannot be read": (files, 5_000),
}


def seconds(measured: Callable[[], object]) -> float:
    best = math.inf
    for _ in range(3):
        began = time.process_time()
        measured()
        best = min(best, time.process_time() - began)
    return best


def main() -> int:
    print(f"{'case':46} {'size':>7} {'seconds':>8} {'twice':>8} {'exponent':>8}")
    for name, (case, size) in CASES.items():
        once, twice = seconds(case(size)), seconds(case(2 * size))
        exponent = math.log2(max(twice, 1e-6) / max(once, 1e-6))
        print(f"{name:46} {size:7} {once:8.3f} {twice:8.3f} {exponent:8.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
