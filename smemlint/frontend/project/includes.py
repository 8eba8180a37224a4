"""Which files a source includes, found by reading instead of failing.

A user's machine lacks most include paths. What a file includes is looked up beside it, in the given
folders, then by path suffix in the project; the folders that this implies become search folders for
clang. Headers of the toolkit, of the standard library and of PyTorch are never looked up: the prelude
answers for them.
"""

# Paths are strings here, spelled as clang spells them.
# ruff: noqa: PTH116, PTH117, PTH118, PTH120

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

from smemlint.frontend.project.options import is_modern
from smemlint.patterns import pattern
from smemlint.records import record
from smemlint.source import (
    ProjectIndex,
    SourceError,
    SourceFile,
    project_index,
    read_source,
    source_from_bytes,
)
from smemlint.system.observed import is_no_folder, remembered

Included: TypeAlias = "tuple[str, tuple[tuple[str, bool], ...]]"
"""A file, and what it includes: names, and whether they are in quotes."""
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
    omp mpi getopt dirent fcntl x86intrin immintrin
    alloca libgen execinfo cxxabi uchar dlfcn windows cuda cuda_runtime cuda_runtime_api
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
    """search_dirs: in order, for clang. blanked: included files that must not reach clang; they are replaced
    by empty text. files: every project file that may be read, the main file not among them. refused: those
    of the blanked that cannot be read or parsed, each with the reason. stood_in: headers that the prelude
    answers for and that a file of this name stands beside: clang would take that one for `<math.h>`."""

    search_dirs: tuple[str, ...]
    blanked: tuple[str, ...]
    files: tuple[str, ...]
    refused: tuple[tuple[str, str], ...] = ()
    stood_in: tuple[str, ...] = ()


def is_answered(name: str) -> bool:
    """Whether the prelude stands in for a header."""
    if name.startswith(_ANSWERED_FOLDERS) or "." not in name.rsplit("/", 1)[-1]:
        return True
    stem, _, suffix = name.partition(".")
    return suffix in ("h", "hpp", "cuh") and stem in _ANSWERED


def plan_includes(
    source: SourceFile,
    main: str,
    include_dirs: tuple[str, ...],
    root: str,
    asked: tuple[tuple[str, str], ...] = (),
) -> IncludePlan:
    """Follow includes from `main`, breadth first, then from what else is asked for.

    asked: (file that includes, name) of includes that the text of the files does not show: by a macro, from
    the command line, by `#include_next`.

    A search folder whose headers come to more than MAX_FOLDER_BYTES is a large library: reading it would take
    seconds, so it is left out as a whole and its names heal like those of any missing header. Where one file
    of it is most of that (a library in one header), only this one is left out.
    """
    index = project_index(Path(root))
    dropped: set[str] = set()
    emptied: set[str] = set()
    while True:
        walk = _Walk(index, list(include_dirs), frozenset(dropped), frozenset(emptied))
        too_large = walk.follow(source, main, asked)
        if too_large is None:
            files = tuple(walk.origins)[1:]
            dirs = tuple(dict.fromkeys(walk.dirs))
            refused = tuple(walk.refused.items())
            return IncludePlan(dirs, tuple(walk.blanked), files, refused, tuple(sorted(walk.stood_in)))
        most = walk.most_of(too_large)
        if most is None:
            dropped.add(too_large)
        else:
            emptied.add(most)


