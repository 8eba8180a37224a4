"""Only regular files of a bearable size are opened, whatever a project puts in their place."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from smemlint.system import reading
from smemlint.system.reading import UnreadableError, read_regular, read_start

LIMIT = 1 << 20


def refusal(path: Path | str) -> str:
    with pytest.raises(UnreadableError) as caught:
        read_regular(path, LIMIT)
    return caught.value.message


def test_all_bytes_come_back_up_to_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "a.cu"
    path.write_bytes(b"x" * LIMIT)
    assert read_regular(path, LIMIT) == b"x" * LIMIT
    assert read_start(path, 7) == b"x" * 7


def test_what_is_no_regular_file_is_named_and_not_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "zero").symlink_to("/dev/zero")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    monkeypatch.chdir(tmp_path)  # the names of sockets are short
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket")
        assert refusal("socket") == "is a socket, no regular file"
    assert refusal(tmp_path / "fifo") == "is a FIFO, no regular file"
    assert refusal(tmp_path / "zero") == "is a device, no regular file"
    assert refusal(tmp_path) == "is a directory"
    assert refusal(tmp_path / "loop") == "cannot be read: too many levels of symbolic links"
    assert refusal(tmp_path / "none") == "cannot be read: no such file or directory"
    assert refusal("a\0b").startswith("cannot be read: ")
    assert refusal("a\ud800b").startswith("cannot be read: ")
    assert refusal("a" * 5000) == "cannot be read: file name too long"


def test_a_file_of_20_gigabytes_is_refused_by_its_size(tmp_path: Path) -> None:
    with (tmp_path / "sparse.cu").open("wb") as file:
        file.truncate(20 * 2**30)
    assert refusal(tmp_path / "sparse.cu") == "is too large to analyse: 20480.0 MiB, the limit is 1 MiB"


def test_a_file_that_grows_after_the_look_is_read_no_further_than_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "grows.cu"
    path.write_bytes(b"int x;")
    small = path.stat()
    path.write_bytes(b" " * (LIMIT + 4096))
    monkeypatch.setattr(os, "fstat", lambda handle: small)
    monkeypatch.setattr(os, "stat", lambda path: small)
    assert refusal(path).startswith("is too large to analyse: 1.0 MiB")


def test_a_file_that_becomes_a_fifo_after_the_look_does_not_hold_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    regular = tmp_path / "a.cu"
    regular.write_bytes(b"")
    seen = regular.stat()
    regular.unlink()
    os.mkfifo(regular)
    monkeypatch.setattr(reading.os, "stat", lambda path: seen)
    assert refusal(regular) == "is a FIFO, no regular file"
