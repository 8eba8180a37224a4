"""`smemlint explain`: the page of one rule, or of a reason for which there is no fix."""

from __future__ import annotations

import argparse

from smemlint.commands import CLEAN
from smemlint.commands.common.usage import UsageError
from smemlint.system.streams import put


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("rule", metavar="CODE|NAME|REASON")


def run(options: argparse.Namespace) -> int:
    from smemlint.fix.refusals import REASONS, explained
    from smemlint.rules import all_rules, find_rule, matches

    name = options.rule
    rule = find_rule(name)
    reason = explained(name)
    if rule is None and reason is not None:
        put(reason)
        return CLEAN
    family = [r for r in all_rules() if matches(r, name)]
    if rule is None and family:
        width = max(len(r.name) for r in family)
        for each in family:
            put(f"{each.code}  {each.name:{width}}  {each.summary()}\n")
        return CLEAN
    if rule is None:
        import difflib

        known = [*(n for r in all_rules() for n in (r.code, r.name)), *REASONS]
        near = difflib.get_close_matches(name, known, n=1, cutoff=0.0)
        raise UsageError(f"no rule is called `{name}`; the nearest one is `{near[0]}`")
    put(rule.markdown())
    return CLEAN
