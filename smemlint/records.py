"""The standard library's dataclasses, made without the time that making them takes.

`dataclass` compiles up to seven methods of source text for each class as it is defined, about a millisecond:
for the two hundred of this project more than everything else that a small file needs. `record` has the same
meaning, and type checkers read it as `dataclass` itself; fields(), replace() and asdict() work. Comparison,
hash and repr are written once for all classes, and __init__ is compiled for those of which many objects are
made. The fields are listed without the search for what is none: each annotation of a record is a field.
"""

from __future__ import annotations

from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from operator import attrgetter
from types import MemberDescriptorType
from typing import TYPE_CHECKING, Any

__all__ = ["record"]

FEW = 50
"""Objects of a class whose fields are set one by one: to compile __init__ costs as much as about so many."""

if TYPE_CHECKING:
    from dataclasses import dataclass as record
else:

    def record(cls=None, /, *, frozen=False, slots=False, eq=True):
        """dataclass(frozen=, slots=, eq=), as a decorator with or without arguments."""

        def made(cls):
            return _made(cls, frozen, slots, eq)

        return made if cls is None else made(cls)


def _made(cls: Any, frozen: bool, slots: bool, eq: bool) -> Any:
    cls.__doc__ = cls.__doc__ or cls.__name__
    made = _with_fields(cls, slots)
    if "__repr__" not in cls.__dict__:
        made.__repr__ = _repr
    if eq:
        names = [f.name for f in fields(made) if f.compare]
        _compare(made, attrgetter(*names) if names else lambda _: (), frozen)
    if frozen:
        made.__setattr__, made.__delattr__ = _set, _delete
        if slots:  # what pickle does with slots would set attributes
            made.__getstate__, made.__setstate__ = _state, _restore

    left = FEW

    def first(self: Any, /, *arguments: Any, **named: Any) -> None:
        nonlocal left
        left -= 1
        if left < 0 or not _is_filled(self, made, frozen, arguments, named):
            made.__init__ = _initialiser(made, frozen)
            made.__init__(self, *arguments, **named)

    made.__init__ = first
    return made


@dataclass(init=False, repr=False, eq=False)
class _Sample:
    """What the standard library notes of a class, to note the same."""

    name: int


_PARAMETERS = _Sample.__dataclass_params__  # type: ignore[attr-defined]
_PLAIN = fields(_Sample)[0]._field_type  # type: ignore[attr-defined]


def _with_fields(cls: Any, slots: bool) -> Any:
    """The class with its fields listed, those of its bases first; with slots another one, as with
    `dataclass`."""
    known: dict[str, Field[Any]] = {}
    for base in cls.__mro__[-1:0:-1]:
        known.update(getattr(base, "__dataclass_fields__", {}))
    own: dict[str, Any] = dict(cls.__annotations__)
    for name, type_ in own.items():
        default = cls.__dict__.get(name, MISSING)
        one: Any = default if isinstance(default, Field) else field(default=default)
        one.name, one.type, one._field_type, one.kw_only = name, type_, _PLAIN, False
        known[name] = one
        if isinstance(default, Field):
            if default.default is MISSING:
                delattr(cls, name)
            else:
                setattr(cls, name, default.default)
    noted = {
        "__dataclass_fields__": known,
        "__dataclass_params__": _PARAMETERS,
        "__match_args__": tuple(name for name, one in known.items() if one.init),
    }
    if not slots:
        for name, value in noted.items():
            setattr(cls, name, value)
        return cls
    kept = {k: v for k, v in cls.__dict__.items() if k not in own and k not in ("__dict__", "__weakref__")}
    taken = {name for base in cls.__mro__[1:] for name in getattr(base, "__slots__", ())}
    kept["__slots__"] = tuple(name for name in own if name not in taken)
    made = type(cls)(cls.__name__, cls.__bases__, {**kept, **noted})
    made.__qualname__ = cls.__qualname__
    return made


def _compare(made: Any, values: Any, frozen: bool) -> None:
    def equal(self: Any, other: Any) -> Any:
        if self is other:
            return True
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    def hashed(self: Any) -> int:
        return hash(values(self))

    made.__eq__ = equal
    if "__hash__" not in made.__dict__:
        made.__hash__ = hashed if frozen else None


def _is_filled(self: Any, made: Any, frozen: bool, arguments: tuple[Any, ...], named: dict[str, Any]) -> bool:
    """Set each field as the compiled `__init__` does; False where the arguments do not fit."""
    known = made.__dataclass_fields__.values()
    names = [f.name for f in known if f.init]
    given = dict(zip(names, arguments, strict=False))
    if len(arguments) > len(names) or not (named.keys() <= set(names[len(arguments) :])):
        return False
    given.update(named)
    put = object.__setattr__ if frozen else setattr
    for f in known:
        if f.name in given:
            put(self, f.name, given[f.name])
        elif f.default_factory is not MISSING:
            put(self, f.name, f.default_factory())
        elif f.default is not MISSING:
            put(self, f.name, f.default)
        elif f.init:
            return False
    if hasattr(made, "__post_init__"):
        self.__post_init__()
    return True


def _initialiser(made: Any, frozen: bool) -> Any:
    """`def __init__(self, a, b=default)` that sets each field and calls __post_init__."""
    known: dict[str, Any] = {"_missing": MISSING, "_set": object.__setattr__}
    parameters, lines = ["_made"], []  # a field may itself be called self
    for f in fields(made):
        made_by, default = f.default_factory, f.default
        value = f.name
        if made_by is not MISSING:
            known[f"_new_{f.name}"] = made_by
            value = f"_new_{f.name}()"
        elif default is not MISSING:
            known[f"_default_{f.name}"] = default
        if f.init and made_by is not MISSING:
            parameters.append(f"{f.name}=_missing")
            value = f"{value} if {f.name} is _missing else {f.name}"
        elif f.init:
            parameters.append(f.name if default is MISSING else f"{f.name}=_default_{f.name}")
        elif default is not MISSING:
            value = f"_default_{f.name}"
        elif made_by is MISSING:
            continue
        slot = made.__dict__.get(f.name) if frozen else None
        if isinstance(slot, MemberDescriptorType):  # straight into the slot: half the time of `_set`
            known[f"_put_{f.name}"] = slot.__set__
            lines.append(f"_put_{f.name}(_made, {value})")
        else:
            lines.append(f"_set(_made, {f.name!r}, {value})" if frozen else f"_made.{f.name} = {value}")
    if hasattr(made, "__post_init__"):
        lines.append("_made.__post_init__()")
    body = "\n    ".join(lines or ["pass"])
    exec(f"def __init__({', '.join(parameters)}):\n    {body}\n", known)
    known["__init__"].__qualname__ = f"{made.__qualname__}.__init__"
    return known["__init__"]


def _repr(self: Any) -> str:
    shown = ", ".join(f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if f.repr)
    return f"{type(self).__qualname__}({shown})"


def _set(self: Any, name: str, value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _delete(self: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, f.name) for f in fields(self)]


def _restore(self: Any, state: list[Any]) -> None:
    for f, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, f.name, value)
