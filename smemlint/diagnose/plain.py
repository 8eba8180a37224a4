"""Records as plain data and back: what one process found, for another that need not trust it.

A record is an object with its name and the list of its fields. Reading makes the records that are listed here
and nothing else, whatever the data says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from smemlint.diagnose.model import (
    Access,
    Cause,
    Declared,
    FileReport,
    KernelReport,
    Note,
    Problem,
    SharedEntry,
    Spread,
    Started,
    UnparsedEntry,
    Unseen,
)
from smemlint.fix.model import Refusal, SiteChange, Suggestion, TextEdit
from smemlint.ir import Place
from smemlint.rules import Finding, Label, Severity
from smemlint.score.load import Load

_RECORDS: tuple[Any, ...] = (
    Access, Cause, Declared, FileReport, Finding, KernelReport, Label, Load, Note, Place, Problem, Refusal,
    SharedEntry, SiteChange, Spread, Started, Suggestion, TextEdit, UnparsedEntry, Unseen,
)  # fmt: skip
_BY_NAME = {each.__name__: each for each in _RECORDS}
_LEFT_OUT: Mapping[str, Mapping[str, Any]] = {
    "Suggestion": {"array": None},
    "SiteChange": {"site": None},
    "FileReport": {"exhibits": []},
}
"""Fields that no report shows, and what stands for them: the trees behind them stay where they were made."""
_KIND, _FIELDS = "record", "of"


class PlainError(ValueError):
    """Data that no record was written as."""


def plain(value: Any) -> Any:
    """A record, and all that it holds, as lists, objects, strings and numbers."""
    if isinstance(value, Severity):
        return {_KIND: "Severity", _FIELDS: value.value}
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, tuple | list):
        return [plain(each) for each in value]
    if isinstance(value, Mapping):
        return {_KIND: "", _FIELDS: [[key, plain(each)] for key, each in value.items()]}
    if is_dataclass(value) and type(value).__name__ in _BY_NAME:
        name = type(value).__name__
        gone = _LEFT_OUT.get(name, {})
        held = [gone[f.name] if f.name in gone else plain(getattr(value, f.name)) for f in fields(value)]
        return {_KIND: name, _FIELDS: held}
    raise TypeError(f"{type(value).__name__} is no plain data")


def made(data: Any) -> Any:
    """What `plain` made this of; sequences are tuples. Raises PlainError."""
    if data is None or isinstance(data, str | int | float):
        return data
    if isinstance(data, list):
        return tuple(made(each) for each in data)
    try:
        kind, of = data[_KIND], data[_FIELDS]
        if kind == "Severity":
            return Severity(of)
        if kind == "":
            return {str(key): made(each) for key, each in of}
        record = _BY_NAME[kind]
        if len(of) != len(fields(record)):
            raise PlainError(f"{kind} has other fields")
        return record(*(made(each) for each in of))
    except (KeyError, TypeError, ValueError) as error:
        raise PlainError(f"no record: {error}") from None
