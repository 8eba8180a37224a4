"""Types, expressions and statements: C++ as far as an address, a mask or a loop bound can depend on it.

They hold each other (an array its extent, a lambda its body), so that one module has them all. Types are as
written, sizes left to whoever knows the template arguments. Expressions carry no type but where the source
writes one (casts, declarations, literals). In a template it is known only to the evaluator; nothing is
folded.
"""

from __future__ import annotations

import typing
from dataclasses import field
from typing import TypeAlias
from weakref import WeakValueDictionary

from smemlint.ir.place import Place
from smemlint.records import record


@record(frozen=True, slots=True)
class Scalar:
    """A fundamental type, an enumeration, or a fragment-free 2-byte float.

    size is in bytes; align equals size. `void` has size 0. kind: of an enumeration, that of its
    integers.
    """

    name: str
    size: int
    kind: typing.Literal["int", "uint", "bool", "float", "void"]
    enumeration: bool = False


INT = Scalar("int", 4, "int")


@record(frozen=True, slots=True)
class PointerTo:
    """`T *`, or `T &` when `reference` is true."""

    to: Type
    reference: bool = False
    volatile: bool = field(default=False, compare=False)
    """Every access through it runs as written."""
    moves: bool = field(default=False, compare=False)
    """Of a reference: `T &&`."""


@record(frozen=True, slots=True)
class ArrayOf:
    """`T [extent]`; extent None for `T []` (extern __shared__, parameters decay in the front end)."""

    element: Type
    extent: Expr | None


class _Kind:
    """What all equal types share; it ends with the last of them."""

    __slots__ = ("__weakref__",)


_KINDS: WeakValueDictionary[tuple[object, ...], _Kind] = WeakValueDictionary()


class _OfKind:
    """What knows its kind once it was asked for."""

    __slots__ = ("_kind",)
    _kind: _Kind


@record(frozen=True, slots=True, eq=False)
class RecordRef(_OfKind):
    """A class, struct or union: `Module.records[name]`, with its template arguments if any.

    `@` and the id of a template template parameter stand for the template that it is given; a template itself
    has no arguments, or its own parameters.

    Arguments that are classes may hold others many times over, each of which would be compared and hashed at
    each place: what an equal one was told apart by is remembered.
    """

    name: str
    arguments: tuple[TemplateArgument, ...] = ()

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(other) is not RecordRef or self.name != other.name:
            return False
        return _kind_of(self) is _kind_of(other)

    def __hash__(self) -> int:
        return hash(_kind_of(self))


def _kind_of(t: RecordRef) -> _Kind:
    try:
        return t._kind
    except AttributeError:
        key = (t.name, t.arguments)
        kind = _KINDS.get(key)
        if kind is None:
            kind = _KINDS[key] = _Kind()
        object.__setattr__(t, "_kind", kind)
        return kind


@record(frozen=True, slots=True)
class TypeParam:
    """A template's type parameter, by the id of its declaration (`TemplateParam.id`)."""

    id: str
    name: str


@record(frozen=True, slots=True)
class MemberType:
    """`typename Owner::name`: looked up in the owner's aliases once the arguments are known.

    arguments: those of a member template, `typename Owner::template name<arguments>`.
    """

    owner: Type
    name: str
    arguments: tuple[TemplateArgument, ...] = ()


@record(frozen=True, slots=True)
class FunctionType:
    """A function or function-pointer type; only ever called through a known value."""

    spelling: str


@record(frozen=True, slots=True)
class FunctionRef:
    """A function that a template parameter is given: `name<arguments>`, one of `functions` (their ids); or
    the data member of that name of any object of a class, `of`.

    Stands where a type may stand, so that it travels with an instance; no source writes it.
    """

    name: str
    functions: tuple[str, ...]
    arguments: tuple[TemplateArgument, ...] = ()
    of: RecordRef | None = None


@record(frozen=True, slots=True)
class ObjectRef:
    """An object that a template parameter is given (`Tile<Config{32, 1}>`): its numbers, by their first byte.

    Stands where a type may stand, as a FunctionRef does.
    """

    type: RecordRef
    numbers: tuple[tuple[int, Literal], ...]


@record(frozen=True, slots=True)
class OpaqueType:
    """A type whose layout is not known (healed name, library type). `spelling` as written.

    of: the expression whose type it is, of `decltype(of)`; who knows what is visible there knows the type.
    """

    spelling: str
    of: Expr | None = None


