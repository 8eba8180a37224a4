"""The checks of a random kernel: how it is drawn, evaluated and held against the interpreter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from oracle.c_text import load as load_c
from oracle.compare import Comparison, compare, evaluate_as_written, internal_errors, outside, uncovered
from oracle.cxx_programs import cxx_program
from oracle.drawing import Draw, Program
from oracle.everyday_programs import everyday_program
from oracle.library_programs import library_program
from oracle.loop_programs import loop_program
from oracle.modern_programs import modern_program
from oracle.odd_programs import odd_program
from oracle.ordinary_programs import ordinary_program
from oracle.pointing import parts_program
from oracle.production_programs import production_program
from oracle.programs import program
from oracle.real_programs import real_program
from oracle.run import Request, run
from oracle.sized_programs import sized_program
from oracle.totals import beyond
from oracle.values import UndefinedError
from oracle.wider_programs import wider_program
from smemlint.evaluate import Grade, KernelTrace, evaluate
from smemlint.frontend import load
from smemlint.ir import Launch, Module, Scalar, Type
from smemlint.ir.types import DOUBLE, FLOAT, SHORT
from smemlint.source import source_from_bytes

ORDERS = (-1, *range(20))
"""Orders of warps (`run.run`) that are tried where something disagrees: what one changes, a race decides."""

NOISES = ("a", "b", "c", "d", "e", "f")
"""What memory may hold besides, tried where a lane may be any."""

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
        requests = _requests(module, launch, program)
        own = module if self.own is None else self.own(program)
        told = launch if self.told else Launch(program.block, template=launch.template)
        answer = evaluate if self.joined else evaluate_as_written
        result = answer(own, own.kernels()[0], told)
        if errors := internal_errors(result):
            return Comparison(wrong=errors)  # whatever else is wrong comes of them
        outcome = self.verify(requests, result)
        if outcome.wrong and self.verify is _outside:
            outcome = self.verify(without_any_lane(module, launch, program, requests, result), result)
        if outcome.wrong:
            for order in ORDERS:
                if _seen(requests) != _seen(_requests(module, launch, program, shuffled=order)):
                    raise UndefinedError("a race of warps decides what is accessed")
        return outcome


def _requests(
    module: Module, launch: Launch, program: Program, *, shuffled: int | None = None, noise: str = ""
) -> list[Request]:
    at, kernel = (program.block_index, 0, 0), module.kernels()[0]
    return run(
        module, kernel, launch, block_index=at, arguments=given(program), shuffled=shuffled, noise=noise
    )


def without_any_lane(
    module: Module, launch: Launch, program: Program, requests: list[Request], result: KernelTrace
) -> list[Request]:
    """Requests without those of one lane that other data make another lane's, where one lane is told too:
    whichever it is, it costs the same."""
    lanes: dict[object, set[int]] = {}
    crowds: set[object] = set()
    for noise in ("", *NOISES):
        try:
            seen = requests if not noise else _requests(module, launch, program, noise=noise)
        except (UndefinedError, AssertionError):
            continue
        for r in seen:
            active = {lane for lane, o in enumerate(r.offsets) if o is not None}
            lanes.setdefault(_site(r), set()).update(active)
            if len(active) > 1:
                crowds.add(_site(r))
    told = {
        (t.site.place.line, t.site.op, t.site.width)
        for t in result.traces
        if t.grade is Grade.EXACT and ((t.offsets >= 0).sum(axis=1) == 1).all()
    }
    any_lane = {site for site, seen in lanes.items() if len(seen) > 1 and site not in crowds} & told
    return [r for r in requests if _site(r) not in any_lane]


def _site(r: Request) -> tuple[int, str, int]:
    assert r.place is not None
    return r.place.line, r.op, r.width


def _seen(requests: list[Request]) -> Counter[object]:
    """Requests without regard to their order."""
    return Counter((r.place, r.op, r.width, r.name, r.offsets, r.warp) for r in requests)


def known_launch(program: Program) -> Launch:
    template: dict[str, Type | int] = {"BM": program.bm, "T": TYPES[program.type]} if program.bm else {}
    return Launch(program.block, grid=(8, 1, 1), dynamic=8192, template=template, arguments=given(program))


def given(program: Program) -> dict[str, int]:
    """The arguments of the kernel."""
    return {"n": program.n, **program.more}


def read_by_pycparser(program: Program) -> Module:
    return load_c(program.text)


def read_by_clang(program: Program) -> Module:
    module = load(source_from_bytes("kernel.cu", program.text.encode()))[0]
    if module.unparsed:
        raise AssertionError(f"the front end left text out: {module.unparsed}")
    return module


def _outside(requests: list[Request], result: KernelTrace) -> Comparison:
    return Comparison(wrong=[*outside(requests, result), *beyond(requests, result)])


def _uncovered(requests: list[Request], result: KernelTrace) -> Comparison:
    return Comparison(wrong=uncovered(requests, result))


class _Drawing(Protocol):
    """Draws a program of one kind. data: numbers from memory; unknown: for arguments that are not told."""

    def __call__(self, draw: Draw, *, data: bool = False, unknown: bool = False) -> Program: ...


def _family(name: str, drawn: _Drawing) -> tuple[Check, ...]:
    """One kind of program: as it is, with data, with unknown arguments, and joined."""
    known = Check(name, lambda draw: drawn(draw), read_by_clang, compare)
    return (
        known,
        replace(known, name=f"{name}-data", draw=lambda draw: drawn(draw, data=True), verify=_outside),
        replace(
            known,
            name=f"{name}-unknown",
            draw=lambda draw: drawn(draw, unknown=True),
            verify=_outside,
            told=False,
        ),
        replace(known, name=f"{name}-joined", verify=_uncovered, joined=True),
    )


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
        *_family("modern", modern_program)[:3],
        *_family("ordinary", ordinary_program),
        *_family("wider", wider_program),
        *_family("odd", odd_program),
        *_family("library", library_program),
        *_family("loops", loop_program),
        *_family("real", real_program),
        *_family("everyday", everyday_program),
        *_family("production", production_program),
        *_family("sized", sized_program),
    )
}
