"""The launches under which a kernel is analysed: the user's word, launches seen, bounds, hints,
candidates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from math import prod

import smemlint.evaluate.run.evaluators  # noqa: F401  says which function runs what
from smemlint.evaluate.kernel import bind_kernel
from smemlint.evaluate.language.conversions import integer
from smemlint.evaluate.language.overloads import bind
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.types.layout import Types
from smemlint.evaluate.types.matching import is_type
from smemlint.ir import (
    Binary,
    Expr,
    Function,
    Launch,
    MemberType,
    Module,
    OpaqueType,
    PointerTo,
    RecordRef,
    Scalar,
    Special,
    TemplateArgument,
    TemplateValue,
    Type,
)
from smemlint.ir.launch import origin_of
from smemlint.ir.types import BFLOAT16, DOUBLE, FLOAT, HALF, INT
from smemlint.ir.walk import nodes_of, walk
from smemlint.launch.implied import implied_blocks
from smemlint.launch.model import Started
from smemlint.launch.open import USUAL, Candidate
from smemlint.launch.source.stand_ins import named_integer, stand_ins
from smemlint.launch.source.starters import open_name, said
from smemlint.launch.started import template_arguments
from smemlint.records import record

MAX_THREADS = 1024
MAX_LAUNCHES = 400
FIRST_LAUNCHES = 40
"""Launches of one kernel that are looked at one by one; of more, each instance comes with one shape first."""
MAX_VARIANTS = 16
"""Combinations of arguments under which one launch is analysed."""
CANDIDATES = {
    "x": tuple((n, 1, 1) for n in USUAL),
    "xy": ((32, 8, 1), (16, 16, 1), (32, 32, 1), (8, 8, 1)),
    "xyz": ((32, 4, 2), (8, 8, 8)),
}
"""Shapes for a kernel that nothing starts, the most probable first."""
ODD_ROWS = (32, 3, 1)
"""One more where rows are as long as the block is high (`s[threadIdx.x * blockDim.y + threadIdx.y]`): the
other shapes make that a power of two, and a conflict may come of that alone."""


@record(frozen=True, slots=True)
class Blocks:
    """Block shapes that the user gave. `of`: by kernel name; `default`: for kernels without any fact;
    `every`: for all kernels (`--block X,Y,Z`)."""

    of: Mapping[str, tuple[int, int, int]] = field(default_factory=dict)
    every: tuple[int, int, int] | None = None
    default: tuple[int, int, int] | None = None
    origin: str = "--block"

    def told(self, kernel: str) -> tuple[int, int, int] | None:
        return self.of.get(kernel, self.every)


def infer(
    kernel: Function, module: Module, started: Iterable[Started], blocks: Blocks | None = None
) -> tuple[Launch, ...]:
    """All launches to analyse `kernel` under, never none; of more than MAX_LAUNCHES one more, which stands
    for those that are left out."""
    blocks = blocks or Blocks()
    meant = [s for s in started if _same_kernel(s.kernel, kernel)]
    seen, whole = _whole(_with_types(meant, module), kernel, module)
    told = blocks.told(kernel.name)
    instances, real = _instances(kernel, module, seen)
    real = real and whole
    launches: list[Launch] = []
    if told is not None:
        for template in instances:
            facts = [s for s in seen if dict(s.template) == dict(template)]
            base = _launch(facts[0], told) if facts else Launch(told, template=template)
            launches.append(
                replace(
                    base,
                    block=told,
                    grid=(None, None, None),
                    arguments=_common(facts),
                    origin=blocks.origin,
                    assumed=not real,
                    guessed=not real,
                )
            )
        return tuple(launches[: MAX_LAUNCHES + 1])
    for s in seen:
        shape = _complete(s.block)
        if shape is not None:
            one = replace(_launch(s, shape), assumed=not whole or s.guessed)
            if s.shape_only and shape[1:] == (1, 1):
                one = replace(one, family="whole x" if s.whole else "any x")
            launches.append(replace(one, guessed=one.assumed and not (whole and s.shape_only)))
        elif s.stated and not s.guessed:
            launches += [replace(_tried(s, c), assumed=not whole, guessed=not whole) for c in s.likely]
    covered = {frozenset(x.template.items()) for x in launches}
    guessed = [s for s in seen if s.guessed and _complete(s.block) is None]
    guessed.sort(key=lambda s: origin_of(s.place) in {x.origin for x in launches})
    for template in instances:
        vague = [s for s in guessed if s.template == template]
        if vague or frozenset(template.items()) not in covered:
            tried = _without_launch(kernel, module, template, blocks, vague or seen, real)
            launches.extend(replace(x, guessed=x.guessed or not real) for x in tried)
    return tuple(_kept(_with_others(_merged(launches, _pointers(kernel)), seen)))


def _with_others(launches: list[Launch], seen: Iterable[Started]) -> list[Launch]:
    """Launches, the first known one of each instance with those beside it that show no shape."""
    beside: dict[frozenset[tuple[str, TemplateValue]], dict[str, None]] = {}
    for s in seen:
        if None in s.block and not s.stated:
            beside.setdefault(frozenset(s.template.items()), {})[origin_of(s.place)] = None
    told = []
    for x in launches:
        others = {} if x.assumed else beside.pop(frozenset(x.template.items()), {})
        told.append(replace(x, beside=tuple(others)) if others else x)
    return told


def _kept(launches: list[Launch]) -> list[Launch]:
    """As many as may be looked at: of many instances one shape each, before all shapes of a few."""
    if len(launches) <= FIRST_LAUNCHES:
        return launches
    shapes: Counter[frozenset[tuple[str, TemplateValue]]] = Counter()
    later: list[int] = []
    for x in launches:
        instance = frozenset(x.template.items())
        later.append(shapes[instance])
        shapes[instance] += 1
    order = sorted(range(len(launches)), key=lambda i: later[i])[: MAX_LAUNCHES + 1]
    return [launches[i] for i in order]


def _pointers(kernel: Function) -> frozenset[str]:
    return frozenset(p.name for p in kernel.parameters if isinstance(p.type, PointerTo))


USUAL_TYPES: tuple[tuple[Scalar, Scalar], ...] = (
    (FLOAT, FLOAT),
    (HALF, FLOAT),
    (BFLOAT16, FLOAT),
    (DOUBLE, DOUBLE),
)
"""Types under which an instance is tried whose own a macro of an unknown header chooses, and what is summed
up in then; the most probable first."""
COMMON_TYPES = 2
"""Those of them that come first for all instances of a kernel, before any of the others."""


def _with_types(seen: Iterable[Started], module: Module) -> list[Started]:
    """Launches whose types are known as they are, those of hidden types with the usual ones, those of a
    trait's types (`typename Traits<type>::value_type`) with what its specialisations say."""
    first: list[Started] = []
    later: list[Started] = []
    for s in seen:
        said = _said_by_traits(s, module)
        typed = said or (_typed(s) if _hidden(s) else [s])
        first += typed[:COMMON_TYPES]
        later += typed[COMMON_TYPES:]
    return first + later


