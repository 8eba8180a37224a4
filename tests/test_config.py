"""Configuration: where it comes from, what it may say, how it fails."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from smemlint import config
from smemlint.config import ConfigError, Settings, from_table
from smemlint.configurations import closest, closest_layers, load


def test_keys_are_the_options_of_the_command_line(tmp_path: Path) -> None:
    table = {
        "select": ["SMEM1"],
        "ignore": "SMEM102",
        "min-ways": 4,
        "arch": "90a",
        "define": ["N=32"],
        "include": ["include"],
        "fail-on": "error",
        "exit-zero": True,
        "compile-commands": "build",
        "blocks": {"matmul": [32, 8], "scan": 256, "fft": "8,8,8"},
    }
    settings = from_table(table, tmp_path)
    reading, choice = settings.reading, settings.choice
    assert choice.select == ("SMEM1",) and choice.ignore == ("SMEM102",)
    assert choice.min_ways == 4.0 and reading.arch == "sm_90" and settings.gate.fail_on == "error"
    assert reading.include == (str(tmp_path / "include"),)
    assert reading.compile_commands == str(tmp_path / "build")
    assert reading.blocks == {"matmul": (32, 8, 1), "scan": (256, 1, 1), "fft": (8, 8, 8)}


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"slect": []}, "unknown key `slect`; the nearest one is `select`"),
        ({"min_ways": 2}, "unknown key `min_ways`; the nearest one is `min-ways`"),
        ({"xyzzy": 1}, "unknown key `xyzzy`; the nearest one is"),
        ({"select": 3}, "`select`: expected a list of strings, got a number (3)"),
        ({"select": [3]}, "`select`: expected a list of strings, got a list ([3])"),
        ({"min-ways": "2"}, "`min-ways`: expected a number, got a string ('2')"),
        ({"min-ways": True}, "`min-ways`: expected a number, got a boolean (True)"),
        ({"min-ways": 0}, "`min-ways`: expected at least 1"),
        ({"exit-zero": "yes"}, "`exit-zero`: expected true or false"),
        ({"fail-on": "warn"}, "`fail-on`: expected one of note, warning, error, got a string ('warn')"),
        ({"output-format": "xml"}, "`output-format`: expected one of full, concise"),
        ({"arch": "hopper"}, "architecture `hopper`: expected one such as sm_90"),
        ({"std": "17"}, "C++ standard `17`: expected one such as c++17"),
        ({"blocks": {"k": [0, 1]}}, "block shape `[0, 1]`: a block has 1 to 1024 threads"),
        ({"blocks": {"k": [64, 32]}}, "a block has 1 to 1024 threads"),
        ({"blocks": {"k": 1.5}}, "`blocks.k`: expected one to three numbers"),
        ({"blocks": [32]}, "`blocks`: expected a table"),
        ({"blocks": {"k": [1, 1, 65]}}, "at most 64 threads in z"),
        ({"blocks": {"k": [10**5000]}}, "block shape `a very large number`"),
        ({"block": "9" * 5000}, "block shape `999"),
        ({"blocks": {"k": True}}, "`blocks.k`: expected one to three numbers"),
        ({"blocks": {"k": [float("inf")]}}, "`blocks.k`: expected one to three numbers"),
        ({"min-ways": float("inf")}, "`min-ways`: expected a finite number"),
        ({"min-ways": float("-inf")}, "`min-ways`: expected a finite number"),
        ({"min-ways": float("nan")}, "`min-ways`: expected a finite number"),
        ({"min-ways": 1e12}, "`min-ways`: expected at most 1024"),
        ({"min-ways": 10**5000}, "`min-ways`: expected at most 1024, got a number (a very large number)"),
        ({"min-ways": -(10**400)}, "`min-ways`: expected at least 1"),
        ({"define": ["1N"]}, "macro `1N`: expected NAME or NAME=VALUE"),
        ({"define": ["N=1\n#include </etc/passwd>"]}, "on one line"),
        ({"include": ["a\0b"]}, "`include`: holds a NUL"),
        ({"arch": "sm_" + "9" * 500}, "architecture `sm_999"),
    ],
)
def test_mistakes_are_named(table: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        from_table(table, Path())
    assert message in str(caught.value)


@pytest.mark.parametrize("value", [1, "4", True, ["json=x"], 1e12, float("inf")])
@pytest.mark.parametrize(
    "key",
    [
        "output",
        "jobs",
        "j",
        "timeout",
        "verify",
        "config",
        "fix",
        "diff",
        "unsafe-fixes",
        "unsafe_fixes",
        "stdin-filename",
    ],
)
def test_a_file_has_no_hands(key: str, value: object) -> None:
    """What writes, starts or multiplies is the user's to say."""
    with pytest.raises(ConfigError) as caught:
        from_table({key: value}, Path())
    assert f"`{key}` is said on the command line only" in str(caught.value)


@pytest.mark.parametrize(
    "text", ["", "a", "1,2,3,4", "32,0", "1025", "32;8", "-1", "1,1,65", "\u0663", "1e2", "9" * 5000, "1_0"]
)
def test_block_shapes_that_are_none(text: str) -> None:
    with pytest.raises(ConfigError):
        config.parse_block(text)


def test_a_block_may_name_its_kernel() -> None:
    assert config.parse_named_block("matmul=32,8") == ("matmul", (32, 8, 1))
    assert config.parse_named_block("256") == ("", (256, 1, 1))