class _Walk:
    """One pass over the include graph. origins: file -> the search folder it was found through ('': beside
    the main file)."""

    def __init__(
        self, index: ProjectIndex, include_dirs: list[str], dropped: frozenset[str], emptied: frozenset[str]
    ) -> None:
        self._index = index
        self._dropped = dropped
        self._emptied = emptied
        self.dirs = [folder for folder in include_dirs if folder not in dropped]
        self.origins: dict[str, str] = {}
        self.blanked: list[str] = []
        self.refused: dict[str, str] = {}
        self.stood_in: set[str] = set()
        self._sizes: dict[str, int] = {}

    def follow(self, source: SourceFile, main: str, asked: tuple[tuple[str, str], ...]) -> str | None:
        """Walk from the main file; the search folder that turned out too large, or None."""
        self.origins[main] = ""
        queue: deque[Included] = deque([(main, _includes(source.bytes))])
        too_large = self._drain(queue)
        for current, name in asked:
            for found, origin in self._every(name, current):
                too_large = too_large or self._add_file(found, origin, queue) or self._drain(queue)
        return too_large

    def _drain(self, queue: deque[Included]) -> str | None:
        while queue:
            current, names = queue.popleft()
            for name, quoted in names:
                found, origin = self._find(name, quoted, current)
                too_large = found and self._add_file(found, origin, queue)
                if too_large:
                    return too_large
        return None

    def _add_file(self, found: str, origin: str, queue: deque[Included]) -> str | None:
        """A file that is included, and what it includes behind it; its folder where that is too large."""
        if found in self.origins:
            return None
        self.origins[found] = origin
        if found in self._emptied:
            self.blanked.append(found)
            return None
        scan = scan_file(found)
        self._sizes[origin] = self._sizes.get(origin, 0) + scan.size
        if self._sizes[origin] <= MAX_FOLDER_BYTES and not scan.refused:
            queue.append((found, scan.includes))
            return None
        if origin and not scan.refused:
            return origin
        self.blanked.append(found)
        if scan.refused:
            self.refused[found] = scan.refused
        return None

    def most_of(self, folder: str) -> str | None:
        """The file that is at least half of what a folder may hold."""
        theirs = [path for path, origin in self.origins.items() if origin == folder]
        largest = max(theirs, key=lambda path: scan_file(path).size, default=None)
        if largest is None or largest in self._emptied or 2 * scan_file(largest).size < MAX_FOLDER_BYTES:
            return None
        return largest

    def _every(self, name: str, current: str) -> list[tuple[str, str]]:
        """All files that clang may mean by a name, each with the folder it is found through."""
        folders = [(os.path.dirname(current), self.origins.get(current, "")), *((d, d) for d in self.dirs)]
        paths = [(os.path.normpath(os.path.join(folder, name)), origin) for folder, origin in folders]
        found = [(path, origin) for path, origin in paths if _is_there(path)]
        indexed, origin = self._find(name, False, current)
        return found if indexed is None else [*found, (indexed, origin)]

    def _find(self, name: str, quoted: bool, current: str) -> tuple[str | None, str]:
        if quoted:
            beside = os.path.normpath(os.path.join(os.path.dirname(current), name))
            if _is_there(beside):
                return beside, self.origins[current]
        for folder in self.dirs:
            path = os.path.normpath(os.path.join(folder, name))
            if _is_there(path):
                return path, folder
        if not quoted and is_answered(name):
            if _is_there(os.path.normpath(os.path.join(os.path.dirname(current), name))):
                self.stood_in.add(name)
            return None, ""
        found = self._index.find(name, current)
        if found is None or not found.endswith("/" + name) or not _is_there(found):
            return None, ""  # a link into a submodule that is not checked out leads nowhere
        folder = found[: -len(name) - 1]
        if folder in self._dropped:
            return None, ""
        self.dirs.append(folder)
        return found, folder


def _is_there(path: str) -> bool:
    """Whether clang would open it, were it let. What it is, reading tells."""
    return is_no_folder(path)


@record(frozen=True, slots=True)
class Scan:
    """An included file: its text as clang may see it, what it includes, whether it needs C++20, why it is
    refused."""

    size: int
    data: bytes = b""
    includes: tuple[tuple[str, bool], ...] = ()
    modern: bool = False
    refused: str = ""


_instead: dict[str, bytes] = {}


@contextmanager
def read_instead(path: str, data: bytes) -> Iterator[None]:
    """Whoever includes a file meanwhile gets this text: an edit in memory, which its callers must see too."""
    before = dict(_instead)
    _instead[path] = data
    try:
        yield
    finally:
        _instead.clear()
        _instead.update(before)


def instead_of(path: str) -> bytes | None:
    """The text that is read in place of the file's own."""
    return _instead.get(path)


def scan_file(path: str) -> Scan:
    """Read an included file, once for each version of it."""
    if path in _instead:
        return _scanned(lambda: source_from_bytes(path, _instead[path]))
    try:
        status = os.stat(path)
    except OSError as error:
        is_no_folder(path)
        return Scan(0, refused=str(error.strerror))
    return _scan(path, status.st_mtime_ns, status.st_size)


@remembered(maxsize=2048)
def _scan(path: str, modified: int, size: int) -> Scan:
    return _scanned(lambda: read_source(path))


def _scanned(read: Callable[[], SourceFile]) -> Scan:
    try:
        source = read()
    except SourceError as error:
        return Scan(0, refused=error.message)
    return Scan(len(source.bytes), source.bytes, _includes(source.bytes), is_modern(source.bytes))


def _includes(data: bytes) -> tuple[tuple[str, bool], ...]:
    """(name, in quotes) of each include line, whatever #if it stands under."""
    found = []
    for quoted, angled in _INCLUDE.findall(data):
        name = (quoted or angled).decode("utf-8", "replace").strip()
        if name and not os.path.isabs(name):
            found.append((name, bool(quoted)))
    return tuple(dict.fromkeys(found))
