"""Inline PTX: which instructions of an asm text reach memory, and how their addresses are made.

`parse` turns the text into a flat list of instructions in program order. Those that load, store,
update or copy memory become PtxAccess; integer arithmetic on registers becomes PtxCompute, so that
an address made inside the text can be followed; all others become PtxUnknown, which only spoils the
registers that it writes, or PtxOutside when it uses shared memory in a way that is not scored.
The grammar is grammar/ptx.lark; Lark is imported at the first text that needs it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from smemlint.patterns import pattern
from smemlint.records import record

if TYPE_CHECKING:
    from lark import Lark, Token, Tree


@record(frozen=True, slots=True)
class PtxArgument:
    """`%N`: operand N of the asm statement, outputs first."""

    number: int


@record(frozen=True, slots=True)
class PtxRegister:
    """A register of the text's own, declared by `.reg`."""

    name: str


@record(frozen=True, slots=True)
class PtxSpecial:
    """A value that the hardware gives, under the IR's name (threadIdx, blockIdx, blockDim, gridDim,
    laneid, warpid) where there is one, else PTX's (`smid`, `lanemask_lt`). axis: x, y, z or ''."""

    name: str
    axis: str = ""


@record(frozen=True, slots=True)
class PtxImmediate:
    value: int


@record(frozen=True, slots=True)
class PtxOpaque:
    """An operand without a meaning for addresses: a float, `_`, a pair or an inverted predicate."""

    text: str = ""


PtxOperand: TypeAlias = PtxArgument | PtxRegister | PtxSpecial | PtxImmediate | PtxOpaque
PtxTarget: TypeAlias = PtxArgument | PtxRegister


@record(frozen=True, slots=True)
class PtxAddress:
    """`[base + offset + index]`: a register or operand, bytes, and a second operand if there is one."""

    base: PtxOperand
    offset: int = 0
    index: PtxOperand | None = None


@record(frozen=True, slots=True)
class PtxPredicate:
    """`@p` or, negated, `@!p`."""

    value: PtxTarget
    negated: bool = False


@record(frozen=True, slots=True)
class PtxAccess:
    """One access to memory that is, or may be, shared.

    op: load, store, atomic, cas, increment, ldmatrix, stmatrix or cp.async. width: bytes a lane (a row's 16
    bytes for the matrix operations); None when `size`, an operand of cp.async, says it. matrices: groups of
    eight row addresses, else 1. space: `shared`, `shared::cta`, `shared::cluster`, or '' when the address is
    generic. type: of one element as PTX writes it. destinations: registers it writes.
    """

    op: str
    width: int | None
    address: PtxAddress
    space: str
    type: str
    mnemonic: str
    matrices: int = 1
    predicate: PtxPredicate | None = None
    destinations: tuple[PtxTarget, ...] = ()
    size: PtxOperand | None = None
    source: PtxAddress | None = None
    """Of cp.async: where it reads."""


@record(frozen=True, slots=True)
class PtxCompute:
    """`destination = operator(operands)` on integers or predicates.

    operator: mov, cvt, to_shared, from_shared (changes of address space), add, sub, mul and mad with .lo, .hi
    or .wide, mul24.lo, mad24.lo, div, rem, min, max, abs, neg, and, or, xor, not, cnot, shl, shr, selp (a, b,
    condition), sad, bfe, bfi, bfind, popc, clz, brev, prmt, lop3, shf.l or .r with .wrap or .clamp, part (a
    half of a wide register, by number), pack (two halves), or a comparison setp.eq, .ne, .lt, .le, .gt, .ge,
    with a third operand after .and, .or or .xor. type: b, s or u with the bits (`u32`), or `pred`;
    source_type differs from it only in cvt, part and pack and in the wide multiplications, where `type` is
    that of the result.
    """

    destination: PtxTarget
    operator: str
    operands: tuple[PtxOperand, ...]
    type: str
    source_type: str
    predicate: PtxPredicate | None = None


