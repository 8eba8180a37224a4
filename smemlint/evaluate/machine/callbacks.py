"""What a machine asks of those that evaluate for it: they stand above it, and put their functions here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from smemlint.evaluate.values.value import Pointer, RecordValue, Value
from smemlint.ir import Expr, Type


class Evaluator:
    """Answers for a machine. value: of an expression, in every lane of the mask; typed: a resolved type with
    what its `decltype` stands for; converted, begun: as `dispatch` says. `evaluators` sets them."""

    value: Callable[[Any, Expr], Value]
    typed: Callable[[Any, Type], Type]
    converted: Callable[[Any, RecordValue | Pointer, Type | None], Value | None]
    begun: Callable[[Any, Expr], Value]


EVALUATOR = Evaluator()
