"""What git knows of a working tree: lines that changed since a revision, and files as they were.

git is started for what the user asks for by name, with nothing of the repository's configuration that would
start another program.
"""

from __future__ import annotations

import os
import subprocess
import tarfile
from pathlib import Path

from smemlint.patterns import pattern
from smemlint.records import record

_GIT = ("git", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false", "-c", "core.hooksPath=/dev/null")
_HUNK = pattern(rb"^@@ -\S+ \+(\d+)(?:,(\d+))? @@")
_SECONDS = 120


class GitError(Exception):
    """git cannot answer; the text says what it said."""


@record(frozen=True, slots=True)
class Changed:
    """Lines that changed, by real path; None: the whole file is new."""

    lines: dict[str, tuple[tuple[int, int], ...] | None]

    def touches(self, path: str, first: int, last: int) -> bool:
        """Whether any line from `first` to `last` of a file changed."""
        real = os.path.realpath(path)
        if real not in self.lines:
            return False
        ranges = self.lines[real]
        return ranges is None or any(a <= last and first <= b for a, b in ranges)


def changed_since(revision: str, folder: Path) -> Changed:
    """The lines of the working tree that differ from a revision. Raises GitError."""
    root = root_of(folder)
    commit = _commit(root, revision)
    options = ("--no-color", "--no-ext-diff", "--no-textconv", "--no-renames")
    names = [n for n in _git(root, "diff", *options, "--name-only", "-z", commit, "--").split(b"\0") if n]
    found: dict[str, tuple[tuple[int, int], ...] | None] = {}
    for raw in names:
        name = os.fsdecode(raw)
        text = _git(root, "diff", *options, "--unified=0", commit, "--", f":(literal){name}")
        found[os.path.realpath(root / name)] = tuple(_ranges(text))
    for raw in _git(root, "ls-files", "--others", "--exclude-standard", "-z").split(b"\0"):
        if raw:
            found[os.path.realpath(root / os.fsdecode(raw))] = None
    return Changed(found)


def _ranges(text: bytes) -> list[tuple[int, int]]:
    ranges = []
    for line in text.split(b"\n"):
        hunk = _HUNK.match(line)
        if hunk is not None:
            first, count = int(hunk[1]), int(hunk[2]) if hunk[2] else 1
            # Where lines were taken away, those around the gap changed.
            ranges.append((first, first + count - 1) if count else (first, first + 1))
    return ranges


def root_of(folder: Path) -> Path:
    """The working tree that a folder belongs to. Raises GitError."""
    return Path(os.fsdecode(_git(folder, "rev-parse", "--show-toplevel").rstrip(b"\n")))


def exported(revision: str, folder: Path, into: Path) -> None:
    """Write the files of a revision below a folder. Raises GitError."""
    root = root_of(folder)
    archive = into.parent / f"{into.name}.tar"
    _git(root, "archive", "--format=tar", f"--output={archive}", _commit(root, revision))
    with tarfile.open(archive) as tar:
        tar.extractall(into, filter="data")
    archive.unlink()


def _commit(root: Path, revision: str) -> str:
    if not revision or revision.startswith("-"):
        raise GitError(f"`{revision}` is no revision")
    asked = f"{revision}^{{commit}}"
    return _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", asked).decode().strip()


def _git(folder: Path, *arguments: str) -> bytes:
    try:
        command = [*_GIT, *arguments]
        done = subprocess.run(command, cwd=folder, capture_output=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise GitError(f"git cannot be run: {error}") from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        what = arguments[-1].removesuffix("^{commit}") if arguments[0] == "rev-parse" else arguments[0]
        raise GitError(said[-1].removeprefix("fatal: ") if said else f"git does not know `{what}`")
    return done.stdout
