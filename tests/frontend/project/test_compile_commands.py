"""A compile_commands.json that is wrong: told with the entry's number, and the other files' commands hold."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from smemlint.frontend.project.compile_commands import (
    Command,
    CompileCommandsError,
    commands_for,
    load_commands,
)

GOOD = {"file": "good.cu", "command": "nvcc -DN=32 good.cu"}


def database(folder: Path, *entries: object) -> str:
    load_commands.cache_clear()
    (folder / "compile_commands.json").write_text(json.dumps(entries))
    return str(folder)


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (3, "is no object"),
        (None, "is no object"),
        ([], "is no object"),
        ({}, "has no `file`"),
        ({"file": 3}, "`file` holds something that is no string"),
        ({"file": "a\ud800.cu"}, "`file` holds half of a surrogate pair"),
        ({"file": "a\0.cu"}, "`file` holds a NUL character"),
        ({"file": "bad.cu", "directory": []}, "`directory` holds something that is no string"),
        ({"file": "bad.cu", "directory": "\udfff"}, "`directory` holds half of a surrogate pair"),
        ({"file": "bad.cu", "arguments": "nvcc"}, "`arguments` is no list"),
        ({"file": "bad.cu", "arguments": ["nvcc", 3]}, "`arguments` holds something that is no string"),
        ({"file": "bad.cu", "arguments": ["-DX=\ud800"]}, "`arguments` holds half of a surrogate pair"),
        ({"file": "bad.cu", "command": {}}, "`command` holds something that is no string"),
    ],
)
def test_an_entry_that_is_none_is_told_by_its_number_and_costs_its_own_file(
    tmp_path: Path, entry: object, said: str
) -> None:
    where = database(tmp_path, GOOD, entry)
    with pytest.raises(CompileCommandsError) as caught:
        commands_for(where, str(tmp_path / "bad.cu"))
    assert f"compile_commands.json: entry 2: {said}" in str(caught.value)
    found = commands_for(where, str(tmp_path / "good.cu"))
    assert isinstance(found, Command) and found.defines == ("N=32",)


def test_a_name_that_is_not_utf8_is_a_name(tmp_path: Path) -> None:
    where = database(tmp_path, {"file": "a\udcff.cu", "command": "nvcc -DN=1"})
    found = commands_for(where, os.fsdecode(os.fsencode(tmp_path) + b"/a\xff.cu"))
    assert found is not None and found.defines == ("N=1",)


@pytest.mark.parametrize(
    ("text", "said"),
    [("[" * 100_000, "is nested too deeply"), ("{}", "no list of commands"), ("\xff", "is not JSON")],
)
def test_a_database_that_is_none_is_refused(tmp_path: Path, text: str, said: str) -> None:
    load_commands.cache_clear()
    (tmp_path / "compile_commands.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(CompileCommandsError, match=said):
        commands_for(str(tmp_path), str(tmp_path / "a.cu"))