def _hidden(s: Started) -> bool:
    """Whether a template argument is a name that nothing declares."""
    return any(isinstance(n, OpaqueType) for t in s.template.values() for n in walk(t))


def _said_by_traits(s: Started, module: Module) -> list[Started]:
    """A launch with the types that the specialisations of a class give, where it is not known which is meant:
    numbers that kernels compute with first."""
    members = [n for t in s.template.values() for n in walk(t) if isinstance(n, MemberType)]
    owner = members[0].owner if members else None
    record = module.records.get(owner.name) if isinstance(owner, RecordRef) else None
    if record is None or not record.specialisations:
        return []
    types = Machine(module, (1, 1, 1), host=True).types
    found: dict[frozenset[tuple[str, TemplateValue]], Started] = {}
    for name in record.specialisations:
        special = module.records.get(name)
        if special is None or special.specialises is None or special.template:
            continue
        template = {k: _member_of(types, v, owner, special.specialises) for k, v in s.template.items()}
        if not any(isinstance(n, MemberType) for t in template.values() for n in walk(t)):
            found.setdefault(
                frozenset(template.items()), replace(s, template=template, guessed=True, shape_only=False)
            )
    usual = [plain for plain, _ in USUAL_TYPES]
    return sorted(found.values(), key=lambda x: not any(t in usual for t in x.template.values()))


