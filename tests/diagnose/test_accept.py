"""Comments for what is accepted: where they stand, and that they hold."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from smemlint.diagnose.accept import lines_without, with_ignores, wrong_reason

CODES = ["SMEM101"]


def added(text: str, *lines: int, codes: tuple[str, ...] = ("SMEM101",)) -> str:
    """The text with comments for some lines, which must hold, and hold when they are added once more."""
    wanted = dict.fromkeys(lines, codes)
    accepted = with_ignores(text, wanted, "old")
    assert not accepted.left and lines_without(text, accepted, wanted) == []
    return accepted.text


def test_a_comment_stands_behind_a_short_line() -> None:
    assert added("  a;  \n  b;\n", 1) == "  a;  // smemlint: ignore[SMEM101] old  \n  b;\n"


def test_a_comment_stands_above_a_line_that_would_get_longer_than_all_others() -> None:
    long = "\tfloat x = tile[threadIdx.x * 32 + threadIdx.y * 4 + some_offset_of_it];"
    assert added(f"a;\n{long}\n", 2) == f"a;\n\t// smemlint: ignore[SMEM101] old\n{long}\n"
    other = "// " + "-" * 120
    assert added(f"{other}\n{long}\n", 2) == f"{other}\n{long}  // smemlint: ignore[SMEM101] old\n"


def test_a_comment_stands_above_a_line_that_has_one() -> None:
    assert added("a;  // read once\n", 1) == "// smemlint: ignore[SMEM101] old\na;  // read once\n"
    text = "a; /* from\nhere */ b;  // x\n"
    assert added(text, 1) == f"// smemlint: ignore[SMEM101] old\n{text}"


def test_a_comment_of_smemlint_gets_the_codes_that_it_lacks() -> None:
    text = "a;  // smemlint: ignore[SMEM102] read once\n"
    assert added(text, 1) == "a;  // smemlint: ignore[SMEM102, SMEM101] read once\n"
    above = "// smemlint: ignore[ SMEM102 ] read once\na;\n"
    assert added(above, 2) == "// smemlint: ignore[ SMEM102 , SMEM101] read once\na;\n"
    assert added(text, 1, codes=("SMEM102",)) == text


def test_several_codes_of_a_line_share_a_comment() -> None:
    assert "ignore[SMEM101, SMEM201] old" in added("a;\n", 1, codes=("SMEM101", "SMEM201", "SMEM101"))


def test_a_line_of_a_macro_gets_a_comment_that_ends_on_it() -> None:
    text = "#define COPY(i) \\\n    t[i] = 0; \\\n    t[2 * i] = 1\n"
    middle = "#define COPY(i) \\\n    t[i] = 0; /* smemlint: ignore[SMEM101] old */ \\\n    t[2 * i] = 1\n"
    assert added(text, 2) == middle
    assert added(text, 3).endswith("    t[2 * i] = 1  // smemlint: ignore[SMEM101] old\n")


def test_line_endings_and_kinds_of_comments_are_those_of_the_file() -> None:
    assert added("a;\r\nb;\r\n", 1) == "a;  // smemlint: ignore[SMEM101] old\r\nb;\r\n"
    above = "a;  // x\r\nb;\r\n"
    assert added(above, 1) == "// smemlint: ignore[SMEM101] old\r\na;  // x\r\nb;\r\n"
    assert added("a;\r\nb;  // x", 2) == "a;\r\n// smemlint: ignore[SMEM101] old\r\nb;  // x"
    assert added("/* all in C */\na;", 2) == "/* all in C */\na;  /* smemlint: ignore[SMEM101] old */"


def test_a_line_inside_of_a_literal_has_no_place() -> None:
    text = 'auto s = R"(one\ntwo\nthree)";\n'
    accepted = with_ignores(text, {2: CODES}, "old")
    assert accepted.text == text and list(accepted.left) == [2]
    assert list(with_ignores(text, {9: CODES}, "old").left) == [9]


@pytest.mark.parametrize("reason", ["", "  ", "a\nb", "a */ b", "a \\", "[x]", "\x1b[31m"])
def test_what_is_no_reason_is_told(reason: str) -> None:
    assert wrong_reason(reason)


@settings(deadline=None, max_examples=200, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(
        st.sampled_from(["a;", "  b[1]; // x", "/* c", "d */", "e \\", "", "#if 1", 'f("//");', 'R"(', ')"']),
        min_size=1,
    ),
    st.sampled_from(["\n", "\r\n"]),
    st.sets(st.integers(1, 12)),
)
def test_comments_hold_wherever_they_can_stand(lines: list[str], ending: str, wanted: set[int]) -> None:
    text = ending.join(lines)
    asked = dict.fromkeys(wanted, CODES)
    accepted = with_ignores(text, asked, "old")
    assert len(accepted.text.split("\n")) >= len(lines)
    if not lines_without(text, accepted, asked):  # else the file is left as it is
        held = [n for n in asked if n not in accepted.left]
        assert accepted.text.count("ignore[SMEM101] old") == len(held)
        assert accepted.text.count("\r") - text.count("\r") in (
            0,
            accepted.text.count("\n") - text.count("\n"),
        )