@record(frozen=True, slots=True)
class PtxBranch:
    """A jump inside the text: what follows may run never, once or often."""

    predicate: PtxPredicate | None


@record(frozen=True, slots=True)
class PtxUnknown:
    """Does not touch shared memory; what it writes is unknown. destinations None: every output."""

    mnemonic: str
    destinations: tuple[PtxTarget, ...] | None = ()


@record(frozen=True, slots=True)
class PtxOutside:
    """Uses shared memory in a way that is not scored; `reason` names it for the user."""

    mnemonic: str
    reason: str
    destinations: tuple[PtxTarget, ...] | None = ()


@record(frozen=True, slots=True)
class PtxUnread:
    """Text that is not PTX as the grammar knows it. touches: it mentions shared memory."""

    text: str
    touches: bool


PtxInstruction: TypeAlias = PtxAccess | PtxCompute | PtxBranch | PtxUnknown | PtxOutside | PtxUnread
_Operand: TypeAlias = "PtxOperand | PtxAddress | tuple[_Operand, ...]"

_TOUCHES = pattern(r"\.shared|ldmatrix|stmatrix|cp\.async\.[cb]|cp\.reduce|st\.async|red\.async")
_MATRIX_UNIT = pattern(r"(?<![\w.])(?:wgmma|tcgen05|mma)\.[\w.:]+")
_SINGLE = pattern(
    r"\s*(?P<mnemonic>(?:mma|mma\.sp|bar|barrier|membar|fence|nanosleep|wgmma|tcgen05|griddepcontrol|"
    r"setmaxnreg|trap|brkpt|exit|cp\.async\.(?:bulk\.)?(?:commit_group|wait_group|wait_all)|cvt\.\w+\.\w*f\w*|"
    r"fma|ex2|rcp|lg2|tanh|shfl|redux|elect|createpolicy|prefetch\w*)\b[\w.:]*)[^;]*;?\s*"
)
_FLAT = pattern(r"\s*([a-z][a-z0-9_]*(?:\.[a-z0-9]+)*)\s+(%?\w+(?:\s*,\s*-?%?\w+)*)\s*;?\s*")
_SPECIALS = {"tid": "threadIdx", "ntid": "blockDim", "ctaid": "blockIdx", "nctaid": "gridDim"}
_REGISTERS = pattern(
    r"laneid|n?warpid|n?smid|gridid|lanemask_[elg][qet]|clock(_hi|64)?|globaltimer(_lo|_hi)?|"
    r"(total|dynamic|aggr)_smem_size|n?clusterid|cluster_n?cta(id|rank)|is_explicit_cluster"
)
_INTEGER = pattern(r"[sub](8|16|32|64)|pred")
_ELEMENT = pattern(r"[a-z]*?(\d+)(x2)?")
_PLAIN = frozenset(
    (
        *("add", "sub", "div", "rem", "min", "max", "abs", "neg", "and", "or", "xor", "not", "cnot", "shl"),
        *("shr", "selp", "sad", "bfe", "bfi", "bfind", "popc", "clz", "brev", "prmt", "lop3"),
    )
)
_WITH_MODE = frozenset(
    (
        *("mul.lo", "mul.hi", "mad.lo", "mad.hi", "mul24.lo", "mad24.lo"),
        *("shf.l.wrap", "shf.l.clamp", "shf.r.wrap", "shf.r.clamp"),
    )
)
_OPPOSITE = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "gt": "le", "le": "gt"}
_COMPARE = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"} | {
    c: c for c in ("eq", "ne", "lt", "le", "gt", "ge")
}
_ELSEWHERE = frozenset(("global", "local", "const", "param", "tensor"))
_MATRICES = {"x1": 1, "x2": 2, "x4": 4}


