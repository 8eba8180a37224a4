"""A file on disk is the old one or the new one, and keeps who it belongs to."""

from __future__ import annotations

import os
import signal
import stat
from pathlib import Path

import pytest

from smemlint.fix.edits import replace
from smemlint.fix.edits.apply import EditError
from smemlint.fix.edits.replace import replace_file
from smemlint.system.stopping import Stopped, stopped_by_signals


def test_a_file_is_replaced_with_its_mode_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.cu"
    path.write_bytes(b"old")
    path.chmod(0o640)
    replace_file(path, b"old", b"new")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert [p.name for p in tmp_path.iterdir()] == ["a.cu"]


def test_a_file_that_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.cu"
    path.write_bytes(b"changed")
    with pytest.raises(EditError, match="changed since it was analysed"):
        replace_file(path, b"old", b"new")
    assert path.read_bytes() == b"changed"


def test_a_read_only_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.cu"
    path.write_bytes(b"old")
    path.chmod(0o444)
    with pytest.raises(EditError, match="read-only"):
        replace_file(path, b"old", b"new")
    assert path.read_bytes() == b"old"


def test_a_missing_file_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(EditError, match=r"No such file|left as it is"):
        replace_file(tmp_path / "a.cu", b"", b"new")


def test_a_link_is_followed_and_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "a.cu", tmp_path / "b.cu"
    target.write_bytes(b"old")
    link.symlink_to(target)
    replace_file(link, b"old", b"new")
    assert link.is_symlink() and target.read_bytes() == b"new"


def test_a_file_with_another_name_is_left_alone_since_the_names_would_part(tmp_path: Path) -> None:
    path = tmp_path / "a.cu"
    path.write_bytes(b"old")
    (tmp_path / "b.cu").hardlink_to(path)
    with pytest.raises(EditError, match="has 2 names"):
        replace_file(path, b"old", b"new")
    assert path.read_bytes() == b"old"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_the_owner_and_the_group_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.cu"
    path.write_bytes(b"old")
    os.chown(path, 1234, 4321)
    path.chmod(0o640)
    replace_file(path, b"old", b"new")
    status = path.stat()
    assert (status.st_uid, status.st_gid, status.st_mode & 0o7777) == (1234, 4321, 0o640)


def test_where_the_owner_cannot_be_kept_the_file_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.cu"
    path.write_bytes(b"old")

    def refuse(*arguments: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    real = os.fstat
    monkeypatch.setattr(os, "fchown", refuse)
    monkeypatch.setattr(replace.os, "fstat", lambda f: os.stat_result((*real(f)[:4], 77, *real(f)[5:])))
    with pytest.raises(EditError, match="owner or group cannot be kept"):
        replace_file(path, b"old", b"new")
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]


def test_attributes_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.cu"
    path.write_bytes(b"old")
    try:
        os.setxattr(path, "user.origin", b"elsewhere")
    except OSError:
        pytest.skip("no attributes here")
    replace_file(path, b"old", b"new")
    assert path.read_bytes() == b"new" and os.getxattr(path, "user.origin") == b"elsewhere"


def test_a_long_name_is_no_obstacle(tmp_path: Path) -> None:
    path = tmp_path / ("a" * 252 + ".cu")
    path.write_bytes(b"old")
    replace_file(path, b"old", b"new")
    assert path.read_bytes() == b"new" and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("nameless", [True, False])
def test_a_signal_while_it_is_written_comes_when_the_file_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nameless: bool
) -> None:
    path = tmp_path / "a.cu"
    path.write_bytes(b"old")
    if not nameless:
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    monkeypatch.setattr(os, "fsync", lambda handle: signal.raise_signal(signal.SIGTERM))
    with pytest.raises(Stopped) as stopped, stopped_by_signals():
        replace_file(path, b"old", b"new")
    assert stopped.value.status == 143
    assert path.read_bytes() == b"new" and list(tmp_path.iterdir()) == [path]
