"""Each pass alone: a log as text goes in, and comes out as text."""

from __future__ import annotations

import re

import numpy as np

from smemlint.evaluate.compiler import edge, selects, sink
from smemlint.evaluate.compiler.log import Log
from smemlint.evaluate.compiler.passes import PIPELINE, compiled, plain
from smemlint.evaluate.kernel import _machine, _run
from smemlint.evaluate.machine.components import Journal
from smemlint.evaluate.machine.state import Barrier, Event, Selected, SiteLog, Sunk
from smemlint.evaluate.values.number import Int
from smemlint.evaluate.values.value import Object
from smemlint.frontend import load
from smemlint.ir import Launch, Place
from smemlint.ir.types import FLOAT, LONG
from smemlint.source import source_from_bytes

LINE = re.compile(r"(\w+) (\w+)\+(\d+) lanes (\d+)-(\d+) region (\d+)( edge)?")


def log_of(text: str) -> Log:
    """Read a log: `load s+8 lanes 0-15 region 1`, or `barrier`, a line for each order. Lane i asks for word i
    behind the bytes that are written."""
    sites: dict[tuple[str, str, int], SiteLog] = {}
    entries: list[Event | Barrier] = []
    for order, line in enumerate(text.strip().splitlines()):
        found = LINE.fullmatch(line.strip())
        if found is None:
            assert line.strip() == "barrier", line
            entries.append(Barrier(0, order))
            continue
        op, array, at, first, last, region, edge = found.groups()
        place = Place("k.cu", order + 1, 1, order + 1, 2, order, order + 1)
        key = (op, array, int(at))
        site = sites.setdefault(
            key, SiteLog(place, order + 1, op, 4, 1, Object(array, array, FLOAT, "shared"))
        )
        lanes = (np.arange(32) >= int(first)) & (np.arange(32) <= int(last))
        offset = Int(4 * np.arange(32) + int(at), LONG)
        entries.append(Event(site, offset, lanes, lanes, 1, int(region), order, at_edge=bool(edge)))
    return Log(entries)


def text_of(log: Log) -> list[str]:
    """Write a log as log_of reads it."""
    lines = []
    for e in log.entries:
        if isinstance(e, Barrier):
            lines.append("barrier")
            continue
        lanes, at = np.flatnonzero(e.may), int(np.asarray(e.offset.const)[0])
        where = f"{lanes[0]}-{lanes[-1]}" if len(lanes) else "none"
        edge_ = " edge" if e.at_edge else ""
        lines.append(f"{e.site.op} {e.site.object.name}+{at} lanes {where} region {e.region}{edge_}")
    return lines


def accesses(log: Log) -> list[str]:
    """Write the accesses alone, wherever they stand."""
    return [line.split(" region")[0] for line in text_of(log) if line != "barrier"]


def lanes(first: int, last: int) -> np.ndarray:
    return (np.arange(32) >= first) & (np.arange(32) <= last)


def test_the_edge_of_the_grid_is_dropped_where_the_middle_runs_the_site() -> None:
    log = log_of(
        """
        store s+0 lanes 0-31 region 1
        store s+0 lanes 0-7 region 2 edge
        store s+4 lanes 0-7 region 2 edge
        """
    )
    assert text_of(edge.drop(log, Journal())) == [
        "store s+0 lanes 0-31 region 1",
        "store s+4 lanes 0-7 region 2 edge",
    ]


def test_a_load_sinks_into_the_branch_that_alone_uses_it() -> None:
    log = log_of(
        """
        load s+0 lanes 0-31 region 1
        store q+0 lanes 0-15 region 2
        """
    )
    journal = Journal(sunk={0: Sunk(lanes(0, 15), lanes(0, 15), 2)})
    assert text_of(sink.move(log, journal)) == [
        "load s+0 lanes 0-15 region 2",
        "store q+0 lanes 0-15 region 2",
    ]


def test_a_load_that_sinks_to_nobody_goes_unless_its_site_would_be_empty() -> None:
    log = log_of(
        """
        load s+0 lanes 0-31 region 1
        load s+0 lanes 0-31 region 2
        load q+0 lanes 0-31 region 2
        """
    )
    nobody = lanes(32, 32)
    journal = Journal(sunk={0: Sunk(nobody, nobody, 1), 2: Sunk(nobody, nobody, 2)})
    assert text_of(sink.move(log, journal)) == [
        "load s+0 lanes 0-31 region 2",
        "load q+0 lanes 0-31 region 2",
    ]


def test_of_two_arms_one_load_runs_in_the_lanes_of_both() -> None:
    log = log_of(
        """
        load s+0 lanes 0-15 region 2
        load s+64 lanes 16-31 region 3
        barrier
        """
    )
    chosen = Int(4 * np.arange(32) + np.where(np.arange(32) < 16, 0, 64), LONG)
    assert text_of(selects.merge(log, Journal(selected=[Selected(0, 1, chosen)]))) == [
        "load s+0 lanes 0-31 region 2",
        "barrier",
    ]


def test_an_idle_load_goes_and_may_leave_its_site_empty() -> None:
    log = log_of("load s+0 lanes 0-31 region 1")
    assert text_of(selects.merge(log, Journal(idle={0}))) == []


def test_a_pass_changes_no_entry() -> None:
    log = log_of(
        """
        load s+0 lanes 0-31 region 1
        load s+64 lanes 16-31 region 1
        store s+0 lanes 0-3 region 1 edge
        """
    )
    before = text_of(log)
    journal = Journal(
        sunk={1: Sunk(lanes(20, 31), lanes(20, 31), 4)},
        selected=[Selected(0, 1, Int(4 * np.arange(32), LONG))],
    )
    after = log
    for run in PIPELINE:
        after = run(after, journal)
    assert text_of(log) == before
    assert text_of(after) != before


def test_a_load_at_the_head_of_a_branch_moves_before_it() -> None:
    source = """
__global__ void k(float *out, int n) {
    __shared__ float s[64];
    int t = threadIdx.x;
    for (int d = 16; d > 4; d /= 2) {
        __syncthreads();
        if (t < d) { float v = s[t]; s[t] = 2 * v; }
    }
    out[t] = s[t];
}
"""
    (module,) = load(source_from_bytes("k.cu", source.encode()))
    (kernel,) = module.kernels()
    launch = Launch((32, 1, 1))
    m = _machine(module, launch, None)
    assert _run(m, kernel, launch) is None
    first, last = (
        ["load s+0 lanes 0-15", "store s+0 lanes 0-15"],
        ["store s+0 lanes 0-7", "load s+0 lanes 0-31"],
    )
    assert accesses(plain(m)) == [*first, "load s+0 lanes 0-7", *last]
    assert accesses(compiled(m)) == [*first, *last]  # after the last round a barrier no longer stands between
