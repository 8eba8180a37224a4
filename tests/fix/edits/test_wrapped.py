"""Lines that an edit makes too long end where the file's other lines would."""

from __future__ import annotations

from pathlib import Path

import pytest
from fix import emulated

from smemlint.api import Job, analyse_file
from smemlint.fix.edits.apply import apply
from smemlint.fix.edits.wrapped import wrapped
from smemlint.fix.model import TextEdit
from smemlint.fix.text.source import Source

KERNEL = """\
__global__ void k(float *out, const float *in)
{
    __shared__ float first[1024], second[1024];
    int tx = threadIdx.x, ty = threadIdx.y;
    first[ty * 32 + tx] = in[ty * 32 + tx];
    second[ty * 32 + tx] = in[ty * 32 + tx] + 1;
    __syncthreads();
    out[ty * 32 + tx] = first[tx * 32 + ty] + second[tx * 32 + ty] + first[ty];
}
void start(float *out, const float *in) { k<<<1, dim3(32, 32)>>>(out, in); }
"""


def after(text: str, *changes: tuple[str, str]) -> str:
    """The text with each piece replaced, its lines wrapped."""
    edits = [TextEdit("a.cu", text.index(old), text.index(old) + len(old), new, old) for old, new in changes]
    source = Source("a.cu", text.encode())
    return apply(wrapped(edits, {"a.cu": source}), source.data).decode()


def test_a_line_ends_behind_a_comma_or_an_operator() -> None:
    text = "void f() {\n    value = call(first, second[a]) + other(third);\n}\n"
    long = "a_name_that_is_as_long_as_a_name_may_be"
    assert after(text, ("second[a]", f"second[{long}]")) == (
        "void f() {\n"
        f"    value = call(first, second[{long}]) +\n"
        "        other(third);\n}\n"
    )  # fmt: skip


def test_lines_of_a_wide_file_and_lines_without_a_place_stay() -> None:
    wide = f"// {'x' * 110}\nvoid f() {{ a = b[i] + c; }}\n"
    assert after(wide, ("b[i]", f"b[{'i' * 70}]")).count("\n") == 2
    assert after("int a[4];\n", ("4", "4" * 90)) == f"int a[{'4' * 90}];\n"


@pytest.mark.parametrize(
    "text",
    [
        "#define M(i) b[i] + c + d\n",
        "// b[i] + c + d\nint a;\n",
        'f("b[i] + c + d");\n',
    ],
)
def test_macros_comments_and_texts_are_not_cut(text: str) -> None:
    edited = after(text, ("b[i]", f"b[{'i' * 70}]"))
    assert edited.count("\n") == text.count("\n")


def test_line_ends_and_margins_are_those_of_the_file() -> None:
    text = "void f() {\r\n\tvalue = first[i] + second[i];\r\n}\r\n"
    edited = after(text, ("second[i]", f"second[{'i' * 60}]"))
    assert edited == f"void f() {{\r\n\tvalue = first[i] +\r\n\t    second[{'i' * 60}];\r\n}}\r\n"


@emulated.needs_compiler
def test_fixes_keep_to_the_columns_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a.cu"
    path.write_text(KERNEL)
    report = analyse_file(Job(str(path)))
    edits = [e for s in report.suggestions for e in s.edits or ()]
    edited = apply(edits, KERNEL.encode()).decode()
    assert len(report.suggestions) == 2 and edited != KERNEL
    kernel = edited[edited.index("__global__") :]
    assert max(map(len, kernel.splitlines())) <= 80
    assert emulated.run(edited, tmp_path) == emulated.run(KERNEL, tmp_path)
