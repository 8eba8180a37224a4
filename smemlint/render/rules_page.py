"""Pages of the rules, from their docstrings and examples.

`python -m smemlint.render.rules_page` prints docs/rules.md, which holds all of them; the site has one more
for each (`rule_page`), with a picture.
"""

from __future__ import annotations

from smemlint.rules import RULES, Rule

_HEAD = """\
# Rules

Generated from the rules themselves by `just docs`; edit `rules/*.py` instead. 1xx are bank conflicts, 2xx
declarations, 3xx what would fault, 9xx what analysis could not do. `smemlint explain CODE` shows the same.

"""


def page() -> str:
    rows = ["| code | name | severity | what it finds |", "|---|---|---|---|"]
    rows += [
        f"| [{r.code}](#{_anchor(r)}) | `{r.name}` | {r.severity.value} | {r.summary()} |" for r in RULES
    ]
    rules = [_demoted(rule.markdown()) for rule in RULES]
    return _HEAD + "\n".join(rows) + "\n\n" + "\n".join(rules)


def rule_page(rule: type[Rule], picture: str = "") -> str:
    """The page of one rule. picture: name of the image of its first example, empty where there is none."""
    text = rule.markdown()
    if not picture:
        return text
    image = f"![Which lane asks which bank, in the first example and with the fix]({picture})"
    return text.replace("\n## Use instead\n", f"\n{image}\n\n## Use instead\n", 1)


def _anchor(rule: type[Rule]) -> str:
    return f"{rule.code.lower()}-{rule.name}"


def _demoted(markdown: str) -> str:
    """The same text one heading level lower; code blocks are left alone."""
    lines, code = [], False
    for line in markdown.splitlines():
        code ^= line.startswith("```")
        lines.append(f"#{line}" if line.startswith("#") and not code else line)
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(page(), end="")