@lru_cache(maxsize=4096)
def parse(text: str) -> tuple[PtxInstruction, ...]:
    """The instructions of one asm text, scopes flattened.

    Never raises: text that does not parse comes back as one PtxUnread.
    """
    quick = _without_grammar(text)
    if quick is not None:
        return quick
    from lark.exceptions import LarkError  # late: Lark is slow to import, and most files have no such text

    try:
        tree = _parser().parse(text)
    except LarkError:
        return (PtxUnread(text, bool(_TOUCHES.search(text))),)
    return tuple(i for node in tree.find_data("instruction") for i in _instructions(node))


def _without_grammar(text: str) -> tuple[PtxInstruction, ...] | None:
    """Answers for the common texts that touch no address, which keeps Lark out of most files."""
    if _TOUCHES.search(text):
        return None
    if single := _SINGLE.fullmatch(text):
        return (_unscored(single["mnemonic"], None),)
    if flat := _FLAT.fullmatch(text):
        words = (word.strip() for word in flat[2].split(","))
        return _effects_of(flat[1], tuple(_word(word) for word in words), None)
    units = [_unscored(mnemonic, None) for mnemonic in _MATRIX_UNIT.findall(text)]
    return next(((u,) for u in units if isinstance(u, PtxOutside)), (units[0],) if units else None)


def _word(text: str) -> PtxOperand:
    """One operand of the plain kinds."""
    if text[0] == "%" and text[1:].isdigit():
        return PtxArgument(int(text[1:]))
    if text[0] == "%":
        return _machine(text.lstrip("%"))
    return _number(text) if text[0].isdigit() or text[0] == "-" else _name(text)


@lru_cache(maxsize=1)
def _parser() -> Lark:
    from lark import Lark  # late, as in parse()

    return Lark.open_from_package("smemlint.grammar", "ptx.lark", parser="lalr", maybe_placeholders=False)


def _instructions(node: Tree[Token]) -> tuple[PtxInstruction, ...]:
    predicate: PtxPredicate | None = None
    mnemonic = ""
    operands: tuple[_Operand, ...] = ()
    for child in node.children:
        if isinstance(child, str):
            mnemonic = re.sub(r"\s+", "", child)
        elif child.data == "predicate":
            predicate = _predicate(child)
        else:
            operands = tuple(_operand(c) for c in _trees(child))
    return _effects_of(mnemonic, operands, predicate)


def _effects_of(
    mnemonic: str, operands: tuple[_Operand, ...], predicate: PtxPredicate | None
) -> tuple[PtxInstruction, ...]:
    """What one instruction does: as a rule one thing."""
    base, *modifiers = mnemonic.split(".")
    if base in ("bra", "brx", "call", "ret", "exit"):
        return (PtxBranch(predicate),)
    access = _access(mnemonic, base, modifiers, operands, predicate)
    if access is not None:
        return (access,)
    computed = _arithmetic(base, modifiers, operands, predicate)
    return computed or (_unscored(mnemonic, _targets(operands[:1])),)


# Operands


def _trees(node: Tree[Token]) -> Iterator[Tree[Token]]:
    return (c for c in node.children if not isinstance(c, str))


def _predicate(node: Tree[Token]) -> PtxPredicate:
    value = _operand(next(_trees(node)))
    negated = any(isinstance(c, str) for c in node.children)
    return PtxPredicate(value if isinstance(value, PtxArgument | PtxRegister) else PtxRegister(""), negated)


def _operand(node: Tree[Token]) -> _Operand:
    text = str(node.children[0]) if node.children and isinstance(node.children[0], str) else ""
    if node.data == "argument":
        return PtxArgument(int(text[1:])) if "." not in text else PtxOpaque(text)
    if node.data == "machine":
        return _machine(text.lstrip("%"))
    if node.data == "name":
        return _name(text)
    if node.data == "number":
        return _number(text)
    if node.data == "address":
        return _address(node)
    if node.data in ("vector", "list", "pair"):
        return tuple(_operand(c) for c in _trees(node))
    return PtxOpaque(str(node.data))


