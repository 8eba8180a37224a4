"""What an analysis saw of the disk, so that its result can be kept as long as that is so.

A fact is a question about the disk and its answer, both text: the bytes of a file, whether a path exists,
what lies below a folder. Whoever looks at the disk on behalf of an analysis asks through here; `collecting`
takes in what was asked meanwhile, `remembered` answers a call again together with the facts it rests on.
"""

# Any string may be asked about, and paths are spelled as clang spells them.
# ruff: noqa: PTH110, PTH112, PTH116, PTH208

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache, wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
Value = TypeVar("Value")

Question = tuple[str, str]
"""What is asked (a key of QUESTIONS, or what `reading` and `source` note), and of which path."""
Facts = dict[Question, str]

_open: list[Facts] = []


@contextmanager
def collecting() -> Iterator[Facts]:
    """Take in every fact that is noted meanwhile, also for those who collect further out."""
    facts: Facts = {}
    _open.append(facts)
    try:
        yield facts
    finally:
        _open.pop()
        if _open:
            _open[-1].update(facts)


def note(question: Question, answer: str) -> None:
    if _open:
        _open[-1][question] = answer


def note_all(facts: Facts) -> None:
    """Note what was asked before, of a result that is used again."""
    if _open:
        _open[-1].update(facts)


def still_holds(question: Question, answer: str) -> bool:
    """Whether the disk would answer a question about a path the same way; of other questions it is taken for
    granted."""
    kind, path = question
    return kind not in QUESTIONS or QUESTIONS[kind](path) == answer


def digest(data: bytes) -> str:
    """Return what stands for some bytes."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def exists(path: str) -> bool:
    """Whether there is anything of this name, as `os.path.exists`."""
    return _asked("exists", path) == "yes"


def is_folder(path: str) -> bool:
    return _asked("folder", path) == "yes"


def is_no_folder(path: str) -> bool:
    """Whether there is something of this name that is no folder."""
    return _asked("other", path) == "yes"


def real_path(path: str) -> str:
    """The path without links, as `os.path.realpath`."""
    return _asked("real", path)


def names_in(folder: str) -> list[str]:
    """Names of what a folder holds, sorted; none where it cannot be listed."""
    return [name for name in _asked("names", folder).split("\0") if name]


def remembered(maxsize: int) -> Callable[[Callable[P, Value]], Callable[P, Value]]:
    """`lru_cache` for functions that look at the disk: a remembered answer brings its facts along."""

    def decorate(function: Callable[P, Value]) -> Callable[P, Value]:
        @lru_cache(maxsize)
        def asked(*arguments: Any) -> tuple[Value, Facts]:
            with collecting() as facts:
                value = function(*arguments)  # type: ignore[call-arg]
            return value, facts

        @wraps(function)
        def answer(*arguments: P.args, **named: P.kwargs) -> Value:
            value, facts = asked(*arguments)
            note_all(facts)
            return value

        answer.cache_clear = asked.cache_clear  # type: ignore[attr-defined]
        return answer

    return decorate


def _asked(kind: str, path: str) -> str:
    answer = QUESTIONS[kind](path)
    note((kind, path), answer)
    return answer


def _exists(path: str) -> str:
    return "yes" if os.path.exists(path) else "no"


def _is_folder(path: str) -> str:
    return "yes" if os.path.isdir(path) else "no"


def _is_no_folder(path: str) -> str:
    try:
        return "no" if stat.S_ISDIR(os.stat(path).st_mode) else "yes"
    except (OSError, ValueError):
        return "no"


def _names_in(path: str) -> str:
    try:
        return "\0".join(sorted(os.listdir(path)))
    except (OSError, ValueError):
        return ""


QUESTIONS: Mapping[str, Callable[[str], str]] = {
    "exists": _exists,
    "folder": _is_folder,
    "other": _is_no_folder,
    "names": _names_in,
    "real": os.path.realpath,
}
"""How a question about a path is answered."""
