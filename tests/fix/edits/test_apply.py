"""Edits land on bytes exactly, and a file is either the old one or the new one."""

from __future__ import annotations

import pytest

from smemlint.fix.edits.apply import EditError, apply, compatible, diff
from smemlint.fix.model import TextEdit


def edit(offset: int, original: str, replacement: str) -> TextEdit:
    return TextEdit("a.cu", offset, offset + len(original), replacement, original)


def test_edits_are_done_in_any_order_and_leave_all_other_bytes() -> None:
    data = b"\xef\xbb\xbf\ta[4] \xff\r\n"
    assert apply([edit(7, "", "+1"), edit(6, "4", "8")], data) == b"\xef\xbb\xbf\ta[8+1] \xff\r\n"


def test_insertions_at_one_point_keep_their_order() -> None:
    assert apply([edit(1, "", "x"), edit(1, "", "y")], b"ab") == b"axyb"


def test_edits_that_overlap_are_refused() -> None:
    with pytest.raises(EditError, match="overlap"):
        apply([edit(0, "abc", ""), edit(2, "c", "d")], b"abcd")


def test_a_text_that_changed_is_refused() -> None:
    with pytest.raises(EditError, match="not what was analysed"):
        apply([edit(0, "abc", "x")], b"abd")


def test_compatible_means_that_no_ranges_touch() -> None:
    assert compatible([edit(0, "ab", "")], [edit(2, "c", "d")])
    assert compatible([edit(3, "", "x")], [edit(3, "", "y")])
    assert not compatible([edit(0, "ab", "")], [edit(1, "b", "d")])
    assert not compatible([edit(0, "abc", "")], [edit(1, "", "d")])


def test_a_diff_names_both_sides_and_a_missing_last_line_end() -> None:
    text = diff("src/a.cu", b"one\ntwo", b"one\nthree")
    assert text.startswith("--- a/src/a.cu\n+++ b/src/a.cu\n")
    assert "-two\n\\ No newline at end of file\n+three\n\\ No newline" in text


def test_a_patch_of_a_long_file_names_only_the_lines_that_changed() -> None:
    block = "    a[i] = 0;\n    __syncthreads();\n}\n\n"
    old = f"{block * 200}    b[i] = 1;\n{block * 200}"
    new = old.replace("    b[i] = 1;\n", "    b[i + 1] = 1;\n").replace(f"{block}", f"// one\n{block}", 1)
    changed = [line for line in diff("a.cu", old.encode(), new.encode()).splitlines()[2:] if line[0] in "+-"]
    assert changed == ["+// one", "-    b[i] = 1;", "+    b[i + 1] = 1;"]
