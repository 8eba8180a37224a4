"""Numbers that host code reads from a stream are not what they were before."""

from __future__ import annotations

from pathlib import Path

import pytest

from smemlint.api import Job, check
from smemlint.render.inspect import render_table

TEXT = """#include <iostream>
#include <sstream>
__global__ void k(float *out, int n) {
    __shared__ float s[2048];
    out[threadIdx.x] = s[threadIdx.x * n];
}
int main(int argc, char **argv) {
    int n = 4, m = 8;
    std::istringstream in(argv[1]);
    %s
    k<<<1, 256>>>(nullptr, n);
}
"""


@pytest.mark.parametrize(
    "read",
    [
        "std::cin >> n;",
        "in >> n;",
        "in >> m >> n;",
        "if (!(std::cin >> n)) return 1;",
        "if (in >> m >> n && n > 0) m = 3;",
        "while (std::cin >> n) m++;",
    ],
)
def test_what_a_stream_gives_is_not_known(read: str, tmp_path: Path) -> None:
    file = tmp_path / "k.cu"
    file.write_text(TEXT % read)
    assert "1..32  parametric" in render_table(check([Job(str(file))]))


def test_what_it_does_not_give_is(tmp_path: Path) -> None:
    file = tmp_path / "k.cu"
    file.write_text(TEXT % "in >> m;")
    assert "4  exact" in render_table(check([Job(str(file))]))
