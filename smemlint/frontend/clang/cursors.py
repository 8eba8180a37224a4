"""Thin, fast access to libclang's cursors and types.

The binding's own classes cost several microseconds per attribute; lowering reads hundreds of thousands.
Here a cursor or type is a bare ctypes structure and every question is one foreign call. Nodes stay
valid as long as the translation unit they come from is alive.
"""

from __future__ import annotations

import ctypes
import os
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    byref,
    c_char_p,
    c_int,
    c_longlong,
    c_uint,
    c_ulonglong,
    c_void_p,
)
from typing import Any

from clang import cindex
from clang.cindex import SourceRange, TranslationUnit, conf

from smemlint.frontend.clang import kinds


class Node(Structure):
    """CXCursor. `d0` is the declaration's or parent declaration's address, by kind."""

    _fields_ = [("kind", c_int), ("xdata", c_int), ("d0", c_void_p), ("d1", c_void_p), ("d2", c_void_p)]
    kind: int
    xdata: int
    d0: int | None
    d1: int | None
    d2: int | None


class CType(Structure):
    """CXType."""

    _fields_ = [("kind", c_int), ("d0", c_void_p), ("d1", c_void_p)]
    kind: int
    d0: int | None
    d1: int | None


class _String(Structure):
    _fields_ = [("data", c_void_p), ("flags", c_uint)]


class Location(Structure):
    """CXSourceLocation; the top bit of `raw` says that it lies in a macro expansion."""

    _fields_ = [("p0", c_void_p), ("p1", c_void_p), ("raw", c_uint)]
    raw: int


class Extent(Structure):
    """CXSourceRange, half open."""

    _fields_ = [("p0", c_void_p), ("p1", c_void_p), ("begin", c_uint), ("end", c_uint)]
    begin: int
    end: int


class _Token(Structure):
    _fields_ = [("ints", c_uint * 4), ("ptr", c_void_p)]


MACRO_BIT = 0x80000000

_lib: Any = ctypes.CDLL(cindex.conf.lib._name)


def bind(name: str, result: Any, *arguments: Any) -> Any:
    """A function of the library with its types."""
    function = getattr(_lib, name)
    function.restype = result
    function.argtypes = list(arguments)
    return function


_visitor = CFUNCTYPE(c_int, Node, Node, c_void_p)
_visit_children = bind("clang_visitChildren", c_uint, Node, _visitor, c_void_p)
_cursor_spelling = bind("clang_getCursorSpelling", _String, Node)
_cursor_display = bind("clang_getCursorDisplayName", _String, Node)
_cursor_usr = bind("clang_getCursorUSR", _String, Node)
_type_spelling = bind("clang_getTypeSpelling", _String, CType)
_c_string = bind("clang_getCString", c_char_p, _String)
_dispose_string = bind("clang_disposeString", None, _String)

extent = bind("clang_getCursorExtent", Extent, Node)
location = bind("clang_getCursorLocation", Location, Node)
referenced = bind("clang_getCursorReferenced", Node, Node)
definition = bind("clang_getCursorDefinition", Node, Node)
canonical = bind("clang_getCanonicalCursor", Node, Node)
semantic_parent = bind("clang_getCursorSemanticParent", Node, Node)
lexical_parent = bind("clang_getCursorLexicalParent", Node, Node)
specialized_template = bind("clang_getSpecializedCursorTemplate", Node, Node)
is_definition = bind("clang_isCursorDefinition", c_uint, Node)
storage_class = bind("clang_Cursor_getStorageClass", c_int, Node)
is_static_method = bind("clang_CXXMethod_isStatic", c_uint, Node)
is_const_method = bind("clang_CXXMethod_isConst", c_uint, Node)
is_virtual_method = bind("clang_CXXMethod_isVirtual", c_uint, Node)
is_virtual_base = bind("clang_isVirtualBase", c_uint, Node)
access_specifier = bind("clang_getCXXAccessSpecifier", c_int, Node)
is_copy_assignment = bind("clang_CXXMethod_isCopyAssignmentOperator", c_uint, Node)
is_defaulted = bind("clang_CXXMethod_isDefaulted", c_uint, Node)
is_bit_field = bind("clang_Cursor_isBitField", c_uint, Node)
bit_width = bind("clang_getFieldDeclBitWidth", c_int, Node)
is_anonymous_record = bind("clang_Cursor_isAnonymousRecordDecl", c_uint, Node)
is_inline_namespace = bind("clang_Cursor_isInlineNamespace", c_uint, Node)
initializer = bind("clang_Cursor_getVarDeclInitializer", Node, Node)
enum_value = bind("clang_getEnumConstantDeclValue", c_longlong, Node)
enum_integer_type = bind("clang_getEnumDeclIntegerType", CType, Node)
overload_count = bind("clang_getNumOverloadedDecls", c_uint, Node)
overload = bind("clang_getOverloadedDecl", Node, Node, c_uint)
template_argument_count = bind("clang_Cursor_getNumTemplateArguments", c_int, Node)
template_argument_kind = bind("clang_Cursor_getTemplateArgumentKind", c_int, Node, c_uint)
template_argument_type = bind("clang_Cursor_getTemplateArgumentType", CType, Node, c_uint)
template_argument_value = bind("clang_Cursor_getTemplateArgumentValue", c_longlong, Node, c_uint)
template_argument_unsigned = bind("clang_Cursor_getTemplateArgumentUnsignedValue", c_ulonglong, Node, c_uint)

