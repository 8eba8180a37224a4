"""`smemlint rules`: the list of rules, as a table or as JSON."""

from __future__ import annotations

import argparse

from smemlint import __version__
from smemlint.commands import CLEAN
from smemlint.streams import put


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--output-format", choices=("table", "json"), default="table", help="default: table")


def run(options: argparse.Namespace) -> int:
    from smemlint.rules import RULES

    if options.output_format == "json":
        import json

        rows = [
            {
                "code": r.code,
                "name": r.name,
                "severity": r.severity.value,
                "summary": r.summary(),
                "text": r.markdown(),
            }
            for r in RULES
        ]
        tool = {"name": "smemlint", "version": __version__}
        data = {"version": 1, "tool": tool, "rules": rows}
        put(json.dumps(data, indent=2) + "\n")
        return CLEAN
    width = max(len(r.name) for r in RULES)
    for rule in RULES:
        put(f"{rule.code}  {rule.name:{width}}  {rule.severity.value:7}  {rule.summary()}\n")
    return CLEAN
