"""What ends with a scope: destructors run where lanes come to its end, and where they leave it."""

from __future__ import annotations

from smemlint.evaluate.language.inlining import end_life
from smemlint.evaluate.language.lifetimes import has_destructors
from smemlint.evaluate.language.places import place_of
from smemlint.evaluate.machine.dispatch import rvalue
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.values.value import Object, Value
from smemlint.ir import Call, Construct, Expr


def end_lives(m: Machine, since: int, returned: Object | None = None) -> None:
    """Run the destructors of the objects whose lives began since, the last one first. returned: the one
    that lives on with the caller."""
    for o in reversed(m.frame.live[since:]):
        if o is not returned:
            end_life(m, o)


def end_temporaries(m: Machine, since: int, kept: Object | None = None) -> None:
    """End the lives of the temporaries of an expression. kept: what a reference or a variable keeps."""
    live = m.frame.live
    if len(live) > since:
        stays = [o for o in live[since:] if o is kept]
        live[since:] = [o for o in live[since:] if o is not kept]
        end_lives(m, since)
        live[since:] = stays


def full(m: Machine, e: Expr) -> Value:
    """The value of an expression whose temporaries end with it."""
    live = len(m.frame.live)
    v = rvalue(m, e)
    end_temporaries(m, live)
    return v


def discard(m: Machine, e: Expr) -> None:
    """Evaluate an expression for its effect: an object that it gives is a temporary."""
    if isinstance(e, Call | Construct) and not m.host and has_destructors(m.module):
        place_of(m, e)
    else:
        rvalue(m, e)
