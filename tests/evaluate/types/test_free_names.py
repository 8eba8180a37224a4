"""A type is resolved once for each instance, unless it depends on what runs."""

from __future__ import annotations

from smemlint.evaluate.types.free_names import free_names, key_of
from smemlint.evaluate.values.number import Int
from smemlint.ir import ArrayOf, Binary, Literal, Module, Name, PointerTo, RecordRef, TypeParam
from smemlint.ir.types import FLOAT, INT

MODULE = Module("k.cu", "", {}, {}, {})


def test_a_plain_type_depends_on_nothing() -> None:
    assert free_names(PointerTo(ArrayOf(FLOAT, Literal(32))), MODULE) == ()


def test_parameters_of_types_and_values_are_named_once() -> None:
    extent = Binary("+", Name("N@4", "N"), Name("N@4", "N"))
    tile = RecordRef("Tile", (TypeParam("T@1", "T"), ArrayOf(TypeParam("T@1", "T"), extent)))
    assert sorted(free_names(tile, MODULE) or ()) == ["=N@4", "T@1"]


def test_a_variable_that_is_not_bound_makes_no_key() -> None:
    t = ArrayOf(FLOAT, Name("n@9", "n"))
    names = free_names(t, MODULE)
    assert names == ("=n@9",)
    assert key_of(t, names, {}) is None
    assert key_of(t, names, {"n@9": Int(4, INT)}) != key_of(t, names, {"n@9": Int(8, INT)})
    assert key_of(t, names, {"n@9": Int(4, INT)}) == key_of(t, names, {"n@9": Int(4, INT)})


def test_a_type_parameter_that_is_not_bound_stays() -> None:
    t = PointerTo(TypeParam("T@1", "T"))
    assert key_of(t, ("T@1",), {}) == key_of(t, ("T@1",), {"U@2": FLOAT})
    assert key_of(t, ("T@1",), {}) != key_of(t, ("T@1",), {"T@1": FLOAT})
