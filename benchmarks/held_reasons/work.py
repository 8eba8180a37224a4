"""Whether the work for the fixes of a file was used up: counted where it is done, in a second run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from held_reasons.case import UNCHECKED, Case
from smemlint.api import Job
from smemlint.fix.search import layouts
from smemlint.running import pipeline, proofs, schedule

NEARLY = 0.98
"""A search may ask how much is left where it does no work; what that counts for is not seen here."""


@contextmanager
def counted(done: list[int]) -> Iterator[None]:
    """Adds up steps of kernels that are evaluated again, and what layouts that are looked at count for."""
    real = proofs.analysis_of, pipeline.examine, layouts._candidates

    def evaluated(*arguments: Any, **named: Any) -> Any:
        found = real[0](*arguments, **named)
        done[0] += found.work
        return found

    def examined(*arguments: Any, **named: Any) -> Any:
        found = real[1](*arguments, **named)
        done[0] += sum(a.work for a in getattr(found, "analyses", ()))
        return found

    def looked_at(*arguments: Any) -> Any:
        for layout in real[2](*arguments):
            done[0] += schedule.LAYOUT
            yield layout

    with (
        mock.patch.object(proofs, "analysis_of", evaluated),
        mock.patch.object(pipeline, "examine", examined),
        mock.patch.object(layouts, "_candidates", looked_at),
    ):
        yield


def used_up(case: Case, m: re.Match[str]) -> str:
    given = schedule.FIX_WORK + sum(a.work for a in case.found.analyses)
    if int(m["steps"]) != given:
        return f"the kernels of the file and the share of every file come to {given} steps"
    done, real = [0], pipeline.examine
    with counted(done):
        real(Job(case.found.source.path, text=case.found.source.raw.decode("utf-8", "surrogateescape")), str)
    if done[0] < given * NEARLY:
        return f"{done[0]} steps of {given} were done"
    return ""


def unnamed(case: Case, m: re.Match[str]) -> str:
    return "how much work it was is not said"


def time(case: Case, m: re.Match[str]) -> str:
    return UNCHECKED + "a clock decides"
