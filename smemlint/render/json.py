"""Findings for tools. `version` grows when a key changes its meaning or goes away."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from typing import Any

from smemlint import __version__
from smemlint.diagnose.model import Diagnostic, Report, UnparsedEntry, Unseen
from smemlint.fix.model import Suggestion
from smemlint.ir import Place

VERSION = 1
TOOL = {"name": "smemlint", "version": __version__}
_ESCAPE = re.compile(r"\\u(d[89ab]..)\\u(d[c-f]..)|\\u(d[89a-f]..)|\\.")


def render(report: Report, *, color: bool = False) -> str:
    data = {
        "version": VERSION,
        "tool": TOOL,
        "diagnostics": [diagnostic_data(d) for d in report.diagnostics],
        "errors": [asdict(p) for p in report.problems],
        "not_analysed": [unseen_data(u) for u in report.unseen],
        "skipped": [asdict(p) for p in report.skipped],
        "unparsed": [unparsed_data(u) for u in report.unparsed],
        "summary": summary_data(report),
    }
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
        "ways": d.ways,
        "ways_low": d.ways_low,
        "wavefronts": d.wavefronts,
        "wavefronts_low": d.wavefronts_low,
        "ideal": d.ideal,
        "configuration": d.configuration or None,
        "fix": fix_data(d.fix) if d.fix is not None else None,
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
    data = asdict(report.summary)
    data["seconds"] = round(report.summary.seconds, 3)
    return data
