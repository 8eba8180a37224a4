"""Every access site, guilty or not: as JSON for tools and grading, as a table for people."""

from __future__ import annotations

from typing import Any

from smemlint.diagnose.model import Access, KernelReport, Report, SharedEntry
from smemlint.render.json import TOOL, dumps, summary_data, unparsed_data, unseen_data
from smemlint.render.summary import summary_line
from smemlint.rules.words import ways_text
from smemlint.system.visible import visible, visible_lines, visible_path

VERSION = 1
_OPS = {"cas": "atomic", "cas loop": "atomic", "increment": "atomic", "cas loop load": "load"}
"""The bank engine tells three kinds of atomics apart; here they are one. One that runs as a loop has two
instructions, so it is listed twice."""


def render_json(report: Report) -> str:
    data = {
        "version": VERSION,
        "tool": TOOL,
        "kernels": [_kernel(k) for k in report.kernels],
        "not_analysed": [unseen_data(u) for u in report.unseen],
        "skipped": [{"path": p.path, "message": p.message} for p in report.skipped],
        "unparsed": [unparsed_data(u) for u in report.unparsed],
        "errors": [
            {"path": p.path, "line": p.line, "column": p.column, "message": p.message}
            for p in report.problems
        ],
        "summary": summary_data(report),
    }
    return dumps(data, indent=1)


def _kernel(kernel: KernelReport) -> dict[str, Any]:
    return {
        "name": kernel.name,
        "path": kernel.place.path,
        "line": kernel.place.line,
        "template_arguments": dict(kernel.template_arguments),
        "launch": {
            "block": list(kernel.launch.block),
            "grid": list(kernel.launch.grid) if kernel.launch.grid is not None else None,
            "dynamic_shared_bytes": kernel.launch.dynamic,
            "origin": kernel.launch.origin,
            "arguments": dict(kernel.launch.arguments),
        },
        "shared": [
            {"name": s.name, "type": s.type, "dims": list(s.dims), "bytes": s.bytes, "line": s.line}
            for s in kernel.shared
        ],
        "accesses": [_access(a) for a in kernel.accesses],
    }


def _access(access: Access) -> dict[str, Any]:
    return {
        "path": access.place.path,
        "line": access.line or access.place.line,
        "column": access.place.column,
        "calls": [{"path": path, "line": line} for path, line in access.calls],
        "op": _OPS.get(access.op, access.op),
        "width": access.width,
        "array": access.array,
        "expression": access.expression,
        "executions": access.executions if access.wavefronts is not None else None,
        "wavefronts": access.wavefronts,
        "wavefronts_low": access.wavefronts_low,
        "ideal": access.ideal,
        "ways": round(access.ways, 4) if access.ways is not None else None,
        "ways_by_visit": _least_and_most(access),
        "grade": access.grade,
        "reason": ": ".join(access.reason) if access.reason else None,
        "assumptions": [{"kind": k, "text": t, "line": n or None} for k, t, n in access.assumptions],
        "any_block": access.any_block,
    }


def _least_and_most(access: Access) -> list[float] | None:
    """Ways of the cheapest and of the dearest visit (the whole, where that is cheaper or dearer)."""
    if access.ways is None or access.ways_low is None:
        return None
    visits = [ways for ways, _ in access.spread.visits]
    return [round(min((access.ways_low, *visits)), 4), round(max((access.ways, *visits)), 4)]


_HEAD = ("line", "op", "bytes", "access", "requests", "wavefronts", "ideal", "ways", "grade")
_WIDEST = 40


def render_table(report: Report) -> str:
    lines: list[str] = []
    for kernel in report.kernels:
        block = ", ".join(map(str, kernel.launch.block))
        origin = f" from {kernel.launch.origin}" if kernel.launch.origin else ""
        passed = "".join(f", {n} = {v}" for n, v in kernel.launch.variant)
        launch = "a device function without a launch" if kernel.device else f"block ({block}){origin}{passed}"
        said = visible(f"{kernel.full_name}, {launch}")
        lines.append(f"{visible_path(kernel.place.path)}:{kernel.place.line} {said}")
        for shared in kernel.shared:
            dims = "".join(f"[{'' if d is None else d}]" for d in shared.dims)
            size = _size(shared, kernel)
            lines.append(f"    {visible_lines(f'{shared.type} {shared.name}{dims}')}: {size}")
        if kernel.accesses:
            lines += _table([_HEAD, *(_row(a, kernel) for a in kernel.accesses)])
        lines.append("")
    for gone in report.unseen:
        where = f"{visible_path(gone.place.path)}:{gone.place.line}"
        lines.append(f"not analysed: {visible(gone.name)} ({where}): {visible(gone.text)}")
    lines.append(summary_line(report.summary))
    return "\n".join(lines) + "\n"


def _size(shared: SharedEntry, kernel: KernelReport) -> str:
    """How many bytes an array has; a dynamic one what the launch asks for, for all of them together."""
    if shared.bytes is not None:
        return f"{shared.bytes} B"
    if not shared.dynamic or kernel.launch.dynamic is None:
        return "size not known"
    return f"{kernel.launch.dynamic} B of dynamic shared memory"


def _row(access: Access, kernel: KernelReport) -> tuple[str, ...]:
    expression = visible(" ".join(access.expression.split()))
    if len(expression) > _WIDEST:
        expression = expression[: _WIDEST - 3] + "..."
    same_file = access.place.path == kernel.place.path
    line = access.line or access.place.line
    where = str(line) if same_file else f"{visible_path(access.place.path)}:{line}"
    head = (where, _OPS.get(access.op, access.op), str(access.width), expression)
    if access.wavefronts is None or access.ways is None:
        reason = visible(access.reason[1]) if access.reason else ""
        return (*head, "-", "-", "-", "-", f"{access.grade}: {reason}")
    wavefronts, ways = str(access.wavefronts), ways_text(access.ways)
    if access.wavefronts_low != access.wavefronts and access.ways_low is not None:
        wavefronts = f"{access.wavefronts_low}..{wavefronts}"
        ways = f"{ways_text(access.ways_low)}..{ways}"
    return (*head, str(access.executions), wavefronts, str(access.ideal), ways, access.grade)


_RIGHT = (0, 2, 4, 5, 6, 7)


def _table(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(_HEAD))]
    lines = []
    for row in rows:
        cells = [
            c.rjust(w) if i in _RIGHT else c.ljust(w)
            for i, (c, w) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("    " + "  ".join(cells).rstrip())
    return lines
