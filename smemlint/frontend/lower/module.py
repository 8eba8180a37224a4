"""One parsed file to one module: which functions matter, and lowering them."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import field, replace
from typing import TypeAlias, TypeVar

from clang.cindex import TranslationUnit

from smemlint.frontend.clang import cursors, kinds
from smemlint.frontend.clang.cursors import Node
from smemlint.frontend.clang.names import Declarations, Definition, valid, words_in
from smemlint.frontend.clang.positions import Positions
from smemlint.frontend.lower.assigned import with_assigned, with_set_apart
from smemlint.frontend.lower.context import HOST_LIMIT, Context, ParsedUnit
from smemlint.frontend.lower.decls import DeclarationLowering
from smemlint.frontend.lower.expressions.asm import AsmLowering
from smemlint.frontend.lower.expressions.calls import CallLowering
from smemlint.frontend.lower.expressions.exprs import ExpressionLowering
from smemlint.frontend.lower.names import NameLowering
from smemlint.frontend.lower.stmts import StatementLowering
from smemlint.frontend.lower.templates.deduced import deduced
from smemlint.frontend.lower.templates.instances import explicit_instances, explicit_records, instantiating
from smemlint.frontend.lower.templates.instantiated import choices, open_calls
from smemlint.frontend.lower.templates.variables import variable_templates
from smemlint.frontend.lower.text import TextLowering
from smemlint.frontend.lower.types import TypeLowering
from smemlint.frontend.text.kernels import LAUNCHES, MATTERS
from smemlint.ir import (
    Block,
    Call,
    Declare,
    Evaluate,
    Function,
    Lambda,
    LaunchStmt,
    Module,
    Name,
    Record,
    TemplateArgument,
)
from smemlint.ir.module import overloads_of
from smemlint.ir.types import VOID
from smemlint.ir.walk import nodes_of, walk
from smemlint.patterns import pattern
from smemlint.records import record

UNKNOWN_CALLER = "whoever calls it"
"""The name of the function that a lambda is given to, so that it runs, where none is known."""
T = TypeVar("T")
_SET = pattern(
    rb"\b([A-Za-z_]\w*)\s*(?:(?:\[[^\]]*\]|\.\w+)\s*)*(?:[-+*/%&|^]|<<|>>)?=(?!=)|\b([A-Za-z_]\w*)\s*\("
)
"""What is assigned, or called."""
_NAMES = pattern(r"[A-Za-z_]\w*")
_LAMBDA = pattern(rb"\[[^\]]*\]\s*(?:\([^()]*\)\s*)?\{")


@record(frozen=True, slots=True)
class Lowered:
    """The module, and where each use of a shared variable that reached it is written: (path, offset)."""

    module: Module
    shared_refs: frozenset[tuple[str, int]] = field(default_factory=frozenset)


Kept: TypeAlias = dict[Hashable, list[tuple[Mapping[str, bool], Lowered]]]
"""Modules made of one unit, by where lowering began, each with the files whose kernels it asked bodies of."""


def lower(
    unit: ParsedUnit,
    path: str,
    configuration: str = "",
    wanted: frozenset[str] = frozenset(),
    own: frozenset[str] = frozenset(),
    whole: frozenset[str] | None = None,
    kept: Kept | None = None,
) -> Lowered:
    """Lowers what matters of a parsed file: kernels, device code with shared memory, launching host code, and
    whatever those call. Shares nothing with clang afterwards.

    wanted: names of functions of other files that launch; their callers here matter as well. own: files that
    it stands for, beside itself. whole: paths of the files of which device code matters, None for all. kept:
    what was made of this unit before; other wanted names often lead to the same functions.
    """
    with _context(unit.tu, unit, path, own) as c:
        c.whole = whole
        roots = _roots(c, wanted)
        made = [] if kept is None else kept.setdefault((roots.key(), c.own), [])
        for bodies, found in made:
            if all(c.is_whole(path) == answer for path, answer in bodies.items()):
                return found
        lowered = _lowered(c, roots, path, configuration)
        lowered = replace(lowered, module=_with_choices(unit, lowered.module, path, own))
        made.append((c.found.bodies, lowered))
        return lowered


def _with_choices(unit: ParsedUnit, module: Module, path: str, own: frozenset[str]) -> Module:
    """The module, with what calls in templates mean where that could be several functions."""
    places = open_calls(module)
    tu = unit.instantiated() if places else None
    if tu is None:
        return module
    with _context(tu, unit, path, own) as c:
        return replace(module, choices=choices(c, module, places))


def _lowered(c: Context, roots: _Roots, path: str, configuration: str) -> Lowered:
    """What matters, and whatever it calls."""
    c.work.starting.update(roots.starting)
    for owner in roots.classes:
        c.decls.require_record(owner)
    for root in roots.functions:
        c.work.require(root)
    _drain(c)
    _require_methods(c, set(roots.leading))
    _drain(c)
    _require_initialisers(c)
    _require_launching_variables(c)
    texts = list(instantiating(c))
    instances, written = explicit_instances(c, texts)
    classes = explicit_records(c, texts)
    variables = variable_templates(c)
    _drain(c)
    told = deduced(written, c.found.functions, c.found.records)
    module = _module(c, path, configuration, tuple(dict.fromkeys((*instances, *told))))
    module = replace(module, explicit_records=classes, variable_templates=variables)
    return Lowered(module, frozenset(c.declared.shared_refs))


def lower_named(unit: ParsedUnit, path: str, configuration: str, names: frozenset[str]) -> Module:
    """Lower the functions of these names alone, and whatever they call."""
    with _context(unit.tu, unit, path) as c:
        for function in list(c.declarations.functions.values()):
            if function.name in names and function.file.path == path:
                c.work.require(function)
        _drain(c)
        variables = variable_templates(c)
        _drain(c)
        return replace(_module(c, path, configuration, ()), variable_templates=variables)


@contextmanager
def _context(
    tu: TranslationUnit, unit: ParsedUnit, path: str, own: frozenset[str] = frozenset()
) -> Iterator[Context]:
    positions = Positions(tu, unit.is_project_file, unit.skipped)
    declarations = Declarations(positions)
    declarations.walk(cursors.root(tu))
    c = Context(tu, positions, declarations, own=own | {path})
    c.types = TypeLowering(c)
    c.texts = TextLowering(c)
    c.exprs = ExpressionLowering(c)
    c.names = NameLowering(c)
    c.calls = CallLowering(c)
    c.asm = AsmLowering(c)
    c.stmts = StatementLowering(c)
    c.decls = DeclarationLowering(c)
    try:
        yield c
    finally:  # they hold the context, which holds clang's tree: a cycle that the collector would end late
        for part in (c.types, c.texts, c.exprs, c.names, c.calls, c.asm, c.stmts, c.decls):
            vars(part).clear()


@record(frozen=True, slots=True, eq=False)
class _Roots:
    """Where lowering begins. classes: records that matter; starting: keys of the functions, of any file, that
    mention what starts kernels; leading: names of what leads to a launch in this file."""

    functions: tuple[Definition, ...]
    classes: tuple[Definition, ...]
    starting: frozenset[int]
    leading: frozenset[str]

    def key(self) -> Hashable:
        """Return what tells these roots from others of the same unit."""
        functions, classes = (tuple(d.key for d in found) for found in (self.functions, self.classes))
        return functions, classes, self.starting, self.leading


def _roots(c: Context, wanted: frozenset[str]) -> _Roots:
    """Of the file's own text all that matters; other files are analysed alone and only answer calls here."""
    functions = list(c.declarations.functions.values())
    records = list(c.declarations.records.values())
    launching = _launching_macros(c)
    shared = _shared_globals(c)
    handed = _kernels_handed_on(functions)
    patterns = c.work.matters = tuple(p for p in (MATTERS, launching, shared, handed) if p is not None)
    for found in records:
        if found.file.path in c.own and _says(found.text(), patterns):
            c.decls.require_record(found)
    roots = [f for f in functions if _says(f.text(), patterns)]
    told = [p for p in (launching, handed) if p is not None]
    callers, classes, leading = _callers(c, functions, roots, records, told, wanted)
    setting = _setting(c, functions, (*roots, *callers))
    starting = (*callers, *setting)
    started = _starting(wanted)

    def is_asked(root: Definition) -> bool:
        asked = root.name in wanted and c.whole is not None and root.file.path in c.whole
        return asked or root.file.path in c.own or (started is not None and bool(started.search(root.text())))

    own = tuple(owner for owner in classes if owner.file.path in c.own)
    # What names a wanted one is among the functions, but for methods in classes.
    inside = frozenset[str]().union(*(owner.words() for owner in own))
    return _Roots(
        tuple(root for root in (*roots, *callers, *setting) if is_asked(root)),
        own,
        frozenset(f.key for f in starting),
        frozenset(leading - wanted | (wanted & inside)),
    )