def _member_of(
    types: Types, value: TemplateValue, owner: Type | None, arguments: tuple[TemplateArgument, ...]
) -> TemplateValue:
    """A member type of a class template with these arguments, where a template argument is one."""
    if not isinstance(value, MemberType) or value.owner != owner or not isinstance(owner, RecordRef):
        return value
    return types.resolve(MemberType(RecordRef(owner.name, arguments), value.name, value.arguments), {})


def _typed(s: Started) -> list[Started]:
    """A launch of hidden types with the usual ones; what the kernel uses as integers only is one."""
    own = stand_ins(s.kernel)
    integers = {p.name for p in s.kernel.template if own.get(p.id) == INT}
    given = {k: INT if k in integers and isinstance(v, OpaqueType) else v for k, v in s.template.items()}
    s = replace(s, template=given)
    if not _hidden(s):
        return [replace(s, guessed=True, shape_only=False)]
    found = []
    for plain, summed in USUAL_TYPES:
        template = {k: _filled(v, plain, summed) for k, v in given.items()}
        found.append(replace(s, template=template, guessed=True, shape_only=False))
    return found


def _filled(value: TemplateValue, plain: Scalar, summed: Scalar) -> TemplateValue:
    return (
        tuple(_one_filled(v, plain, summed) for v in value)
        if isinstance(value, tuple)
        else _one_filled(value, plain, summed)
    )


def _one_filled(value: Type | int, plain: Scalar, summed: Scalar) -> Type | int:
    if isinstance(value, OpaqueType):
        if named_integer(value.spelling.rpartition("::")[2]):
            return INT
        return summed if "acc" in value.spelling.lower() else plain
    if isinstance(value, PointerTo):
        to = _one_filled(value.to, plain, summed)
        return replace(value, to=to) if not isinstance(to, int) else value
    if isinstance(value, RecordRef):
        return replace(value, arguments=tuple(_part(a, plain, summed) for a in value.arguments))
    return value


def _part(argument: TemplateArgument, plain: Scalar, summed: Scalar) -> TemplateArgument:
    return _one_filled(argument, plain, summed) if is_type(argument) else argument  # type: ignore[arg-type, return-value]


def _whole(seen: list[Started], kernel: Function, module: Module) -> tuple[list[Started], bool]:
    """Launches whose instance is known, and True. Those that come from host templates that were run without
    their arguments get what is missing as if nothing was seen: as guesses beside known ones of other places;
    where there are no others, with whether it is known."""
    wanted = {p.name for p in kernel.template if not p.pack}
    known = [s for s in seen if wanted <= s.template.keys()]
    places = {(s.place.path, s.place.offset) for s in known}
    vague = [s for s in seen if not wanted <= s.template.keys()]
    vague = [s for s in vague if (s.place.path, s.place.offset) not in places]
    if not vague:
        return known, True
    instances, real = _instances(kernel, module, ())
    filled = [replace(s, template={**x, **s.template}) for s in vague for x in instances]
    if not known:
        return filled, real
    return [*known, *(replace(s, guessed=True, shape_only=False, filled=True) for s in filled)], True


def _same_kernel(a: Function, b: Function) -> bool:
    return a.id == b.id or (
        a.name == b.name and a.place.path == b.place.path and a.place.offset == b.place.offset
    )


