"""The rules, one a file, in an explicit order.

In: a Conflict and the KernelAnalysis it belongs to. Out: a Finding. Each conflict is explained once, by the
first rule of CONFLICT_RULES that recognises its cause; the last one explains anything. What other installed
distributions add (`added.py`) is asked first. Imports neither clang nor rich.
"""

from __future__ import annotations

from smemlint.rules.bank_conflict import BankConflict
from smemlint.rules.base import ConflictRule, DeclarationRule, Finding, Kernel, Label, Rule, Severity
from smemlint.rules.block_shape_assumed import BlockShapeAssumed
from smemlint.rules.column_access import ColumnAccess
from smemlint.rules.incomplete_analysis import IncompleteAnalysis
from smemlint.rules.ineffective_swizzle import IneffectiveSwizzle
from smemlint.rules.misaligned_vector_row import MisalignedVectorRow
from smemlint.rules.narrow_block_rows import NarrowBlockRows
from smemlint.rules.needless_padding import NeedlessPadding
from smemlint.rules.padding_over_budget import PaddingOverBudget
from smemlint.rules.power_of_two_stride import PowerOfTwoStride
from smemlint.rules.run_time_stride import RunTimeStride
from smemlint.rules.serialised_atomic import SerialisedAtomic
from smemlint.rules.static_size_over_limit import StaticSizeOverLimit
from smemlint.rules.struct_stride import StructStride
from smemlint.rules.unaligned_dynamic_array import UnalignedDynamicArray
from smemlint.rules.unknown_directive import UnknownDirective
from smemlint.rules.unparsed_access import UnparsedAccess
from smemlint.rules.unresolved_access import UnresolvedAccess
from smemlint.rules.unseen_kernel import UnseenKernel
from smemlint.rules.unused_shared_array import UnusedSharedArray
from smemlint.rules.unused_suppression import UnusedSuppression
from smemlint.rules.wide_access_phase import WideAccessPhase
from smemlint.rules.wrong_padding import WrongPadding

CONFLICT_RULES: tuple[ConflictRule, ...] = (
    RunTimeStride(),
    SerialisedAtomic(),
    IneffectiveSwizzle(),
    StructStride(),
    NarrowBlockRows(),
    ColumnAccess(),
    WideAccessPhase(),
    PowerOfTwoStride(),
    BankConflict(),
)
DECLARATION_RULES: tuple[DeclarationRule, ...] = (
    UnusedSharedArray(),
    StaticSizeOverLimit(),
    UnalignedDynamicArray(),
    NeedlessPadding(),
    WrongPadding(),
    PaddingOverBudget(),
    MisalignedVectorRow(),
)
ANALYSIS_RULES: tuple[type[Rule], ...] = (
    UnresolvedAccess,
    BlockShapeAssumed,
    UnparsedAccess,
    UnusedSuppression,
    UnknownDirective,
    IncompleteAnalysis,
    UnseenKernel,
)
RULES: tuple[type[Rule], ...] = tuple(
    sorted((*map(type, CONFLICT_RULES), *map(type, DECLARATION_RULES), *ANALYSIS_RULES), key=lambda r: r.code)
)


def all_rules() -> tuple[type[Rule], ...]:
    """RULES, and behind them those that other distributions add."""
    from smemlint.rules.added import added

    return (*RULES, *added().rules)


def find_rule(name: str) -> type[Rule] | None:
    """The rule of a code or a name, in any case of letters."""
    wanted = name.strip().lower()
    return next((r for r in all_rules() if wanted in (r.code.lower(), r.name)), None)


def matches(rule: type[Rule], selector: str) -> bool:
    """Whether a selector (a code, the start of one, a name, or ALL) means this rule."""
    wanted = selector.strip().upper()
    if wanted in ("ALL", rule.name.upper()):
        return True
    return letters(wanted) == letters(rule.code) and rule.code.startswith(wanted)


def letters(code: str) -> str:
    """`SMEM` of `SMEM101` and of `SMEM1`: the family that a code belongs to."""
    return code.rstrip("0123456789")


__all__ = [
    "ANALYSIS_RULES",
    "CONFLICT_RULES",
    "DECLARATION_RULES",
    "RULES",
    "ConflictRule",
    "DeclarationRule",
    "Finding",
    "Kernel",
    "Label",
    "Rule",
    "Severity",
    "all_rules",
    "find_rule",
    "letters",
    "matches",
]
