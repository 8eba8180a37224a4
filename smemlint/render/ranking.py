"""Kernels and lines by what they waste: a table for people, JSON for tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from smemlint.diagnose.cost import number, percent
from smemlint.diagnose.launches import arguments, shape
from smemlint.diagnose.model import Demand, Report
from smemlint.diagnose.ranking import RankedKernel, RankedLine
from smemlint.render.json import TOOL, demand_data, dumps, summary_data
from smemlint.render.style import Look, paint, wrapped
from smemlint.render.summary import count, summary_lines
from smemlint.rules.words import ways_text
from smemlint.score.load import NOMINAL
from smemlint.system.visible import visible, visible_path

VERSION = 1
_HEAD = f"{'excess':>12} {'of':>12} {'share':>6}  wavefronts a block; share: excess, % of kernel"


def render_table(kernels: Sequence[RankedKernel], report: Report, look: Look) -> str:
    """Each kernel with its lines; numbers are wavefronts of one block."""
    shown = kernels if look.top is None else kernels[: look.top]
    lines = [_HEAD] if shown else []
    for each in shown:
        lines += _kernel(each, look)
    if len(kernels) > len(shown):
        lines.append(f"{count(len(kernels) - len(shown), 'more kernel')} not shown (--top)")
    if any(k.demand.open for k in shown):
        lines += wrapped(f"~: a loop of unknown length is counted as {NOMINAL} iterations", look.width, 3)
    return "\n".join([*lines, *summary_lines(report.summary, look.width)]) + "\n"


def _kernel(each: RankedKernel, look: Look) -> list[str]:
    kernel, whole = each.kernel, each.demand
    told = [f"block {shape(kernel)}" + (" (assumed)" if kernel.launch.assumed else "")]
    if each.blocks is not None:
        told.append(count(each.blocks, "block"))
    if kernel.template_arguments:
        told.append(arguments(kernel))
    if each.records > 1:
        told.append(f"worst of {each.records} launches and instances")
    if each.unknown:
        told.append(f"{count(each.unknown, 'access')} without a number")
    where = f"{visible_path(kernel.place.path)}:{kernel.place.line}"
    text = visible(f"{kernel.name} {where}, {', '.join(told)}")
    first, *rest = wrapped(text, look.width, len(_numbers(whole, whole)))
    head = _numbers(whole, whole) + paint(first, "bold", color=look.color)
    return [head, *rest, *(line for x in each.lines for line in _line(x, each, look))]


def _line(x: RankedLine, each: RankedKernel, look: Look) -> list[str]:
    where = "" if x.path == each.kernel.place.path else visible_path(x.path)
    more = f" and {len(x.expressions) - 1} more" if len(x.expressions) > 1 else ""
    text = visible(f"{where}:{x.line} {x.expressions[0]}{more}, {ways_text(x.ways)}-way")
    numbers = _numbers(x.demand, each.demand)
    first, *rest = wrapped(text, look.width, len(numbers) + 2)
    return [f"{numbers}  {first}", *rest]


def _numbers(part: Demand, whole: Demand) -> str:
    about = "~" if part.open else ""
    share = percent(part.excess / whole.wavefronts)
    return f"{about + number(part.excess):>12} {about + number(part.wavefronts):>12} {share:>6}  "


def render_json(kernels: Sequence[RankedKernel], report: Report) -> str:
    data = {
        "version": VERSION,
        "tool": TOOL,
        "iterations_assumed": NOMINAL,
        "kernels": [_kernel_data(k) for k in kernels],
        "summary": summary_data(report),
    }
    return dumps(data, indent=2)


def _kernel_data(each: RankedKernel) -> dict[str, Any]:
    kernel = each.kernel
    return {
        "name": kernel.name,
        "path": kernel.place.path,
        "line": kernel.place.line,
        "template_arguments": dict(kernel.template_arguments),
        "block": list(kernel.launch.block),
        "block_assumed": kernel.launch.assumed,
        "blocks": each.blocks,
        "launches_and_instances": each.records,
        "accesses_without_a_number": each.unknown,
        **demand_data(each.demand),
        "lines": [
            {
                "path": x.path,
                "line": x.line,
                "expressions": list(x.expressions),
                "worst_ways": round(x.ways, 4),
                "excess_share": round(x.demand.excess / each.demand.wavefronts, 6),
                **demand_data(x.demand),
            }
            for x in each.lines
        ],
    }
