"""Includes are found by path suffix in the project; the system's are never read."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from lowered import declared

from smemlint.frontend.parse import parse_unit
from smemlint.frontend.project.includes import MAX_FOLDER_BYTES
from smemlint.frontend.project.options import ParseOptions
from smemlint.frontend.unit import Unit
from smemlint.source import SourceError, read_source


def unit_of(root: Path, files: dict[str, str], main: str, **options: object) -> Unit:
    (root / "pyproject.toml").write_text("")
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return parse_unit(read_source(root / main), ParseOptions(**options))  # type: ignore[arg-type]


def test_a_header_is_found_by_its_suffix_without_include_paths(tmp_path: Path) -> None:
    unit = unit_of(
        tmp_path,
        {
            "src/k.cu": '#include <lib/tile.cuh>\n#include "../missing/x.h"\nint a = TILE;\n',
            "deps/include/lib/tile.cuh": '#include "lib/size.h"\n',
            "deps/include/lib/size.h": "constexpr int TILE = 32;\n",
        },
        "src/k.cu",
    )
    assert [Path(file).name for file in unit.files] == ["k.cu", "tile.cuh", "size.h"]
    assert unit.missing_includes == ("../missing/x.h",)
    assert unit.healed == {}


def test_a_link_into_a_submodule_that_is_not_there_is_a_missing_header(tmp_path: Path) -> None:
    (tmp_path / "include/lib").mkdir(parents=True)
    (tmp_path / "include/lib/tile.h").symlink_to("../../third_party/lib/tile.h")
    unit = unit_of(tmp_path, {"k.cu": "#include <lib/tile.h>\nint a;\n"}, "k.cu")
    assert (unit.missing_includes, unit.refused) == (("lib/tile.h",), ())


def test_the_prelude_answers_for_standard_headers_even_when_the_project_has_a_namesake(
    tmp_path: Path,
) -> None:
    unit = unit_of(
        tmp_path,
        {
            "k.cu": "#include <cuda_fp16.h>\n#include <vector>\nhalf h;\n",
            "third_party/stubs/cuda_fp16.h": "int no;\n",
        },
        "k.cu",
    )
    assert unit.files == (str(tmp_path / "k.cu"),)
    assert unit.problems == ()


def test_given_folders_come_first_and_toolkits_are_ignored(tmp_path: Path) -> None:
    unit = unit_of(
        tmp_path,
        {
            "k.cu": '#include "size.h"\nint a = N;\n',
            "one/size.h": "constexpr int N = 1;\n",
            "two/size.h": "constexpr int N = 2;\n",
            "toolkit/cuda_runtime.h": "",
            "toolkit/size.h": "",
        },
        "k.cu",
        include_dirs=(str(tmp_path / "toolkit"), str(tmp_path / "two")),
    )
    assert unit.files[1:] == (str(tmp_path / "two/size.h"),)


def test_a_compile_command_is_reduced_to_what_clang_may_be_told(tmp_path: Path) -> None:
    command = (
        "nvcc -gencode arch=compute_90,code=sm_90 --expt-relaxed-constexpr -Xptxas -v -Ideps "
        "-isystem /usr/local/cuda/include -DN=4 -UOLD -std=c++14 -c k.cu -o k.o"
    )
    entry = {"directory": str(tmp_path), "file": "k.cu", "command": command}
    (tmp_path / "compile_commands.json").write_text(json.dumps([entry]))
    unit = unit_of(
        tmp_path,
        {"k.cu": "#include <dep.h>\nint a[N + DEP];\n", "deps/dep.h": "#define DEP 1\n"},
        "k.cu",
        compile_commands=str(tmp_path),
    )
    assert unit.problems == ()
    variables = declared(unit)
    assert [c.type.element_count for c in variables] == [5]


def test_a_broken_compilation_database_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "compile_commands.json").write_text("{")
    with pytest.raises(SourceError, match="is not JSON"):
        unit_of(tmp_path, {"k.cu": ""}, "k.cu", compile_commands=str(tmp_path))
    with pytest.raises(SourceError, match="cannot be read"):
        unit_of(tmp_path, {"k.cu": ""}, "k.cu", compile_commands=str(tmp_path / "none.json"))


def test_a_large_library_is_left_out_and_its_names_heal(tmp_path: Path) -> None:
    unit = unit_of(
        tmp_path,
        {
            "k.cu": '#include "near.h"\n#include <big/all.h>\n__global__ void k() { big::run(NEAR); }\n',
            "near.h": "#define NEAR 1\n",
            "lib/big/all.h": "".join(f"#include <big/more{i}.h>\n" for i in range(3)),
            **{
                f"lib/big/more{i}.h": "//" + "x" * (2 * MAX_FOLDER_BYTES // 5) + f"\nint more{i};\n"
                for i in range(3)
            },
        },
        "k.cu",
    )
    assert [Path(file).name for file in unit.files] == ["k.cu", "near.h"]
    assert unit.missing_includes == ("big/all.h",)
    assert "big::run" in unit.healed


def test_of_a_folder_with_one_huge_header_only_that_is_left_out(tmp_path: Path) -> None:
    unit = unit_of(
        tmp_path,
        {
            "src/k.cu": "#include <huge.h>\n#include <own.h>\nint a[OWN];\n",
            "include/huge.h": "//" + "x" * MAX_FOLDER_BYTES + "\n",
            "include/own.h": "#define OWN 7\n",
        },
        "src/k.cu",
    )
    assert "own.h" in [Path(file).name for file in unit.files]
    variables = declared(unit)
    assert [c.type.element_count for c in variables] == [7]


def test_an_included_file_that_changed_is_read_again(tmp_path: Path) -> None:
    first = unit_of(tmp_path, {"k.cu": '#include "a.h"\n', "a.h": "int a;\n"}, "k.cu")
    assert first.texts()[1].data == b"int a;\n"
    second = unit_of(tmp_path, {"a.h": "int a, b;\n"}, "k.cu")
    assert second.texts()[1].data == b"int a, b;\n"


def test_a_launch_with_spaced_brackets_in_a_header_is_a_launch(tmp_path: Path) -> None:
    unit = unit_of(
        tmp_path,
        {
            "k.cu": '__global__ void k(int *p);\n#include "start.h"\n',
            "start.h": "inline void start(int *p) { k << <2, 64 >> >(p); }\n",
        },
        "k.cu",
    )
    assert unit.problems == ()


def test_an_include_by_a_macro_by_include_next_and_by_a_whole_path_is_found(tmp_path: Path) -> None:
    whole = tmp_path / "elsewhere/whole.h"
    unit = unit_of(
        tmp_path,
        {
            "k.cu": f'#define NAME "named.h"\n#include NAME\n#include <one.h>\n#include "{whole}"\n'
            '#include \\\n  "apart.h"\nint a[NAMED + ONE + TWO + WHOLE + APART];\n',
            "named.h": '#define NAMED 1\n#include "sub/../further.h"\n',
            "further.h": "",
            "sub/x.h": "",
            "apart.h": "#define APART 5\n",
            "one/one.h": "#define ONE 2\n#include_next <one.h>\n",
            "two/one.h": "#define TWO 3\n",
            "elsewhere/whole.h": "#define WHOLE 4\n",
        },
        "k.cu",
        include_dirs=(str(tmp_path / "one"), str(tmp_path / "two")),
    )
    assert unit.problems == () and unit.missing_includes == ()
    variables = declared(unit)
    assert [c.type.element_count for c in variables] == [15]


@pytest.mark.parametrize(
    "line",
    [
        '#include "pipe.h"',
        "#include <pipe.h>",
        '#define P "pipe.h"\n#include P',
        '#include "{here}/pipe.h"',
        '#import "pipe.h"',
        '%:include "pipe.h"',
        '#include /* */ "pipe.h"',
        '#pragma GCC dependency "pipe.h"',
        '#if __has_include("pipe.h")\n#include "pipe.h"\n#endif',
        '#include "zero.h"',
        '#include "{here}/../../../../../../../../dev/zero"',
        '#include "/dev/zero"',
        '#include "middle.h"',
    ],
)
def test_a_fifo_or_a_device_that_is_included_is_not_opened(tmp_path: Path, line: str) -> None:
    os.mkfifo(tmp_path / "pipe.h")
    (tmp_path / "zero.h").symlink_to("/dev/zero")
    unit = unit_of(
        tmp_path,
        {"k.cu": line.format(here=tmp_path) + "\nint a;\n", "middle.h": '#include "pipe.h"\n'},
        "k.cu",
        include_dirs=(str(tmp_path),),
    )
    assert [c.spelling for c in declared(unit)] == ["a"]
    if "pragma" not in line and "{" not in line:
        assert [why for _, why in unit.refused] in (
            ["is a FIFO, no regular file"],
            ["is a device, no regular file"],
        )


@pytest.mark.parametrize(
    "header",
    [
        "template <class T> concept Number = std::is_arithmetic_v<T>;\n",
        "#include <concepts>\ntemplate <class T> struct Wide;\n",
    ],
)
def test_a_header_that_needs_c_plus_plus_20_is_read_by_it(tmp_path: Path, header: str) -> None:
    files = {
        "number.cuh": header + "constexpr bool modern = __cplusplus > 201703L;\n",
        "k.cu": '#include "number.cuh"\nstatic_assert(modern);\n',
    }
    assert unit_of(tmp_path, files, "k.cu").problems == ()


def test_a_file_beside_the_one_that_includes_is_not_taken_for_a_header_of_the_library(tmp_path: Path) -> None:
    """clang takes `math/math.h` for `<math.h>` where it finds no other, before what it needs is defined."""
    unit = unit_of(
        tmp_path,
        {
            "k.cu": '#include "math/common.h"\nint a = SIZE;\n',
            "math/common.h": '#pragma once\n#include <math.h>\n#define BOTH inline\n#include "math.h"\n',
            "math/math.h": "#pragma once\nBOTH int one() { return 1; }\n#define SIZE 32\n",
        },
        "k.cu",
    )
    assert unit.problems == () and unit.healed == {}
