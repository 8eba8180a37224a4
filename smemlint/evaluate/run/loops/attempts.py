"""Iterations that may have to leave no trace: what they changed is put back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from smemlint.evaluate.machine.machine import Exits, Machine
from smemlint.evaluate.machine.state import SiteLog


class Attempt:
    """Where control stood before an iteration that may have to leave no trace. The state itself is the
    caller's to restore."""

    def __init__(self, m: Machine, exits: Exits) -> None:
        self.masks = m.must, m.may, m.context.way
        self.exits = exits
        self.left = exits.broken, exits.continued, exits.uncertain
        self.frames = [(f, f.outcome) for f in m.frames]
        self.joins = [(j, j.kept, j.strays, j.gone, j.ways, j.left) for j in m.ahead()]
        for j, *_, ways, left in self.joins:
            j.ways, j.left = list(ways), dict(left)
        self.region = m.lines.region

    def undo(self, m: Machine) -> None:
        """Go back there."""
        self.exits.broken, self.exits.continued, self.exits.uncertain = self.left
        for f, outcome in self.frames:
            f.outcome = outcome
        for j, kept, strays, gone, ways, left in self.joins:
            j.kept, j.strays, j.gone, j.ways, j.left = kept, strays, gone, ways, left
        m.must, m.may, m.context.way = self.masks
        m.lines.region = self.region


@contextmanager
def untraced(m: Machine, exits: Exits) -> Iterator[None]:
    """What runs within leaves no trace but in the state, which is the caller's to restore."""
    attempt, journal, unknowns = Attempt(m, exits), m.journal, m.unknowns
    size, context, follows, round_ = m.code_size, m.context, m.lines.follows, exits.round
    turn, stays = m.turns.turn, m.turns.stays
    assumed, guessed = dict(journal.assumptions), list(unknowns.guessed)
    decisions = [(j, j.decisions) for j in m.ahead()]
    # Loops around count in the object that they know.
    m.code_size, m.context = replace(size), context.copy()
    m.silent += 1
    try:
        yield
    finally:
        m.silent -= 1
        m.code_size, m.context, m.lines.follows, exits.round = size, context, follows, round_
        m.turns.turn, m.turns.stays = turn, stays
        journal.assumptions, unknowns.guessed = assumed, guessed
        for j, found in decisions:
            j.decisions = found
        attempt.undo(m)


class Checkpoint:
    """What an iteration that is not silent adds to the log, and to what belongs to it."""

    def __init__(self, m: Machine, exits: Exits) -> None:
        journal = m.journal
        self._order, self._addresses = journal.order, m.effort.addresses
        self._lists: tuple[list[Any], ...] = (
            m.log,
            journal.selected,
            journal.loops,
            journal.notes,
            exits.iterations,
        )
        self._lengths = [len(x) for x in self._lists]
        self._sunk, self._idle, self._edges = {**journal.sunk}, {*journal.idle}, {**m.memo.edges}
        self._loaded, self._waiting = {**m.memory.loaded}, {k: [*v] for k, v in m.context.waiting.items()}
        self._sites = {key: (log, replace(log, via={**log.via})) for key, log in journal.sites.items()}

    def undo(self, m: Machine) -> None:
        """Take it back."""
        m.journal.order, m.effort.addresses = self._order, self._addresses
        for x, length in zip(self._lists, self._lengths, strict=True):
            del x[length:]
        m.journal.sunk, m.journal.idle, m.memo.edges = self._sunk, self._idle, self._edges
        m.memory.loaded, m.context.waiting = self._loaded, self._waiting
        m.journal.sites = {key: _as_it_was(log, before) for key, (log, before) in self._sites.items()}


class HostCheckpoint:
    """What an iteration of host code tells, beside its state: launches, choices, exceptions."""

    def __init__(self, m: Machine) -> None:
        paths, on_launch = m.task.paths, m.task.on_launch
        self._given = m.unknowns.given
        self._tries = [(t, len(t.maybe), t.surely, t.checks) for t in m.context.tries]
        self._paths = None if paths is None else paths.copy()
        self._forget = None if on_launch is None else on_launch.mark()

    def undo(self, m: Machine) -> None:
        """Take it back."""
        m.unknowns.given = self._given
        for t, length, surely, checks in self._tries:
            del t.maybe[length:]
            t.surely, t.checks = surely, checks
        if self._paths is not None and m.task.paths is not None:
            m.task.paths.become(self._paths)
        if self._forget is not None:
            self._forget()


def _as_it_was(log: SiteLog, before: SiteLog) -> SiteLog:
    """The record of a site, which events know, with what it held."""
    log.assumed, log.via, log.frame = before.assumed, before.via, before.frame
    log.reason, log.fragment = before.reason, before.fragment
    return log
