"""By which statements code is left."""

from __future__ import annotations

from smemlint.ir import Block, Break, Continue, Evaluate, If, Lambda, Literal, Loop, Return, Stmt
from smemlint.ir.jumps import jumps_in

ONE = Literal(1)


def around(s: Stmt) -> Stmt:
    return If(ONE, Block((Evaluate(ONE), Loop(None, ONE, None, Block((s,))))), None)


def test_code_that_is_left_nowhere_has_no_jumps() -> None:
    assert jumps_in(around(Evaluate(ONE))) == frozenset()


def test_each_kind_of_jump_is_found_below_and_at_the_statement_itself() -> None:
    both = Block((around(Break()), around(Continue())))

    assert jumps_in(both) == {Break, Continue}
    assert jumps_in(Return(ONE)) == {Return}


def test_what_a_lambda_returns_is_found_as_well() -> None:
    assert jumps_in(Evaluate(Lambda((), Return(ONE)))) == {Return}