def _setting(
    c: Context, functions: Sequence[Definition], launching: Iterable[Definition]
) -> list[Definition]:
    """Functions that set file-scope variables that those name which lead to a launch, or that call such."""
    words = set[str]().union(*(f.words() for f in launching))
    names = words & c.declarations.variables_named.keys()
    others = [f for f in functions if len(f.text()) > HOST_LIMIT or f.file.path in c.own] if names else []
    sets = [(f, {(m[0] or m[1]).decode() for m in _SET.findall(f.text())}) for f in others]
    return _reaching(names, [(f.name, said, f) for f, said in sets])


def _reaching(names: set[str], mentions: Iterable[tuple[str, Set[str], T]]) -> list[T]:
    """What mentions one of the names, or the name of what does, in rounds; the names grow by those.
    mentions: the name of each, and the words in it."""
    found: list[T] = []
    left = list(mentions)
    while new := [(name, each) for name, words, each in left if not names.isdisjoint(words)]:
        left = [(name, words, each) for name, words, each in left if names.isdisjoint(words)]
        found += [each for _, each in new]
        names |= {name for name, _ in new}
    return found


def _starting(names: frozenset[str]) -> re.Pattern[bytes] | None:
    """A launch of one of the kernels of these names, wherever it stands: nobody else may include the header
    that it stands in."""
    words = b"|".join(sorted(re.escape(name.encode()) for name in names))
    return re.compile(rb"\b(?:" + words + rb")\b\s*(?:<[^;{}()]*>\s*)?<<<") if words else None


