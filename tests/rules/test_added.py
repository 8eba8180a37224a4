"""Rules that other distributions add: the template, installed by pip, and rules that fail."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from smemlint.rules.column_access import ColumnAccess

from smemlint.testing import check_rule

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
REDUCTION = """\
__global__ void sum(float *out)
{
    __shared__ float s[2048];
    for (int d = 1; d < 32; d *= 2) {
        s[2 * d * threadIdx.x] += 1;  // the reduction
        __syncthreads();
    }
    out[threadIdx.x] = s[threadIdx.x];
}
void start(float *out) { sum<<<1, 32>>>(out); }
"""
BAD = """\
import os, sys
from smemlint.rules import ConflictRule, DeclarationRule, Finding

class Base(ConflictRule):
    "A rule."
    def explains(self, conflict, kernel):
        print("a word of the rule")
        return self.answer(kernel)

class Raises(Base):
    "A rule."
    code, name = "BAD101", "bad-raises"
    def answer(self, kernel): return {}["key"]

class Answers(Base):
    "A rule."
    code, name = "BAD102", "bad-answers"
    def answer(self, kernel): return "a text"

class Loops(Base):
    "A rule."
    code, name = "BAD103", "bad-loops"
    def answer(self, kernel):
        while True: pass

class Crashes(Base):
    "A rule."
    code, name = "BAD104", "bad-crashes"
    def answer(self, kernel): os._exit(7)

class Leaves(DeclarationRule):
    "A rule."
    code, name = "BAD201", "bad-leaves"
    def check(self, kernel, text): sys.exit(3)

class Namesake(Base):
    "A rule."
    code, name = "BAD105", "column-access"

class Foreign(Base):
    "A rule."
    code, name = "SMEM777", "some-name"

class Undocumented(ConflictRule):
    code, name = "BAD106", "bad-undocumented"

text = "no rule"
"""
Environment = dict[str, str]


def installed(tmp_path: Path, project: Mapping[str, Any], sources: Mapping[str, str]) -> Environment:
    """An environment into which pip has installed a wheel beside smemlint. project: as in pyproject.toml;
    sources: the modules."""
    name, version = project["name"].replace("-", "_"), project["version"]
    target, wheel = tmp_path / "site", tmp_path / f"{name}-{version}-py3-none-any.whl"
    info = f"{name}-{version}.dist-info"
    entries = project["entry-points"]["smemlint.rules"]
    metadata = {
        "METADATA": f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {version}\n",
        "WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "entry_points.txt": "[smemlint.rules]\n" + "".join(f"{k} = {v}\n" for k, v in entries.items()),
    }
    files = {**sources, **{f"{info}/{file}": text for file, text in metadata.items()}}
    with zipfile.ZipFile(wheel, "w") as archive:
        for file, text in files.items():
            archive.writestr(file, text)
        archive.writestr(f"{info}/RECORD", "".join(f"{file},,\n" for file in (*files, f"{info}/RECORD")))
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-deps"]
    subprocess.run([*pip, "--target", str(target), str(wheel)], check=True, timeout=120)
    return {**os.environ, "PYTHONPATH": str(target), "SMEMLINT_CACHE_DIR": str(tmp_path / "cache")}


@pytest.fixture(scope="module")
def bad_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = {"name": "bad-rules", "version": "0.3", "entry-points": {"smemlint.rules": {}}}
    environment = installed(tmp_path_factory.mktemp("bad"), project, {"bad_rules.py": BAD})
    return Path(environment["PYTHONPATH"])


def bad(tmp_path: Path, site: Path, *names: str) -> Environment:
    """An environment with some of BAD's rules."""
    copy = tmp_path / "site"
    shutil.copytree(site, copy)
    (info,) = copy.glob("*.dist-info")
    entries = "".join(f"{name.lower()}{n} = bad_rules:{name}\n" for n, name in enumerate(names))
    (info / "entry_points.txt").write_text(f"[smemlint.rules]\n{entries}")
    return {**os.environ, "PYTHONPATH": str(copy), "SMEMLINT_CACHE_DIR": str(tmp_path / "cache")}


