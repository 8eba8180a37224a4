"""How findings are said: one format a file, each a pure function from a Report to text.

In: a Report (or the merged kernels, for inspect). Out: text. Imported by the command line only; never
analyses.
"""

from __future__ import annotations

from importlib import import_module

from smemlint.diagnose.model import Report

FORMATS = ("full", "concise", "json", "sarif", "github", "html")


def render(name: str, report: Report, *, color: bool = False) -> str:
    """The report in one of FORMATS. color: ANSI colours, for terminals, where the format has any."""
    text: str = import_module(f"smemlint.render.{name}").render(report, color=color)
    return text
