"""`smemlint rules`: the list of rules, as a table or as JSON."""

from __future__ import annotations

import argparse

from smemlint import __version__
from smemlint.commands import CLEAN, FAILED
from smemlint.system.streams import put, say
from smemlint.system.visible import visible


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--output-format", choices=("table", "json"), default="table", help="default: table")


def run(options: argparse.Namespace) -> int:
    from smemlint.rules import all_rules
    from smemlint.rules.added import added

    rules, found = all_rules(), added()
    status = FAILED if found.faults else CLEAN
    for fault in found.faults:
        say(visible(f"error: {fault}"))
    if options.output_format == "json":
        import json

        rows = [
            {
                "code": r.code,
                "name": r.name,
                "severity": r.severity.value,
                "summary": r.summary(),
                "text": r.markdown(),
                "from": found.source(r.code),
            }
            for r in rules
        ]
        tool = {"name": "smemlint", "version": __version__}
        data = {"version": 1, "tool": tool, "rules": rows}
        put(json.dumps(data, indent=2) + "\n")
        return status
    wide, width = max(len(r.code) for r in rules), max(len(r.name) for r in rules)
    for rule in rules:
        where = f"  ({source})" if (source := found.source(rule.code)) else ""
        line = f"{rule.code:{wide}}  {rule.name:{width}}  {rule.severity.value:7}  {rule.summary()}{where}"
        put(visible(line) + "\n")
    return status
