"""`smemlint explain`: the page of one rule, or of a reason for no fix, no number or no analysis."""

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
    from smemlint.view import reasons

    name = options.rule
    rule = find_rule(name)
    pages = [page for page in (explained(name), reasons.explained(name)) if page is not None]
    if rule is None and pages:
        put("\n".join(pages))
        return CLEAN
    family = [r for r in all_rules() if matches(r, name)]
    if rule is None and family:
        width = max(len(r.name) for r in family)
        for each in family:
            put(f"{each.code}  {each.name:{width}}  {each.summary()}\n")
        return CLEAN
    if rule is None:
        import difflib

        known = [*(n for r in all_rules() for n in (r.code, r.name)), *REASONS, *reasons.names()]
        near = difflib.get_close_matches(name, known, n=1)
        nearest = f"; the nearest one is `{near[0]}`" if near else " (see `smemlint rules`)"
        raise UsageError(f"no rule and no reason is called `{name}`{nearest}")
    put(rule.markdown())
    return CLEAN
