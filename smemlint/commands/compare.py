"""`smemlint compare`: what a profiler measured, line by line, beside what is predicted."""

from __future__ import annotations

import argparse

from smemlint.commands import CLEAN, FAILED
from smemlint.commands.common.jobs import analysed
from smemlint.commands.common.looking import width
from smemlint.commands.common.options import source_options, source_settings
from smemlint.commands.common.profiles import profile_of
from smemlint.system.streams import put


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("profile", metavar="PROFILE", help="an export of Nsight Compute (CSV), or a report")
    parser.add_argument("--output-format", choices=("text", "json"), default="text", help="default: text")
    parser.add_argument("--all", action="store_true", help="list the lines that agree as well")
    source_options(parser)


def run(options: argparse.Namespace) -> int:
    profile = profile_of(options.profile)
    _, report = analysed(options, source_settings(options), suggest=False)
    from smemlint.profile.join import compare
    from smemlint.render import comparison

    found = compare(profile, report.kernels, _texts(report.kernels))
    if options.output_format == "json":
        put(comparison.render_comparison_json(profile, found))
    else:
        put(comparison.render_comparison(profile, found, width=width(), all_lines=options.all))
    return FAILED if report.problems else CLEAN


def _texts(kernels: object) -> dict[str, str]:
    """The sources of all kernels and accesses, by path."""
    import contextlib
    from collections.abc import Sequence

    from smemlint.diagnose.model import KernelReport
    from smemlint.source.text import MAX_BYTES
    from smemlint.system.reading import UnreadableError, read_regular

    assert isinstance(kernels, Sequence)
    paths: dict[str, None] = {}
    for kernel in kernels:
        assert isinstance(kernel, KernelReport)
        paths[kernel.place.path] = None
        paths.update(dict.fromkeys(a.place.path for a in kernel.accesses))
    texts = {}
    for path in paths:
        with contextlib.suppress(UnreadableError):
            texts[path] = read_regular(path, MAX_BYTES).decode("utf-8", errors="replace")
    return texts
