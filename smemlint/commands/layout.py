"""`smemlint layout`: where the shared memory of each kernel lies, how much it is, what it leaves room for."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from smemlint.commands import CLEAN, FAILED
from smemlint.commands.common.jobs import jobs_of
from smemlint.commands.common.looking import deliver, format_of, picture_options, width
from smemlint.commands.common.options import source_settings
from smemlint.commands.common.usage import UsageError
from smemlint.config import short
from smemlint.configurations import Configurations
from smemlint.system.streams import say

if TYPE_CHECKING:
    from smemlint.view.memory import KernelMemory

FORMATS = ("text", "svg", "json")


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="+", metavar="PATH", help="files, folders, or - for standard input")
    parser.add_argument("--kernel", metavar="NAME", help="only this kernel")
    picture_options(parser, *FORMATS)


def run(options: argparse.Namespace) -> int:
    form = format_of(options, *FORMATS)
    jobs, missing = jobs_of(options, Configurations(source_settings(options), options.config), suggest=False)
    from smemlint.diagnose.model import Problem
    from smemlint.look import ask_all, layout

    problems = [problem for report in missing for problem in report.problems]
    kernels: list[KernelMemory] = []
    for answer in ask_all(layout, jobs, options.kernel or "", options.jobs or 1):
        if isinstance(answer, Problem):
            problems.append(answer)
            continue
        kernels += answer.kernels
        problems += answer.problems
    for problem in problems:
        say(str(problem))
    if options.kernel and not kernels and not problems:
        raise UsageError(f"no kernel with shared memory is called `{short(options.kernel)}`")
    if form == "json":
        from smemlint.render.views.layout_json import render_layout_json

        text = render_layout_json(kernels)
    elif form == "svg":
        from smemlint.render.views.layout_svg import render_layout_svg

        text = render_layout_svg(kernels)
    else:
        from smemlint.render.views.layout_text import render_layout

        text = render_layout(kernels, width=width()) if kernels else "no kernel with shared memory\n"
    return CLEAN if deliver(options, text) and not problems else FAILED
