"""One run spread over several machines: which files each analyses, and what it hands on.

A file belongs to a shard by its content, whatever it is called and in which order files are given. A report
in JSON or SARIF of a shard holds all that was found of its files, packed, so that `merge` can do what comes
after the analysis once, over all files, as one run does.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from smemlint import __version__
from smemlint.diagnose.model import FileReport, Problem
from smemlint.diagnose.plain import PlainError, made, plain
from smemlint.records import record
from smemlint.source.text import MAX_BYTES
from smemlint.system.reading import UnreadableError, read_regular

if TYPE_CHECKING:
    from smemlint.running.jobs import Job

MOST = 1024
"""Shards of a run."""
MOST_BYTES = 2**30
"""Unpacked data of one shard."""


class ShardError(Exception):
    """A report that is no shard, or shards that do not belong together; the text says why."""


@record(frozen=True, slots=True)
class Shard:
    """Shard `number` of `count`.

    files: of the whole run. said: what the command line said of what is shown. found: the number of each
    file among all and its report. lost, wrong: what was told of paths that lead to no file, and of
    configurations, by every shard. digests: of its files, by path as shown. texts: of those that do not lie
    on disk.
    """

    number: int
    count: int
    files: str
    said: Mapping[str, Any]
    found: tuple[tuple[int, FileReport], ...]
    lost: tuple[FileReport, ...]
    wrong: tuple[Problem, ...]
    digests: Mapping[str, str]
    texts: Mapping[str, str]


def parse(text: str) -> tuple[int, int]:
    """`2/4` -> (2, 4). Raises ValueError."""
    match = re.fullmatch(r"([0-9]{1,4})/([0-9]{1,4})", text)
    if match is None:
        raise ValueError(f"expected I/N, such as 2/4, got `{text[:20]}`")
    number, count = int(match[1]), int(match[2])
    if not 1 <= count <= MOST or not 1 <= number <= count:
        raise ValueError(f"expected I/N with I from 1 to N and N up to {MOST}, got `{text}`")
    return number, count


def digest(path: str, text: str | None = None) -> str:
    """Of the bytes of a file, or of its text where it does not lie on disk; '' where it cannot be read."""
    if text is not None:
        return sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
    try:
        return sha256(read_regular(path, MAX_BYTES)).hexdigest()
    except UnreadableError:
        return ""


def of(jobs: Sequence[Job], number: int, count: int) -> list[int]:
    """The numbers of the jobs that belong to a shard. One that cannot be read goes by its path."""
    chosen = []
    for at, job in enumerate(jobs):
        known = digest(job.path, job.text) or sha256(job.path.encode(errors="replace")).hexdigest()
        if int(known, 16) % count == number - 1:
            chosen.append(at)
    return chosen


def list_digest(paths: Sequence[str]) -> str:
    """Of the list of files of a run."""
    return sha256("\0".join(paths).encode(errors="surrogateescape")).hexdigest()[:16]


def packed(shard: Shard) -> dict[str, Any]:
    """A shard as a report holds it."""
    data = {
        "files": shard.files,
        "said": dict(shard.said),
        "found": [[at, plain(report)] for at, report in shard.found],
        "lost": [plain(report) for report in shard.lost],
        "wrong": [plain(problem) for problem in shard.wrong],
        "digests": dict(shard.digests),
        "texts": dict(shard.texts),
    }
    text = base64.b64encode(zlib.compress(json.dumps(data).encode(), 9)).decode()
    return {"number": shard.number, "of": shard.count, "version": __version__, "data": text}


def unpacked(data: Any) -> Shard:
    """The shard in the value of a report's key. Raises ShardError."""
    try:
        version, number, count = data["version"], data["number"], data["of"]
        if version != __version__:
            raise ShardError(f"was made by smemlint {version}, this is {__version__}")
        held = json.loads(_unzipped(base64.b64decode(data["data"], validate=True)))
        return Shard(
            int(number),
            int(count),
            str(held["files"]),
            dict(held["said"]),
            tuple((int(at), made(report)) for at, report in held["found"]),
            tuple(made(report) for report in held["lost"]),
            tuple(made(problem) for problem in held["wrong"]),
            dict(held["digests"]),
            dict(held["texts"]),
        )
    except (KeyError, TypeError, ValueError, PlainError, binascii.Error, zlib.error) as error:
        raise ShardError(f"holds a damaged shard: {error}") from None


def _unzipped(data: bytes) -> bytes:
    reader = zlib.decompressobj()
    text = reader.decompress(data, MOST_BYTES)
    if reader.unconsumed_tail or not reader.eof:
        raise ValueError("it is cut off or too large")
    return text


def checked(shards: Mapping[str, Shard], shown: Callable[[str], str]) -> list[Shard]:
    """All shards of one run in order, by the file that each is from. Raises ShardError."""
    by_number: dict[int, str] = {}
    first_path, first = next(iter(shards.items()))
    for path, shard in shards.items():
        if shard.count != first.count:
            raise ShardError(f"{path} is one of {shard.count} shards, {first_path} one of {first.count}")
        if (shard.files, shard.said) != (first.files, first.said):
            what = "files" if shard.files != first.files else "options"
            raise ShardError(f"{path} and {first_path} are of runs with other {what}")
        if shard.number in by_number:
            raise ShardError(f"{path} and {by_number[shard.number]} are both shard {shard.number}")
        by_number[shard.number] = path
    missing = [str(n) for n in range(1, first.count + 1) if n not in by_number]
    if missing:
        noun = "shard" if len(missing) == 1 else "shards"
        raise ShardError(f"{noun} {', '.join(missing)} of {first.count} missing")
    ordered = [shards[by_number[n]] for n in sorted(by_number)]
    for shard in ordered:
        for path, known in shard.digests.items():
            if path not in shard.texts and known and digest(path) != known:
                raise ShardError(f"{shown(path)}: is not the file that shard {shard.number} analysed")
    return ordered
