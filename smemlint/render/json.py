"""Findings for tools. `version` grows when a key changes its meaning or goes away."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from typing import Any

from smemlint import __version__
from smemlint.diagnose.group import Group, groups
from smemlint.diagnose.model import Cost, Demand, Diagnostic, Report, UnparsedEntry, Unseen
from smemlint.fix.model import Suggestion
from smemlint.ir import Place
from smemlint.patterns import pattern
from smemlint.render.style import PLAIN, Look
from smemlint.score.load import NOMINAL

VERSION = 1
TOOL = {"name": "smemlint", "version": __version__}
_ESCAPE = pattern(r"\\u(d[89ab]..)\\u(d[c-f]..)|\\u(d[89a-f]..)|\\.")


def render(report: Report, look: Look = PLAIN) -> str:
    data: dict[str, Any] = {
        "version": VERSION,
        "tool": TOOL,
        "diagnostics": [diagnostic_data(d) for d in report.diagnostics],
        "findings": [finding_data(g) for g in groups(report.diagnostics)],
        "errors": [asdict(p) for p in report.problems],
        "not_analysed": [unseen_data(u) for u in report.unseen],
        "skipped": [asdict(p) for p in report.skipped],
        "unparsed": [unparsed_data(u) for u in report.unparsed],
        "summary": summary_data(report),
    }
    if report.shard is not None:
        data["shard"] = report.shard
    return dumps(data, indent=2)


def dumps(data: object, indent: int | None) -> str:
    """JSON that every reader takes: bytes of a name that are not UTF-8 are the text `\\xff`, since half of a
    surrogate pair, as which Python holds them, is no character."""
    return _ESCAPE.sub(_whole, json.dumps(data, indent=indent)) + "\n"


def _whole(escape: re.Match[str]) -> str:
    if escape[3] is None:
        return escape[0]
    code = int(escape[3], 16)
    return f"\\\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else f"\\\\u{code:04x}"


def place_data(place: Place) -> dict[str, Any]:
    return {
        "path": place.path,
        "line": place.line,
        "column": place.column,
        "end_line": place.end_line,
        "end_column": place.end_column,
    }


def diagnostic_data(d: Diagnostic) -> dict[str, Any]:
    return {
        "code": d.code,
        "name": d.name,
        "severity": d.severity.value,
        **place_data(d.place),
        "title": d.title,
        "message": d.message,
        "notes": list(d.notes),
        "related": [{**place_data(label.place), "message": label.text} for label in d.also],
        "kernel": d.kernel or None,
        "array": d.array or None,
        "grade": d.grade or None,
        "worst_ways": d.worst_ways,
        "ways": d.measure.ways,
        "ways_low": d.measure.ways_low,
        "wavefronts": d.measure.wavefronts,
        "wavefronts_low": d.measure.wavefronts_low,
        "ideal": d.measure.ideal,
        "configuration": d.configuration or None,
        "expression": d.expression or None,
        "group": d.group or None,
        "cost": cost_data(d.cost) if d.cost is not None else None,
        "fix": fix_data(d.fix) if d.fix is not None else None,
    }


def cost_data(cost: Cost) -> dict[str, Any]:
    """shares: 0 to 1. Loops of unknown length count as `iterations_assumed` (null where there are none)."""
    return {
        "share": round(cost.share, 6),
        "excess_share": round(cost.excess_share, 6),
        "requests_per_warp": round(cost.own.requests_by_warp(cost.warps), 3),
        "iterations_assumed": NOMINAL if cost.kernel.open else None,
        "accesses_without_a_number": cost.unknown,
        "blocks": cost.blocks,
        "site": demand_data(cost.own),
        "kernel": demand_data(cost.kernel),
    }


def demand_data(demand: Demand) -> dict[str, Any]:
    """Wavefronts of one block; by_depth[d]: those in d loops of unknown length, for one iteration of each."""
    return {
        "wavefronts": round(demand.wavefronts, 3),
        "floor": round(demand.floor, 3),
        "excess": round(demand.excess, 3),
        "by_depth": [
            {name: round(getattr(load, name), 3) for name in ("wavefronts", "ideal", "requests")}
            for load in demand.loads
        ],
    }


def fix_data(fix: Suggestion) -> dict[str, Any]:
    """edits: byte ranges of the file as it was read; null where the fix is words only."""
    edits = None
    if fix.edits is not None:
        edits = [
            {"path": e.path, "offset": e.offset, "end_offset": e.end_offset, "replacement": e.replacement}
            for e in fix.edits
        ]
    return {
        "kind": fix.kind,
        "words": fix.words,
        "safe": fix.safe,
        "unsafe_because": fix.unsafe_because or None,
        "edits": edits,
        "refused": asdict(fix.refused) if fix.refused is not None else None,
        "bytes_added": fix.bytes_added,
        "wavefronts_before": fix.before,
        "wavefronts_after": fix.after,
        "kernel_wavefronts": list(fix.kernel) if fix.kernel is not None else None,
        "blocks_per_sm": list(fix.blocks_per_sm) if fix.blocks_per_sm is not None else None,
    }


def finding_data(group: Group) -> dict[str, Any]:
    """One cause: the diagnostics of its places have its name as `group`."""
    return {
        "group": group.id,
        "code": group.lead.code,
        "path": group.lead.place.path,
        "lines": sorted({d.place.line for d in group.all}),
        "cost": cost_data(group.cost) if group.cost is not None else None,
    }


def unseen_data(kernel: Unseen) -> dict[str, Any]:
    return {
        "name": kernel.name.strip("`"),
        **place_data(kernel.place),
        "reason": kernel.code,
        "text": kernel.text,
    }


def unparsed_data(entry: UnparsedEntry) -> dict[str, Any]:
    return {
        **place_data(entry.place),
        "text": entry.text,
        "reason": entry.reason,
        "configuration": entry.configuration or None,
    }


def summary_data(report: Report) -> dict[str, Any]:
    """The counts in one object."""
    data: dict[str, Any] = {}
    summary = report.summary
    for name, value in asdict(summary).items():
        if name == "withheld":
            data |= {"small": value["small"], "accepted": value["accepted"], "stale": len(report.stale)}
            data |= {"hidden": value["hidden"], "suppressed": value["suppressed"]}
        elif name == "skipped":
            data |= {"skipped": value, "unseen": summary.unseen, "partial": summary.partial}
        else:
            data[name] = value
    return data
