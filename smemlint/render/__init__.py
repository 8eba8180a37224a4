"""How findings are said: one format a file, each a pure function from a Report to text.

In: a Report (or the merged kernels, for inspect). Out: text. Imported by the command line only; never
analyses.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from smemlint.diagnose.model import Report
from smemlint.render.style import PLAIN, Look

FORMATS = ("full", "concise", "json", "jsonl", "sarif", "github", "gitlab", "html")
STREAMED = ("full", "concise", "jsonl", "github")
"""Formats whose findings can be written one by one, by path, before all of them are known."""


def render(name: str, report: Report, look: Look | None = None) -> str:
    """The report in one of FORMATS. look: for the formats that people read, by default each its own."""
    looks = () if look is None else (look,)
    text: str = import_module(f"smemlint.render.{name}").render(report, *looks)
    return text


def render_findings(name: str, report: Report, look: Look = PLAIN) -> Sequence[str]:
    """What `render` writes of each finding, in one of STREAMED."""
    return tuple(import_module(f"smemlint.render.{name}").findings(report, look))