def _machine(name: str) -> PtxOperand:
    stem, _, axis = name.partition(".")
    if stem in _SPECIALS and axis in ("x", "y", "z"):
        return PtxSpecial(_SPECIALS[stem], axis)
    return PtxSpecial(stem, axis) if _REGISTERS.fullmatch(stem) else PtxRegister("%" + name)


def _name(name: str) -> PtxOperand:
    if name == "WARP_SZ":
        return PtxImmediate(32)
    return PtxOpaque(name) if name == "_" else PtxRegister(name)


def _number(text: str) -> PtxOperand:
    try:
        return PtxImmediate(int(text.rstrip("U"), 0))
    except ValueError:
        return PtxOpaque(text)


def _address(node: Tree[Token]) -> _Operand:
    """Of a tensor's `[base, {coordinates}]` only the base is kept: such an address is never shared."""
    first, *others = _trees(node)
    base = _operand(first)
    if isinstance(base, tuple | PtxAddress):
        return PtxOpaque("address")
    offset, index = 0, None
    for displacement in others:
        if displacement.data != "displacement":
            continue
        value = _operand(next(_trees(displacement)))
        minus = any(isinstance(c, str) and c == "-" for c in displacement.children)
        if isinstance(value, PtxImmediate):
            offset += -value.value if minus else value.value
        elif index is None and not minus and not isinstance(value, tuple | PtxAddress):
            index = value
        else:
            return PtxAddress(PtxOpaque("address"))
    return PtxAddress(base, offset, index)


def _targets(operands: tuple[_Operand, ...]) -> tuple[PtxTarget, ...]:
    """Registers among the operands, vectors opened up, addresses left alone."""
    found: list[PtxTarget] = []
    for operand in operands:
        if isinstance(operand, PtxArgument | PtxRegister):
            found.append(operand)
        elif isinstance(operand, tuple):
            found.extend(_targets(operand))
    return tuple(found)


# Memory


def _access(
    mnemonic: str,
    base: str,
    modifiers: list[str],
    operands: tuple[_Operand, ...],
    predicate: PtxPredicate | None,
) -> PtxInstruction | None:
    """The access that this instruction makes; None when it is not one that can be scored."""
    if base == "cp" and modifiers[:1] == ["async"] and len(modifiers) > 1 and modifiers[1] in ("ca", "cg"):
        return _copy(mnemonic, modifiers, operands, predicate)
    if base not in ("ld", "ldu", "st", "atom", "red", "ldmatrix", "stmatrix"):
        return None
    if "async" in modifiers or "bulk" in modifiers or "arrive" in modifiers:
        return None
    if not _ELSEWHERE.isdisjoint(modifiers) or any(m.startswith("param::") for m in modifiers):
        return PtxUnknown(mnemonic, _targets(operands[:1]))
    address = next((o for o in operands if isinstance(o, PtxAddress)), None)
    if address is None or not modifiers:
        return None
    space = next((m for m in modifiers if m.startswith("shared")), "")
    written = () if base in ("st", "red", "stmatrix") else _targets(operands[:1])
    if base in ("ldmatrix", "stmatrix"):
        matrices = _matrices(modifiers)
        element = next((m for m in reversed(modifiers) if re.fullmatch(r"b(8|16|8x16\..*|8x16)", m)), "b16")
        return PtxAccess(base, 16, address, space, element, mnemonic, matrices, predicate, written)
    element = modifiers[-1]
    width = _width(modifiers)
    if width is None:
        return PtxOutside(mnemonic, f"access of unknown width: {mnemonic}", written)
    op = {"ld": "load", "ldu": "load", "st": "store"}.get(base, "atomic")
    if "cas" in modifiers:
        op = "cas"
    elif base == "red" and "add" in modifiers and operands[-1] == PtxImmediate(1):
        op = "increment"
    return PtxAccess(op, width, address, space, element, mnemonic, 1, predicate, written)


