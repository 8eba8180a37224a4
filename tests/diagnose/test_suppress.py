"""Suppressions, used and unused."""

from __future__ import annotations

from made import TRANSPOSE, diagnostic

from smemlint.diagnose.model import Diagnostic
from smemlint.diagnose.suppress import suppress
from smemlint.ir import Place

PATH = "src/transpose.cu"
ACCESS = "tile[threadIdx.x][threadIdx.y];"


def left(text: str, *found: Diagnostic) -> list[str]:
    return [d.code for d in suppress(found, {PATH: text}, [PATH])[0]]


def test_a_suppression_on_the_line_silences_by_code_or_name() -> None:
    for what in ("SMEM101", "column-access", "SMEM102, column-access"):
        text = TRANSPOSE.replace(ACCESS, f"{ACCESS} // smemlint: ignore[{what}] known")
        assert "SMEM101" not in left(text, diagnostic())


def test_a_suppression_on_the_line_above_silences() -> None:
    text = TRANSPOSE.replace("__syncthreads();", "// smemlint: ignore[SMEM101] known")
    assert left(text, diagnostic()) == []


def test_another_code_silences_nothing_and_is_a_finding() -> None:
    text = TRANSPOSE.replace(ACCESS, f"{ACCESS} // smemlint: ignore[SMEM102]")
    found, count = suppress([diagnostic()], {PATH: text}, [PATH])
    assert [d.code for d in found] == ["SMEM101", "SMEM904"] and count == 0
    unused = found[1]
    assert unused.title == "`ignore[SMEM102]` suppresses nothing"
    line = text.split("\n")[unused.place.line - 1]
    assert line[unused.place.column - 1 : unused.place.end_column - 1] == "// smemlint: ignore[SMEM102]"
    assert text[unused.place.offset : unused.place.end_offset] == "// smemlint: ignore[SMEM102]"


def test_a_name_that_no_rule_has_is_a_finding() -> None:
    assert left("a; // smemlint: ignore[SMEM1O1]") == ["SMEM905"]
    assert left("a; // smemlint: suppress") == ["SMEM905"]


def test_a_suppression_beside_something_unresolved_is_not_called_unused() -> None:
    text = TRANSPOSE.replace(ACCESS, f"{ACCESS} // smemlint: ignore[SMEM101]")
    unknown = diagnostic(code="SMEM901", name="unresolved-access")
    assert left(text, unknown) == ["SMEM901"]


def test_comments_of_files_that_were_not_checked_are_not_judged() -> None:
    assert suppress([], {PATH: "a; // smemlint: ignore[SMEM101]"}, [])[0] == []


def test_a_comment_behind_wide_characters_has_its_place_in_bytes() -> None:
    text = 'p("\u00e9"); /* smemlint: ignore[SMEM101] */ q("\u00e9"); /* smemlint: ignore[SMEM102] */ r();\n'
    found, _ = suppress([], {PATH: text}, [PATH])
    data = text.encode()
    for unused, code in zip(found, ("SMEM101", "SMEM102"), strict=True):
        place = unused.place
        assert data[place.offset : place.end_offset].decode() == f"/* smemlint: ignore[{code}] */"
        assert place.column == place.offset + 1


def test_comments_that_stand_alone_speak_about_the_first_line_behind_all_of_them() -> None:
    lines = ["// smemlint: ignore[SMEM101] again"] * 3000
    text = "\n".join([*lines, "a;"])
    found, count = suppress([diagnostic(place=Place(PATH, 3001, 1, 3001, 3, 0, 2))], {PATH: text}, [])
    assert (found, count) == ([], 1)
