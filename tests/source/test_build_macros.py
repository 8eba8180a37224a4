"""Macros that the build files of a project define, for names that nothing declares."""

from __future__ import annotations

from pathlib import Path

import pytest

from smemlint.api import Job, analyse_file
from smemlint.source.build_macros import build_macro

MAKEFILE = "N ?= 32\nCFLAGS := -O3 -DTILE=$(N) -Dreal=double -DLEVEL=1\nother:\n\tcc -DLEVEL=2 x.c\n"
SCRIPT = """
HEAD_SIZE = 64  # of a head
flags = [f"-D_N_={HEAD_SIZE}", '-DROWS=16', "-DNAME=thing"]
load(name="k", sources=["k.cu"], extra_cuda_cflags=flags)
"""
CMAKE = "set(WIDTH 8)\ntarget_compile_definitions(app PRIVATE COLUMNS=${WIDTH} real_t=float MODE=fast)\n"


@pytest.mark.parametrize(
    ("file", "text", "told"),
    [
        ("Makefile", MAKEFILE, {"TILE": "32", "real": "double", "LEVEL": None, "N": None}),
        ("run.py", SCRIPT, {"_N_": "64", "ROWS": "16", "NAME": None}),
        ("CMakeLists.txt", CMAKE, {"COLUMNS": "8", "real_t": "float", "MODE": None}),
        ("setup.py", 'Extension("k", define_macros=[("ROWS", "4"), ("X", None)])', {"ROWS": "4", "X": None}),
        ("notes.txt", "-DTILE=32", {"TILE": None}),
    ],
)
def test_numbers_and_types_are_told(
    tmp_path: Path, file: str, text: str, told: dict[str, str | None]
) -> None:
    (tmp_path / file).write_text(text)
    source = str(tmp_path / "k.cu")
    assert {name: build_macro(name, source, str(tmp_path)) for name in told} == told


def test_the_nearest_folder_within_the_project_tells(tmp_path: Path) -> None:
    near = tmp_path / "project" / "app" / "cuda"
    near.mkdir(parents=True)
    for folder, n in ((tmp_path, 1), (tmp_path / "project", 2), (tmp_path / "project" / "app", 3)):
        (folder / "Makefile").write_text(f"-DN={n} -DOF_{folder.name.replace('-', '_')}=1")
    source, root = str(near / "k.cu"), str(tmp_path / "project")
    assert build_macro("N", source, root) == "3"
    assert build_macro("OF_project", source, root) == "1"
    assert build_macro(f"OF_{tmp_path.name.replace('-', '_')}", source, root) is None


def test_a_kernel_of_undeclared_extents_is_told_as_it_is_built(tmp_path: Path) -> None:
    """Rows of 32 doubles: all threads of a warp store to the same pair of banks."""
    (tmp_path / "run.py").write_text(SCRIPT.replace("64", "32") + 'flags.append("-Dreal=double")')
    source = tmp_path / "k.cu"
    text = "__global__ void k(real *p) { __shared__ real s[_N_ * _N_]; s[threadIdx.x * _N_] = p[0]; }\n"
    source.write_text(text + "void go(real *p) { k<<<1, _N_>>>(p); }\n")
    (kernel,) = analyse_file(Job(str(source))).kernels
    ((access,), block) = kernel.accesses, kernel.launch.block
    assert (block, access.width, access.wavefronts, access.grade) == ((32, 1, 1), 8, 32, "exact")
