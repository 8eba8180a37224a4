"""--verify: the user's compiler gets a neutral name, with the includes of the original around it."""

from __future__ import annotations

from pathlib import Path

import pytest

from smemlint.fix.proof.promise import verify

LOOK = """sh -c 'd=$(dirname "$1"); echo "$1" > {log}; cat "$d/x.h" "$d/../up.h" "$1" >> {log}' --"""


@pytest.mark.parametrize("folder", ["plain", "a b", "$(touch hacked)", "-o", "x;touch hacked"])
@pytest.mark.parametrize(
    "name", ["a.cu", "$(touch hacked).cu", "-o hacked.cu", "@x.cu", "`touch hacked`.CU;x"]
)
def test_no_name_of_the_project_reaches_the_command(
    tmp_path: Path, folder: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    place = tmp_path / "project" / folder
    place.mkdir(parents=True)
    (place / "x.h").write_text("beside\n")
    (place.parent / "up.h").write_text("above\n")
    (place / name).write_text("old")
    log = tmp_path / "log"
    assert verify(LOOK.format(log=log), str(place / name), b"new") is None
    given, *read = log.read_text().splitlines()
    assert read == ["beside", "above", "new"]
    assert Path(given).name.startswith(".smemlint-") and Path(given).suffix == ".cu"
    assert folder not in given.split("/") and "touch" not in given and "project" not in given
    assert not Path(given).parent.parent.exists() and not (tmp_path / "hacked").exists()
    assert sorted(p.name for p in place.iterdir()) == sorted([name, "x.h"])
    assert (place / name).read_text() == "old"


def test_a_shell_in_the_command_sees_only_the_neutral_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "$(touch hacked)").mkdir()
    source = tmp_path / "$(touch hacked)" / "a;touch hacked.cu"
    source.write_text("")
    assert verify("sh -c 'cat {}'", str(source), b"") is None
    assert not (tmp_path / "hacked").exists()


def test_nothing_is_left_where_the_command_fails_hangs_or_is_not_there(tmp_path: Path) -> None:
    source = tmp_path / "a.cu"
    source.write_text("")
    said = verify('sh -c \'printf "\\033[2J\\n::error::x\\n%s" "$1"; exit 1\' --', str(source), b"")
    assert said == f"\\x1b[2J\n\\x3a:error::x\n{source}"
    assert verify("sleep 60", str(source), b"", timeout=0.2) is not None
    assert "No such file" in (verify("/no/such/compiler", str(source), b"") or "")
    assert [p.name for p in tmp_path.iterdir()] == ["a.cu"]


def test_the_command_waits_for_no_input(tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text("")
    assert verify("sh -c 'cat'", str(tmp_path / "a.cu"), b"", timeout=20) is None