def _complete(block: Sequence[int | None]) -> tuple[int, int, int] | None:
    x, y, z = block
    if x is None or y is None or z is None:
        return None
    return (x, y, z) if min(x, y, z) >= 1 and x * y * z <= MAX_THREADS else None


def _launch(s: Started, block: tuple[int, int, int]) -> Launch:
    told = Launch(block, s.grid, s.dynamic, s.template, s.arguments, origin_of(s.place), s.place)
    return replace(told, packed=s.packed, captures=s.captures, filled=s.filled, defaults=s.defaults)


def _tried(s: Started, candidate: Candidate) -> Launch:
    """A launch of unknown shape with one of the shapes that it may have."""
    base = _launch(s, candidate.block)
    if candidate.stated and not s.guessed:
        return replace(
            base,
            dynamic=s.dynamic if s.dynamic is not None else candidate.dynamic,
            arguments={**s.arguments, **candidate.arguments},
        )
    origin = f"at most, {base.origin}" if candidate.limit else "candidate"
    if candidate.default:
        origin = f"{base.origin} without arguments"
    arguments = {**s.arguments, **candidate.arguments}
    dynamic = s.dynamic if s.dynamic is not None else candidate.dynamic
    return replace(
        base,
        dynamic=dynamic,
        arguments=arguments,
        origin=origin,
        assumed=True,
        guessed=s.guessed and not s.shape_only,
        family=family_of(s),
        defaults=base.defaults | {"block"} if candidate.default else base.defaults,
    )


def family_of(s: Started) -> str:
    """The `Launch.family` of the shapes that a launch leaves open."""
    x, y, z = s.block
    if x is None:
        return ("whole x" if s.whole else "any x") if (y, z) == (1, 1) else ""
    return "".join(axis for axis, extent in zip("yz", (y, z), strict=True) if extent != 1) if x == 32 else ""


def _common(facts: Sequence[Started]) -> dict[str, int]:
    """Arguments on which all launches agree."""
    if not facts:
        return {}
    first = dict(facts[0].arguments)
    return {k: v for k, v in first.items() if all(f.arguments.get(k) == v for f in facts)}


def _merged(launches: Sequence[Launch], pointers: frozenset[str]) -> list[Launch]:
    """One launch per block shape, template instance and dynamic size; arguments that differ become variants,
    grids that differ are dropped."""
    groups: dict[tuple[object, ...], list[Launch]] = {}
    for x in launches:
        key = (x.block, tuple(sorted(x.template.items(), key=lambda i: i[0])), x.dynamic, x.assumed)
        groups.setdefault(key, []).append(x)
    merged = []
    for group in groups.values():
        first = group[0]
        arguments = {k: v for k, v in first.arguments.items() if all(g.arguments.get(k) == v for g in group)}
        grid = first.grid if all(g.grid == first.grid for g in group) else (None, None, None)
        differing = [{k: v for k, v in g.arguments.items() if k not in arguments} for g in group]
        variants = _variants(differing, pointers)
        family = first.family if all(g.family == first.family for g in group) else _widest(group)
        defaults = frozenset[str]().union(*(g.defaults for g in group))
        merged.append(
            replace(
                first, arguments=arguments, grid=grid, variants=variants, family=family, defaults=defaults
            )
        )
    return merged


def _widest(group: Iterable[Launch]) -> str:
    """The family of the shapes of launches that leave them open in different ways."""
    return "any x" if all(g.family.endswith("x") for g in group) else ""


def _variants(
    differing: Sequence[Mapping[str, int]], pointers: frozenset[str]
) -> tuple[Mapping[str, int], ...]:
    """The values of the arguments that all launches pass, of as many arguments as make few combinations. Of
    the pointers it is known only that they are null: without a number they are not."""
    passed = dict.fromkeys(k for d in differing for k in d)
    names = [k for k in passed if k in pointers or all(k in d for d in differing)]
    names.sort(key=lambda k: (k not in pointers, len({d.get(k) for d in differing})))
    kept: dict[tuple[int | None, ...], None] = {}
    for n in range(1, len(names) + 1):
        combined = dict.fromkeys(tuple(d.get(k) for k in names[:n]) for d in differing)
        if len(combined) > MAX_VARIANTS:
            break
        kept = combined
    given = (zip(names, values, strict=False) for values in kept)
    return tuple({k: v for k, v in pairs if v is not None} for pairs in given) if len(kept) > 1 else ()


