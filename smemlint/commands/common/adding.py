"""`--add-ignore REASON`: a comment for each finding that is shown, written or shown as a patch."""

from __future__ import annotations

import argparse

from smemlint.commands import CLEAN, FAILED, FINDINGS
from smemlint.diagnose.accept import lines_without, with_ignores
from smemlint.diagnose.group import groups
from smemlint.diagnose.model import Diagnostic, Report
from smemlint.fix.deliver import EditedFile, write
from smemlint.render.summary import count, places
from smemlint.source.text import MAX_BYTES
from smemlint.system import streams
from smemlint.system.reading import UnreadableError, read_regular
from smemlint.system.streams import say
from smemlint.system.visible import visible_path

_NOT_ACCEPTED = ("SMEM904", "SMEM905")
"""Findings about comments: what is wrong with one is mended, not silenced by another."""
_UNSEEN = "SMEM907"


def add_ignores(options: argparse.Namespace, report: Report) -> int:
    """Write the comments; return the exit status: FINDINGS where a finding has none."""
    shown = [d for d in report.diagnostics if _is_accepted(d, bool(options.fail_on_unseen))]
    by_file: dict[str, list[Diagnostic]] = {}
    for d in shown:
        by_file.setdefault(d.place.path, []).append(d)
    files: list[EditedFile] = []
    left: list[Diagnostic] = []
    for path, found in sorted(by_file.items()):
        file, without = _commented(path, found, options.add_ignore)
        left += without
        if file is not None:
            files.append(file)
    failed = [] if options.diff else write(files, options.paths)
    for each in failed:
        say(f"warning: {each.message}", lines=True)
    lost = {f.path for f in failed}
    left += [d for path in lost for d in by_file[path]]
    silenced = [d for d in shown if d not in left]
    if options.diff:
        streams.put_bytes("".join(f.diff() for f in files).encode("utf-8", "surrogateescape"))
    done = len([f for f in files if f.path not in lost])
    verb = "would be silenced" if options.diff else "silenced"
    told = places(len(groups(silenced)), len(silenced))
    say(f"{told} {verb} by comments in {count(done, 'file')}")
    if failed or report.problems:
        return FAILED
    return FINDINGS if left else CLEAN


def _is_accepted(d: Diagnostic, unseen: bool) -> bool:
    return d.code not in _NOT_ACCEPTED and (d.code != _UNSEEN or unseen)


def _commented(path: str, found: list[Diagnostic], reason: str) -> tuple[EditedFile | None, list[Diagnostic]]:
    """The file with the comments, None where none could be written; the findings that have none."""
    wanted: dict[int, list[str]] = {}
    for d in found:
        wanted.setdefault(d.place.line, []).append(d.stands_for or d.code)
    try:
        before = read_regular(path, MAX_BYTES)
    except UnreadableError as error:
        say(f"warning: {visible_path(path)}: {error.message}")
        return None, found
    text = before.decode("utf-8", errors="surrogateescape")
    accepted = with_ignores(text, wanted, reason)
    for line, why in accepted.left.items():
        say(f"warning: {visible_path(path)}:{line}: {', '.join(wanted[line])}: {why}")
    if wrong := lines_without(text, accepted, wanted):
        say(f"warning: {visible_path(path)}:{wrong[0]}: a comment would not hold here; the file is left")
        return None, found
    after = accepted.text.encode("utf-8", errors="surrogateescape")
    without = [d for d in found if d.place.line in accepted.left]
    return (EditedFile(path, before, after, ()) if after != before else None), without
