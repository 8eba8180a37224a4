"""Regular expressions that are compiled when first used: most files need few of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

__all__ = ["pattern"]

if TYPE_CHECKING:
    from re import compile as pattern
else:

    class pattern:  # noqa: N801  it stands for re.compile
        """As re.compile(text, flags)."""

        def __init__(self, text, flags=0):
            self.__dict__["_made_of"] = (text, flags)

        def __getattr__(self, name):
            compiled = re.compile(*self._made_of)
            for method in ("match", "fullmatch", "search", "finditer", "findall", "sub", "subn", "split"):
                self.__dict__[method] = getattr(compiled, method)
            return getattr(compiled, name)
