"""The checks of a random kernel: how it is drawn, evaluated and held against the interpreter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from oracle.c_text import load as load_c
from oracle.compare import Comparison, compare, evaluate_as_written, outside, uncovered
from oracle.cxx_programs import cxx_program
from oracle.drawing import Draw, Program
from oracle.pointing import parts_program
from oracle.programs import program
from oracle.run import Request, run
from oracle.totals import beyond
from smemlint.evaluate import KernelTrace, evaluate
from smemlint.frontend import load
from smemlint.ir import Launch, Module, Scalar, Type
from smemlint.ir.types import DOUBLE, FLOAT, SHORT
from smemlint.source import source_from_bytes

TYPES: dict[str, Scalar] = {"float": FLOAT, "double": DOUBLE, "short": SHORT}


@dataclass(frozen=True, slots=True)
class Check:
    """One way to hold the evaluator against the interpreter.

    draw: makes a kernel. module: reads it, for both; own: what the evaluator reads, where that is another
    front end. told: whether the evaluator is given what the interpreter is. joined: whether accesses are
    joined as the compiler does. verify: what disagrees.
    """

    name: str
    draw: Callable[[Draw], Program]
    module: Callable[[Program], Module]
    verify: Callable[[list[Request], KernelTrace], Comparison]
    own: Callable[[Program], Module] | None = None
    told: bool = True
    joined: bool = False

    def run(self, program: Program) -> Comparison:
        """Raises UndefinedError where the program does what C++ leaves undefined."""
        module, launch = self.module(program), known_launch(program)
        requests = run(
            module,
            module.kernels()[0],
            launch,
            block_index=(program.block_index, 0, 0),
            arguments={"n": program.n},
        )
        own = module if self.own is None else self.own(program)
        if not self.told:
            launch = Launch(program.block)
        answer = evaluate if self.joined else evaluate_as_written
        return self.verify(requests, answer(own, own.kernels()[0], launch))


def known_launch(program: Program) -> Launch:
    template: dict[str, Type | int] = {"BM": program.bm, "T": TYPES[program.type]} if program.bm else {}
    return Launch(program.block, grid=(8, 1, 1), dynamic=8192, template=template, arguments={"n": program.n})


def read_by_pycparser(program: Program) -> Module:
    return load_c(program.text)


def read_by_clang(program: Program) -> Module:
    module = load(source_from_bytes("kernel.cu", program.text.encode()))[0]
    if module.unparsed:
        raise AssertionError("the front end left text out")
    return module


def _outside(requests: list[Request], result: KernelTrace) -> Comparison:
    return Comparison(wrong=[*outside(requests, result), *beyond(requests, result)])


def _uncovered(requests: list[Request], result: KernelTrace) -> Comparison:
    return Comparison(wrong=uncovered(requests, result))


_C = Check("c", program, read_by_pycparser, compare)
CHECKS = {
    check.name: check
    for check in (
        _C,
        replace(_C, name="clang", own=read_by_clang),
        Check("cxx", cxx_program, read_by_clang, compare),
        replace(_C, name="data", draw=lambda draw: program(draw, data=True), verify=_outside),
        replace(
            _C, name="unknown", draw=lambda draw: program(draw, unknown=True), verify=_outside, told=False
        ),
        replace(_C, name="parts", draw=parts_program),
        replace(_C, name="parts-data", draw=lambda draw: parts_program(draw, data=True), verify=_outside),
        replace(
            _C,
            name="parts-unknown",
            draw=lambda draw: parts_program(draw, unknown=True),
            verify=_outside,
            told=False,
        ),
        replace(_C, name="joined", verify=_uncovered, joined=True),
    )
}