cursor_type = bind("clang_getCursorType", CType, Node)
typedef_underlying = bind("clang_getTypedefDeclUnderlyingType", CType, Node)
cursor_result_type = bind("clang_getCursorResultType", CType, Node)
canonical_type = bind("clang_getCanonicalType", CType, CType)
pointee_type = bind("clang_getPointeeType", CType, CType)
element_type = bind("clang_getArrayElementType", CType, CType)
vector_element_type = bind("clang_getElementType", CType, CType)
vector_length = bind("clang_getNumElements", c_longlong, CType)
array_size = bind("clang_getArraySize", c_longlong, CType)
named_type = bind("clang_Type_getNamedType", CType, CType)
modified_type = bind("clang_Type_getModifiedType", CType, CType)
type_declaration = bind("clang_getTypeDeclaration", Node, CType)
type_argument_count = bind("clang_Type_getNumTemplateArguments", c_int, CType)
type_argument = bind("clang_Type_getTemplateArgumentAsType", CType, CType, c_uint)
is_const = bind("clang_isConstQualifiedType", c_uint, CType)
is_restrict = bind("clang_isRestrictQualifiedType", c_uint, CType)
is_volatile = bind("clang_isVolatileQualifiedType", c_uint, CType)
size_of = bind("clang_Type_getSizeOf", c_longlong, CType)

_evaluate = bind("clang_Cursor_Evaluate", c_void_p, Node)
_eval_kind = bind("clang_EvalResult_getKind", c_int, c_void_p)
_eval_unsigned = bind("clang_EvalResult_isUnsignedInt", c_uint, c_void_p)
_eval_as_long = bind("clang_EvalResult_getAsLongLong", c_longlong, c_void_p)
_eval_as_unsigned = bind("clang_EvalResult_getAsUnsigned", ctypes.c_ulonglong, c_void_p)
_eval_as_double = bind("clang_EvalResult_getAsDouble", ctypes.c_double, c_void_p)
_eval_dispose = bind("clang_EvalResult_dispose", None, c_void_p)

_WHERE = (Location, POINTER(c_void_p), *[POINTER(c_uint)] * 3)
_file_location = bind("clang_getFileLocation", None, *_WHERE)
_expansion_location = bind("clang_getExpansionLocation", None, *_WHERE)
_file_name = bind("clang_getFileName", _String, c_void_p)
_file_contents = bind("clang_getFileContents", c_void_p, c_void_p, c_void_p, POINTER(ctypes.c_size_t))
_tokenize = bind("clang_tokenize", None, c_void_p, Extent, POINTER(POINTER(_Token)), POINTER(c_uint))
_token_location = bind("clang_getTokenLocation", Location, c_void_p, _Token)
_dispose_tokens = bind("clang_disposeTokens", None, c_void_p, POINTER(_Token), c_uint)

_sink: list[Node] = []


def _collect(child: Node, _parent: Node, _data: object) -> int:
    _sink.append(child)
    return 1


_collector = _visitor(_collect)


def children(node: Node) -> list[Node]:
    """Direct children, in clang's order."""
    global _sink
    _sink = []
    _visit_children(node, _collector, None)
    return _sink


def expressions(node: Node) -> list[Node]:
    """Direct children that are expressions."""
    return [kid for kid in children(node) if kinds.is_expression(kid.kind)]


