"""stub"""
from __future__ import annotations
from dataclasses import dataclass
import re
from clang.cindex import Diagnostic
@dataclass(frozen=True)
class Problem:
    message: str
    path: str
    offset: int
    line: int
    column: int
    kind: str = ""
    name: str = ""
    @staticmethod
    def from_diagnostic(d: Diagnostic) -> "Problem":
        loc = d.location
        m = re.match(r"'(.*)' file not found", d.spelling)
        return Problem(d.spelling, loc.file.name if loc.file else "", loc.offset, loc.line, loc.column, "include" if m else "", m.group(1) if m else "")
class Healing:
    def __init__(self, texts): self.n = {}
    def text(self): return ""
    def learn(self, problems): return False
    def names(self): return {}
