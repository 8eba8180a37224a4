"""Types that hold others many times over are compared and hashed once each."""

from __future__ import annotations

import gc
import pickle

from smemlint.ir import RecordRef, nodes
from smemlint.ir.nodes import INT, Scalar
from smemlint.ir.types import UINT


def _nested(depth: int, innermost: Scalar) -> RecordRef:
    """`P<P<A<int>, A<int>>, P<A<int>, A<int>>>` and so on: twice as large with each level."""
    t = RecordRef("A", (innermost,))
    for _ in range(depth):
        t = RecordRef("P", (t, t))
    return t


def test_nested_types_are_compared_in_no_time() -> None:
    one, twin = _nested(120, INT), _nested(120, INT)
    assert one == twin
    assert hash(one) == hash(twin)
    assert one != _nested(120, UINT)
    assert one != _nested(119, INT)


def test_a_copy_is_equal_and_prints_as_before() -> None:
    t = RecordRef("A", (INT, RecordRef("B")))
    hash(t)
    assert pickle.loads(pickle.dumps(t)) == t
    assert repr(RecordRef("B")) == "RecordRef(name='B', arguments=())"
    assert RecordRef("B") != "B"


def test_what_no_type_needs_is_forgotten() -> None:
    gc.collect()
    before = len(nodes._KINDS)
    t = _nested(40, INT)
    hash(t)
    assert len(nodes._KINDS) > before
    del t
    gc.collect()
    assert len(nodes._KINDS) == before
