"""What ended the search for the fixes of a file: its work, which is counted, or its time."""

from __future__ import annotations

from collections.abc import MutableMapping
from dataclasses import replace

from smemlint.fix.eligible import Key
from smemlint.fix.model import Refusal, Suggestion


def say_what_ended(found: MutableMapping[Key, Suggestion], given: int, left: int, late: bool) -> None:
    """Name, in each reason `out-of-time`, what was over.

    given: steps that the search had; left: how many of them it has. late: whether the time is over.
    """
    if left <= 0:
        why = Refusal("out-of-time", f"the work for the fixes of this file, {given} steps, was used up")
    elif late:
        why = Refusal("out-of-time", "the time for the fixes of this file was over")
    else:
        why = Refusal("not-proved", "the edited file was not analysed again")
    for key, each in found.items():
        if each.refused is not None and each.refused.code == "out-of-time":
            found[key] = replace(each, refused=why)
