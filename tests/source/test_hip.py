"""HIP sources are recognised; those that choose between HIP and CUDA are CUDA sources too."""

from __future__ import annotations

from pathlib import Path

import pytest

from smemlint.source import is_hip

HIP_ONLY = [
    '#include "hip/hip_runtime.h"\n__global__ void k() {}\n',
    "#ifndef K_H\n#define K_H\n#include <hip/hip_runtime.h>\n#endif\n",
    "extern int x;\n__global__ void k() { HIP_DYNAMIC_SHARED(float, s) s[0] = 0; }\n",
    "void go() { hipLaunchKernelGGL(k, 1, 32, 0, 0, p); }\n#include <cstdio>\n",
    "#include <hip/hip_fp16.h>\n",
    '#include "ck_tile/core.hpp"\n__global__ void k() {}\n',
    "#include <hipcub/hipcub.hpp>\n",
]
BOTH = [
    "#ifdef __HIP_PLATFORM_AMD__\n#include <hip/hip_runtime.h>\n#else\n#include <cuda_runtime.h>\n#endif\n",
    "#if defined(USE_ROCM)\n#include <hip/hip_runtime.h>\n#endif\n__global__ void k() {}\n",
    "#if CUDART_VERSION\n#include <cuda_fp16.h>\n#else\n#include <hip/hip_fp16.h>\n#endif\n",
    "#ifdef USE_ROCM\nvoid go() { hipLaunchKernelGGL(k, 1, 32, 0, 0, p); }\n#endif\n",
    "#ifdef USE_ROCM\n#include <hipcub/hipcub.hpp>\n#else\n#include <cub/cub.cuh>\n#endif\n",
    '#include "stack/tile.h"\n#include "../ck/tile.h"\n',
    "// #include <hip/hip_runtime.h>\n__global__ void k() {}\n",
    '#include <cuda_runtime.h>\nconst char *s = "hipLaunchKernelGGL(";\n',
]


@pytest.mark.parametrize("text", HIP_ONLY)
def test_a_source_for_hip_alone_is_one(text: str) -> None:
    assert is_hip("k.cu", text.encode())


@pytest.mark.parametrize("text", BOTH)
def test_a_source_that_cuda_compiles_is_none(text: str) -> None:
    assert not is_hip("k.cu", text.encode())


def test_the_suffix_says_so_too() -> None:
    assert is_hip("k.hip", b"__global__ void k() {}")


def test_a_launch_of_hip_that_the_project_defines_itself_is_one_of_cuda(tmp_path: Path) -> None:
    (tmp_path / "utils").mkdir()
    (tmp_path / "utils" / "gpu.hpp").write_text(
        "#ifdef O_HIP\n#include <hip/hip_runtime.h>\n#else\n"
        "#define hipLaunchKernelGGL(F, G, B, M, S, ...) F<<<G, B, M, S>>>(__VA_ARGS__)\n#endif\n"
    )
    (tmp_path / "global.h").write_text('#include "utils/gpu.hpp"\n')
    launch = b"void go() { hipLaunchKernelGGL(k, 1, 32, 0, 0, p); }\n"
    assert not is_hip(str(tmp_path / "a.cu"), b'#include "global.h"\n' + launch)
    assert is_hip(str(tmp_path / "a.cu"), b'#include "other.h"\n' + launch)
    assert is_hip(str(tmp_path / "a.cu"), b'#include "global.h"\n#include <hip/hip_fp16.h>\n' + launch)