def _require_methods(c: Context, leading: set[str]) -> None:
    """Methods of the main file that lead to a launch and that nothing here names: the users of a library do.
    leading: names that are known to, which grow."""
    leading |= {
        f.name
        for f in c.declarations.functions.values()
        if f.record is not None and f.key in c.work.queued and LAUNCHES.search(f.text())
    }
    if not leading:
        return
    waiting = (f for fs in c.work.waiting.values() for f in fs if f.file.path in c.own)
    unnamed = [(f.name, f.words() - {f.name}, f) for f in waiting if f.key not in c.work.queued]
    for f in _reaching(leading, unnamed):
        c.work.require(f)


def _require_initialisers(c: Context) -> None:
    """Variables outside functions whose initialisers run what sets others that host code names, or objects
    that its functions keep: a registry that fills itself before `main`."""
    waiting = {name: node for name, node in c.declarations.variables_named.items() if _may_run_code(c, node)}
    while waiting:
        kept = _kept_by_host(c)
        found = [name for name, node in waiting.items() if not kept.isdisjoint(_reached(c, name, node))]
        if not found:
            return
        for name in found:
            c.host = True
            c.decls.require_global(waiting.pop(name), name, True)
        _drain(c)


def _require_launching_variables(c: Context) -> None:
    """Variables of the main file outside functions with a lambda that starts a kernel: a function of its own,
    for where nobody is seen to call it."""
    for name, node in c.declarations.variables_named.items():
        point = c.positions.point(node)
        if point is None or point[0].path not in c.own or not valid(cursors.initializer(node)):
            continue
        if _says(_text_of(c, node).encode(), (LAUNCHES,)):
            c.host = True
            c.decls.require_global(node, name, True)
            _drain(c)
    for v in list(c.found.globals.values()):
        given = tuple(n for n in walk(v.init) if isinstance(n, Lambda) and _starts(n)) if v.init else ()
        if given and v.place.path in c.own:
            id, name = f"({v.id})", f"({v.name})"
            body = Block((Evaluate(Call(Name("", UNKNOWN_CALLER, v.place), given, v.place)),))
            c.found.functions[id] = Function(id, name, (), body, "host", v.place, VOID)


