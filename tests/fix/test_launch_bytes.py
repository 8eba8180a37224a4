"""The bytes that launches give after an edit are read from the edited text, and must be enough."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from smemlint.api import Job, analyse_file
from smemlint.fix.text.launches import dynamic_bytes

KERNEL = """__global__ void k(float *o, int w) {
    extern __shared__ float t[];
    t[threadIdx.y * 32 + threadIdx.x] = o[threadIdx.x];
    __syncthreads();
    o[threadIdx.y] = t[threadIdx.x * 32 + threadIdx.y];
}
int main() { int rows = 32; k<<<1, dim3(32, 32), rows * 32 * sizeof(float)>>>(0, 32); }
"""


@pytest.mark.parametrize(("lost", "edited"), [(0, True), (8, False)])
def test_an_edit_whose_launches_give_too_few_bytes_is_not_offered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lost: int, edited: bool
) -> None:
    grown = dynamic_bytes.grown

    def fewer(*given: Any) -> Any:
        found = grown(*given)
        return (
            found
            if isinstance(found, dynamic_bytes.Refusal)
            else [(a, b, f"{t} - {lost}") for a, b, t in found]
        )

    monkeypatch.setattr(dynamic_bytes, "grown", fewer)
    path = tmp_path / "a.cu"
    path.write_text(KERNEL)
    (found,) = analyse_file(Job(str(path))).suggestions
    assert (found.edits is not None) == edited
    if edited:
        assert found.kind == "pitch"
    else:
        assert found.refused is not None and found.refused.code == "not-proved"
        assert "B, and 4220 are reached" in found.refused.text
