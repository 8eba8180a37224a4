"""Ways to another layout beside an edit of the array's own text: what an array has that they suit is a named
constant, a member of a structure, neighbours that the compiler may join in another way.

Each takes the suggestion that was found and gives it back where it is the better one.
"""

from __future__ import annotations

import re
from dataclasses import replace

from smemlint.fix.class_rows import row_argument
from smemlint.fix.launch_bytes import too_few
from smemlint.fix.means import Means
from smemlint.fix.member_arrays import member_padding
from smemlint.fix.model import Refusal, Suggestion
from smemlint.fix.named import named_pitch
from smemlint.fix.rejoined import may_be_widened, rejoined, widened, worth_a_trial
from smemlint.fix.search.judge import CLEARLY
from smemlint.fix.search.members import Instance
from smemlint.patterns import pattern

_PITCH = pattern(r"pad|skew|pitch|stride|^ld|ld[a-z]?$|Ld[a-z]?$", re.IGNORECASE)
"""Names of constants that an author made to be a pitch or a padding."""
NO_LAYOUT = "no layout of this array costs less"


def with_bytes(found: Suggestion, instances: list[Instance], means: Means) -> Suggestion:
    """The same, where the launches of the edited text give the bytes that its accesses reach."""
    program = means.program()
    grows = found.edits is not None and instances[0].pool.dynamic and found.bytes_added > 0
    if not grows or program is None or instances[0].pool.place.path != means.main:
        return found
    wrong = too_few(found, instances[0].pool, program)
    return found if wrong is None else replace(found, edits=None, safe=False, refused=wrong)


def by_name(found: Suggestion, instances: list[Instance], means: Means) -> Suggestion:
    """The same array through the named constant that is its pitch, where that does as much or nothing else
    could be written."""
    hopeless = found.refused is not None and found.refused.code in ("not-worth-it", "escapes")
    prepared = any(_PITCH.search(n) for n in re.findall(r"[A-Za-z_]\w*", found.code.partition("[")[2]))
    simple = found.edits is not None and found.kind == "padding" and not prepared
    if hopeless or simple or instances[0].array.place.path != means.main:
        return found
    program = means.program()
    other = None if program is None else named_pitch(instances, program)
    if isinstance(other, Refusal) and other.code == "constant-elsewhere" and found.refused is not None:
        return replace(found, refused=replace(found.refused, text=f"{found.refused.text}; {other.text}"))
    if not isinstance(other, Suggestion):
        return found
    if found.edits is None:
        return other
    less = other.before - other.after < CLEARLY * (found.before - found.after)
    made_for_it = all(_PITCH.search(name) for name in re.findall(r"(\w+) = ", other.code))
    return other if made_for_it and not less and other.safe >= found.safe else found


def by_member(found: Suggestion, instances: list[Instance], means: Means) -> Suggestion:
    """The same through the array of the structure that conflicts, where nothing else could be written."""
    if found.edits is not None or (found.refused is not None and found.refused.code == "escapes"):
        return found
    program = means.program()
    other = None if program is None else member_padding(instances, program)
    if other is None and program is not None and instances[0].array.place.path == means.main:
        other = row_argument(instances, program)
    if isinstance(other, Suggestion):
        return other
    return found if other is None else replace(found, words=NO_LAYOUT, refused=other)


def by_trial(found: Suggestion, instances: list[Instance], means: Means) -> Suggestion:
    """The same by a padding, or an alignment, that is analysed and not predicted, where the compiler joins
    neighbours."""
    program = means.program()
    if program is None or means.analyse is None or means.late():
        return found
    if may_be_widened(instances):
        wide = widened(instances, means.texts, means.analyse, program)
        better = wide is not None and wide.safe >= found.safe
        if wide is not None and better and (found.edits is None or wide.after < found.after):
            return wide
    if found.refused is None:
        return found
    if not worth_a_trial(found.refused.code, instances):
        return found
    taken = means.taken.get(instances[0].array.place.path, set())
    other = rejoined(instances, means.texts, means.analyse, program, taken)
    return found if other is None else other