def _starts(n: Lambda) -> bool:
    return any(isinstance(x, LaunchStmt) for x in nodes_of(n.body))


def _text_of(c: Context, node: Node) -> str:
    """The text of a variable; of one that a macro makes, that of the macro."""
    return c.positions.text(node) or c.positions.body_text(node) or ""


def _may_run_code(c: Context, node: Node) -> bool:
    """Whether the initialiser of a variable may call something of this program."""
    if not valid(cursors.initializer(node)):
        return False
    text = _text_of(c, node).encode()
    named = (c.declarations.functions_named, c.declarations.records_named)
    words = words_in(text)
    return any(not words.isdisjoint(known) for known in named) or _LAMBDA.search(text) is not None


def _kept_by_host(c: Context) -> set[str]:
    """Names of variables outside functions that may be set, and of functions that keep an object or start a
    kernel."""
    kept = {v.name for v in c.found.globals.values() if v.storage == "global" and not v.const}
    for f in c.found.functions.values():
        if f.side in ("host", "both") and any(
            isinstance(n, LaunchStmt) or (isinstance(n, Declare) and n.var.storage == "static")
            for n in nodes_of(f.body)
        ):
            kept.add(f.name)
    return kept


def _reached(c: Context, name: str, node: Node) -> set[str]:
    """What the text of a variable names, and the functions and classes that it names, however indirectly."""
    seen = set(words_in(_text_of(c, node).encode()) - {name})
    queue = list(seen)
    named = (c.declarations.functions_named, c.declarations.records_named)
    for word in queue:
        told = [d.words() for known in named for d in known.get(word, ())]
        new = frozenset[str]().union(*told) - seen
        queue += new
        seen |= new
    return seen


def _shared_globals(c: Context) -> re.Pattern[bytes] | None:
    """Names of the main file's own shared arrays outside functions, which are declared on the way."""
    names = []
    for name, node in c.declarations.variables_named.items():
        point = c.positions.point(node)
        if point is None or point[0].path not in c.own:
            continue
        if any(k.kind == kinds.SHARED_ATTRIBUTE for k in cursors.children(node)):
            c.decls.require_global(node, name, True)
            names.append(re.escape(name))
    return re.compile(rf"\b(?:{'|'.join(names)})\b".encode()) if names else None


def _launching_macros(c: Context) -> re.Pattern[bytes] | None:
    """Uses of macros whose body launches a kernel, directly or through another macro."""
    macros = c.positions.macros()
    names = {name for name, macro in macros.items() if MATTERS.search(macro.body.encode())}
    for _ in range(3):
        if not names:
            return None
        uses = re.compile(rf"\b(?:{'|'.join(sorted(names))})\b")
        names |= {name for name, macro in macros.items() if uses.search(macro.body)}
    return re.compile(rf"\b(?:{'|'.join(sorted(names))})\b".encode())


def _kernels_handed_on(functions: Sequence[Definition]) -> re.Pattern[bytes] | None:
    """A kernel as an argument, or in a variable: `LaunchKernel(kernel<T>, grid, block, ...)`,
    `Job job = {kernel, 256};`, `return kernel;`."""
    names = sorted({re.escape(f.name) for f in functions if b"__global__" in f.text()})
    if not names:
        return None
    template = r"(?:<[^;{}]*>\s*)?"
    cast = r"(?:\(\s*(?:const\s+)?void\s*\*\s*\)\s*|\w+_cast\s*<[^<>;]*>\s*\(\s*)"
    head = rf"(?:[({{,=?:]|\breturn\b)\s*{cast}?&?\s*(?:\w+::)*"
    return re.compile(rf"{head}(?:{'|'.join(names)})\s*{template}[,;):}}]".encode())


