"""Which files a source includes, found by reading instead of failing.

A user's machine lacks most include paths. What a file includes is looked up beside it, in the given
folders, then by path suffix in the project; the folders that this implies become search folders for
clang. Headers of the toolkit, of the standard library and of PyTorch are never looked up: the prelude
answers for them.
"""

# Paths are strings here, spelled as clang spells them.
# ruff: noqa: PTH116, PTH113, PTH117, PTH118, PTH120

from __future__ import annotations

import os
import re
from collections import deque
from functools import lru_cache
from pathlib import Path

from smemlint.patterns import pattern
from smemlint.records import record
from smemlint.source import ProjectIndex, SourceError, SourceFile, project_index, read_source

MAX_FOLDER_BYTES = 2 * 1024 * 1024

_INCLUDE = pattern(rb'^[ \t]*#[ \t]*include(?:_next)?[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.MULTILINE)
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


@record(frozen=True, slots=True)
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
    """Follow includes from `main`, breadth first.

    A search folder whose headers come to more than MAX_FOLDER_BYTES is a large library: reading it would take
    seconds, so it is left out as a whole and its names heal like those of any missing header.
    """
    index = project_index(Path(root))
    dropped: set[str] = set()
    while True:
        walk = _Walk(index, list(include_dirs), frozenset(dropped))
        too_large = walk.follow(source, main)
        if too_large is None:
            return IncludePlan(tuple(dict.fromkeys(walk.dirs)), tuple(walk.blanked), tuple(walk.origins)[1:])
        dropped.add(too_large)


class _Walk:
    """One pass over the include graph. origins: file -> the search folder it was found through ('': beside
    the main file)."""

    def __init__(self, index: ProjectIndex, include_dirs: list[str], dropped: frozenset[str]) -> None:
        self._index = index
        self._dropped = dropped
        self.dirs = [folder for folder in include_dirs if folder not in dropped]
        self.origins: dict[str, str] = {}
        self.blanked: list[tuple[str, str]] = []

    def follow(self, source: SourceFile, main: str) -> str | None:
        """Walk from the main file; the search folder that turned out too large, or None."""
        self.origins[main] = ""
        sizes: dict[str, int] = {}
        queue: deque[tuple[str, tuple[tuple[str, bool], ...]]] = deque([(main, _includes(source.bytes))])
        while queue:
            current, names = queue.popleft()
            for name, quoted in names:
                found, origin = self._find(name, quoted, current)
                if found is None or found in self.origins:
                    continue
                self.origins[found] = origin
                scan = scan_file(found)
                sizes[origin] = sizes.get(origin, 0) + scan.size
                if sizes[origin] <= MAX_FOLDER_BYTES and not scan.refused:
                    queue.append((found, scan.includes))
                elif origin and not scan.refused:
                    return origin
                else:
                    self.blanked.append((found, scan.refused or "too much is included"))
        return None

    def _find(self, name: str, quoted: bool, current: str) -> tuple[str | None, str]:
        if quoted:
            beside = os.path.normpath(os.path.join(os.path.dirname(current), name))
            if os.path.isfile(beside):
                return beside, self.origins[current]
        for folder in self.dirs:
            path = os.path.normpath(os.path.join(folder, name))
            if os.path.isfile(path):
                return path, folder
        if not quoted and is_answered(name):
            return None, ""
        found = self._index.find(name, current)
        if found is None or not found.endswith("/" + name):
            return None, ""
        folder = found[: -len(name) - 1]
        if folder in self._dropped:
            return None, ""
        self.dirs.append(folder)
        return found, folder


@record(frozen=True, slots=True)
class Scan:
    """An included file: its text as clang may see it, what it includes, why it is refused; whether that
    text is another than stands on disk."""

    size: int
    data: bytes = b""
    includes: tuple[tuple[str, bool], ...] = ()
    refused: str = ""
    rewritten: bool = False


def scan_file(path: str) -> Scan:
    """Read an included file, once for each version of it."""
    try:
        status = os.stat(path)
    except OSError as error:
        return Scan(0, refused=str(error.strerror))
    return _scan(path, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=2048)
def _scan(path: str, modified: int, size: int) -> Scan:
    try:
        source = read_source(path)
    except SourceError as error:
        return Scan(0, refused=error.message)
    rewritten = source.bytes != source.raw
    return Scan(len(source.bytes), source.bytes, _includes(source.bytes), rewritten=rewritten)


def _includes(data: bytes) -> tuple[tuple[str, bool], ...]:
    """(name, in quotes) of each include line, whatever #if it stands under."""
    found = []
    for quoted, angled in _INCLUDE.findall(data):
        name = (quoted or angled).decode("utf-8", "replace").strip()
        if name and not os.path.isabs(name):
            found.append((name, bool(quoted)))
    return tuple(dict.fromkeys(found))