def test_the_closest_file_wins_and_only_that_one(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text("[tool.smemlint]\nmin-ways = 3\narch = 'sm_80'\n")
    assert closest(inner).choice.min_ways == 3
    closest_layers.cache_clear()
    (tmp_path / "a" / "pyproject.toml").write_text("[project]\nname = 'other'\n")
    assert closest(inner).choice.min_ways == 3, (
        "a pyproject.toml that does not mention smemlint is passed over"
    )
    closest_layers.cache_clear()
    (tmp_path / "a" / "smemlint.toml").write_text("min-ways = 5\n")
    assert (closest(inner).choice.min_ways, closest(inner).reading.arch) == (5, None)


def test_errors_name_the_file(tmp_path: Path) -> None:
    path = tmp_path / "smemlint.toml"
    for text, message in (
        ("x = ", "smemlint.toml: "),
        ("selct = []", "unknown key `selct`"),
        ("\xff", "smemlint.toml"),
    ):
        path.write_bytes(text.encode("latin-1"))
        with pytest.raises(ConfigError) as caught:
            load(path)
        assert message in str(caught.value) and str(path) in str(caught.value)


def test_settings_lie_over_each_other_and_blocks_are_joined() -> None:
    base = Settings.of(min_ways=2, blocks={"a": (1, 1, 1), "b": (2, 1, 1)}, exit_zero=False)
    over = Settings.of(min_ways=4, blocks={"b": (3, 1, 1)})
    both = over.over(base)
    assert both.choice.min_ways == 4 and both.gate.exit_zero is False
    assert both.reading.blocks == {"a": (1, 1, 1), "b": (3, 1, 1)}


def test_selectors_that_mean_nothing_are_found() -> None:
    assert config.unknown_selectors(["SMEM1", "column-access", "ALL", "smem101", "SMEM7", "E501"]) == [
        "SMEM7",
        "E501",
    ]


@pytest.mark.parametrize("git", ["folder", "file"])
def test_the_search_ends_at_the_root_of_the_repository(tmp_path: Path, git: str) -> None:
    inner = tmp_path / "repository" / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "smemlint.toml").write_text("min-ways = 5\n")
    assert closest(inner).choice.min_ways == 5
    closest_layers.cache_clear()
    mark = tmp_path / "repository" / ".git"
    mark.mkdir() if git == "folder" else mark.write_text("gitdir: ../elsewhere\n")  # as a worktree has it
    assert closest(inner) == Settings()
    closest_layers.cache_clear()
    (tmp_path / "repository" / "smemlint.toml").write_text("min-ways = 6\n")
    assert closest(inner).choice.min_ways == 6


def test_without_a_repository_what_lies_at_home_or_where_all_may_write_is_nobodys_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = tmp_path / "shared" / "project" / "src"
    inner.mkdir(parents=True)
    (tmp_path / "smemlint.toml").write_text("min-ways = 5\n")
    (tmp_path / "shared" / "smemlint.toml").write_text("min-ways = 6\n")
    assert closest(inner).choice.min_ways == 6
    closest_layers.cache_clear()
    (tmp_path / "shared").chmod(0o1777)
    assert closest(inner) == Settings()
    closest_layers.cache_clear()
    assert closest(inner.parent.parent).choice.min_ways == 6, "a file that lies there itself"
    closest_layers.cache_clear()
    (tmp_path / "shared").chmod(0o755)
    monkeypatch.setenv("HOME", str(tmp_path / "shared"))
    assert closest(inner) == Settings()


def test_a_configuration_that_is_a_link_out_of_the_project_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other.toml").write_text("min-ways = 5\n")
    (tmp_path / "project" / ".git").mkdir(parents=True)
    (tmp_path / "project" / "smemlint.toml").symlink_to("../other.toml")
    with pytest.raises(ConfigError, match="leads out of the project"):
        closest(tmp_path / "project")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = " + "[" * 5000 + "]" * 5000, "nested too deeply"),
        ("a" + ".a" * 100_000 + " = 1", "a key has more than 32 parts"),
        ("min-ways = " + "9" * 5000, "Exceeds the limit"),
        ("min-ways = 0x" + "f" * 5000, "`min-ways`: expected at most 1024"),
        ("select = ['SMEM777']", "`select`: no rule is called `SMEM777`"),
        ("#" * 2_000_000, "too large"),
    ],
)
def test_a_file_that_would_keep_the_run_busy_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "smemlint.toml"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load(path)
    assert message in str(caught.value) and str(path) in str(caught.value) and len(str(caught.value)) < 500


def test_a_configuration_that_is_no_regular_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "smemlint.toml")
    with pytest.raises(ConfigError, match="regular file"):
        closest(tmp_path)


def test_a_project_may_have_a_long_list_of_versions(tmp_path: Path) -> None:
    path = tmp_path / "pyproject.toml"
    path.write_text(
        "[project]\ndependencies = [" + "'numpy>=1.26.4', " * 200 + "]\n[tool.smemlint]\nmin-ways = 3\n"
    )
    assert load(path).choice.min_ways == 3


@pytest.mark.parametrize("address", ["file:///etc/passwd", "javascript:alert(1)", "https://a b", "docs"])
def test_the_address_of_the_documentation_is_one_of_the_web(address: str) -> None:
    with pytest.raises(ConfigError, match="`docs-url`: expected an address that begins with https://"):
        from_table({"docs-url": address}, Path())
    assert (
        from_table({"docs-url": "https://example.org/x/"}, Path()).display.docs_url == "https://example.org/x"
    )