@record(frozen=True, slots=True)
class Expanded:
    """`pattern...` among the bases of a class: one for each element of the packs that the pattern names."""

    pattern: Type


@record(frozen=True, slots=True)
class Part:
    """What is stored of a scalar member that is a bit-field or less aligned than its type.

    start: its first bit, counted from the byte where its unit begins. bits: of the bit-field, 0: the whole.
    align: bytes that divide the unit's offset. Only layouts make it; no source writes it.
    """

    of: Scalar
    start: int
    bits: int
    align: int


@record(frozen=True, slots=True)
class TemplateParam:
    """kind: 'type', 'value' or 'template'. `default` is a Type or an Expr, by kind."""

    id: str
    name: str
    kind: str
    default: TemplateArgument | None = None
    pack: bool = False
    type: Type | None = None
    """Of a value parameter."""
    requires: Expr | None = None
    """What a concept in place of `class` asks of it; the last one of a class's also what a clause does."""


@record(frozen=True, slots=True)
class Literal:
    """An integer, character, bool, enum or nullptr (0) constant with its type."""

    value: int
    type: Scalar = INT
    place: Place | None = None


@record(frozen=True, slots=True)
class FloatLiteral:
    value: float
    type: Scalar
    place: Place | None = None


@record(frozen=True, slots=True)
class StringLiteral:
    value: str
    place: Place | None = None


@record(frozen=True, slots=True)
class Name:
    """A use of a variable, parameter, value template parameter or function, by declaration id."""

    id: str
    name: str
    place: Place | None = None
    arguments: tuple[TemplateArgument, ...] = ()
    """Template arguments written after a function's name (`kernel<128>`)."""


@record(frozen=True, slots=True)
class Special:
    """A value the hardware gives: threadIdx, blockIdx, blockDim, gridDim (axis x, y, z),
    warpSize, laneid, warpid (axis '')."""

    name: str
    axis: str = ""
    place: Place | None = None


@record(frozen=True, slots=True)
class Unary:
    """op is one of `+ - ~ !`, `*` (dereference), `&` (address), `++x --x x++ x--`."""

    op: str
    operand: Expr
    place: Place | None = None


@record(frozen=True, slots=True)
class Binary:
    """op is one of `+ - * / % & | ^ << >> < <= > >= == != && || ,`."""

    op: str
    left: Expr
    right: Expr
    place: Place | None = None


@record(frozen=True, slots=True)
class Assign:
    """op is `=` or a compound operator such as `+=`."""

    op: str
    target: Expr
    value: Expr
    place: Place | None = None


@record(frozen=True, slots=True)
class Conditional:
    condition: Expr
    then: Expr
    otherwise: Expr
    place: Place | None = None


@record(frozen=True, slots=True)
class Cast:
    """Any explicit cast, C style, functional or named; `reinterpret` for reinterpret_cast."""

    type: Type
    operand: Expr
    reinterpret: bool = False
    place: Place | None = None


@record(frozen=True, slots=True)
class Index:
    base: Expr
    index: Expr
    place: Place | None = None


@record(frozen=True, slots=True)
class Member:
    """`base.name`, or `base->name` when arrow. `#0`, `#1`, ... are the members in order, for the names of a
    structured binding."""

    base: Expr
    name: str
    arrow: bool = False
    place: Place | None = None
    arguments: tuple[TemplateArgument, ...] = ()
    """Template arguments written after a method's name (`tile.template at<4>(i)`)."""


@record(frozen=True, slots=True)
class StaticMember:
    """`Owner::name` where the owner is a record (maybe dependent): a constant or a function."""

    owner: Type
    name: str
    place: Place | None = None
    arguments: tuple[TemplateArgument, ...] = ()


@record(frozen=True, slots=True)
class Call:
    """A call. `callee` is a Name of a function in the module, a Name with an unknown id for a
    builtin or library function (by its unqualified-as-written name: `atomicAdd`, `std::min`,
    `__cvta_generic_to_shared`, `nvcuda::wmma::load_matrix_sync`), a Member for a method call,
    a StaticMember, or any expression that yields a lambda or function pointer.
    Overloaded operators arrive as calls of a Member named `operator=`, `operator[]`, `operator()` ...;
    an implicit `operator=` as Assign, those of the library and those that a template leaves open as
    the built-in operator's node. A conversion function is called by the name `operator conversion`,
    inside a Cast. elsewhere: the type of what it returns, of a function that another source defines.
    chosen: the id of the method that the front end found to be meant, "" where that is left to instantiation.
    lent: numbers of the arguments that such a function takes as references and may set; OBJECT: what a method
    is called on; UNREAD: the program declares it. hidden: ids of functions of the same name that the
    arguments may bring in, where a template leaves open whether the callee takes them.
    """

    callee: Expr
    arguments: tuple[Expr, ...]
    place: Place | None = None
    elsewhere: Type | None = None
    chosen: str = field(default="", compare=False)
    lent: tuple[int, ...] = field(default=(), compare=False)
    hidden: tuple[str, ...] = field(default=(), compare=False)


