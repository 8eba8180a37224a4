"""Reports that are kept: a file is not analysed again while nothing that its analysis saw has changed.

An entry is found by the job (path, options, working folder, version) and holds the facts that the analysis
rests on (see `observed`): the bytes of each file it read, the names it looked for and did not find, the
listings of folders. It counts while all of them are as they were. Files whose size and times are those of
the entry are taken as unchanged; of others the bytes are compared.

Entries lie in a folder of the user's own, one file each, moved into place when whole, so that runs may share
them. A damaged entry is a missing one. Text in an entry makes no objects but those of reports.
"""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import time
from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smemlint.records import record
from smemlint.system import clock
from smemlint.system.folders import cache_folders, is_ours
from smemlint.system.observed import QUESTIONS, Facts, Question, collecting, digest
from smemlint.system.reading import UnreadableError, read_regular

if TYPE_CHECKING:
    from smemlint.diagnose.model import FileReport
    from smemlint.running.jobs import Job

FOLDER = "results"
PLACE = "SMEMLINT_CACHE_DIR"
"""Names another folder for the entries, in the environment."""
MOST_BYTES = 256 * 2**20
"""Entries beyond this go, the longest unused first."""
MOST_ENTRY = 32 * 2**20
"""A larger entry is not kept."""
KEEP = 0.8
"""Of MOST_BYTES: what is left after entries had to go."""
SETTLED = 2 * 10**9
"""Nanoseconds after its last change from which on a file's times tell of the next one."""
_FORMAT = 1
_Stamp = tuple[int, int, int, int]
"""Size, modification and status change in nanoseconds, number of the file."""


@record(frozen=True, slots=True)
class Entry:
    """facts: what the report rests on. stamps: of the files among them, where their times can be trusted."""

    facts: Facts
    stamps: dict[str, _Stamp]
    report: FileReport


class _Reader(pickle.Unpickler):
    """Makes records of this package and the standard library's paths and nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        if module.partition(".")[0] == "smemlint" and "." not in name:
            found = super().find_class(module, name)
            if isinstance(found, type):
                return found
        raise pickle.UnpicklingError(f"{module}.{name} is no part of a report")


class Cache:
    """The entries of one user. folder: where they lie."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._answers: dict[Question, str] = {}

    def look_again(self) -> None:
        """Forget what the disk has answered so far."""
        self._answers.clear()

    def find(self, job: Job) -> FileReport | None:
        """Return the report of a job as it would be made now, or None where that is not known."""
        path = self.folder / _key(job)
        try:
            with path.open("rb") as file:
                entry = _Reader(file).load()
            facts, stamps, report = entry.facts, entry.stamps, entry.report
        except FileNotFoundError:
            return None
        except Exception:  # whatever a damaged entry makes of the reader
            with contextlib.suppress(OSError):
                path.unlink()
            return None
        for question, answer in facts.items():
            if self._answer(question, answer, stamps) != answer:
                return None
        with contextlib.suppress(OSError):
            os.utime(path)
        return report  # type: ignore[no-any-return]

    def keep(self, job: Job, facts: Facts, report: FileReport) -> None:
        """Write an entry. What cannot be written is not kept."""
        stamps = {}
        for kind, path in facts:
            stamp = _stamp(path) if kind == "bytes" else None
            if stamp is not None and max(stamp[1:3]) < time.time_ns() - SETTLED:
                stamps[path] = stamp
        buffer = io.BytesIO()
        pickle.dump(Entry(facts, stamps, report), buffer, protocol=5)
        if buffer.tell() > MOST_ENTRY:
            return
        import tempfile

        with contextlib.suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            handle, name = tempfile.mkstemp(dir=self.folder)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(buffer.getbuffer())
                Path(name).replace(self.folder / _key(job))
            except OSError:
                Path(name).unlink(missing_ok=True)
                raise

    def trim(self) -> None:
        """Remove the entries that were unused for longest, where there are too many bytes of them."""
        sizes = []
        for path in self._entries():
            with contextlib.suppress(OSError):
                status = path.stat()
                sizes.append((status.st_mtime_ns, status.st_size, path))
        total = sum(size for _, size, _ in sizes)
        if total <= MOST_BYTES:
            return
        for _, size, path in sorted(sizes):
            if total <= KEEP * MOST_BYTES:
                return
            with contextlib.suppress(OSError):
                path.unlink()
                total -= size

    def clean(self) -> tuple[int, int]:
        """Remove all entries; return how many, and their bytes."""
        count = total = 0
        for path in self._entries():
            with contextlib.suppress(OSError):
                size = path.stat().st_size
                path.unlink()
                count, total = count + 1, total + size
        return count, total

    def _entries(self) -> Iterable[Path]:
        try:
            return [path for path in self.folder.iterdir() if path.is_file()]
        except OSError:
            return []

    def _answer(self, question: Question, expected: str, stamps: dict[str, _Stamp]) -> str:
        """What the disk says, asked once until `look_again`. expected: the answer of an unchanged stamp."""
        if question not in self._answers:
            kind, path = question
            same = kind == "bytes" and path in stamps and _stamp(path) == stamps[path]
            self._answers[question] = expected if same else _ask(kind, path)
        return self._answers[question]


