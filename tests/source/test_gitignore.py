"""`.gitignore`, against git itself."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from smemlint.source import gitignore
from smemlint.source.gitignore import Pattern, patterns, verdict

PIECES = (
    "*", "?", "a", "b", "ab", ".", "[ab]", "[!a]", "[^b-c]", "[[:alpha:]]", "\\a", "/", "/", "/**/", "\\*",
    "]", "[", " ",
)  # fmt: skip
NAMES = ("a", "b", "ab", "aab", "c", "a.b", "b ", "*", "ba.c")


def kept(
    folder: Path, found: list[tuple[tuple[str, ...], tuple[Pattern, ...]]], at: tuple[str, ...] = ()
) -> set[str]:
    """The files below a folder that no pattern leaves out."""
    result = set()
    for path in sorted(folder.iterdir()):
        names = (*at, path.name)
        answer = None
        for base, some in found:
            said = verdict(some, names[len(base) :], path.is_dir())
            answer = answer if said is None else said
        if answer or path.name in (".git", ".gitignore"):
            continue
        if path.is_dir():
            inner = path / ".gitignore"
            more = [(names, patterns(inner.read_text()))] if inner.exists() else []
            result |= kept(path, found + more, names)
        else:
            result.add("/".join(names))
    return result


def tree(rng: random.Random, folder: Path, depth: int = 0) -> None:
    for name in rng.sample(NAMES, 5):
        if depth < 3 and rng.random() < 0.4:
            (folder / name).mkdir()
            tree(rng, folder / name, depth + 1)
        else:
            (folder / name).write_text("")


def line(rng: random.Random) -> str:
    middle = "".join(rng.choices(PIECES, k=rng.randint(1, 5)))
    text = rng.choice(("", "", "", "!", "/", "**/")) + middle + rng.choice(("", "", "/", "/**"))
    # Two stars beside a letter are one star by git's manual; git itself takes some of them for folders.
    return re.sub(r"(?<![/*!])\*\*+|(?<!\*)\*\*+(?![/*]|$)", "*", text)


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_what_git_leaves_out_is_left_out(tmp_path: Path) -> None:
    rng = random.Random(7)
    tree(rng, tmp_path)
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    for _ in range(60):
        lines = [line(rng) for _ in range(rng.randint(1, 5))]
        (tmp_path / ".gitignore").write_text("\n".join(lines))
        listed = subprocess.run(
            ["git", "-C", tmp_path, "ls-files", "-z", "--others", "--exclude-per-directory=.gitignore"],
            capture_output=True,
            check=True,
        )
        expected = {p for p in listed.stdout.decode().split("\0") if p and p != ".gitignore"}
        assert kept(tmp_path, [((), patterns("\n".join(lines)))]) == expected, lines


def test_stars_cost_no_power_of_the_length_of_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = 0
    plain = gitignore._is_one

    def counted(wanted: object, character: str) -> bool:
        nonlocal compared
        compared += 1
        return plain(wanted, character)  # type: ignore[arg-type]

    monkeypatch.setattr(gitignore, "_is_one", counted)
    (found,) = patterns("*a*a*a*a*a*a*a*a*b")
    assert not found.matches(["a" * 2000], False)
    assert found.matches(["a" * 2000 + "b"], False)
    assert compared < 20_000


def test_a_pattern_holds_for_folders_at_any_depth_unless_it_has_a_slash() -> None:
    found = patterns("build/\n/top\ndocs/*.cu\nx/**/y\n")
    assert verdict(found, ["a", "build"], True) is True
    assert verdict(found, ["a", "build"], False) is None
    assert verdict(found, ["a", "top"], False) is None
    assert verdict(found, ["docs", "k.cu"], False) is True
    assert verdict(found, ["docs", "a", "k.cu"], False) is None
    assert verdict(found, ["x", "y"], False) is True
    assert verdict(found, ["x", "a", "b", "y"], False) is True


def test_the_last_pattern_decides() -> None:
    found = patterns("*\n!*/\n!*.cu\n")
    assert verdict(found, ["a"], True) is False
    assert verdict(found, ["a", "k.cu"], False) is False
    assert verdict(found, ["a", "k.h"], False) is True
