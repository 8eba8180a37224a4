"""The ranges that the preprocessor skipped, which the Python binding cannot ask for."""

# Paths are strings here, spelled as clang spells them.

from __future__ import annotations

import ctypes
import os

from clang.cindex import SourceRange, TranslationUnit, conf


class _RangeList(ctypes.Structure):
    _fields_ = (("count", ctypes.c_uint), ("ranges", ctypes.POINTER(SourceRange)))


def skipped_ranges(tu: TranslationUnit) -> dict[str, tuple[tuple[int, int], ...]]:
    """Per file, byte ranges from the directive that switches off to the one that ends it, in order.

    The unit must have been parsed with a detailed preprocessing record.
    """
    library = conf.lib
    library.clang_getAllSkippedRanges.argtypes = [TranslationUnit]
    library.clang_getAllSkippedRanges.restype = ctypes.POINTER(_RangeList)
    library.clang_disposeSourceRangeList.argtypes = [ctypes.POINTER(_RangeList)]
    library.clang_disposeSourceRangeList.restype = None
    found: dict[str, set[tuple[int, int]]] = {}
    answer = library.clang_getAllSkippedRanges(tu)
    try:
        for number in range(answer.contents.count):
            extent = answer.contents.ranges[number]
            start, end = extent.start, extent.end
            if start.file is not None:
                path = os.path.normpath(start.file.name)
                found.setdefault(path, set()).add((start.offset, end.offset))
    finally:
        library.clang_disposeSourceRangeList(answer)
    return {path: tuple(sorted(ranges)) for path, ranges in found.items()}
