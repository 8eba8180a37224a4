"""Classes and their bases: where the part of an object lies that a reference to a base leads to."""

from __future__ import annotations

from collections.abc import Iterator

from smemlint.evaluate.types.layout import Types
from smemlint.evaluate.types.record_layout import Layout
from smemlint.ir import RecordRef, Type, TypeParam

DEEPEST = 8
"""Classes above one another."""


def bases_of(types: Types, t: Type, *, empty: bool = False) -> Iterator[tuple[RecordRef, int, Layout]]:
    """The bases of a record that have members, and where they begin. empty: those without members, too."""
    found, layout = types.record_of(t), types.layout(t)
    if found is None or layout is None:
        return
    for base in types.bases(*found):
        inner = types.layout(base)
        if inner and isinstance(base, RecordRef) and (inner.fields or empty) and base in layout.bases:
            yield base, layout.bases[base], inner


def base_called(types: Types, t: RecordRef, name: str) -> RecordRef | None:
    """The base that a constructor of a record means by a name: its class, or the template parameter that it
    is."""
    found = types.record_of(t)
    for base in found[0].written_bases if found is not None else ():
        resolved = types.resolve(base, found[1]) if found is not None else base
        if isinstance(resolved, RecordRef) and name in (
            resolved.name.rsplit("::", 1)[-1],
            base.name if isinstance(base, TypeParam) else None,
        ):
            return resolved
    return None


def owner_of(types: Types, t: Type, record: str, *, dynamic: bool = False) -> tuple[int, RecordRef] | None:
    """The base of a class that is an instance of a record, and where it begins; None: there is none, or the
    class has a virtual table. dynamic: also of such a class."""
    if not isinstance(t, RecordRef) or record == t.name:
        return None
    layout, own = types.layout(t), types.record_of(t)
    if layout is None or layout.dynamic > dynamic or (own is not None and own[0].name == record):
        return None
    for base, at in _all_bases(types, t, DEEPEST):
        found = types.record_of(base)
        if record == base.name or (found is not None and found[0].name == record):
            return at, base
    return None


def _all_bases(types: Types, t: RecordRef, deepest: int) -> Iterator[tuple[RecordRef, int]]:
    """The bases of a record and theirs, each before its own, and where they begin."""
    for base, at, _ in bases_of(types, t, empty=True) if deepest else ():
        yield base, at
        for inner, further in _all_bases(types, base, deepest - 1):
            yield inner, at + further


def is_known_as(types: Types, given: Type, wanted: Type) -> bool:
    """Whether a class with a virtual table has a base that a pointer to it names."""
    if not isinstance(given, RecordRef) or not isinstance(wanted, RecordRef) or given == wanted:
        return False
    layout, found = types.layout(given), types.record_of(given)
    if layout is None or not layout.dynamic or found is None:
        return False
    return any(base == wanted or is_known_as(types, base, wanted) for base in types.bases(*found))


def is_of_base(types: Types, given: Type, record: str) -> bool:
    """Whether a class derives from an instance of a record."""
    found = types.record_of(given)
    bases = types.bases(*found) if found is not None else []
    known = [types.record_of(base) for base in bases]
    return any(k is not None and k[0].name == record for k in known) or any(
        is_of_base(types, base, record) for base in bases
    )


def shift_to(types: Types, given: Type, wanted: Type) -> int | None:
    """Bytes from where an object begins to the part of it that a cast to a base names, or back to the object
    from a base; None where neither is a base of the other, or one has a virtual table, which tells what an
    object is whatever it is called."""
    if not isinstance(given, RecordRef) or not isinstance(wanted, RecordRef) or given == wanted:
        return None
    up = _offset(types, given, wanted)
    down = _offset(types, wanted, given) if up is None else None
    return up if down is None else -down


def _offset(types: Types, derived: RecordRef, base: RecordRef) -> int | None:
    layout = types.layout(derived)
    if layout is None or layout.dynamic:
        return None
    return next((at for one, at in _all_bases(types, derived, DEEPEST) if one == base), None)


def steps_to_base(types: Types, given: Type, wanted: Type) -> int | None:
    """How many classes above one its base stands; None: it is no base."""
    found = types.record_of(given) if isinstance(given, RecordRef) and isinstance(wanted, RecordRef) else None
    bases = tuple(types.bases(*found)) if found is not None else ()
    if wanted in bases:
        return 1
    above = [n for base in bases if (n := steps_to_base(types, base, wanted)) is not None]
    return 1 + min(above) if above else None
