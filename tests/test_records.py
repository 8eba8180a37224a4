"""Records mean what dataclasses mean."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError, asdict, dataclass, field, fields, replace

import pytest

from smemlint.records import FEW, record


@record(frozen=True, slots=True)
class Point:
    x: int
    y: int = 2
    tags: tuple[str, ...] = ()
    note: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Twin:
    """The same by the standard library."""

    x: int
    y: int = 2
    tags: tuple[str, ...] = ()
    note: str = field(default="", compare=False)


@record(slots=True)
class Growing:
    """Each has a list of its own; `later` is set by nobody."""

    name: str
    items: list[int] = field(default_factory=list)
    later: int = field(init=False)

    def __post_init__(self) -> None:
        self.items.append(len(self.name))


@record(frozen=True, eq=False, slots=True)
class Alone:
    x: int


def test_an_object_is_made_shown_and_converted_as_by_the_standard_library() -> None:
    point, twin = Point(1, tags=("a",)), Twin(1, tags=("a",))
    assert repr(point) == repr(twin).replace("Twin", "Point")
    assert asdict(point) == asdict(twin)
    assert [f.name for f in fields(Point)] == [f.name for f in fields(Twin)]
    assert replace(point, y=5) == Point(1, 5, ("a",))


def test_fields_that_are_not_compared_make_no_difference() -> None:
    assert Point(1, note="a") == Point(1, note="b")
    assert hash(Point(1, note="a")) == hash(Point(1, note="b"))
    other: object = Twin(1)
    assert Point(1) != Point(2) and Point(1) != other


def test_a_frozen_record_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        Point(1).x = 2  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        del Point(1).x


def test_a_frozen_record_survives_the_way_to_another_process() -> None:
    assert pickle.loads(pickle.dumps(Point(1, 3, ("a",)))) == Point(1, 3, ("a",))


def test_each_object_has_containers_of_its_own() -> None:
    first, second = Growing("ab"), Growing("abc")
    assert (first.items, second.items) == ([2], [3])
    assert Growing("ab", [7]).items == [7, 2]
    with pytest.raises(TypeError):
        hash(first)


def test_without_comparison_only_the_object_itself_is_equal() -> None:
    one = Alone(1)
    assert one == one and one != Alone(1) and len({one, Alone(1)}) == 2


def test_arguments_that_do_not_fit_are_type_errors() -> None:
    with pytest.raises(TypeError, match="x"):
        Point()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="x"):
        Point(1, x=2)  # type: ignore[misc]
    with pytest.raises(TypeError, match="z"):
        Point(1, z=2)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        Point(1, 2, (), "", 5)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="later"):
        Growing("a", later=2)  # type: ignore[call-arg]


def test_the_first_objects_of_a_class_are_as_those_after_many() -> None:
    """Only of classes with many objects an `__init__` is compiled."""

    @record(slots=True)
    class Kept:
        name: str
        of: Point
        items: list[int] = field(default_factory=list)
        later: int = field(init=False, default=4)

        def __post_init__(self) -> None:
            self.items.append(self.later)

    made = [Kept("a", of=Point(n)) for n in range(3 * FEW)]
    assert [k.of.x for k in made] == list(range(3 * FEW))
    assert {(k.name, tuple(k.items), k.later) for k in made} == {("a", (4,), 4)}
    assert len({id(k.items) for k in made}) == 3 * FEW


@record(frozen=True, slots=True)
class Placed(Point):
    z: int = 3
    seen: dict[str, int] = field(default_factory=dict, init=False)


def test_the_fields_of_a_base_come_first_and_lie_in_its_slots() -> None:
    placed = Placed(1, z=5)
    assert [f.name for f in fields(placed)] == ["x", "y", "tags", "note", "z", "seen"]
    assert (placed.y, placed.z, placed.seen) == (2, 5, {})
    assert Placed.__match_args__ == ("x", "y", "tags", "note", "z")
    assert not hasattr(placed, "__dict__")
    assert replace(placed, x=9) == Placed(9, z=5)


def test_a_field_may_be_called_self_in_the_first_objects_too() -> None:
    @record(frozen=True, slots=True)
    class Bound:
        self: int
        by: int = 1

    for _ in range(FEW + 2):
        assert replace(Bound(3, 4), self=5) == Bound(self=5, by=4)
