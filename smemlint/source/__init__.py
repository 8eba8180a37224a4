"""Files on disk become text: discovery, reading, positions, and where includes may be found.

In: paths as a user gives them. Out: SourceFile, or SourceError with a place and a sentence. May import
nothing of the project but `ir` and `banks`; knows nothing of clang.
"""

from smemlint.source.discover import discover, is_cuda_text
from smemlint.source.project import ProjectIndex, project_index, project_root
from smemlint.source.text import SourceError, SourceFile, read_source, source_from_bytes

__all__ = [
    "ProjectIndex",
    "SourceError",
    "SourceFile",
    "discover",
    "is_cuda_text",
    "project_index",
    "project_root",
    "read_source",
    "source_from_bytes",
]
