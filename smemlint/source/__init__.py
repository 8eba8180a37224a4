"""Files on disk become text: discovery, reading, positions, and where includes may be found.

In: paths as a user gives them. Out: SourceFile, or SourceError with a place and a sentence. May import
nothing of the project but `ir` and `banks`; knows nothing of clang.
"""

from smemlint.source.discover import LeftOut, RealPaths, discover, is_cuda_text
from smemlint.source.hip import REFUSED, is_hip
from smemlint.source.project import ProjectIndex, project_index, project_root, why_foreign
from smemlint.source.text import SourceError, SourceFile, read_source, source_from_bytes
from smemlint.source.users import definers_of, includes, is_header, users_of

__all__ = [
    "REFUSED",
    "LeftOut",
    "ProjectIndex",
    "RealPaths",
    "SourceError",
    "SourceFile",
    "definers_of",
    "discover",
    "includes",
    "is_cuda_text",
    "is_header",
    "is_hip",
    "project_index",
    "project_root",
    "read_source",
    "source_from_bytes",
    "users_of",
    "why_foreign",
]
