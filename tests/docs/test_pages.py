"""The pages hold what they say: links lead somewhere, commands exist, sessions print what is printed."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from smemlint.cli import _parser, main
from smemlint.commands import COMMANDS
from smemlint.commands.common.usage import UsageError
from smemlint.config import KEYS
from smemlint.configurations import load

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")])
GUIDES = [p for p in PAGES if "dev" not in p.parts and p.name not in ("CHANGELOG.md", "rules.md")]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def blocks(path: Path, *kinds: str) -> list[str]:
    return [text for kind, text in FENCE.findall(path.read_text(encoding="utf-8")) if kind in kinds]


def anchors(path: Path) -> set[str]:
    heads = re.findall(r"^#+ (.*)$", FENCE.sub("", path.read_text(encoding="utf-8")), re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    text = re.sub(r"`[^`\n]*`", "", FENCE.sub("", page.read_text(encoding="utf-8")))
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match("https?:", target):
            continue
        path, _, anchor = target.partition("#")
        there = page.parent / path if path else page
        assert there.exists(), target
        assert not anchor or there.suffix != ".md" or anchor in anchors(there), target


def commands(text: str) -> Iterator[list[str]]:
    """The words of each call of smemlint in a block, without what a shell adds."""
    for line in text.replace("\\\n", " ").splitlines():
        line = re.sub(r"^\$ ", "", line.strip())
        if not line.startswith("smemlint ") or line.startswith("smemlint:"):
            continue
        words = shlex.split(re.sub(r"\s{2,}\w.*$| &.*$|\s#\s.*$", "", line))
        yield words[1:]


@pytest.mark.parametrize("page", GUIDES, ids=name)
def test_every_command_of_a_guide_exists_with_its_options(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    inline = re.findall(r"`(smemlint [^`\n]*)`", FENCE.sub("", text))
    for words in commands("\n".join([*blocks(page, "sh", "console", ""), *inline])):
        if words and words[0] not in (*COMMANDS, "--version", "--help"):
            words.insert(0, "check")
        if words[0] in ("--version", "--help") or (len(words) == 1 and words[0] in COMMANDS):
            continue
        known = _parser(words[0])
        try:
            known.parse_args([word for word in words if word != "..."])
        except UsageError as error:
            # In a sentence a command may stand without its paths.
            if "arguments are required" not in str(error) or shlex.join(words) not in " ".join(inline):
                pytest.fail(f"smemlint {shlex.join(words)}: {error}")


def sessions() -> list[Path]:
    return [page for page in GUIDES if blocks(page, "console")]


@pytest.mark.parametrize("page", sessions(), ids=name)
def test_a_session_prints_what_the_page_shows(page: Path, tmp_path: Path) -> None:
    folder, bin_folder = tmp_path / "example", tmp_path / "bin"
    shutil.copytree(ROOT / "docs" / "example", folder)
    (folder / ".git").mkdir()
    bin_folder.mkdir()
    (bin_folder / "smemlint").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m smemlint "$@"\n')
    (bin_folder / "smemlint").chmod(0o755)
    environment = {**os.environ, "COLUMNS": "100", "PATH": f"{bin_folder}:{os.environ['PATH']}"}
    status = "0"
    for block in blocks(page, "console"):
        for step in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, expected = step.partition("\n")
            done = subprocess.run(
                ["bash", "-c", f"(exit {status}); {command}"],
                cwd=folder,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=120,
            )
            status = str(done.returncode)
            assert sorted(done.stdout.splitlines()) == sorted(expected.splitlines()), (
                f"$ {command}\n{done.stdout}"
            )


@pytest.mark.parametrize("page", [p for p in GUIDES if blocks(p, "toml")], ids=name)
def test_a_configuration_of_a_page_is_one(page: Path, tmp_path: Path) -> None:
    for block in blocks(page, "toml"):
        assert tomllib.loads(block)
        if "[project" not in block and "language-server" not in block:
            (tmp_path / "smemlint.toml").write_text(block)
            load(tmp_path / "smemlint.toml")


def test_the_page_of_the_configuration_names_every_key() -> None:
    text = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    assert [key for key in KEYS if f"`{key}`" not in text] == []


@pytest.mark.parametrize("page", [p for p in GUIDES if blocks(p, "yaml")], ids=name)
def test_yaml_of_a_page_is_yaml(page: Path) -> None:
    yaml = pytest.importorskip("yaml", reason="PyYAML comes with pre-commit")
    assert all(yaml.safe_load(block) for block in blocks(page, "yaml"))


def test_the_python_of_a_page_runs(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "docs" / "example", tmp_path, dirs_exist_ok=True)
    for number, block in enumerate(blocks(ROOT / "docs" / "python.md", "python")):
        (tmp_path / f"part{number}.py").write_text(block)
        done = subprocess.run(
            [sys.executable, f"part{number}.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout == ("transpose.cu 14 SMEM101 32.0\n" if number == 0 else "")


def test_the_picture_of_the_readme_is_what_the_program_draws(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT / "docs" / "example")
    image = tmp_path / "transpose.svg"
    assert main(["banks", "transpose.cu:14", "--map-only", "-o", str(image)]) == 0
    kept = ROOT / "docs" / "pictures" / "transpose.svg"
    assert kept.read_text(encoding="utf-8") == image.read_text(encoding="utf-8")
    assert "docs/pictures/transpose.svg" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert 'data-wavefront="31"' in kept.read_text(encoding="utf-8")


def test_readme_and_start_show_the_same_run() -> None:
    first = blocks(ROOT / "README.md", "console")[0]
    assert blocks(ROOT / "docs" / "start.md", "console")[0].startswith(first)
