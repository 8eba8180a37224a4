"""From suggestions to edited files: which can be done together, checked, compiled, shown or written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from smemlint.fix.edits.apply import EditError, apply, compatible, diff
from smemlint.fix.edits.replace import replace_file
from smemlint.fix.edits.shared_helpers import with_shared_helpers
from smemlint.fix.model import Suggestion
from smemlint.fix.proof.promise import verify
from smemlint.records import record
from smemlint.source import why_foreign
from smemlint.system.reading import UnreadableError
from smemlint.system.visible import visible, visible_path


@record(frozen=True, slots=True)
class EditedFile:
    """A file with the edits of some suggestions done in memory."""

    path: str
    before: bytes
    after: bytes
    suggestions: tuple[Suggestion, ...]

    def diff(self) -> str:
        return diff(self.path, self.before, self.after)


def together(first: EditedFile, second: EditedFile) -> EditedFile:
    """A file that was edited once more."""
    return EditedFile(first.path, first.before, second.after, (*first.suggestions, *second.suggestions))


@record(frozen=True, slots=True)
class Skipped:
    """A suggestion, or a whole file, that was not done, and why, for the user."""

    path: str
    message: str
    apart: bool = False
    """Fewer of the fixes may hold."""


def plan(
    suggestions: Sequence[Suggestion],
    read: Callable[[str], bytes],
    *,
    unsafe: bool = False,
    verify_with: str | None = None,
    recheck: Callable[[str, bytes, Sequence[Suggestion]], str | None] | None = None,
) -> tuple[list[EditedFile], list[Skipped]]:
    """The edited files, none of them written.

    Args: read — the text of a file as it was analysed. unsafe — take suggestions that are not safe as well.
    verify_with — a command that compiles each edited file. recheck — from path, edited text and suggestions:
    why the edits together do not hold, None when they do.
    """
    chosen: dict[str, list[Suggestion]] = {}
    skipped: list[Skipped] = []
    for suggestion in _distinct(suggestions):
        if suggestion.edits is None or not (suggestion.safe or unsafe):
            continue
        paths = {edit.path for edit in suggestion.edits}
        if len(paths) != 1:
            skipped += [Skipped(path, "the fix spans several files") for path in sorted(paths)]
            continue
        (path,) = paths
        others = [e for s in chosen.get(path, ()) for e in s.edits or ()]
        if not compatible(suggestion.edits, others):
            said = f"the fix of `{suggestion.array.name}` touches another one; run again for it"
            skipped.append(Skipped(path, said))
            continue
        chosen.setdefault(path, []).append(suggestion)
    files = []
    for path, accepted in chosen.items():

        def attempt(some: Sequence[Suggestion], path: str = path) -> EditedFile | Skipped:
            in_order = [s for s in chosen[path] if any(s is other for other in some)]
            return _edit_file(path, in_order, read, verify_with, recheck)

        done, left = _those_that_hold(sorted(accepted, key=lambda s: s.after - s.before), attempt)
        skipped += left
        if done is not None:
            files.append(done)
    return files, skipped


def _those_that_hold(
    suggestions: Sequence[Suggestion],
    attempt: Callable[[Sequence[Suggestion]], EditedFile | Skipped],
    kept: EditedFile | None = None,
) -> tuple[EditedFile | None, list[Skipped]]:
    """A file with those of the fixes that hold beside the ones that are kept, and why the others do not.

    All of them are tried at once, then each half by itself: not every fix needs an attempt of its own.
    """
    done = attempt((*(kept.suggestions if kept is not None else ()), *suggestions))
    if isinstance(done, EditedFile):
        return done, []
    if not done.apart:
        return kept, [done]
    if len(suggestions) == 1:
        name = suggestions[0].array.name
        return kept, [replace(done, message=f"the fix of `{name}` is left: {done.message}")]
    half = (len(suggestions) + 1) // 2
    some, first = _those_that_hold(suggestions[:half], attempt, kept)
    some, second = _those_that_hold(suggestions[half:], attempt, some)
    return some, [*first, *second] if some is not None else [done]


def _distinct(suggestions: Sequence[Suggestion]) -> list[Suggestion]:
    seen: set[object] = set()
    kept = []
    for suggestion in suggestions:
        key = suggestion.edits if suggestion.edits is not None else id(suggestion)
        if key not in seen:
            seen.add(key)
            kept.append(suggestion)
    return kept


def _edit_file(
    path: str,
    suggestions: Sequence[Suggestion],
    read: Callable[[str], bytes],
    verify_with: str | None,
    recheck: Callable[[str, bytes, Sequence[Suggestion]], str | None] | None,
) -> EditedFile | Skipped:
    try:
        before = read(path)
        after = apply([e for s in suggestions for e in s.edits or ()], before)
        after = with_shared_helpers(path, before, after)
    except EditError as error:
        return Skipped(path, visible(str(error)))
    except UnreadableError as error:
        return Skipped(path, f"{visible_path(path)}: {error.message}")
    broken = recheck(path, after, suggestions) if recheck is not None else None
    if broken is not None:
        together = f"{visible_path(path)}: the fixes do not hold together: {visible(broken)}"
        return Skipped(path, together, apart=True)
    if verify_with is not None:
        said = verify(verify_with, path, after)
        if said is not None:
            name = visible_path(path)
            why = f"{name}: the edited file does not compile, left as it is\n{said}"
            return Skipped(path, why, apart=True)
    return EditedFile(path, before, after, tuple(suggestions))


def write(files: Sequence[EditedFile], asked: Sequence[str]) -> list[Skipped]:
    """Replace the files on disk; what was not written, with the reason.

    asked: the paths that the user named.
    """
    return [failure for file in files if (failure := _write(file, asked)) is not None]


def _write(file: EditedFile, asked: Sequence[str]) -> Skipped | None:
    foreign = why_foreign(file.path, asked)
    if foreign is not None:
        return Skipped(file.path, f"{file.path}: {foreign} and is not named, left as it is")
    try:
        replace_file(Path(file.path), file.before, file.after)
    except EditError as error:
        return Skipped(file.path, visible(str(error)))
    return None


def unsafe_fixes(suggestions: Sequence[Suggestion]) -> int:
    """How many of them only `--unsafe-fixes` applies."""
    return sum(s.edits is not None and not s.safe for s in _distinct(suggestions))


def summary(files: Sequence[EditedFile], written: bool, *, unsafe: int = 0) -> str:
    """`fixed 2 arrays in 1 file: 1056 wavefronts a block become 48`, one line.

    unsafe: fixes that were left because they are not safe.
    """
    done: dict[object, list[Suggestion]] = {}
    for file in files:
        for s in file.suggestions:
            kernels = frozenset(c.kernel for c in s.sites)
            done.setdefault((file.path, s.array.name, kernels or id(s)), []).append(s)
    left = f"{unsafe} unsafe one{'s' if unsafe != 1 else ''}: add --unsafe-fixes"
    if not done:
        return f"no safe fix; {left}" if unsafe else "no fix to apply"
    arrays = f"{len(done)} array{'s' if len(done) != 1 else ''}"
    where = f"{len(files)} file{'s' if len(files) != 1 else ''}"
    # An array that was fixed once more is one fix, from where it stood first to where it ends.
    before, after = (sum(n) for n in zip(*((f[0].before, f[-1].after) for f in done.values()), strict=True))
    verb = "fixed" if written else "would fix"
    said = f"{verb} {arrays} in {where}: {before} wavefronts a block become {after}"
    return f"{said}; {left}" if unsafe else said
