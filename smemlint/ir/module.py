"""What one translation unit holds, once clang is out of sight."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from smemlint.ir.memo import by_identity
from smemlint.ir.nodes import Expanded, Expr, Name, Stmt, TemplateArgument, TemplateParam, Type, Var
from smemlint.ir.place import Place
from smemlint.ir.types import own_name
from smemlint.records import record


@record(frozen=True, slots=True)
class Function:
    """A function, method or kernel with a body.

    id is unique in the module. `record`: the name of the record a method belongs to, whose template
    parameters are then in scope. `side` is 'kernel', 'device', 'host' or 'both'.
    `specialises`: for an explicit (full) specialisation, the arguments that it is for.
    """

    id: str
    name: str
    parameters: tuple[Var, ...]
    body: Stmt
    side: str
    place: Place
    returns: Type
    template: tuple[TemplateParam, ...] = ()
    record: str | None = None
    static: bool = False
    launch_bounds: tuple[Expr, ...] = ()
    cluster_dims: tuple[Expr, ...] = ()
    specialises: tuple[TemplateArgument, ...] | None = None
    initialisers: tuple[tuple[str, Expr], ...] = ()
    """Of a constructor: member name, value."""
    declared: bool = False
    """Has no body: a constructor that no file defines, or a template that stands for its explicit
    specialisations."""
    virtual: bool = False
    requires: Expr | None = None
    """What its `requires` clauses ask, and the concepts in front of `auto`."""
    scope: str = ""
    """The namespaces that a function outside of classes stands in: `lib::detail`."""

    def __hash__(self) -> int:
        return hash(self.id)

    @property
    def is_constructor(self) -> bool:
        return self.name.split("<", 1)[0] == own_name(self.record or "")


@record(frozen=True, slots=True)
class Field:
    """A data member. `bits`: the width of a bit-field. overlaps: declared `[[no_unique_address]]`."""

    name: str
    type: Type
    place: Place
    bits: Expr | None = None
    init: Expr | None = None
    align: Expr | None = None
    overlaps: bool = False


@record(frozen=True, slots=True)
class TypeTemplate:
    """A class or alias template inside a record: the type that its parameters make."""

    parameters: tuple[TemplateParam, ...]
    type: Type


ITSELF = ""
"""In `templates` of a record that has nothing else: the alias template that a template argument names."""


@record(frozen=True, slots=True)
class Packing:
    """How close the fields of a record stand. packed: by the attribute. pack: of `#pragma pack`, 0: none."""

    packed: bool = False
    pack: int = 0


@record(frozen=True, slots=True)
class Record:
    """A struct, class or union. Layout is computed by the evaluator (it may depend on arguments).

    `constants`: static const/constexpr members and enumerators, by name. `aliases`: member types;
    `templates`: member templates of types. `methods`: function ids by name (overloads in order).
    `specialisations`: names of records that specialise this template; each has `specialises` patterns to
    match against.
    """

    name: str
    fields: tuple[Field, ...]
    place: Place
    template: tuple[TemplateParam, ...] = ()
    union: bool = False
    align: Expr | None = None
    bases: tuple[Type | Expanded, ...] = ()
    constants: Mapping[str, Var] = field(default_factory=dict)
    aliases: Mapping[str, Type] = field(default_factory=dict)
    templates: Mapping[str, TypeTemplate] = field(default_factory=dict)
    methods: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    specialises: tuple[TemplateArgument, ...] | None = None
    specialisations: tuple[str, ...] = ()
    packing: Packing = Packing()
    virtual: bool = False
    """Declares virtual functions."""
    virtual_bases: bool = False
    given: tuple[tuple[tuple[TemplateArgument, ...], Var], ...] = ()
    """Constants of explicit specialisations of members: for which arguments, and what."""
    declared: bool = False
    """A template without a body, which stands for its specialisations."""
    plain: bool = True
    """Declares nothing that makes it more than a C struct: constructors, access, initialisers of members."""
    assigned: Mapping[str, frozenset[int] | None] = field(default_factory=dict)
    """Of a class of host code: members that other functions than its constructors set, each with the numbers
    that it is set to in so many words; None where it is set to anything else as well."""

    @property
    def written_bases(self) -> tuple[Type, ...]:
        """The bases as patterns: what is found of a template alone holds for each that one expands to."""
        return tuple(b.pattern if isinstance(b, Expanded) else b for b in self.bases)

    @property
    def constructors(self) -> tuple[str, ...]:
        """Ids of the methods that have the record's own name."""
        return self.methods.get(own_name(self.name), ())


