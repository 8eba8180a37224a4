"""The format for people, whole outputs."""

from __future__ import annotations

from dataclasses import replace

from made import TRANSPOSE, array, diagnostic, place, report
from smemlint.rules import Label, Severity

from smemlint.fix.model import Refusal, Suggestion, TextEdit
from smemlint.ir import Place
from smemlint.render import render
from smemlint.render.full import fix_notes
from smemlint.render.style import Look


def test_a_finding_shows_the_access_and_the_declaration_in_source_order() -> None:
    assert render("full", report([diagnostic()])) == (
        "warning[SMEM101] column-access: 32-way bank conflict\n"
        "  --> src/transpose.cu:10:25\n"
        "   |\n"
        " 5 |     __shared__ float tile[TILE_DIM][TILE_DIM];\n"
        "   |                      ---- row pitch 128 B: every row starts in the same bank\n"
        "...\n"
        "10 |     odata[y * width + x] = tile[threadIdx.x][threadIdx.y];\n"
        "   |                            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
        "   |                            lanes 0..31 meet in bank 0; 32 wavefronts, 1 would do\n"
        "   = launch: block (32, 8) from transpose.cu:108\n"
        "\n"
        "1 finding in 1 of 1 file; 2 accesses, 2 resolved; 0 unparsed\n"
    )


def test_without_findings_only_the_summary_is_left() -> None:
    assert render("full", report()) == "0 findings in 0 of 1 file; 2 accesses, 2 resolved; 0 unparsed\n"


def test_neighbouring_lines_have_no_gap() -> None:
    one = diagnostic(place=place("tile[y][x]"), also=(Label(place("int x"), "here"),))
    assert "...\n" in render("full", report([one]))
    near = diagnostic(place=place("__syncthreads()"), also=(Label(place("tile[y][x]"), "here"),))
    assert "...\n" not in render("full", report([near]))


def test_two_places_on_one_line_have_a_row_of_carets_each() -> None:
    text = render("full", report([diagnostic(also=(Label(place("odata", nth=1), "written"),))]))
    carets = [line for line in text.splitlines() if "^^" in line or ("--" in line and "-->" not in line)]
    assert [line.split()[1][0] for line in carets] == ["^", "-"]


def test_a_place_in_another_file_gets_a_heading_of_its_own() -> None:
    other = Place("src/tile.cuh", 2, 7, 2, 11, 20, 24)
    shown = report([diagnostic(also=(Label(other, "declared here"),))])
    shown = replace(shown, texts={**shown.texts, "src/tile.cuh": "// tile\nfloat tile[32];\n"})
    assert "  ::: src/tile.cuh:2:7\n 2 | float tile[32];\n   |       ---- declared here\n" in render(
        "full", shown
    )


def test_a_long_line_is_clipped_around_the_carets() -> None:
    source = "x" * 300 + " s[i] " + "y" * 300 + "\n"
    one = diagnostic(place=place("s[i]", source), also=(), here="here")
    lines = render("full", report([one], text=source)).splitlines()
    shown, carets = lines[3], lines[4]
    assert len(shown) < 130
    assert shown[carets.index("^") : carets.rindex("^") + 1] == "s[i]"
    assert shown.startswith("1 | ...") and shown.endswith("...")


def test_tabs_wide_letters_and_control_characters_keep_the_carets_in_place() -> None:
    source = "\t/* 行列 é \x07 */\ts[i] = 0;\n"
    one = diagnostic(place=place("s[i]", source), also=(), here="")
    lines = render("full", report([one], text=source)).splitlines()
    before, after = lines[3].split("s[i]")
    wide = sum(c in "行列" for c in before)
    assert len(before) + wide == lines[4].index("^^^^") and after == " = 0;"
    assert "\x07" not in lines[3] and "\t" not in lines[3]


def test_crlf_line_ends_do_not_show() -> None:
    source = TRANSPOSE.replace("\n", "\r\n")
    one = diagnostic(place=place("tile[threadIdx.x][threadIdx.y]", source), also=())
    assert "\r" not in render("full", report([one], text=source))


def test_a_file_that_is_gone_still_tells_the_finding() -> None:
    text = render("full", replace(report([diagnostic()]), texts={}))
    assert "10 |" in text and "lanes 0..31 meet in bank 0" in text


def test_colour_only_adds_escapes() -> None:
    import re

    plain, painted = (render("full", report([diagnostic()]), Look(color=c)) for c in (False, True))
    assert "\x1b[33;1mwarning[SMEM101]\x1b[0m" in painted
    assert re.sub(r"\x1b\[[\d;]*m", "", painted) == plain


def suggestion(**changes: object) -> Suggestion:
    values: dict[str, object] = {
        "kind": "padding",
        "array": array(),
        "words": "pad the row: `tile[TILE_DIM][TILE_DIM + 1]`; both accesses of the array are then "
        "conflict-free, +128 B",
        "edits": (TextEdit("src/transpose.cu", 170, 170, " + 1"),),
        "refused": None,
        "safe": True,
        "sites": (),
    }
    return Suggestion(**{**values, **changes})  # type: ignore[arg-type]


def test_a_fix_is_marked_when_it_is_an_edit() -> None:
    text = render("full", report([diagnostic(fix=suggestion())]))
    assert "   = fix [*]: pad the row: `tile[TILE_DIM][TILE_DIM + 1]`; both accesses of the" in text


def test_an_unsafe_fix_says_why() -> None:
    fix = suggestion(safe=False, unsafe_because="`tile` escapes")
    assert "= fix [unsafe]: pad the row" in (text := render("full", report([diagnostic(fix=fix)])))
    assert "   = unsafe: `tile` escapes\n" in text


def test_a_gain_says_that_it_counts_loops_of_unknown_length_once() -> None:
    fix = suggestion(kernel=(1056, 64))
    said = "gain: the kernel's shared-memory wavefronts 1,056 -> 64 (94% less)"
    assert fix_notes(fix)[1] == said
    assert fix_notes(fix, open_loops=True)[1] == said + ", a loop of unknown length counted as 32 iterations"


def test_what_a_fix_buys_is_told_for_the_kernel_as_a_whole() -> None:
    fix = suggestion(kernel=(1056, 64), blocks_per_sm=(8, 8))
    text = " ".join(render("full", report([diagnostic(fix=fix)])).split())
    gain = "= gain: the kernel's shared-memory wavefronts 1,056 -> 64 (94% less), blocks per SM 8, as before"
    assert gain in text
    fix = suggestion(kernel=(9000, 6000), blocks_per_sm=(8, 7))
    text = " ".join(render("full", report([diagnostic(fix=fix)])).split())
    assert "9,000 -> 6,000 (33% less), blocks per SM 8 -> 7" in text
    assert "(under 1% less)" in fix_notes(suggestion(kernel=(9000, 8990)))[1]
    # Nothing is promised of a kernel whose accesses are not all known.
    assert "gain" not in render("full", report([diagnostic(fix=suggestion(blocks_per_sm=(8, 8)))]))


def test_a_refused_edit_leaves_the_advice_and_the_reason() -> None:
    fix = suggestion(edits=None, refused=Refusal("macro", "the declaration stands in a macro"))
    text = render("full", report([diagnostic(fix=fix)]))
    assert (
        "   = fix [by hand]: pad the row" in text
        and "   = no edit: the declaration stands in a macro\n" in text
    )


def test_severities_are_named() -> None:
    assert render("full", report([diagnostic(severity=Severity.NOTE)])).startswith("note[SMEM101]")
