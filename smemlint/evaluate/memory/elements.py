"""Elements that a container of the C++ library holds: they live in an object of their own."""

from __future__ import annotations

from smemlint.evaluate.values.value import Cells, Object, Pointer, RecordValue
from smemlint.ir import RecordRef, Type

LIST = "std::initializer_list"
SEQUENCES = (
    "std::vector",
    "std::deque",
    "std::list",
    LIST,
    "std::optional",
    "std::variant",
    "std::queue",
    "std::stack",
    "std::priority_queue",
    "std::set",
    "std::unordered_set",
    "thrust::host_vector",
)
STRINGS = ("std::string", "std::string_view", "std::basic_string", "std::basic_string_view")
NOWHERE = 2**64 - 1
"""`std::string::npos`."""
SETS = ("std::set", "std::unordered_set")
MAPS = ("std::map", "std::unordered_map", "std::multimap")


def leads(t: Type | None) -> bool:
    """Return whether a type is one of the library's that `*` leads from: an owner, an optional object."""
    return isinstance(t, RecordRef) and t.name in ("std::optional", "std::unique_ptr", "std::shared_ptr")


def holds_elements(t: Type | None) -> bool:
    """Return whether a type is a sequence, a map or a string, which begins with a pointer to its elements."""
    return isinstance(t, RecordRef) and t.name in (*SEQUENCES, *MAPS, *STRINGS)


def with_own_elements(v: RecordValue) -> RecordValue:
    """Return a copy of a container, with copies of its elements."""
    held = v.cells.get(0)
    if not isinstance(held, Pointer) or held.object.storage != "local" or held.object.options:
        return v
    o = held.object
    copy = Object(o.id, o.name, o.type, "local", cells=Cells(o.cells), uniform=o.uniform, havoc=o.havoc)
    return RecordValue(v.type, {**v.cells, 0: Pointer(copy, held.offset, held.pointee)})
