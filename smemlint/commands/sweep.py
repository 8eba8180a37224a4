"""`smemlint sweep`: what an access costs over a range of strides, paddings, constants or block widths."""

from __future__ import annotations

import argparse

from smemlint.commands import CLEAN, FAILED
from smemlint.commands.common.looking import (
    access_asked,
    asked,
    deliver,
    format_of,
    nothing,
    picture_options,
    width,
)
from smemlint.commands.common.usage import UsageError
from smemlint.system.streams import say

FORMATS = ("text", "svg", "json")


def options(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "examples:\n"
        "  smemlint sweep 'float t[32][32 + pad]' 't[threadIdx.x][k]' --over pad=0..32 --block 32\n"
        "  smemlint sweep 'float s[4096]' 's[threadIdx.x * n]' --over n=1..64 --block 32\n"
        "  smemlint sweep transpose.cu:17 --over pad=0..32      rows longer by so many elements\n"
        "  smemlint sweep transpose.cu:17 --over TILE=8..64:8   a #define or const of the file\n"
        "  smemlint sweep reduce.cu:30 --over block=32..512:32  threads in x"
    )
    add = parser.add_argument
    add("what", nargs="+", metavar="FILE:LINE[:COLUMN] | DECLARATION ACCESS", help="the access")
    add("--over", required=True, metavar="NAME=FIRST..LAST[:STEP]", help="what is varied")
    add("--kernel", metavar="NAME", help="only in this kernel, where several share the line")
    picture_options(parser, *FORMATS)


def run(options: argparse.Namespace) -> int:
    form = format_of(options, *FORMATS)
    from smemlint.look import SweepQuestion, sweep
    from smemlint.view.sweep import BLOCK, SweepError, over

    try:
        swept = over(options.over)
    except SweepError as error:
        raise UsageError(f"argument --over: {error}") from None
    found = access_asked(options, "" if swept.name == BLOCK else swept.name, swept.first)
    if found is None:
        return FAILED
    job, spot = found
    answer = asked(sweep, job, SweepQuestion(spot, swept))
    if answer is None:
        return FAILED
    for problem in answer.problems:
        say(str(problem))
    if answer.error:
        raise UsageError(answer.error)
    if not answer.series:
        return nothing(options, spot, answer.lines, answer.problems)
    from smemlint.render.views import sweep_text

    if form == "svg":
        text = sweep_text.render_sweep_svg(swept, answer.series)
    elif form == "json":
        text = sweep_text.render_sweep_json(swept, answer.series)
    else:
        text = sweep_text.render_sweep(swept, answer.series, width=width())
    return CLEAN if deliver(options, text) and not answer.problems else FAILED
