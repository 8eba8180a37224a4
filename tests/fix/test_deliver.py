"""Suggestions become files: together where they can, compiled where asked, never over a change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from smemlint.evaluate.model import Site
from smemlint.fix.deliver import plan, summary, unsafe_fixes, write
from smemlint.fix.model import SiteChange, Suggestion, TextEdit, renamed
from tests.fix.cases import array, place

TEXT = b"float a[4];\nfloat b[4];\n"


def suggestion(path: str, offset: int, text: str = "4", safe: bool = True) -> Suggestion:
    edit = TextEdit(path, offset, offset + len(text), "5", text)
    return Suggestion("padding", array(4, name=f"at{offset}"), "pad", (edit,), None, safe, ())


@pytest.fixture
def path(tmp_path: Path) -> str:
    file = tmp_path / "a.cu"
    file.write_bytes(TEXT)
    return str(file)


def read(path: str) -> bytes:
    return Path(path).read_bytes()


def test_safe_fixes_of_one_file_are_done_together(path: str) -> None:
    files, skipped = plan([suggestion(path, 8), suggestion(path, 20)], read)
    assert not skipped
    assert [f.after for f in files] == [b"float a[5];\nfloat b[5];\n"]
    assert write(files, [path]) == []
    assert read(path) == b"float a[5];\nfloat b[5];\n"
    assert summary(files, True).startswith("fixed 2 arrays in 1 file")


def test_unsafe_fixes_wait_to_be_asked_for(path: str) -> None:
    unsafe = suggestion(path, 8, safe=False)
    assert plan([unsafe], read) == ([], [])
    assert len(plan([unsafe], read, unsafe=True)[0]) == 1


def test_fixes_that_are_left_because_they_are_unsafe_are_counted(path: str) -> None:
    left = [
        suggestion(path, 8, safe=False),
        suggestion(path, 8, safe=False),
        suggestion(path, 20, safe=False),
    ]
    assert unsafe_fixes(left) == 2
    assert summary([], False, unsafe=2) == "no safe fix; 2 unsafe ones: add --unsafe-fixes"
    assert summary([], True) == "no fix to apply"
    files, _ = plan([suggestion(path, 8)], read)
    assert summary(files, False, unsafe=1).endswith("; 1 unsafe one: add --unsafe-fixes")


def test_the_same_fix_seen_twice_is_done_once(path: str) -> None:
    files, skipped = plan([suggestion(path, 8), suggestion(path, 8)], read)
    assert not skipped and len(files[0].suggestions) == 1


def test_of_two_fixes_that_touch_the_first_is_done_and_the_second_told(path: str) -> None:
    files, skipped = plan([suggestion(path, 8), suggestion(path, 7, "[4]")], read)
    assert len(files) == 1 and files[0].after == b"float a[5];\nfloat b[4];\n"
    assert len(skipped) == 1 and "touches another one" in skipped[0].message


def test_a_file_that_changed_since_is_told_and_left(path: str) -> None:
    fix = suggestion(path, 8)
    Path(path).write_bytes(b"int x;\n")
    files, skipped = plan([fix], read)
    assert not files and "not what was analysed" in skipped[0].message


def test_a_file_that_changes_before_it_is_written_is_left(path: str) -> None:
    files, _ = plan([suggestion(path, 8)], read)
    Path(path).write_bytes(b"int x;\n")
    assert "changed" in write(files, [path])[0].message
    assert read(path) == b"int x;\n"


def test_a_file_that_does_not_compile_is_left_with_what_the_compiler_said(path: str) -> None:
    files, skipped = plan([suggestion(path, 8)], read, verify_with="sh -c 'echo no such type; exit 1' --")
    assert not files and "no such type" in skipped[0].message
    assert len(plan([suggestion(path, 8)], read, verify_with="grep -q 'a\\[5\\]' {}")[0]) == 1
    assert [p.name for p in Path(path).parent.iterdir()] == ["a.cu"]


def test_a_verify_command_that_is_not_there_is_told(path: str) -> None:
    files, skipped = plan([suggestion(path, 8)], read, verify_with="/no/such/compiler")
    assert not files and "No such file" in skipped[0].message


def test_fixes_that_do_not_hold_together_are_left(path: str) -> None:
    files, skipped = plan([suggestion(path, 8)], read, recheck=lambda *_: "`a` keeps its conflict")
    assert not files and "do not hold together: `a` keeps" in skipped[0].message


LINES = b"".join(b"float %c[4];\n" % name for name in b"abcdefgh")


def eight(folder: Path) -> list[Suggestion]:
    """One fix for each of eight arrays, in the order of the text."""
    path = folder / "eight.cu"
    path.write_bytes(LINES)
    return [suggestion(str(path), 8 + 12 * n) for n in range(8)]


def test_of_fixes_that_do_not_hold_together_those_are_done_that_do(tmp_path: Path) -> None:
    tried: list[int] = []

    def recheck(_path: str, data: bytes, some: Sequence[Suggestion]) -> str | None:
        tried.append(len(some))
        return "`f` gets worse" if b"f[5]" in data else None

    files, skipped = plan(eight(tmp_path), read, recheck=recheck)
    assert [f.after for f in files] == [LINES.replace(b"[4]", b"[5]").replace(b"f[5]", b"f[4]")]
    assert [len(f.suggestions) for f in files] == [7]
    assert [s.message.partition(":")[0] for s in skipped] == ["the fix of `at68` is left"]
    assert len(tried) < 8  # not one after the other


def test_what_saves_most_is_done_where_one_of_two_fixes_holds(path: str) -> None:
    site = Site(place(), "load", 4, "t", "t[...]")
    little, much = (
        replace(suggestion(path, at), sites=(SiteChange("k", site, before, 1, 1),))
        for at, before in ((8, 2), (20, 32))
    )
    files, skipped = plan(
        [little, much], read, recheck=lambda _path, _data, some: "both" if len(some) > 1 else None
    )
    assert [f.after for f in files] == [b"float a[4];\nfloat b[5];\n"]
    assert ["at8" in s.message for s in skipped] == [True]


def test_where_no_subset_compiles_the_compiler_is_told_once(tmp_path: Path) -> None:
    files, skipped = plan(eight(tmp_path), read, verify_with="sh -c 'echo no such type; exit 1' --")
    assert not files and len(skipped) == 1 and "no such type" in skipped[0].message


def test_paths_are_renamed_everywhere() -> None:
    shown = renamed(suggestion("/x/a.cu", 8), lambda path: path.removeprefix("/x/"))
    assert shown.edits is not None and shown.edits[0].path == "a.cu"
    assert shown.array.place.path == "a.cu"