COPY_SIZES = (4, 8, 16)
"""Bytes a lane that cp.async may copy."""


def _copy(
    mnemonic: str, modifiers: list[str], operands: tuple[_Operand, ...], predicate: PtxPredicate | None
) -> PtxInstruction | None:
    space = next((m for m in modifiers if m.startswith("shared")), "")
    if len(operands) < 3 or not isinstance(operands[0], PtxAddress):
        return None
    size = operands[2]
    if isinstance(size, tuple | PtxAddress):
        return None
    width = size.value if isinstance(size, PtxImmediate) else None
    if width is not None and width not in COPY_SIZES:
        return PtxOutside(mnemonic, f"copy of {width} bytes, which PTX does not have: {mnemonic}")
    source = operands[1] if isinstance(operands[1], PtxAddress) else None
    return PtxAccess(
        "cp.async", width, operands[0], space, "b8", mnemonic, 1, predicate, size=size, source=source
    )


def _width(modifiers: list[str]) -> int | None:
    """Bytes a lane of `.v4.f32` and the like; None when the last modifier is no type."""
    element = _ELEMENT.fullmatch(modifiers[-1])
    if element is None:
        return None
    bits = int(element[1]) * (2 if element[2] else 1)
    vector = next((int(m[1:]) for m in modifiers if m in ("v2", "v4", "v8")), 1)
    return bits * vector // 8 if bits >= 8 else None


def _matrices(modifiers: list[str]) -> int:
    """Groups of eight 16-byte rows; a 16x16 matrix of bytes has two."""
    count = next((_MATRICES[m] for m in modifiers if m in _MATRICES), 1)
    return count * 2 if "m16n16" in modifiers else count


# Registers


def _arithmetic(
    base: str, modifiers: list[str], operands: tuple[_Operand, ...], predicate: PtxPredicate | None
) -> tuple[PtxCompute, ...]:
    """Integer arithmetic: an instruction for each result; nothing for everything else."""
    if len(operands) < 2:
        return ()
    destination, *rest = operands
    if base == "mov":
        moved = _halves(modifiers, destination, rest, predicate)
        if moved:
            return moved
    sources = tuple(o for o in rest if not isinstance(o, tuple | PtxAddress | PtxOpaque))
    named = _operator(base, modifiers)
    if named is None or len(sources) != len(rest):
        return ()
    operator, kind, source_kind = named
    if isinstance(destination, PtxArgument | PtxRegister):
        return (PtxCompute(destination, operator, sources, kind, source_kind, predicate),)
    if base != "setp" or not isinstance(destination, tuple):
        return ()
    _, condition, *joined = operator.split(".")
    names = (operator, ".".join(("setp", _OPPOSITE[condition], *joined)))
    return tuple(
        PtxCompute(to, name, sources, kind, source_kind, predicate)
        for to, name in zip(destination, names, strict=False)
        if isinstance(to, PtxArgument | PtxRegister)
    )


def _halves(
    modifiers: list[str], to: _Operand, rest: list[_Operand], predicate: PtxPredicate | None
) -> tuple[PtxCompute, ...]:
    """`mov.b64 {lo, hi}, x;` and `mov.b64 x, {lo, hi};`"""
    found = _ELEMENT.fullmatch(modifiers[-1]) if modifiers else None
    if found is None or len(rest) != 1:
        return ()
    whole, half = f"u{found[1]}", f"u{int(found[1]) // 2}"
    (source,) = rest
    if (
        isinstance(to, tuple)
        and len(to) == 2
        and isinstance(source, PtxArgument | PtxRegister | PtxImmediate)
    ):
        return tuple(
            PtxCompute(part, "part", (source, PtxImmediate(n)), half, whole, predicate)
            for n, part in enumerate(to)
            if isinstance(part, PtxArgument | PtxRegister)
        )
    if isinstance(source, tuple) and len(source) == 2 and isinstance(to, PtxArgument | PtxRegister):
        parts = tuple(o for o in source if not isinstance(o, tuple | PtxAddress | PtxOpaque))
        return (PtxCompute(to, "pack", parts, whole, half, predicate),) if len(parts) == 2 else ()
    return ()


