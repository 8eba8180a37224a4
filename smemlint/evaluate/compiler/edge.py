"""Accesses that only blocks at the edge of the grid run (`control_flow/edge_blocks` logs them)."""

from __future__ import annotations

from smemlint.evaluate.compiler.log import Log
from smemlint.evaluate.machine.components import Journal


def drop(log: Log, journal: Journal) -> Log:
    """Drop them where blocks in the middle of the grid run the site: what is known of these holds. A site of
    the edge alone keeps them."""
    at_edge = [e for e in log.events if e.at_edge]
    if not at_edge:
        return log
    usual = {id(e.site) for e in log.events if not e.at_edge}
    return log.without({e.order for e in at_edge if id(e.site) in usual})