def run(folder: Path, environment: Environment, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "smemlint", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / ".git").mkdir()
    (folder / "k.cu").write_text(REDUCTION, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    template = ROOT / "examples" / "house-rules"
    project = tomllib.loads((template / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    sources = {str(p.relative_to(template / "src")): p.read_text() for p in (template / "src").rglob("*.py")}
    return installed(tmp_path_factory.mktemp("house"), project, sources)


def codes(done: subprocess.CompletedProcess[str]) -> list[str]:
    return [d["code"] for d in json.loads(done.stdout)["diagnostics"]]


def test_an_installed_rule_is_listed_and_explained(folder: Path, house: Environment) -> None:
    listed = run(folder, house, "rules")
    assert listed.returncode == 0
    assert "HOUSE101  interleaved-reduction" in listed.stdout and "(house-rules 1.0)" in listed.stdout
    explained = run(folder, house, "explain", "interleaved-reduction")
    assert explained.stdout.startswith("# HOUSE101: interleaved-reduction\n")
    assert "which shuffles" in explained.stdout


def test_an_installed_rule_speaks_in_the_place_of_smemlints_own(folder: Path, house: Environment) -> None:
    done = run(folder, house, "k.cu")
    assert (
        done.returncode == 1
        and "warning[HOUSE101] interleaved-reduction: 32-way bank conflict" in done.stdout
    )
    assert "the distance between lanes doubles; use block_sum" in done.stdout
    assert "cost: " in done.stdout and "SMEM102" not in done.stdout


@pytest.mark.parametrize("options", [("--ignore", "house"), ("--select", "SMEM102")])
def test_smemlints_own_words_come_back_where_an_added_rule_is_off(
    folder: Path, house: Environment, options: tuple[str, str]
) -> None:
    assert codes(run(folder, house, "k.cu", *options, "--output-format", "json")) == ["SMEM102"]


@pytest.mark.parametrize("selector", ["house1", "interleaved-reduction"])
def test_an_added_rule_is_selected_as_any_other(folder: Path, house: Environment, selector: str) -> None:
    done = run(folder, house, "k.cu", "--select", selector, "--output-format", "json")
    assert set(codes(done)) == {"HOUSE101"}


def test_the_configuration_knows_added_rules_only_while_they_are_installed(
    folder: Path, house: Environment
) -> None:
    (folder / "smemlint.toml").write_text("select = ['HOUSE']\n")
    assert run(folder, house, "k.cu").returncode == 1
    done = run(folder, {**house, "PYTHONPATH": ""}, "k.cu")
    assert done.returncode == 2 and "no rule is called `HOUSE`" in done.stderr


@pytest.mark.parametrize("name", ["HOUSE101", "SMEM102"])
def test_a_comment_may_name_the_added_rule_or_the_one_that_it_stands_for(
    folder: Path, house: Environment, name: str
) -> None:
    text = REDUCTION.replace("// the reduction", f"// smemlint: ignore[{name}] old")
    (folder / "k.cu").write_text(text, encoding="utf-8")
    done = run(folder, house, "k.cu")
    assert done.returncode == 0 and "suppressed" in done.stdout, done.stdout


def test_a_baseline_holds_when_a_rule_is_added(folder: Path, house: Environment) -> None:
    assert run(folder, {**house, "PYTHONPATH": ""}, "k.cu", "--write-baseline", "b.json").returncode == 0
    done = run(folder, house, "k.cu", "--baseline", "b.json")
    assert done.returncode == 0 and "stale" not in done.stderr, done.stdout + done.stderr


def test_sarif_knows_added_rules(folder: Path, house: Environment) -> None:
    done = run(folder, house, "k.cu", "--output-format", "sarif")
    (sarif,) = json.loads(done.stdout)["runs"]
    (result,) = sarif["results"]
    rule = sarif["tool"]["driver"]["rules"][result["ruleIndex"]]
    assert result["ruleId"] == rule["id"] == "HOUSE101" and rule["name"] == "InterleavedReduction"


def test_a_report_that_is_kept_does_not_outlive_a_change_of_the_rules(
    folder: Path, house: Environment
) -> None:
    plain = {**house, "PYTHONPATH": ""}
    assert "SMEM102" in run(folder, plain, "k.cu").stdout
    assert "HOUSE101" in run(folder, house, "k.cu").stdout
    assert "HOUSE101" not in run(folder, plain, "k.cu").stdout


def test_the_working_folder_brings_no_rules(folder: Path, tmp_path: Path, house: Environment) -> None:
    shutil.copytree(house["PYTHONPATH"], folder, dirs_exist_ok=True)
    assert "HOUSE101" not in run(folder, {**house, "PYTHONPATH": ""}, "rules").stdout


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Raises", "the rule `BAD101` of bad-rules 0.3 failed in `sum`: KeyError: 'key'; its findings"),
        ("Answers", "the rule `BAD102` of bad-rules 0.3 failed in `sum`: TypeError: expected a Finding"),
        ("Loops", "the rule `BAD103` of bad-rules 0.3 failed in `sum`: took more than 2 s"),
        ("Crashes", "the rule BAD104 ended the analysis: the analysis crashed (exit status 7); added"),
        ("Leaves", "the rule `BAD201` of bad-rules 0.3 failed in `sum`: SystemExit: 3"),
        ("nothing", "the rule `nothing0` of bad-rules 0.3 cannot be loaded: AttributeError: "),
    ],
)
def test_a_rule_that_fails_costs_nothing_but_itself(
    folder: Path, tmp_path: Path, bad_site: Path, name: str, message: str
) -> None:
    done = run(folder, bad(tmp_path, bad_site, name), "k.cu", "--output-format", "json", "--no-cache")
    assert done.returncode == 2 and message in done.stderr, done.stderr
    assert done.stderr.count("error: ") == 1
    assert codes(done) == ["SMEM102"]  # what smemlint says itself is whole


def test_what_cannot_be_used_is_told_by_the_list_of_rules(tmp_path: Path, bad_site: Path) -> None:
    names = ("Raises", "Raises", "Namesake", "Foreign", "Undocumented", "text", "nothing")
    done = run(tmp_path, bad(tmp_path, bad_site, *names), "rules")
    assert done.returncode == 2 and done.stdout.count("BAD10") == 1
    of = "of bad-rules 0.3 cannot be"
    assert sorted(done.stderr.splitlines()) == [
        f"error: the rule `Foreign` {of} used: the code `SMEM777` begins with SMEM, which is smemlint's own",
        f"error: the rule `Namesake` {of} used: `column-access` is a rule of smemlint already",
        f"error: the rule `Raises` {of} used: `BAD101` is a rule of bad-rules 0.3 already",
        f"error: the rule `Undocumented` {of} used: it has no docstring, which is its documentation",
        f"error: the rule `no rule` {of} used: it is no class that derives from ConflictRule or "
        "DeclarationRule",
        f"error: the rule `nothing6` {of} loaded: AttributeError: module 'bad_rules' has no attribute "
        "'nothing'",
    ]


def test_the_template_passes_its_own_tests(tmp_path: Path) -> None:
    template = ROOT / "examples" / "house-rules"
    environment = {**os.environ, "PYTHONPATH": str(template / "src")}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path)]
    done = subprocess.run(
        [*command, str(template / "tests")], cwd=tmp_path, env=environment, capture_output=True, timeout=120
    )
    assert done.returncode == 0, done.stdout.decode()


def test_a_rule_that_misses_its_example_fails_its_test() -> None:
    class Blind(ColumnAccess):
        __doc__ = ColumnAccess.__doc__
        code, name = "HOUSE1", "blind-rule"

        def explains(self, conflict: object, kernel: object) -> None:
            return None

    with pytest.raises(ValueError, match="`code` is no code such as HOUSE101"):
        check_rule(Blind)
    Blind.code = "HOUSE101"
    with pytest.raises(AssertionError, match="HOUSE101 misses\n__global__ void kernel"):
        check_rule(Blind)
    Blind.conflicting = ()
    with pytest.raises(AssertionError, match="no example in `conflicting`"):
        check_rule(Blind)
