"""Which sources are for HIP: their shared memory has other banks, and nothing here is true of them."""

# Paths are strings here, spelled as clang spells them.
# ruff: noqa: PTH118, PTH120

from __future__ import annotations

import os
import re

from smemlint.patterns import pattern
from smemlint.source.blank import blank_comments, blank_literals
from smemlint.source.users import MAX_BYTES
from smemlint.system.reading import UnreadableError, read_regular

HIP_SUFFIX = ".hip"
REFUSED = "a HIP source: the banks of AMD's shared memory are not NVIDIA's, so it is not analysed"

_MARK = pattern(rb"\bHIP_DYNAMIC_SHARED\s*\(|\bhipLaunchKernelGGL\s*\(")
_OWN = pattern(rb"^[ \t]*#[ \t]*define[ \t]+hipLaunchKernelGGL\b", re.MULTILINE)
_QUOTED = pattern(rb'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)
MOST_HEADERS = 60
"""Headers of the project in which its own `hipLaunchKernelGGL` is looked for."""
_LINE = pattern(
    rb"^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif|include)\b((?:[^\n\\]|\\\r?\n|\\.)*)", re.MULTILINE
)
_HEADER = pattern(
    rb'\s*[<"](?:hip/hip_\w+\.h[>"]|(?:ck|ck_tile|rocprim|hipcub|rocwmma|rocblas|hipblas)/[\w./]+[>"])'
)
"""Of HIP itself, or of AMD's libraries for it."""
_NAMED = (b"hip/hip_", b"ck/", b"ck_tile/", b"rocprim/", b"hipcub/", b"rocwmma/", b"rocblas/", b"hipblas/")
_CHOICE = pattern(rb"HIP|ROCM|AMD|CUDA|NVCC|NVIDIA|PLATFORM")


def is_hip(path: str, data: bytes) -> bool:
    """Whether a source is for HIP alone. One that chooses between HIP and CUDA by `#if` is not."""
    if path.endswith(HIP_SUFFIX):
        return True
    named = any(name in data for name in _NAMED)
    if not named and not _MARK.search(data):
        return False
    if not named and b"HIP_DYNAMIC_SHARED" not in data and _launches_by_itself(path, data):
        return False
    code = blank_comments(data.decode("latin-1")).encode("latin-1")
    marks = [m.start() for m in _MARK.finditer(blank_literals(data))]
    chosen: list[bool] = []
    """For each open `#if`, whether it chooses between platforms."""
    for line in _LINE.finditer(code):
        if marks and marks[0] < line.start() and not any(chosen):
            return True
        marks = [at for at in marks if at > line.start()]
        word, rest = line.group(1), line.group(2)
        if word in (b"if", b"ifdef", b"ifndef"):
            chosen.append(_CHOICE.search(rest) is not None)
        elif word == b"elif" and chosen:
            chosen[-1] |= _CHOICE.search(rest) is not None
        elif word == b"endif" and chosen:
            chosen.pop()
        elif word == b"include" and _HEADER.match(rest) and not any(chosen):
            return True
    return bool(marks) and not any(chosen)


def _launches_by_itself(path: str, data: bytes) -> bool:
    """Whether a header of the project defines the launch of HIP: it stands for that of CUDA as well."""
    waiting, seen = [(path, data)], {path}
    for file, text in waiting:
        if _OWN.search(text):
            return True
        folder = os.path.dirname(file)
        for name in _QUOTED.findall(text):
            header = os.path.normpath(os.path.join(folder, name.decode("utf-8", errors="surrogateescape")))
            if header not in seen and len(seen) < MOST_HEADERS:
                seen.add(header)
                waiting.append((header, _bytes(header)))
    return False


def _bytes(path: str) -> bytes:
    try:
        return read_regular(path, MAX_BYTES)
    except UnreadableError:
        return b""