def _instances(
    kernel: Function, module: Module, seen: Sequence[Started]
) -> tuple[list[Mapping[str, TemplateValue]], bool]:
    """Template arguments that the project uses, and True; else the defaults, or float for a type, and
    False."""
    if not kernel.template:
        return [{}], True
    different: dict[frozenset[tuple[str, TemplateValue]], Mapping[str, TemplateValue]] = {}
    for s in seen:
        different.setdefault(frozenset(s.template.items()), s.template)
    found = list(different.values())
    if found:
        return found, True
    m = Machine(module, (1, 1, 1), host=True)
    for id, arguments in module.explicit_instances:
        if id == kernel.id:
            instance = _named(m, kernel, arguments)
            if instance not in found:
                found.append(instance)
    if found:
        return found, True
    return [_named(m, kernel, ())], False


def _named(m: Machine, kernel: Function, arguments: Sequence[object]) -> dict[str, TemplateValue]:
    bound = bind(m, kernel, arguments, ())  # type: ignore[arg-type]
    template = template_arguments(m, kernel, bound or {})
    for p in kernel.template:
        if p.kind == "type" and p.name not in template and not p.pack:
            template[p.name] = stand_ins(kernel)[p.id]
    return template


def _without_launch(
    kernel: Function,
    module: Module,
    template: Mapping[str, TemplateValue],
    blocks: Blocks,
    seen: Sequence[Started],
    real: bool,
) -> list[Launch]:
    """Block shapes for an instance whose launch says none."""
    facts = [s for s in seen if dict(s.template) == dict(template)]
    base = _launch(facts[0], (1, 1, 1)) if facts else Launch((1, 1, 1), template=template)
    base = replace(base, arguments=_common(facts))
    axes = _axes(kernel, module)
    bound = _launch_bounds(kernel, module, template)
    dynamic = base.dynamic if facts else None
    likely = [(f, c) for f in facts for c in f.likely]
    if any(c.default for _, c in likely):
        tried = [_tried(f, c) for f, c in likely]
        return [x for x in tried if x.threads <= (bound or MAX_THREADS)] or tried
    if bound is not None:
        origin = f"__launch_bounds__({bound})"
        if axes == "x":
            # where host code computes the number of threads, that is what they may be at most
            fewer = [x for x in (_tried(f, c) for f, c in likely) if _below(x.block, (bound, 1, 1))]
            fewer = [x for x in fewer if x.family.endswith("x")]
            most = replace(base, block=(bound, 1, 1), origin=origin, dynamic=dynamic)
            # every block has at most 1024 threads: that says nothing
            family = fewer[0].family if fewer else "x" if bound == MAX_THREADS else ""
            most = replace(most, assumed=not real or bool(family), family=family)
            return [most, *fewer]
        for shape, why in implied_blocks(kernel, module, template, axes):
            if prod(shape) == bound:
                return [replace(base, block=shape, origin=why, assumed=True, dynamic=dynamic)]
        shapes = _of_size(bound, axes)
        return [replace(base, block=s, origin=origin, assumed=True, dynamic=dynamic) for s in shapes]
    limits = [c.block for _, c in likely if c.limit]
    implied = [
        (s, why)
        for s, why in implied_blocks(kernel, module, template, axes)
        if not limits or s == limits[0] or _below(s, limits[0])
    ]
    tried = [_tried(f, c) for f, c in likely] if limits or blocks.default is None else []
    if axes == "x" and any(f.guessed for f in facts):
        # the other shapes are those of the other kernels that the same launch may start
        tried = [x for x in tried if x.block[1:] == (1, 1)] or tried
    if implied:
        # an array of 1024 elements serves smaller blocks as well, where the launch leaves the block open
        within = [x for x in tried if axes == "x" and _below(x.block, implied[0][0])]
        same = next((x for x in tried if x.block == implied[0][0]), replace(base, dynamic=dynamic))
        family = same.family or ("x" if axes == "x" else "")
        first = [replace(same, block=s, origin=why, assumed=True, family=family) for s, why in implied]
        return first + within
    if tried:
        return tried
    if blocks.default is not None:
        return [replace(base, block=blocks.default, origin="default-block", assumed=True, dynamic=dynamic)]
    family = "x" if axes == "x" else ""
    return [
        replace(base, block=s, origin="candidate", assumed=True, dynamic=dynamic, family=family)
        for s in (*CANDIDATES[axes], *((ODD_ROWS,) if axes == "xy" and _high_rows(kernel, module) else ()))
    ]


