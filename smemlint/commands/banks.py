"""`smemlint banks`: which lane accesses which bank, now and with the fix."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING

from smemlint.commands import CLEAN, FAILED
from smemlint.commands.common.looking import (
    access_asked,
    asked,
    color,
    deliver,
    format_of,
    nothing,
    picture_options,
    width,
)
from smemlint.commands.common.usage import UsageError
from smemlint.system.streams import say

if TYPE_CHECKING:
    from smemlint.look import Picture

FORMATS = ("text", "svg", "json")


def options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    parser.epilog = (
        "examples:\n"
        "  smemlint banks transpose.cu:17\n"
        "  smemlint banks 'float t[32][33]' 't[threadIdx.x][k]' --block 32,8\n\n"
        "A typed name that is not declared is a run-time number. Drawn is the request that costs the most,\n"
        "unless a warp or an iteration is chosen."
    )
    add("what", nargs="+", metavar="FILE:LINE[:COLUMN] | DECLARATION ACCESS", help="the access to draw")
    add("--warp", type=int, metavar="N", help="draw this warp of the block, from 0")
    add("--iteration", type=int, metavar="N", help="draw this iteration of the access, from 0")
    add("--kernel", metavar="NAME", help="only in this kernel, where several share the line")
    add("--no-fix", action="store_true", help="do not draw the access with its fix")
    add("--map-only", action="store_true", help="do not draw the array")
    picture_options(parser, *FORMATS)


def run(options: argparse.Namespace) -> int:
    form = format_of(options, *FORMATS)
    from smemlint.look import BanksQuestion, banks

    found = access_asked(options)
    if found is None:
        return FAILED
    job, spot = found
    answer = asked(banks, job, BanksQuestion(spot, options.warp, options.iteration, not options.no_fix))
    if answer is None:
        return FAILED
    for problem in answer.problems:
        say(str(problem))
    if answer.error:
        raise UsageError(answer.error)
    if not answer.pictures:
        return nothing(options, spot, answer.lines, answer.problems)
    pictures = [_without_array(p) for p in answer.pictures] if options.map_only else answer.pictures
    if form == "svg":
        from smemlint.render.views.banks_svg import render_banks_svg

        text = render_banks_svg(pictures)
    elif form == "json":
        from smemlint.render.views.banks_json import render_banks_json

        text = render_banks_json(pictures)
    else:
        from smemlint.render.views.banks_text import render_banks

        text = render_banks(pictures, width=width(), color=color(options))
    return CLEAN if deliver(options, text) and not answer.problems else FAILED


def _without_array(picture: Picture) -> Picture:
    after = picture.after
    if after is not None and after.view is not None:
        after = replace(after, view=replace(after.view, array=None))
    return replace(picture, now=replace(picture.now, array=None), after=after)