@record(frozen=True, slots=True)
class Construct:
    """`T(args)`, `T{args}`, `T x(args)`: a record made by constructor or aggregate initialisation.

    chosen: as of a Call, of a constructor.
    """

    type: Type
    arguments: tuple[Expr, ...]
    place: Place | None = None
    chosen: str = field(default="", compare=False)


@record(frozen=True, slots=True)
class InitList:
    """A braced list whose type is that of what it initialises. gap: it stands for a member that designators
    leave out, which is what its own initialiser says."""

    elements: tuple[Expr, ...]
    place: Place | None = None
    gap: bool = False


@record(frozen=True, slots=True)
class SizeOf:
    """`sizeof` or `alignof` of a type, or of an expression that is not evaluated."""

    of: Type | Expr
    align: bool = False
    place: Place | None = None


@record(frozen=True, slots=True)
class PackSize:
    """`sizeof...(pack)`: how many elements a parameter pack has."""

    pack: Type | Expr
    place: Place | None = None


@record(frozen=True, slots=True)
class This:
    place: Place | None = None


@record(frozen=True, slots=True)
class Lambda:
    """Parameters by id as in Function. What is named outside and not copied is captured by reference."""

    parameters: tuple[Var, ...]
    body: Stmt
    place: Place | None = None
    template: tuple[TemplateParam, ...] = ()
    """Parameters that are written (`[]<int N>() { ... }`)."""
    closure: Type | None = None
    """Of one that host code makes for the device: the class whose `operator()` a kernel calls."""
    captures: tuple[Var, ...] = ()
    """Variables of its own, set where it is made (`[x = f(i)]`)."""
    copies: tuple[Name, ...] = ()
    """What is captured by value, by name."""
    copies_all: bool = False
    """`[=]`: all that is named outside is captured by value, but for `references`."""
    references: tuple[Name, ...] = ()
    """What is captured by reference, by name."""
    copies_this: bool = False
    """`[*this]`."""
    returns: Type | None = None
    """What `-> T` says; None where nothing is written, or a type that is not read."""


@record(frozen=True, slots=True)
class Asm:
    """Inline PTX: the template text with `%0`, `%1` ... over outputs then inputs."""

    text: str
    outputs: tuple[Expr, ...]
    inputs: tuple[Expr, ...]
    place: Place | None = None
    constraints: tuple[str, ...] = ()


@record(frozen=True, slots=True)
class Fold:
    """`(pattern op ...)`; left: `(... op pattern)`. With init `(init op ... op pattern)`, or, where only init
    holds a pack, the pattern is what it begins with."""

    op: str
    pattern: Expr
    init: Expr | None = None
    left: bool = False
    place: Place | None = None


@record(frozen=True, slots=True)
class UnknownExpr:
    """Not understood; `parts` are still evaluated, so that accesses inside are not lost."""

    reason: str
    parts: tuple[Expr, ...] = ()
    place: Place | None = None


@record(frozen=True, slots=True)
class Var:
    """A declared variable, parameter or constant.

    id: unique in the module. storage: 'local', 'param', 'shared' (static), 'extern_shared',
    'constant' (namespace-scope or static constexpr/const with initialiser), 'global' (anything
    else outside functions), 'static'. `init` None: uninitialised; a parameter's is its default argument.
    `align`: alignas/__align__ in bytes.
    """

    id: str
    name: str
    type: Type
    storage: str
    place: Place
    init: Expr | None = None
    align: Expr | None = None
    const: bool = False
    volatile: bool = False
    restrict: bool = False
    """Nothing else points to what it points to."""
    set_apart: bool = False
    """A function sets it of which nothing else is known, since it starts no kernel."""
    pack: bool = False
    """A parameter `T... x`."""
    elsewhere: bool = False
    """Only declared here: a file that was not read defines it, and says what it begins with."""
    exported: bool = False
    """Declared `extern`: functions of other files may set it."""

    def begins_at_zero(self) -> bool:
        """Whether it is a whole number of the program that is 0 until something sets it."""
        zero = self.init is None or (isinstance(self.init, Literal) and self.init.value == 0)
        return zero and self.may_be_set()

    def may_be_set(self) -> bool:
        """Whether it is a whole number or a truth of the program that any function may set."""
        outside = self.storage in ("global", "static") and not self.const
        return outside and isinstance(self.type, Scalar) and self.type.kind in ("int", "uint", "bool")