def open_cache() -> Cache | None:
    """The user's own cache, None where there is no folder that is his alone.

    The environment may name another place: SMEMLINT_CACHE_DIR.
    """
    named = os.environ.get(PLACE)
    if named:
        return Cache(Path(named)) if is_ours(Path(named)) else None
    for folder in cache_folders():
        if is_ours(folder):
            return Cache(folder / FOLDER)
    return None


def is_kept(job: Job, report: FileReport) -> bool:
    """Whether a report would be the same next time: not where something went wrong or time ended it."""
    return job.text is None and not report.problems and not clock.ended()


def _ask(kind: str, path: str) -> str:
    if kind in ("bytes", "unreadable"):
        return _read(kind, path)
    asked: dict[str, Callable[[str], str]] = {**QUESTIONS, **_listings()}
    return asked[kind](path) if kind in asked else "?"


def _read(kind: str, path: str) -> str:
    """What `reading` notes of a file. An unreadable one is named with the limit that was set: `1000 PATH`."""
    limit, _, name = path.partition(" ") if kind == "unreadable" else (str(MOST_ENTRY), "", path)
    with collecting() as facts, contextlib.suppress(UnreadableError):
        read_regular(name, int(limit))
    return facts.get((kind, path), "")


@lru_cache(maxsize=1)
def _listings() -> dict[str, Callable[[str], str]]:
    from smemlint.source.project import digest_of, listed
    from smemlint.source.users import found_below

    return {
        "listed": lambda path: digest_of(listed(path)),
        "below": lambda path: digest_of(found_below(path)),
    }


def _stamp(path: str) -> _Stamp | None:
    try:
        s = os.stat(path)  # noqa: PTH116  any string may be asked
    except (OSError, ValueError):
        return None
    return s.st_size, s.st_mtime_ns, s.st_ctime_ns, s.st_ino


def _key(job: Job) -> str:
    """The name of a job's entry."""
    options = job.options
    asked = [repr(getattr(options, name)) for name in type(options).__slots__ if name != "blocks"]
    blocks = sorted(options.blocks.items())
    # Shown paths depend on the working folder, and the end of a search on the time there is.
    parts = (_FORMAT, _version(), str(Path.cwd()), job.path, job.named, job.seconds, asked, blocks)
    return digest(repr(parts).encode("utf-8", "surrogateescape"))


@lru_cache(maxsize=1)
def _version() -> str:
    """What changes with the program: its version, size and time of each of its files, and added rules."""
    from smemlint import __version__
    from smemlint.rules.added import added

    top = Path(__file__).parents[1]  # the whole package, wherever in it this module stands
    seen = []
    for folder, folders, names in os.walk(top):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in sorted(names):
            status = os.stat(os.path.join(folder, name))  # noqa: PTH116, PTH118
            seen.append((folder, name, status.st_size, status.st_mtime_ns))
    return f"{__version__} {digest(repr((seen, added().stamp)).encode())}"
