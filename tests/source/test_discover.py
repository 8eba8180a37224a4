"""Folders give device code; .gitignore and hidden folders are honoured; what is named is taken."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from smemlint.source import LeftOut, RealPaths, discover, project_index, project_root, why_foreign

KERNEL = "__global__ void k() {}\n"


def make(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def names(root: Path, *paths: str) -> list[str]:
    return [path.relative_to(root).as_posix() for path in discover([root / path for path in paths])]


def test_a_folder_gives_cuda_files_and_headers_with_device_code(tmp_path: Path) -> None:
    make(
        tmp_path,
        {
            "b.cu": "",
            "a/k.cuh": "",
            "a/k.h": KERNEL,
            "a/plain.h": "int x;",
            "a/both.cpp": '#ifdef __CUDACC__\n#include "h.h"\n#endif\n',
            "a/both.h": "#ifdef __CUDACC__\n#define HD __device__\n#endif\n",
            "a/host.cpp": "int main() {}",
            "notes.txt": KERNEL,
            ".hidden/x.cu": "",
            "build/x.cu": "",
        },
    )
    assert names(tmp_path, ".") == ["b.cu", "a/both.cpp", "a/k.cuh", "a/k.h"]


def test_gitignore_holds_from_the_project_root_down(tmp_path: Path) -> None:
    make(
        tmp_path,
        {
            ".git/HEAD": "",
            ".gitignore": "gen/\n*.tmp.cu\n",
            "src/.gitignore": "skip.cu\n!keep.tmp.cu\n",
            "src/a.cu": "",
            "src/skip.cu": "",
            "src/b.tmp.cu": "",
            "src/keep.tmp.cu": "",
            "src/gen/c.cu": "",
        },
    )
    assert names(tmp_path, "src") == ["src/a.cu", "src/keep.tmp.cu"]


@pytest.mark.parametrize(
    "ignored",
    [
        "*\n!*.*\n!*/\n*.o\n",
        "*\n!*.cu\n!a/\n",
        "/a/\n!/a/b/\n",
        "*.cu\n!a/\n!a/b/\n",
        "a/**\n!a/k.cu\n",
        "a/*\n!a/b/\n# a comment\n\n!top.cu\n",
        "**/b\n!b/\n",
        "b/k.cu\n/a/b/deep/\n",
        "[ab]/?.cu\n\\!x.cu\n",
    ],
)
def test_gitignore_leaves_out_what_git_leaves_out(tmp_path: Path, ignored: str) -> None:
    files = (
        "top.cu",
        "!x.cu",
        "x.o",
        "a/k.cu",
        "a/longer.cu",
        "a/b/k.cu",
        "a/b/deep/k.cu",
        "b/k.cu",
        "c.d/b/k.cu",
    )
    make(tmp_path, {".gitignore": ignored, **dict.fromkeys(files, "")})
    git = ["git", "-C", str(tmp_path)]
    subprocess.run([*git, "init", "-q"], check=True)
    listed = [*git, "ls-files", "--others", "--exclude-standard", "*.cu"]
    kept = subprocess.run(listed, check=True, capture_output=True, text=True).stdout.splitlines()
    assert sorted(names(tmp_path, ".")) == sorted(kept)


def test_an_explicit_file_is_always_taken_and_only_once(tmp_path: Path) -> None:
    make(tmp_path, {".gitignore": "*", "a.txt": "", "b.cu": ""})
    assert names(tmp_path, "a.txt", "b.cu", "b.cu", "missing.cu") == ["a.txt", "b.cu", "missing.cu"]


def test_a_link_to_its_own_parent_ends(tmp_path: Path) -> None:
    make(tmp_path, {"a.cu": ""})
    (tmp_path / "loop").symlink_to(tmp_path)
    assert names(tmp_path, ".") == ["a.cu"]


def test_the_project_root_is_the_nearest_mark(tmp_path: Path) -> None:
    make(tmp_path, {"pyproject.toml": "", "sub/smemlint.toml": "", "sub/src/a.cu": "", "other/b.cu": ""})
    assert project_root(tmp_path / "sub/src/a.cu") == tmp_path / "sub"
    assert project_root(tmp_path / "other") == tmp_path


def test_an_unpacked_archive_without_marks_reaches_up_to_its_license(tmp_path: Path) -> None:
    make(tmp_path, {"top/LICENSE": "", "top/src/CMakeLists.txt": "", "top/src/a/k.cu": "", "loose/k.cu": ""})
    assert project_root(tmp_path / "top/src/a/k.cu") == tmp_path / "top"
    assert project_root(tmp_path / "loose/k.cu") == tmp_path / "loose"


def test_without_any_mark_the_project_is_what_lies_in_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path, {"src/mma/k.cu": "", "src/common/c.h": ""})
    monkeypatch.chdir(tmp_path)
    assert project_root(tmp_path / "src/mma/k.cu") == tmp_path
    monkeypatch.chdir(tmp_path / "src/common")
    assert project_root(tmp_path / "src/mma/k.cu") == tmp_path / "src/mma"
    monkeypatch.chdir("/")
    assert project_root(tmp_path / "src/mma/k.cu") == tmp_path / "src/mma"


def test_the_index_finds_the_nearest_file_with_the_whole_suffix(tmp_path: Path) -> None:
    make(
        tmp_path, {"x/inc/util/a.cuh": "", "y/inc/util/a.cuh": "", "y/inc/a.cuh": "", "build/util/a.cuh": ""}
    )
    index = project_index(tmp_path)
    beside = (tmp_path / "x/src/k.cu").as_posix()
    assert index.find("util/a.cuh", beside) == (tmp_path / "x/inc/util/a.cuh").as_posix()
    assert index.find("other/a.cuh", beside) is None
    assert (
        index.find("../util/a.cuh", (tmp_path / "y/k.cu").as_posix())
        == (tmp_path / "y/inc/util/a.cuh").as_posix()
    )


def test_links_that_lead_out_of_the_folder_are_told_and_not_followed(tmp_path: Path) -> None:
    make(tmp_path, {"out/a.cu": "", "out/h.h": KERNEL, "in/b.cu": "", "in/sub/c.cu": ""})
    (tmp_path / "in/away.cu").symlink_to("../out/a.cu")
    (tmp_path / "in/away.h").symlink_to("../out/h.h")
    (tmp_path / "in/folder").symlink_to("../out")
    (tmp_path / "in/again.cu").symlink_to("sub/c.cu")
    (tmp_path / "in/.hidden").mkdir()
    (tmp_path / "in/.hidden/d.cu").write_text("")
    (tmp_path / "in/only.cu").symlink_to(".hidden/d.cu")
    (tmp_path / "in/loop.cu").symlink_to("loop.cu")
    left: list[LeftOut] = []
    found = [path.relative_to(tmp_path).as_posix() for path in discover([tmp_path / "in"], left.append)]
    assert found == ["in/b.cu", "in/sub/c.cu", "in/loop.cu", "in/only.cu"]
    assert sorted((Path(each.path).name, each.lost) for each in left) == [
        ("away.cu", False),
        ("away.h", False),
    ]
    assert [path.name for path in discover([tmp_path / "in/away.cu"])] == ["away.cu"]


def test_what_cannot_be_read_on_the_way_is_told_and_the_walk_goes_on(tmp_path: Path) -> None:
    make(tmp_path, {"a.cu": "", "x.cu/b.cu": "", "z.cu": ""})
    os.mkfifo(tmp_path / ".gitignore")
    os.mkfifo(tmp_path / "pipe.h")
    with (tmp_path / "data.h").open("wb") as file:
        file.truncate(300 * 2**20)
    left: list[LeftOut] = []
    assert [path.name for path in discover([tmp_path], left.append)] == ["a.cu", "z.cu", "b.cu"]
    assert [(Path(each.path).name, each.message, each.lost) for each in left] == [
        (".gitignore", "is a FIFO, no regular file", True),
        ("data.h", "is too large to analyse: 300.0 MiB, the limit is 8 MiB", False),
        ("pipe.h", "is a FIFO, no regular file", True),
    ]


def test_folders_may_be_nested_deeper_than_the_interpreter_calls(tmp_path: Path) -> None:
    folders = [tmp_path]
    while len(folders) < 1200 and len(str(folders[-1])) < 3000:
        folders.append(folders[-1] / "d")
        folders[-1].mkdir()
    file = folders[-1] / "k.cu"
    file.write_text("")
    try:
        assert len(folders) > 1000
        assert list(discover([tmp_path])) == [file]
    finally:  # what clears temporary folders away calls itself
        file.unlink()
        for folder in reversed(folders[1:]):
            folder.rmdir()


def test_real_paths_are_those_of_the_system(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "link").symlink_to("a/b")
    (tmp_path / "a" / "b" / "k.cu").write_text("")
    (tmp_path / "a" / "to.cu").symlink_to("../link/k.cu")
    real = RealPaths()
    for path in ("a/b/k.cu", "link/k.cu", "a/to.cu", "link/../b/k.cu", "a/none.cu", "link", "."):
        assert real.of(tmp_path / path) == os.path.realpath(tmp_path / path), path


def test_a_file_is_the_users_own_in_the_project_of_what_is_named_and_not_behind_links(tmp_path: Path) -> None:
    make(tmp_path, {"p/.git/HEAD": "", "p/src/a.cu": "", "p/inc/h.cuh": "", "q/h.cuh": "", "q/a.cu": ""})
    (tmp_path / "p/away").symlink_to("../q")
    (tmp_path / "p/near").symlink_to("inc")
    (tmp_path / "p/link.cu").symlink_to("src/a.cu")

    def why(path: str, *asked: str) -> str | None:
        return why_foreign(str(tmp_path / path), [str(tmp_path / each) for each in asked])

    assert why("p/inc/h.cuh", "p/src") is None
    assert why("p/inc/h.cuh", "p/src/a.cu") is None
    assert why("q/h.cuh", "p/src") == "it lies outside of the project"
    assert why("q/h.cuh", "q") is None and why("q/h.cuh", "p", "q/h.cuh") is None
    assert why("p/away/h.cuh", "p") == "it is reached through a link"
    assert why("p/near/h.cuh", "p") == "it is reached through a link"
    assert why("p/link.cu", "p") == "it is reached through a link"
    assert why("p/link.cu", "p/link.cu") is None
    assert why("p/away/h.cuh", "p/away") is None
