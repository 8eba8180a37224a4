"""Expressions: C++ as far as an address, a mask or a loop bound can depend on it.

Nodes carry no static type but where the source writes one (casts, declarations, literals):
in a template the type is known only to the evaluator. Nothing is folded here.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, TypeAlias

from smemlint.ir.place import Place
from smemlint.ir.types import INT, Scalar, TemplateArgument, Type
from smemlint.records import record

if TYPE_CHECKING:
    from smemlint.ir.module import TemplateParam
    from smemlint.ir.stmt import Stmt


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


STEPS = ("++x", "--x", "x++", "x--")
"""The operators of a Unary that change what they stand at."""


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


CONVERSION_NAME = "operator conversion"
"""The one name of all conversion functions of a record; `Function.returns` tells them apart."""


OBJECT = -1
"""Among the numbers of arguments: the object that a method is called on."""


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
    is called on. hidden: ids of functions of the same name that the arguments may bring in, where a template
    leaves open whether the callee takes them.
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


SHARED = ("shared", "extern_shared")
"""The storages of a Var in shared memory."""


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

    def begins_at_zero(self) -> bool:
        """Whether it is a whole number of the program that is 0 until something sets it."""
        zero = self.init is None or (isinstance(self.init, Literal) and self.init.value == 0)
        return zero and self.may_be_set()

    def may_be_set(self) -> bool:
        """Whether it is a whole number or a truth of the program that any function may set."""
        outside = self.storage in ("global", "static") and not self.const
        return outside and isinstance(self.type, Scalar) and self.type.kind in ("int", "uint", "bool")


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


def uncopied(e: Expr) -> Expr:
    """The expression below the casts and copies around it."""
    while True:
        if isinstance(e, Cast):
            e = e.operand
        elif isinstance(e, Construct) and len(e.arguments) == 1:
            e = e.arguments[0]
        else:
            return e


def uncast(e: Expr) -> Expr:
    """The expression below the casts around it."""
    while isinstance(e, Cast):
        e = e.operand
    return e
