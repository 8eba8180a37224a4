"""`smemlint banks`: which lane asks which bank, now and with the fix."""

from __future__ import annotations

import argparse

from smemlint.commands import CLEAN, FAILED
from smemlint.commands.looking import (
    asked,
    color,
    deliver,
    file_job,
    format_of,
    picture_options,
    spot_of,
    typed_job,
    width,
)
from smemlint.commands.options import UsageError
from smemlint.streams import say

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
    add("--warp", type=int, metavar="N", help="the request of this warp of the block, from 0")
    add("--iteration", type=int, metavar="N", help="of this visit of the access, from 0")
    add("--kernel", metavar="NAME", help="only in this kernel, where several share the line")
    add("--no-fix", action="store_true", help="do not draw the access with its fix")
    picture_options(parser, *FORMATS)


def run(options: argparse.Namespace) -> int:
    form = format_of(options, *FORMATS)
    if len(options.what) > 2:
        raise UsageError("expected FILE:LINE, or a declaration and an access, each in quotes")
    from smemlint.look import BanksQuestion, banks
    from smemlint.view.choose import Spot

    if len(options.what) == 2:
        from smemlint.view.typed import PATH, TypedError, program

        try:
            typed = program(*options.what)
        except TypedError as error:
            raise UsageError(str(error)) from None
        job = typed_job(options, PATH, typed.text)
        spot = Spot(PATH, typed.line)
    else:
        path, line, column = spot_of(options.what[0])
        found = file_job(options, path)
        if found is None:
            return FAILED
        from smemlint.api import shown

        job, spot = found, Spot(shown(found.path), line, column, options.kernel or "")
    answer = asked(banks, job, BanksQuestion(spot, options.warp, options.iteration, not options.no_fix))
    if answer is None:
        return FAILED
    for problem in answer.problems:
        say(str(problem))
    if answer.error:
        raise UsageError(answer.error)
    if not answer.pictures and answer.problems:
        return FAILED
    if not answer.pictures:
        if len(options.what) == 2:
            raise UsageError(f"no shared-memory access was read from `{options.what[1]}`")
        say(_nothing(spot.path, spot.line, answer.lines))
        return FAILED
    if form == "svg":
        from smemlint.render.banks_svg import render_banks_svg

        text = render_banks_svg(answer.pictures)
    elif form == "json":
        from smemlint.render.banks_json import render_banks_json

        text = render_banks_json(answer.pictures)
    else:
        from smemlint.render.banks_text import render_banks

        text = render_banks(answer.pictures, width=width(), color=color(options))
    return CLEAN if deliver(options, text) and not answer.problems else FAILED


def _nothing(path: str, line: int, lines: tuple[int, ...]) -> str:
    """What is said where the line has no access."""
    from smemlint.visible import visible_path

    where = f"error: {visible_path(path)}:{line}: no shared-memory access was seen here"
    if not lines:
        return f"{where}, nor anywhere in this file"
    near = sorted(sorted(lines, key=lambda n: abs(n - line))[:5])
    return f"{where}; the nearest lines with one: {', '.join(map(str, near))}"
