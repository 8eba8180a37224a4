"""Patches of files with any name and any bytes: `git apply` and `patch -p1` take them."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from smemlint.fix.edits.apply import diff

BEFORE = b"int a;\n\x0c// \xff\x1b \xe2\x80\xa8 \x1c \x85\rint b;\r\nint c;"
AFTER = BEFORE.replace(b"int a", b"int z")
NAMES = (
    b"plain.cu",
    b"sub dir/a b.cu",
    b'quo"te.cu',
    b"back\\slash.cu",
    b"tab\there.cu",
    b"line\nfeed.cu",
    b"\xc3\xa9.cu",
    b"\xff\xfe.cu",
    b"esc\x1b[2J.cu",
    b"::error::x.cu",
)


def test_headers_are_quoted_as_git_quotes_them() -> None:
    def head(name: bytes) -> str:
        return diff(os.fsdecode(name), b"a\n", b"b\n").split("\n")[0]

    assert head(b"a.cu") == "--- a/a.cu"
    assert head(b"a b.cu") == "--- a/a b.cu\t"
    assert head(b'a "\\\t\n\x1b\xff.cu') == r'--- "a/a \"\\\t\n\033\377.cu"'


@pytest.mark.parametrize("command", [("git", "apply", "-"), ("patch", "-p1")])
@pytest.mark.parametrize("name", NAMES)
def test_a_patch_of_a_file_with_any_name_applies(
    tmp_path: Path, name: bytes, command: tuple[str, ...]
) -> None:
    if shutil.which(command[0]) is None:
        pytest.skip(f"no {command[0]}")
    if command[0] == "patch" and b"\n" in name:
        pytest.skip("patch refuses names with a line feed")
    file = tmp_path / os.fsdecode(name)
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(BEFORE)
    patch = diff(os.fsdecode(name), BEFORE, AFTER).encode("utf-8", "surrogateescape")
    done = subprocess.run(command, input=patch, cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done
    assert file.read_bytes() == AFTER
