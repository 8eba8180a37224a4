"""What a stranger's text may show: nothing that a terminal or a build server obeys."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from urllib.parse import unquote_to_bytes

import pytest
from made import TRANSPOSE, diagnostic, place, report
from smemlint.rules import Label

from smemlint.diagnose.model import Access, KernelReport, Problem, Report, SharedEntry, Started, UnparsedEntry
from smemlint.fix.model import Refusal, Suggestion
from smemlint.render import FORMATS, inspect, render
from smemlint.render.style import Look
from smemlint.system.visible import visible, visible_lines, visible_path

HOSTILE = (
    "\x1b]0;x\x07\r\n::set-env name=A::b\u202egpj.%0A[red],'\"\\\udcff\ud800\x9b31m##vso[task.x]##[y]\u2028\0"
)

NAME = HOSTILE.replace("\ud800", "").replace("\0", "")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("tile[x][y]", "tile[x][y]"),
        ("行列 é \N{NO-BREAK SPACE}|", "行列 é \N{NO-BREAK SPACE}|"),
        ("a\x1b[2Jb", r"a\x1b[2Jb"),
        ("a\nb\r\tc", r"a\nb\r\tc"),
        ("\udcff\udc80", r"\xff\x80"),
        ("\ud800", r"\ud800"),
        ("\u202e\u2066\u200b\ufeff", r"\u202e\u2066\u200b\ufeff"),
        ("\U000e0001", r"\U000e0001"),
        ("\x9b31m", r"\x9b31m"),
        ("##vso[task.setvariable]", r"#\x23vso[task.setvariable]"),
        ("##[add-mask]x", r"#\x23[add-mask]x"),
        ("ns::kernel", "ns::kernel"),
    ],
)
def test_what_would_be_obeyed_is_shown(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_no_line_begins_a_command() -> None:
    assert (
        visible_lines("a\n::error::x\n  ::set-env::y\nstd::z")
        == "a\n\\x3a:error::x\n  \\x3a:set-env::y\nstd::z"
    )
    assert visible_path("::error::x\n::y.cu") == r":\x3aerror:\x3ax\n:\x3ay.cu"


def hostile_report() -> Report:
    text = TRANSPOSE.replace(
        "tile[threadIdx.x][threadIdx.y];", f"tile[threadIdx.x][threadIdx.y]; // {HOSTILE[:4]}\x9b"
    )
    path = f"src/{NAME}.cu"
    at = replace(place("tile[threadIdx.x][threadIdx.y]", text), path=path)
    other = replace(place("tile", text), path=f"{NAME}.cuh")
    fix = Suggestion("padding", None, HOSTILE, None, Refusal(HOSTILE, HOSTILE), False, (), HOSTILE)  # type: ignore[arg-type]
    one = diagnostic(
        place=at,
        title=HOSTILE,
        here=HOSTILE,
        also=(Label(other, HOSTILE),),
        notes=(HOSTILE,),
        kernel=HOSTILE,
        array=HOSTILE,
        configuration=HOSTILE,
        fix=fix,
    )
    access = Access(
        replace(at, path=f"{NAME}.cuh"),
        "load",
        4,
        HOSTILE,
        HOSTILE,
        1,
        None,
        None,
        None,
        "unresolved",
        (HOSTILE, HOSTILE),
    )
    kernel = KernelReport(
        f"::{HOSTILE}", at, ((HOSTILE, HOSTILE),), HOSTILE,
        Started((32, 1, 1), None, None, HOSTILE, False, variant=((HOSTILE, 1),)),
        (SharedEntry(HOSTILE, f"::{HOSTILE}", (32,), 128, 1),), (access,),
    )  # fmt: skip
    base = report([one], [Problem(path, HOSTILE, 3, 4), Problem(f"::{path}", HOSTILE)])
    return replace(
        base,
        kernels=(kernel,),
        unparsed=(UnparsedEntry(at, HOSTILE, HOSTILE, HOSTILE),),
        texts={path: text, other.path: text},
    )


def rendered(name: str) -> str:
    hostile = hostile_report()
    if name == "table":
        return inspect.render_table(hostile)
    if name == "inspect":
        return inspect.render_json(hostile)
    return render(name, hostile)


@pytest.mark.parametrize("name", [*FORMATS, "table", "inspect"])
def test_no_format_lets_anything_through(name: str) -> None:
    """Whatever stands in names, lines, kernels, macros and reasons."""
    text = rendered(name)
    assert not re.search(
        r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]", text
    )
    # As GitHub's runner looks for them: `::` first, and once more behind it.
    commands = [line for line in text.splitlines() if re.match(r"\s*::.*?::", line)]
    expected = r"::(warning|error) file=[^:]*::" if name == "github" else r"(?!)"
    assert all(re.match(expected, line) for line in commands), commands
    if name in ("full", "concise", "table", "github"):
        assert "##[" not in text and "##vso[" not in text and r"\x1b" in text
        assert text.count("\n") == len(text.splitlines())


@pytest.mark.parametrize("name", ["json", "sarif", "inspect"])
def test_json_holds_no_half_of_a_surrogate_pair(name: str) -> None:
    """Python reads them, other readers refuse the whole document."""

    def check(value: object) -> None:
        if isinstance(value, str):
            value.encode()
        elif isinstance(value, list):
            list(map(check, value))
        elif isinstance(value, dict):
            list(map(check, [*value, *value.values()]))

    text = rendered(name)
    check(json.loads(text))
    assert r"\\xff" in text and "\\\\" in text


def test_json_keeps_whole_pairs_and_backslashes() -> None:
    odd = diagnostic(title="\U0001f600 \\udcff \\\udcff", here="")
    assert (
        json.loads(render("json", report([odd])))["diagnostics"][0]["title"] == "\U0001f600 \\udcff \\\\xff"
    )


def test_a_uri_holds_the_bytes_of_the_name() -> None:
    name = "a b%:#?\udcff\x1b[é.cu"
    run = json.loads(render("sarif", report([diagnostic(place=replace(diagnostic().place, path=name))])))[
        "runs"
    ][0]
    uri = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert re.fullmatch(r"[A-Za-z0-9/%._~-]+", uri)
    assert unquote_to_bytes(uri).endswith(b"a b%:#?\xff\x1b[\xc3\xa9.cu")


def test_a_message_of_sarif_makes_no_link_of_what_the_project_says() -> None:
    run = json.loads(render("sarif", report([diagnostic(here="A[click](http://x)", also=())])))["runs"][0]
    assert r"A\[click\](http://x)" in run["results"][0]["message"]["text"]


def test_properties_of_an_annotation_are_escaped_as_github_reads_them() -> None:
    odd = diagnostic(
        place=replace(diagnostic().place, path="a,b:c%0A\nd\r.cu"), title="t\n::error::u", here="", notes=()
    )
    first = render("github", report([odd])).splitlines()[0]
    assert first.startswith("::warning file=a%2Cb%3Ac%250A%0Ad%0D.cu,line=10,")
    assert first.endswith("::t%0A::error::u")


def test_markup_of_rich_is_text() -> None:
    odd = diagnostic(title="[red]x[/red]", here="", also=())
    assert "[red]x[/red]" in render("full", report([odd]), Look(color=True))