def _operator(base: str, modifiers: list[str]) -> tuple[str, str, str] | None:
    """(operator, type, source type) of an integer instruction."""
    if not modifiers:
        return None
    kind, rest = modifiers[-1], modifiers[:-1]
    if base == "cvta":
        shared = any(m.startswith("shared") for m in rest)
        into = "to_shared" if "to" in rest else "from_shared"
        return (into if shared else "mov", kind, kind)
    if not _INTEGER.fullmatch(kind):
        return None
    named = ".".join((base, *rest))
    if base == "mov" and not rest:
        return ("mov", kind, kind)
    if base == "cvt" and len(rest) == 1 and _INTEGER.fullmatch(rest[0]):
        return ("cvt", rest[0], kind)
    if named in _WITH_MODE:
        return (named, kind, kind)
    if base in ("mul", "mad") and rest == ["wide"]:
        return (named, f"{kind[0]}{int(kind[1:]) * 2}", kind)
    if base == "setp" and rest and rest[0] in _COMPARE and rest[1:] in ([], ["and"], ["or"], ["xor"]):
        return (".".join(("setp", _COMPARE[rest[0]], *rest[1:])), kind, kind)
    return (base, kind, kind) if base in _PLAIN and not rest else None


# What is not scored

_OUTSIDE = (
    (pattern(r"cp\.async\.mbarrier|cp\.async\.arrive"), "arrival on a barrier object"),
    (pattern(r"cp\.async\.bulk\.(commit_group|wait_group|prefetch)|cp\.async\.(commit|wait)"), ""),
    (pattern(r"cp\.(reduce\.)?async\.bulk|st\.bulk"), "bulk copy by the tensor memory accelerator"),
    (pattern(r"(st|red)\.async\b(?!.*\.global)"), "asynchronous store to another block's shared memory"),
    (pattern(r"mbarrier|(atom|red)\b.*\.arrive\b"), "barrier object in shared memory"),
    (pattern(r"wgmma\.mma_async"), "operands of wgmma, given by a descriptor"),
    (pattern(r"tcgen05\.(mma|cp)"), "operands of tcgen05, given by a descriptor"),
    (pattern(r"wmma\.(load|store)"), "wmma fragment, whose lane layout is not public"),
    (
        pattern(r"tensormap.*\.shared|clusterlaunchcontrol\.try|tcgen05\.alloc"),
        "descriptor in shared memory",
    ),
    (pattern(r"(ld|st|atom|red)\b.*\.global"), ""),
    (
        pattern(r"(ld|st|atom|red|ldmatrix|stmatrix|cp\.async\.c[ag])\b"),
        "access in a form that is not known",
    ),
)


_WAITS = pattern(
    r"(bar|barrier|membar|fence|nanosleep|griddepcontrol|mbarrier)\b|cp\.async\.(bulk\.)?wait|"
    r"(wgmma|tcgen05)\.(fence|wait)"
)


def waits(mnemonic: str) -> bool:
    """Whether loads and stores stay on their side of an instruction: it waits for other threads, for copies
    or for memory. (Machine code of nvcc 13.0; loads pass any other.)"""
    return _WAITS.match(mnemonic) is not None


def _unscored(mnemonic: str, destinations: tuple[PtxTarget, ...] | None) -> PtxUnknown | PtxOutside:
    for shape, reason in _OUTSIDE:
        if shape.match(mnemonic):
            if not reason:
                break
            return PtxOutside(mnemonic, reason, destinations)
    return PtxUnknown(mnemonic, destinations)
