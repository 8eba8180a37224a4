"""`smemlint why`: how the number of an access came about, or where certainty was lost."""

from __future__ import annotations

import argparse

from smemlint.commands import CLEAN, FAILED
from smemlint.commands.common.looking import access_asked, asked, nothing, width
from smemlint.commands.common.options import reading_options
from smemlint.system.streams import put, say


def options(parser: argparse.ArgumentParser) -> None:
    parser.epilog = "examples:\n  smemlint why transpose.cu:17\n  smemlint why transpose.cu:17:35"
    add = parser.add_argument
    add("what", nargs="+", metavar="FILE:LINE[:COLUMN] | DECLARATION ACCESS", help="the access")
    add("--kernel", metavar="NAME", help="only in this kernel, where several share the line")
    reading_options(parser)


def run(options: argparse.Namespace) -> int:
    from smemlint.look import why

    found = access_asked(options)
    if found is None:
        return FAILED
    job, spot = found
    answer = asked(why, job, spot)
    if answer is None:
        return FAILED
    for problem in answer.problems:
        say(str(problem))
    if not answer.told:
        return nothing(options, spot, answer.lines, answer.problems)
    from smemlint.render.views.why_text import render_why

    put(render_why(answer.told, width=width()))
    return FAILED if answer.problems else CLEAN