def _launching_methods(
    c: Context, record: Definition, patterns: Sequence[re.Pattern[bytes]]
) -> Iterator[str]:
    """Names of the methods in a class that launch: who calls them need not name the class."""
    for kid in cursors.children(record.node):
        name = cursors.spelling(kid)
        callable_ = (
            kid.kind in (kinds.METHOD, kinds.FUNCTION_TEMPLATE)
            and _NAMES.fullmatch(name)
            and name != record.name
        )
        if callable_ and _says((c.positions.text(kid) or "").encode(), patterns):
            yield name


def _says(text: bytes, patterns: Sequence[re.Pattern[bytes]]) -> bool:
    return any(p.search(text) for p in patterns)


def _callers(
    c: Context,
    functions: Sequence[Definition],
    roots: Sequence[Definition],
    records: Sequence[Definition],
    told: Sequence[re.Pattern[bytes]],
    wanted: frozenset[str],
) -> tuple[list[Definition], list[Definition], set[str]]:
    """Functions and classes that mention, however indirectly, through a macro or not, one that launches: its
    arguments come from them. Then the names of all these. told: what else a function says that launches."""
    patterns = (LAUNCHES, *told)
    launching = set(wanted) | {f.name for f in roots if _says(f.text(), patterns)}
    starting = [r for r in records if _says(r.text(), patterns)]
    launching |= {r.name for r in starting}
    launching |= {name for r in starting for name in _launching_methods(c, r, patterns)}
    launching |= {
        name
        for name, node in c.declarations.variables_named.items()
        if valid(cursors.initializer(node)) and _says(_text_of(c, node).encode(), patterns)
    }
    if not launching:
        return [], [], set()
    known = {f.key for f in functions}
    rest = {f.key: (f.name, f.words(), f.key) for f in (*functions, *records)}
    named = set[str]().union(*(words for _, words, _ in rest.values()))
    bodies = {
        name: macro.body for name, macro in c.positions.macros().items() if name in named or "(" in macro.body
    }
    declared = (*c.declarations.variables_named.items(), *c.declarations.types_named.items())
    for name, node in declared:
        # `Runner table[] = {run_a, run_b};`, `using Net = NetOf<float>;`
        if name in named or _may_run_code(c, node):
            bodies[name] = _text_of(c, node)
    others = [(name, set(_NAMES.findall(body)) - {name}, 0) for name, body in bodies.items()]
    others += [
        (kept, {name}, 0) for name in c.declarations.variables_named for kept in _filled_by(c, name) - {name}
    ]
    chosen = set(_reaching(launching, (*rest.values(), *others)))
    # In the order of the text, whichever name led there.
    return (
        [f for f in functions if f.key in chosen],
        [r for r in records if r.key in chosen and r.key not in known],
        launching,
    )


def _filled_by(c: Context, name: str) -> set[str]:
    """What keeps what a variable outside functions registers: who asks that leads to a launch as well."""
    node = c.declarations.variables_named.get(name)
    if node is None or not _may_run_code(c, node) or cursors.initializer(node).kind == kinds.INIT_LIST:
        return set()
    known = c.declarations.functions_named
    return {
        word
        for word in _reached(c, name, node)
        if word in c.declarations.variables_named or any(b"static" in f.text() for f in known.get(word, ()))
    }


def _drain(c: Context) -> None:
    while c.work.queue or c.decls.pending:
        c.decls.lower_pending()
        if c.work.queue:
            c.decls.lower_function(c.work.queue.popleft())


def _module(
    c: Context, path: str, configuration: str, instances: tuple[tuple[str, tuple[TemplateArgument, ...]], ...]
) -> Module:
    functions: dict[str, Function] = c.found.functions
    records: dict[str, Record] = with_assigned(c, functions, c.found.records)
    variables = with_set_apart(c, functions, c.found.globals)
    return Module(
        path=path,
        configuration=configuration,
        functions=functions,
        records=records,
        globals=variables,
        specialisations={key: tuple(ids) for key, ids in c.decls.specialisations.items()},
        explicit_instances=instances,
        overloads=overloads_of(functions),
    )
