"""Which function evaluates which type of expression and statement.

To import this module is to say so: whoever runs code imports it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from smemlint.evaluate.language.constants import (
    float_value,
    lambda_value,
    literal_value,
    pack_size_value,
    size_of_value,
    special_value,
    string_value,
    this_place,
    this_value,
    unknown_value,
)
from smemlint.evaluate.language.expression_types import with_expressions
from smemlint.evaluate.language.names import name_place, name_value, static_member_value
from smemlint.evaluate.language.places import index_place, member_place, value_at_place
from smemlint.evaluate.language.record_conversions import by_conversion
from smemlint.evaluate.machine.callbacks import EVALUATOR
from smemlint.evaluate.machine.dispatch import BUILDERS, PLACES, RUNNERS, VALUES
from smemlint.evaluate.run.branches import run_if
from smemlint.evaluate.run.calls import call_place, call_value
from smemlint.evaluate.run.conditionals import conditional_place, conditional_value
from smemlint.evaluate.run.construction import (
    build_array,
    build_record,
    build_single,
    cast_place,
    cast_value,
    construct_value,
    init_list_value,
)
from smemlint.evaluate.run.copies import begun_as
from smemlint.evaluate.run.jumps import run_break, run_continue, run_goto, run_return
from smemlint.evaluate.run.operators import (
    assign_value,
    assigned_place,
    binary_place,
    binary_value,
    unary_place,
    unary_value,
)
from smemlint.evaluate.run.statements import run_block, run_declare, run_evaluate, run_launch, run_unknown
from smemlint.ir import (
    ArrayOf,
    Asm,
    Assign,
    Binary,
    Block,
    Break,
    Call,
    Cast,
    Conditional,
    Construct,
    Continue,
    Declare,
    Evaluate,
    FloatLiteral,
    Fold,
    FunctionRef,
    FunctionType,
    Goto,
    If,
    Index,
    InitList,
    Labeled,
    Lambda,
    LaunchStmt,
    Literal,
    Loop,
    Member,
    MemberType,
    Name,
    ObjectRef,
    OpaqueType,
    PackSize,
    Part,
    PointerTo,
    RecordRef,
    Return,
    Scalar,
    SizeOf,
    Special,
    StaticMember,
    StringLiteral,
    Switch,
    This,
    Try,
    TypeParam,
    Unary,
    UnknownExpr,
    UnknownStmt,
)
from smemlint.later import later

if TYPE_CHECKING:
    from smemlint.evaluate.run.assembly import asm_value
    from smemlint.evaluate.run.exceptions import run_try
    from smemlint.evaluate.run.folds import fold_value
    from smemlint.evaluate.run.loops.loop import run_labeled, run_loop
    from smemlint.evaluate.run.switches import run_switch
else:
    _RUN = "smemlint.evaluate.run"
    asm_value = later(f"{_RUN}.assembly", "asm_value")
    run_try = later(f"{_RUN}.exceptions", "run_try")
    fold_value = later(f"{_RUN}.folds", "fold_value")
    run_labeled = later(f"{_RUN}.loops.loop", "run_labeled")
    run_loop = later(f"{_RUN}.loops.loop", "run_loop")
    run_switch = later(f"{_RUN}.switches", "run_switch")

VALUES |= {
    Literal: literal_value,
    FloatLiteral: float_value,
    StringLiteral: string_value,
    Name: name_value,
    Special: special_value,
    Unary: unary_value,
    Binary: binary_value,
    Assign: assign_value,
    Conditional: conditional_value,
    Fold: fold_value,
    Cast: cast_value,
    Index: value_at_place,
    Member: value_at_place,
    StaticMember: static_member_value,
    Call: call_value,
    Construct: construct_value,
    InitList: init_list_value,
    SizeOf: size_of_value,
    PackSize: pack_size_value,
    This: this_value,
    Lambda: lambda_value,
    Asm: asm_value,
    UnknownExpr: unknown_value,
}

PLACES |= {
    Name: name_place,
    Index: index_place,
    Member: member_place,
    Unary: unary_place,
    Binary: binary_place,
    Assign: assigned_place,
    Conditional: conditional_place,
    Cast: cast_place,
    Call: call_place,
    This: this_place,
}
"""All others have no place; their value stands in."""

RUNNERS |= {
    Block: run_block,
    Try: run_try,
    Declare: run_declare,
    Evaluate: run_evaluate,
    If: run_if,
    Loop: run_loop,
    Switch: run_switch,
    Return: run_return,
    Break: run_break,
    Continue: run_continue,
    LaunchStmt: run_launch,
    Labeled: run_labeled,
    Goto: run_goto,
    UnknownStmt: run_unknown,
}

_SINGLE = (Scalar, PointerTo, TypeParam, MemberType, FunctionType, FunctionRef, ObjectRef, OpaqueType, Part)
BUILDERS |= {ArrayOf: build_array, RecordRef: build_record, **dict.fromkeys(_SINGLE, build_single)}

EVALUATOR.converted, EVALUATOR.begun, EVALUATOR.typed = by_conversion, begun_as, with_expressions
