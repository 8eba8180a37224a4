"""Which files a source includes, found by reading instead of failing.

A user's machine lacks most include paths. What a file includes is looked up beside it, in the given
folders, then by path suffix in the project; the folders that this implies become search folders for
clang. Headers of the toolkit, of the standard library and of PyTorch are never looked up: the prelude
answers for them.
"""

# Paths are strings here, spelled as clang spells them.
# ruff: noqa: PTH113, PTH117, PTH118, PTH120

from __future__ import annotations

import os
import re
from collections import deque
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from smemlint.source import SourceError, SourceFile, project_index, read_source

MAX_FILES = 400
MAX_TOTAL_BYTES = 6 * 1024 * 1024

_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include(?:_next)?[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.MULTILINE)
_ANSWERED_FOLDERS = (
    "thrust/", "cub/", "cuda/", "nv/", "torch/", "ATen/", "c10/", "pybind11/", "sys/", "bits/", "hip/",
    "hipcub/", "rocprim/", "CL/", "boost/", "gtest/", "benchmark/", "cooperative_groups/", "arpa/",
    "netinet/", "crt/", "experimental/", "Eigen/", "nvtx3/", "rmm/", "spdlog/", "fmt/",
)  # fmt: skip
_ANSWERED_STEMS = """
    assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdarg
    stdbool stddef stdint stdio stdlib string strings time unistd wchar wctype malloc memory pthread
    omp mpi getopt dirent fcntl x86intrin immintrin windows cuda cuda_runtime cuda_runtime_api
    cuda_fp16 cuda_bf16 cuda_fp8 cuda_fp6 cuda_fp4 cuda_pipeline cuda_pipeline_primitives
    cuda_awbarrier cuda_device_runtime_api cuda_profiler_api cuda_texture_types cooperative_groups
    curand curand_kernel curand_mtgp32_kernel cufft cufftXt cublas cublas_v2 cublasLt cusparse
    cusolver cusolverDn cudnn nccl nvml nvrtc nvToolsExt mma sm_20_atomic_functions
    device_launch_parameters device_functions device_atomic_functions driver_types driver_functions
    vector_types vector_functions host_defines host_config texture_types texture_fetch_functions
    texture_indirect_functions surface_types surface_functions surface_indirect_functions
    channel_descriptor cuComplex math_constants math_functions library_types cudaGL cuda_gl_interop
    nppi npp cupti sm_60_atomic_functions sm_61_intrinsics sm_30_intrinsics cudaTypedefs
    builtin_types
"""
_ANSWERED = frozenset(_ANSWERED_STEMS.split())


@dataclass(frozen=True, slots=True)
class IncludePlan:
    """search_dirs: in order, for clang. blanked: included files that must not reach clang, with the reason;
    they are replaced by empty text. files: every project file that may be read, the main file not among
    them."""

    search_dirs: tuple[str, ...]
    blanked: tuple[tuple[str, str], ...]
    files: tuple[str, ...]


def is_answered(name: str) -> bool:
    """Whether the prelude stands in for a header."""
    if name.startswith(_ANSWERED_FOLDERS) or "." not in name.rsplit("/", 1)[-1]:
        return True
    stem, _, suffix = name.partition(".")
    return suffix in ("h", "hpp", "cuh") and stem in _ANSWERED


def plan_includes(source: SourceFile, main: str, include_dirs: tuple[str, ...], root: str) -> IncludePlan:
    """Follow includes from `main`, breadth first, within a budget of files and bytes."""
    index = project_index(Path(root))
    dirs = list(include_dirs)
    queue: deque[tuple[str, tuple[tuple[str, bool], ...]]] = deque([(main, _includes(source.bytes))])
    seen: dict[str, None] = {main: None}
    blanked: list[tuple[str, str]] = []
    budget = MAX_TOTAL_BYTES
    while queue and budget > 0 and len(seen) <= MAX_FILES:
        current, names = queue.popleft()
        folder = os.path.dirname(current)
        for name, quoted in names:
            found = _find(name, quoted, folder, dirs)
            if found is None and (quoted or not is_answered(name)):
                found = index.find(name, current)
                if found is not None and found.endswith("/" + name):
                    dirs.append(found[: -len(name) - 1])
            if found is None or found in seen:
                continue
            seen[found] = None
            scan = _scan(found)
            budget -= scan.size
            if scan.refused:
                blanked.append((found, scan.refused))
            else:
                queue.append((found, scan.includes))
    return IncludePlan(tuple(dict.fromkeys(dirs)), tuple(blanked), tuple(seen)[1:])


def _find(name: str, quoted: bool, folder: str, dirs: list[str]) -> str | None:
    for base in (folder, *dirs) if quoted else dirs:
        path = os.path.normpath(os.path.join(base, name))
        if _is_file(path):
            return path
    return None


@lru_cache(maxsize=65536)
def _is_file(path: str) -> bool:
    return os.path.isfile(path)


@dataclass(frozen=True, slots=True)
class _Scan:
    size: int
    includes: tuple[tuple[str, bool], ...] = ()
    refused: str = ""


@lru_cache(maxsize=8192)
def _scan(path: str) -> _Scan:
    try:
        source = read_source(path)
    except SourceError as error:
        return _Scan(0, refused=error.message)
    return _Scan(len(source.bytes), _includes(source.bytes))


def _includes(data: bytes) -> tuple[tuple[str, bool], ...]:
    """(name, in quotes) of each include line, whatever #if it stands under."""
    found = []
    for quoted, angled in _INCLUDE.findall(data):
        name = (quoted or angled).decode("utf-8", "replace").strip()
        if name and not os.path.isabs(name):
            found.append((name, bool(quoted)))
    return tuple(dict.fromkeys(found))