def _high_rows(kernel: Function, module: Module) -> bool:
    """Whether blockDim.y is the length of a row: multiplied by what names no block and no size."""
    pairs = [
        (n.left, n.right)
        for f in _reached(kernel, module)
        for n in nodes_of(f.body)
        if isinstance(n, Binary) and n.op == "*"
    ]
    return any(
        isinstance(a, Special) and (a.name, a.axis) == ("blockDim", "y") and not _of_grid(b)
        for x, y in pairs
        for a, b in ((x, y), (y, x))
    )


def _of_grid(e: Expr) -> bool:
    return any(isinstance(n, Special) and n.name in ("blockIdx", "gridDim", "blockDim") for n in walk(e))


def _below(a: tuple[int, int, int], b: tuple[int, int, int]) -> bool:
    return a != b and all(x <= y for x, y in zip(a, b, strict=True))


def _of_size(threads: int, axes: str) -> list[tuple[int, int, int]]:
    rows = (32, 16, 8) if threads == 64 else (32, 16)
    shapes = [(x, threads // x, 1) for x in rows if threads % x == 0 and threads >= x]
    if axes == "xyz":
        shapes = [(x, y // 2 or 1, 2 if y > 1 else 1) for x, y, _ in shapes]
    return shapes or [(threads, 1, 1)]


def _axes(kernel: Function, module: Module) -> str:
    """Which axes of threadIdx a kernel names, or what it calls."""
    used = {
        n.axis
        for f in _reached(kernel, module)
        for n in nodes_of(f.body)
        if isinstance(n, Special) and n.name in ("threadIdx", "blockDim")
    }
    return "xyz" if "z" in used else "xy" if "y" in used else "x"


def _reached(kernel: Function, module: Module) -> list[Function]:
    """A kernel and the functions for the device that it may call, some by their names alone."""
    by_name: dict[str, list[Function]] = {}
    for f in module.functions.values():
        if f.side in ("device", "both"):
            by_name.setdefault(open_name(f), []).append(f)
    found = {kernel.id: kernel}
    waiting = [kernel]
    for f in waiting:
        s = said(f)
        called = [module.functions[id] for id in s.ids if id in module.functions]
        for g in (*called, *(g for name in s.names for g in by_name.get(name, ()))):
            if g.id not in found and g.side in ("device", "both"):
                found[g.id] = g
                waiting.append(g)
    return waiting


def _launch_bounds(kernel: Function, module: Module, template: Mapping[str, TemplateValue]) -> int | None:
    if not kernel.launch_bounds:
        return None
    expr: Expr = kernel.launch_bounds[0]
    m = Machine(module, (1, 1, 1), host=True)
    m.frame.bindings = bind_kernel(kernel, Launch((1, 1, 1), template=template))
    n = integer(m, expr)
    return n.const if n.known and isinstance(n.const, int) and 1 <= n.const <= MAX_THREADS else None
