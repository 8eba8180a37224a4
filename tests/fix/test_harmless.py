"""A fix is no finding of another rule, and after it there is nothing left to fix."""

from __future__ import annotations

from pathlib import Path

import pytest

from smemlint.api import Job, View, analyse_file, collect
from smemlint.fix.edits.apply import apply
from tests.fix.test_suggest import of_text

TURN = """__global__ void k(float *out, const float *in) {{
    __shared__ {declared};{comment}
    int x = threadIdx.x, y = threadIdx.y;
    t[y][x] = in[y * 32 + x];
    __syncthreads();
    out[y * 32 + x] = t[x][y];
}}
void start(float *o, const float *i) {{ k<<<4, dim3({x}, {y})>>>(o, i); }}
"""


@pytest.mark.parametrize(
    ("declared", "x", "y"),
    [
        ("float t[32][32]", 32, 32),
        ("float t[16][16]", 16, 16),
        ("float t[16][16 + 1]", 16, 16),
        ("float t[32][34]", 32, 32),
        ("double t[32][32]", 32, 32),
        ("float t[8][32]", 8, 8),
        ("float4 t[8][8]", 8, 8),
    ],
)
def test_a_fixed_array_is_clean_by_every_rule(tmp_path: Path, declared: str, x: int, y: int) -> None:
    text = TURN.format(declared=declared, comment="", x=x, y=y)
    if "float4" in declared:
        text = text.replace("= in[y * 32 + x];", "= make_float4(in[x], 0, 0, 0);").replace(
            "t[x][y];", "t[x][y].x;"
        )
    found, path = of_text(tmp_path, text.encode())
    fix = found["t"]
    assert fix.edits is not None, fix.refused
    Path(path).write_bytes(apply(fix.edits, text.encode()))
    again = analyse_file(Job(path))
    assert not any(s.edits for s in again.suggestions)
    assert [d.code for d in collect([again], View()).diagnostics if not d.code.startswith("SMEM1")] == []


def test_a_comment_that_speaks_of_the_size_is_pointed_at(tmp_path: Path) -> None:
    text = TURN.format(declared="float t[32][32]", comment="  // 32 words a row", x=32, y=32)
    fix = of_text(tmp_path, text.encode())[0]["t"]
    assert fix.words.endswith("; the comment on line 2 may no longer hold")
    other = text.replace("// 32 words a row", "// the tile")
    assert "comment" not in of_text(tmp_path, other.encode())[0]["t"].words
