"""The bank map as JSON, for tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from smemlint.look import Picture
from smemlint.render.json import dumps
from smemlint.view.bankmap import BankMap
from smemlint.view.site import SiteView

VERSION = 1


def render_banks_json(pictures: Sequence[Picture]) -> str:
    data = {"version": VERSION, "accesses": [_picture(p) for p in pictures]}
    return dumps(data, indent=1)


def _picture(picture: Picture) -> dict[str, Any]:
    after = picture.after
    return {
        **view_data(picture.now),
        "fix": None
        if after is None
        else {
            "words": after.words,
            "code": after.code,
            "safe": after.safe,
            "bytes_added": after.bytes_added,
            "not_drawn": after.why or None,
            "access": view_data(after.view) if after.view is not None else None,
        },
    }


def view_data(view: SiteView) -> dict[str, Any]:
    """An access with the map of one request."""
    return {
        "path": view.path,
        "line": view.line,
        "column": view.column,
        "expression": view.expression,
        "op": view.op,
        "width": view.width,
        "kernel": view.launch.kernel,
        "block": list(view.launch.block),
        "array": view.array.declared if view.array is not None else None,
        "grade": view.grade,
        "reason": view.reason or None,
        "requests": view.cost.requests,
        "wavefronts": view.cost.wavefronts,
        "wavefronts_low": view.cost.wavefronts_low,
        "ideal": view.cost.ideal,
        "iterations": view.visits,
        "warps": list(view.warps),
        "map": map_data(view.map) if view.map is not None else None,
        "no_map": view.no_map or None,
    }


def map_data(bank_map: BankMap) -> dict[str, Any]:
    """One request, wavefront by wavefront: [bank, word, lanes] of each that a bank delivers."""
    return {
        "warp": bank_map.warp,
        "iteration": bank_map.visit,
        "ideal": bank_map.ideal,
        "low": bank_map.low,
        "high": bank_map.high,
        "offsets": list(bank_map.offsets),
        "wavefronts": [
            {
                "lanes": [list(part) for part in each.phase],
                "round": each.round,
                "served": [[s.bank, s.word, list(s.lanes)] for s in each.served],
            }
            for each in bank_map.passes
        ],
    }
