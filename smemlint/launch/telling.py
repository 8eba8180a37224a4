"""Whether running the host code of other files can tell anything of a file's launches that it does not tell
itself."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from smemlint.evaluate.analysis.facts import code_of
from smemlint.ir import Expr, Function, LaunchStmt, Module, Name, Scalar
from smemlint.launch.model import Started
from smemlint.launch.source.knowable import Knowable
from smemlint.launch.source.starters import launching_functions, may_start, said
from smemlint.launch.ways import instance


def may_tell(module: Module, program: Module, kernels: frozenset[str], started: Sequence[Started]) -> bool:
    """Whether a program may tell more of some kernels' launches (ids) than one of its files does.

    started: what that file tells. The answer is yes where it does not start each of them, or starts one by
    templates that other files call.
    """
    if kernels != {s.kernel.id for s in started} & kernels:
        return True
    launching = launching_functions(module, kernels)
    if _started_elsewhere(module, program, kernels):
        return True
    plain = Knowable(program, module)
    if _instances_elsewhere(module, program, launching.values(), plain):
        return True
    limited = plain.with_open_limits()
    if _several(started) and any(plain.choices_may_be_told(f) for f in launching.values()):
        return True
    at: dict[tuple[str, int], list[Started]] = defaultdict(list)
    for s in started:
        at[s.place.path, s.place.offset].append(s)
    for f in launching.values():
        for launch in said(f).launches:
            seen = at.get((launch.place.path, launch.place.offset), [])
            if not seen and may_start(module, launch, kernels):
                return True
            if launch.array is not None and seen:
                return True
            open_limits = any(None in s.block for s in seen)
            ask = limited if open_limits else plain
            if any(ask.may_be_told(e, f) for e in _open(module, launch, seen)):
                return True
    return False


def _instances_elsewhere(
    module: Module, program: Module, launching: Iterable[Function], values: Knowable
) -> bool:
    """Whether other files may name instances of the templates that launch."""
    templates = [f for f in launching if f.template or _of_template(module, f)]
    if not any(said(f).launches for f in templates):
        return False
    explicit = len(program.explicit_instances) + len(program.explicit_records)
    if explicit > len(module.explicit_instances) + len(module.explicit_records):
        return True
    return any(_of_template(module, f) or values.is_called_elsewhere(f) for f in templates)


def _of_template(module: Module, f: Function) -> bool:
    """Whether a function is a method of a class template."""
    r = module.records.get(f.record or "")
    return r is not None and bool(r.template)


def _started_elsewhere(module: Module, program: Module, kernels: frozenset[str]) -> bool:
    """Whether functions of other files start one of the kernels themselves."""
    return any(
        may_start(program, launch, kernels)
        for f in program.functions.values()
        if f.id not in module.functions and f.side in ("host", "both")
        for launch in said(f).launches
    )


def _several(started: Sequence[Started]) -> bool:
    """Whether one instance of a kernel is started in several ways, of which others may choose one."""
    known: dict[tuple[object, ...], tuple[object, ...]] = {}
    for s in started:
        of = instance(s) if s.template else (s.kernel.id,)
        way = s.place, s.block, s.likely, s.grid, s.dynamic, dict(s.arguments)
        if known.setdefault(of, way) != way:
            return True
    return False


def _open(module: Module, launch: LaunchStmt, seen: Sequence[Started]) -> Iterator[Expr]:
    """The expressions of a launch that leave something open."""
    if not isinstance(launch.kernel, Name) or launch.kernel.id not in module.functions:
        yield launch.kernel
    if launch.block is not None and any(None in s.block for s in seen):
        yield launch.block
    if launch.grid is not None and any(None in s.grid for s in seen):
        yield launch.grid
    if launch.dynamic is not None and any(s.dynamic is None for s in seen):
        yield launch.dynamic
    for i, e in enumerate(launch.arguments):
        if any(_is_open(module, s, i) for s in seen):
            yield e


def _is_open(module: Module, s: Started, i: int) -> bool:
    """Whether what a launch gives a parameter may be more than is known of it."""
    parameters = s.kernel.parameters
    if i >= len(parameters):
        return True
    p = parameters[i]
    if p.name in s.arguments or (isinstance(p.type, Scalar) and p.type.kind == "float"):
        return False
    return p.id in code_of(module).slice(s.kernel, frozenset()).relevant
