"""Source lines with carets."""

from __future__ import annotations

import pytest

from smemlint.ir import Place
from smemlint.render import snippet
from smemlint.render.snippet import Mark, cells


def mark(line: str, text: str) -> Mark:
    start = line.encode().index(text.encode())
    end = start + len(text.encode())
    return Mark(Place("k.cu", 1, start + 1, 1, end + 1, start, end), "here", True)


def underlined(line: str, text: str) -> str:
    """What stands above the carets."""
    shown, carets = snippet.snippet(line, [mark(line, text)])
    start = carets.text.index("^")
    columns = range(start, start + carets.text.count("^"))
    at, result = 0, ""
    for character in shown.text:
        if at in columns:
            result += character
        at += cells(character)
    return result


@pytest.mark.parametrize(
    "line",
    ["t[i];", "\tx = t[i];", "a\t\tt[i]\t;", "äöü t[i]", "你好 t[i]",
     "e\u0301 t[i]", '"\x1b[31m" t[i]', "##[x] t[i]", "##vso[ t[i]"],
)  # fmt: skip
def test_carets_stand_under_what_they_mean(line: str) -> None:
    assert underlined(line, "t[i]") == "t[i]"
    assert underlined("x; " * 200 + line, "t[i]") == "t[i]"
    assert underlined(line + "; y" * 200, "t[i]") == "t[i]"


def test_a_long_line_is_looked_at_once_for_all_its_findings(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at = 0
    plain = snippet.pieces

    def counted(text: str) -> object:
        nonlocal looked_at
        looked_at += len(text)
        return plain(text)

    monkeypatch.setattr(snippet, "pieces", counted)
    line = "t[i]; " * 6000
    for at in range(0, 1800, 6):
        snippet.snippet(line, [Mark(Place("k.cu", 1, at + 1, 1, at + 5, at, at + 4), "here", True)])
    assert looked_at == len(line)


def test_a_byte_order_mark_is_no_text() -> None:
    shown, carets = snippet.snippet("\ufeffint t[i];", [mark("\ufeffint t[i];", "t[i]")])
    assert (shown.text, carets.text) == ("int t[i];", "    ^^^^ here")
    assert snippet.snippet("x\ufeff t[i];", [mark("x\ufeff t[i];", "t[i]")])[0].text == r"x\ufeff t[i];"
