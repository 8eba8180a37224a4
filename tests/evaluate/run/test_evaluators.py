"""The tables that say which function evaluates what are complete."""

from __future__ import annotations

import subprocess
import sys
from typing import get_args

import smemlint.ir.types as types
from smemlint import ir
from smemlint.evaluate.run.evaluators import BUILDERS, RUNNERS, VALUES


def test_every_type_of_expression_statement_and_type_has_an_evaluator() -> None:
    assert set(VALUES) == set(get_args(ir.Expr))
    assert set(RUNNERS) == set(get_args(ir.Stmt))
    assert set(BUILDERS) == set(get_args(types.Type))


def test_the_package_alone_brings_the_functions_of_all_libraries() -> None:
    """A module that only fills a table is easily lost: nothing names it."""
    text = """
from smemlint.evaluate import evaluate
from smemlint.evaluate.machine.functions import FUNCTIONS
names = ("wmma::load_matrix_sync", "cooperative_groups::reduce", "__shfl_sync", "memcpy_async", "min")
print(*(name for name in names if name not in FUNCTIONS))
"""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
