"""The evaluator against a thread-by-thread interpreter, on random kernels.

What the evaluator calls exact must be what every lane does; what it leaves open must hold the truth.
"""

from __future__ import annotations

from collections import Counter

from hypothesis import HealthCheck, Phase, assume, given, settings
from oracle import Request, UndefinedError, run
from oracle.c_text import load as load_c
from oracle.compare import Comparison, compare, evaluate_as_written, outside, uncovered
from oracle.cxx_programs import cxx_programs
from oracle.drawing import Program
from oracle.programs import programs

from smemlint.evaluate import evaluate
from smemlint.frontend import load
from smemlint.ir import Launch, Module
from smemlint.ir.types import DOUBLE, FLOAT, SHORT
from smemlint.source import source_from_bytes

TYPES = {"float": FLOAT, "double": DOUBLE, "short": SHORT}
RESOLVED = 0.95
"""Share of the accesses with known addresses for which an exact answer is expected."""


def check_settings(examples: int) -> settings:
    """The same kernels in every run: a new disagreement is a change of the evaluator, not of luck.

    A failing kernel is shown as it was drawn, since making it smaller takes minutes: add Phase.shrink.
    """
    return settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
    )


def interpreted(module: Module, program: Program, launch: Launch) -> list[Request]:
    block_index = (program.block_index, 0, 0)
    try:
        return run(module, module.kernels()[0], launch, block_index=block_index, arguments={"n": program.n})
    except UndefinedError:
        assume(False)
        raise


def parsed(program: Program) -> Module:
    return load(source_from_bytes("kernel.cu", program.text.encode()))[0]


def known_launch(program: Program) -> Launch:
    template = {"BM": program.bm, "T": TYPES[program.type]} if program.bm else {}
    return Launch(program.block, grid=(8, 1, 1), dynamic=8192, template=template, arguments={"n": program.n})


def settle(tally: Counter[str], outcome: Comparison, program: Program) -> None:
    assert not outcome.wrong, "\n".join(
        [program.text, f"block {program.block}, n {program.n}", *outcome.wrong]
    )
    tally["exact"] += outcome.exact
    tally["open"] += len(outcome.open)


def mostly_resolved(tally: Counter[str]) -> bool:
    return tally["exact"] >= RESOLVED * (tally["exact"] + tally["open"]) > 0


def test_every_lane_of_a_c_kernel_has_the_address_that_it_computes() -> None:
    tally: Counter[str] = Counter()

    @check_settings(100)
    @given(programs())
    def check(program: Program) -> None:
        module, launch = load_c(program.text), known_launch(program)
        requests = interpreted(module, program, launch)
        result = evaluate_as_written(module, module.kernels()[0], launch)
        settle(tally, compare(requests, result), program)

    check()
    assert mostly_resolved(tally), tally


def test_the_front_end_reads_the_kernel_that_another_parser_reads() -> None:
    tally: Counter[str] = Counter()

    @check_settings(40)
    @given(programs())
    def check(program: Program) -> None:
        launch = known_launch(program)
        requests = interpreted(load_c(program.text), program, launch)
        module = parsed(program)
        assert not module.unparsed, program.text
        result = evaluate_as_written(module, module.kernels()[0], launch)
        settle(tally, compare(requests, result), program)

    check()
    assert mostly_resolved(tally), tally


def test_references_templates_lambdas_and_methods_lead_to_the_same_addresses() -> None:
    tally: Counter[str] = Counter()

    @check_settings(40)
    @given(cxx_programs())
    def check(program: Program) -> None:
        module, launch = parsed(program), known_launch(program)
        assert not module.unparsed, program.text
        requests = interpreted(module, program, launch)
        result = evaluate_as_written(module, module.kernels()[0], launch)
        settle(tally, compare(requests, result), program)

    check()
    assert mostly_resolved(tally), tally


@check_settings(50)
@given(programs(data=True))
def test_bounds_hold_whatever_memory_holds(program: Program) -> None:
    module, launch = load_c(program.text), known_launch(program)
    requests = interpreted(module, program, launch)
    result = evaluate_as_written(module, module.kernels()[0], launch)
    assert not outside(requests, result), program.text


@check_settings(50)
@given(programs(unknown=True))
def test_answers_without_arguments_and_grid_hold_for_any_of_them(program: Program) -> None:
    module, launch = load_c(program.text), Launch(program.block)
    requests = interpreted(module, program, launch)
    result = evaluate_as_written(module, module.kernels()[0], launch)
    assert not outside(requests, result), program.text


@check_settings(30)
@given(programs())
def test_joined_accesses_reach_every_byte_that_is_asked_for(program: Program) -> None:
    module, launch = load_c(program.text), known_launch(program)
    requests = interpreted(module, program, launch)
    result = evaluate(module, module.kernels()[0], launch)
    assert not uncovered(requests, result), program.text
