"""The site: a page for each rule with its picture, built by mkdocs where that is installed."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from smemlint.rules import RULES
from smemlint.rules.column_access import ColumnAccess

from smemlint import __version__
from smemlint.render.rules_page import rule_page

ROOT = Path(__file__).resolve().parents[2]


def hook() -> ModuleType:
    spec = importlib.util.spec_from_file_location("site_hook", ROOT / "docs" / "site.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_picture_of_a_rule_shows_its_example_and_the_fix() -> None:
    picture = hook().picture_of(ColumnAccess.conflicting[0])
    assert 'data-wavefronts="32"' in picture and 'data-wavefronts="1"' in picture


def test_the_page_of_a_rule_is_its_docstring_with_the_picture() -> None:
    page = rule_page(ColumnAccess, "smem101.svg")
    assert page.startswith("# SMEM101: column-access\n") and page.count("(smem101.svg)") == 1
    assert page.index("## Example") < page.index("smem101.svg") < page.index("## Use instead")
    assert rule_page(ColumnAccess) == ColumnAccess.markdown()


def test_the_front_page_links_within_the_site() -> None:
    front = hook().page_of("README.md")
    assert "](limits.md)" in front and "](docs/" not in front and "(contributing.md)" in front


def test_the_site_is_built_with_a_page_for_each_rule(tmp_path: Path) -> None:
    pytest.importorskip("material", reason="mkdocs-material is not installed")
    # The script, not `-m`: that would put the checkout before the installed package.
    mkdocs = shutil.which("mkdocs", path=str(Path(sys.executable).parent)) or "mkdocs"
    command = [mkdocs, "build", "-q", "--strict", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    missing = [r.code for r in RULES if not (tmp_path / "rules" / r.code.lower() / "index.html").exists()]
    assert missing == []
    assert 'src="../smem101.svg"' in (tmp_path / "rules" / "smem101" / "index.html").read_text()


def test_the_package_and_the_program_have_one_version() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'\nversion = "{__version__}"\n' in text