@record(frozen=True, slots=True)
class VariableTemplate:
    """A variable template, or a specialisation of one (`specialises`: the arguments that it is for)."""

    name: str
    template: tuple[TemplateParam, ...]
    value: Expr
    specialises: tuple[TemplateArgument, ...] | None = None
    requires: Expr | None = None
    """What its `requires` clause asks."""


@record(frozen=True, slots=True)
class Choice:
    """What a call that a template leaves open means in one instance. id: of the function, or of the explicit
    specialisation; "" for one of a library. instance: template arguments by the ids of their parameters.
    given: the types of the call's arguments. whole: whether `instance` has all arguments; not those of packs.
    """

    id: str
    instance: tuple[tuple[str, TemplateArgument], ...]
    given: tuple[Type, ...]
    whole: bool = True


@record(frozen=True, slots=True)
class Unparsed:
    """Text that mentions shared memory and did not reach the AST."""

    place: Place
    text: str
    reason: str


@record(frozen=True, slots=True)
class Module:
    """One translation unit in one preprocessor configuration.

    configuration: '' for the default one, else the macros that were switched, as the user would
    write them (`__CUDA_ARCH__=900 ENABLE_BF16`). functions, records, globals by id/name;
    `globals` holds constants, file-scope shared arrays and `extern __shared__`.
    Function templates' explicit specialisations stand in `functions` under ids of their own and are
    listed in `specialisations[template id]`. `alias_templates` etc. are resolved by the front end.
    `explicit_instances`: (function id, template arguments) of explicit instantiations.
    """

    path: str
    configuration: str
    functions: Mapping[str, Function]
    records: Mapping[str, Record]
    globals: Mapping[str, Var]
    specialisations: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    explicit_instances: tuple[tuple[str, tuple[TemplateArgument, ...]], ...] = ()
    explicit_records: tuple[tuple[str, tuple[TemplateArgument, ...]], ...] = ()
    """Name of a class template and its arguments, of explicit instantiations."""
    variable_templates: Mapping[str, tuple[VariableTemplate, ...]] = field(default_factory=dict)
    """By unqualified name."""
    overloads: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Function ids by unqualified name, for calls that clang left unresolved (templates)."""
    choices: Mapping[Place, tuple[Choice, ...]] = field(default_factory=dict)
    """What clang finds such calls to mean in the instances that it makes, by where they stand."""
    unparsed: tuple[Unparsed, ...] = ()
    missing_includes: tuple[str, ...] = ()
    lost: tuple[Unparsed, ...] = ()
    """Kernels that the text of the main file shows and no configuration brought; `text` is the name."""
    saying_shared: frozenset[int] = frozenset()
    """Where the names stand of kernels of the main file whose own text says `__shared__`."""
    files: tuple[str, ...] = ()
    """Project files that were read for this module, the main file first."""
    refused: tuple[tuple[str, str], ...] = ()
    """Included files that were not read, each with the reason."""

    def kernels(self) -> tuple[Function, ...]:
        return tuple(f for f in self.functions.values() if f.side == "kernel" and not f.declared)

    @property
    def methods(self) -> Mapping[str, tuple[str, ...]]:
        """By name: ids of the methods of all classes."""
        return _methods(self)

    def meant(self, callee: Name) -> set[str]:
        """Ids of the functions that a call by name may mean, with their specialisations."""
        ids = {*self.overloaded(callee.name), *filter(None, (callee.id,))}
        return ids | {special for id in ids for special in self.specialisations.get(id, ())}

    def overloaded(self, name: str) -> tuple[str, ...]:
        """Ids of the functions that a name may mean which clang left unresolved. Written with a namespace, or
        with `::` alone, it means nothing of others."""
        if "::" in name and name in self.overloads:
            return self.overloads[name]
        qualifier, qualified, last = name.rpartition("::")
        ids = self.overloads.get(last, ())
        if not qualified:
            return ids
        around = qualifier.partition("<")[0].rpartition("::")[2]
        scopes = ((id, id.partition("@F")[0] + "@") for id in ids)
        return tuple(id for id, scope in scopes if (f"@{around}@" in scope if around else "@N@" not in scope))


@by_identity
def _methods(module: Module) -> Mapping[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for record_ in module.records.values():
        for name, ids in record_.methods.items():
            found.setdefault(name, []).extend(ids)
    return {name: tuple(ids) for name, ids in found.items()}


def overloads_of(functions: Mapping[str, Function]) -> dict[str, tuple[str, ...]]:
    """Return the ids of functions by unqualified name, and by that with all namespaces, without explicit
    specialisations."""
    found: dict[str, list[str]] = {}
    for f in functions.values():
        if f.specialises is None:
            found.setdefault(f.name, []).append(f.id)
            if f.scope:
                found.setdefault(f"{f.scope}::{f.name}", []).append(f.id)
    return {name: tuple(ids) for name, ids in found.items()}