def _as_bytes(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")


def _take_any_name() -> None:
    """Let clang's binding pass names of files on that are not UTF-8, there and back, as Python holds them."""
    binding: Any = cindex
    strings: Any = binding.c_interop_string
    plain: Any = c_char_p

    def value(self: Any) -> str | None:
        raw: bytes | None = plain.value.__get__(self)
        return None if raw is None else raw.decode("utf-8", "surrogateescape")

    def __init__(self: Any, text: str | bytes | None = None) -> None:  # noqa: N807
        c_char_p.__init__(self, _as_bytes(text or ""))

    strings.value, strings.__init__ = property(value), __init__
    binding.b = _as_bytes


_take_any_name()


def root(tu: cindex.TranslationUnit) -> Node:
    """The translation unit's own cursor."""
    return Node.from_buffer_copy(tu.cursor)


def _text(string: _String) -> str:
    raw: bytes | None = _c_string(string)
    result = raw.decode("utf-8", "surrogateescape") if raw else ""
    _dispose_string(string)
    return result


def spelling(node: Node) -> str:
    return _text(_cursor_spelling(node))


def display_name(node: Node) -> str:
    return _text(_cursor_display(node))


def usr(node: Node) -> str:
    return _text(_cursor_usr(node))


def type_spelling(type_: CType) -> str:
    return _text(_type_spelling(type_))


def evaluate(node: Node) -> int | float | None:
    """The constant that clang computes for an expression or a variable's initialiser, if it is one."""
    result = _evaluate(node)
    if not result:
        return None
    try:
        kind = _eval_kind(result)
        if kind == 1:
            return int(_eval_as_unsigned(result) if _eval_unsigned(result) else _eval_as_long(result))
        if kind == 2:
            return float(_eval_as_double(result))
        return None
    finally:
        _eval_dispose(result)


_handle, _offset = c_void_p(), c_uint()
_handle_at, _offset_at = byref(_handle), byref(_offset)


def file_location(where: Location) -> tuple[int | None, int]:
    """(file handle, offset): the use of a macro, or where a macro's argument is written."""
    _file_location(where, _handle_at, None, None, _offset_at)
    return _handle.value, _offset.value


def expansion_location(where: Location) -> tuple[int | None, int]:
    """(file handle, offset) of the outermost macro use around a location."""
    _expansion_location(where, _handle_at, None, None, _offset_at)
    return _handle.value, _offset.value


def file_name(file: int) -> str:
    return _text(_file_name(file))


def file_contents(tu: cindex.TranslationUnit, file: int) -> bytes:
    size = ctypes.c_size_t()
    address = _file_contents(tu.obj, file, byref(size))
    return ctypes.string_at(address, size.value) if address else b""


def spelled_location(tu: cindex.TranslationUnit, of: Extent) -> tuple[int | None, int] | None:
    """(file handle, offset) where a range's first token is spelled, which may be in a macro's definition."""
    tokens, count = POINTER(_Token)(), c_uint()
    _tokenize(tu.obj, of, byref(tokens), byref(count))
    if not count.value:
        return None
    try:
        return file_location(_token_location(tu.obj, tokens[0]))
    finally:
        _dispose_tokens(tu.obj, tokens, count)


class _RangeList(ctypes.Structure):
    _fields_ = (("count", ctypes.c_uint), ("ranges", ctypes.POINTER(SourceRange)))


def skipped_ranges(tu: TranslationUnit) -> dict[str, tuple[tuple[int, int], ...]]:
    """Per file, byte ranges from the directive that switches off to the one that ends it, in order.

    The unit must have been parsed with a detailed preprocessing record.
    """
    library = conf.lib
    library.clang_getAllSkippedRanges.argtypes = [TranslationUnit]
    library.clang_getAllSkippedRanges.restype = ctypes.POINTER(_RangeList)
    library.clang_disposeSourceRangeList.argtypes = [ctypes.POINTER(_RangeList)]
    library.clang_disposeSourceRangeList.restype = None
    found: dict[str, set[tuple[int, int]]] = {}
    answer = library.clang_getAllSkippedRanges(tu)
    try:
        for number in range(answer.contents.count):
            extent = answer.contents.ranges[number]
            start, end = extent.start, extent.end
            if start.file is not None:
                path = os.path.normpath(start.file.name)
                found.setdefault(path, set()).add((start.offset, end.offset))
    finally:
        library.clang_disposeSourceRangeList(answer)
    return {path: tuple(sorted(ranges)) for path, ranges in found.items()}


# In the library since LLVM 17, not in the binding of 18.1: codes of CXBinaryOperatorKind and its sister.
_BINARY = (
    "", ".*", "->*", "*", "/", "%", "+", "-", "<<", ">>", "<=>", "<", ">", "<=", ">=", "==", "!=",
    "&", "^", "|", "&&", "||", "=", "*=", "/=", "%=", "+=", "-=", "<<=", ">>=", "&=", "^=", "|=", ",",
)  # fmt: skip
_UNARY = (
    "", "x++", "x--", "++x", "--x", "&", "*", "+", "-", "~", "!",
    "__real", "__imag", "__extension__", "co_await",
)  # fmt: skip

_binary_kind = bind("clang_getCursorBinaryOperatorKind", c_int, Node)
_unary_kind = bind("clang_getCursorUnaryOperatorKind", c_int, Node)


def binary_operator(node: Node) -> str:
    """`+`, `<<=`, `,` ... of a binary or compound assignment expression; '' when unknown."""
    kind = _binary_kind(node)
    return _BINARY[kind] if 0 <= kind < len(_BINARY) else ""


def unary_operator(node: Node) -> str:
    """`-`, `&`, `++x`, `x++` ... of a unary expression; '' when unknown."""
    kind = _unary_kind(node)
    return _UNARY[kind] if 0 <= kind < len(_UNARY) else ""