@record(frozen=True, slots=True)
class Declare:
    """One declared variable; `__shared__` arrays arrive here too (storage 'shared')."""

    var: Var


@record(frozen=True, slots=True)
class Evaluate:
    expr: Expr


@record(frozen=True, slots=True)
class Block:
    """scope: the variables that it declares are its own."""

    body: tuple[Stmt, ...]
    scope: bool = field(default=False, compare=False)


@record(frozen=True, slots=True)
class Try(Block):
    """Two statements: what is tried, and an `if` for each handler, in one another, on a condition that nobody
    knows."""


@record(frozen=True, slots=True)
class If:
    condition: Expr
    then: Stmt
    otherwise: Stmt | None
    constexpr: bool = False
    place: Place | None = None


@record(frozen=True, slots=True)
class Loop:
    """`for`, `while` (no init, no step) and `do` (`test_first` False).

    label: of a loop that `goto` makes; '' for others.
    unroll: None when no pragma, 0 for `#pragma unroll` without a count, else the count (1: keep).
    """

    init: Stmt | None
    condition: Expr | None
    step: Expr | None
    body: Stmt
    test_first: bool = True
    unroll: int | None = None
    place: Place | None = None
    label: str = ""


@record(frozen=True, slots=True)
class Case:
    """One label of a switch with the statements up to the next label; no value: default."""

    value: Expr | None
    body: tuple[Stmt, ...]


@record(frozen=True, slots=True)
class Switch:
    value: Expr
    cases: tuple[Case, ...]
    place: Place | None = None


@record(frozen=True, slots=True)
class Return:
    value: Expr | None = None


@record(frozen=True, slots=True)
class Break:
    pass


@record(frozen=True, slots=True)
class Continue:
    pass


@record(frozen=True, slots=True)
class Labeled:
    """What `goto label` leaves for its end or, with `again`, for its beginning: the statements between the
    two, whichever comes first."""

    label: str
    body: Stmt
    again: bool = False
    place: Place | None = None


@record(frozen=True, slots=True)
class Goto:
    """To the end, or the beginning, of the Labeled around it. over: to the end of one that runs again."""

    label: str
    over: bool = False
    place: Place | None = None


@record(frozen=True, slots=True)
class LaunchStmt:
    """A kernel started by host code: `kernel<<<grid, block, dynamic>>>(arguments)`, or the
    same through cudaLaunchKernel(Ex). `kernel` is a Name or any expression of function-pointer value.
    `array`: an array of pointers to the arguments, instead of these. `stream`: what gives the stream, where
    that changes something (`pool.next()`)."""

    kernel: Expr
    grid: Expr | None
    block: Expr | None
    dynamic: Expr | None
    arguments: tuple[Expr, ...]
    place: Place
    array: Expr | None = None
    stream: Expr | None = None


@record(frozen=True, slots=True)
class UnknownStmt:
    """Not understood; its sub-statements are still walked.

    code: what the note is called that it leaves."""

    reason: str
    parts: tuple[Stmt, ...] = ()
    place: Place | None = None
    code: str = "unknown-statement"


Type: TypeAlias = (
    Scalar
    | Part
    | PointerTo
    | ArrayOf
    | RecordRef
    | TypeParam
    | MemberType
    | FunctionType
    | FunctionRef
    | ObjectRef
    | OpaqueType
)
Expr: TypeAlias = (
    Literal
    | FloatLiteral
    | StringLiteral
    | Name
    | Special
    | Unary
    | Binary
    | Assign
    | Conditional
    | Cast
    | Index
    | Member
    | StaticMember
    | Call
    | Construct
    | InitList
    | SizeOf
    | PackSize
    | This
    | Lambda
    | Asm
    | Fold
    | UnknownExpr
)
Stmt: TypeAlias = (
    Declare
    | Evaluate
    | Block
    | Try
    | If
    | Loop
    | Switch
    | Return
    | Break
    | Continue
    | Labeled
    | Goto
    | LaunchStmt
    | UnknownStmt
)
TemplateArgument: TypeAlias = "Type | Expr"
