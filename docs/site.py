"""Pages that the site has beside the files of docs/: the README as its front, the changelog, a page a rule.

A hook of mkdocs. The pictures of the rules are drawn by `smemlint banks` from each rule's first example.
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

from smemlint.rules import CONFLICT_RULES, RULES, Kernel, Rule

from smemlint.cli import main
from smemlint.render.rules_page import rule_page

ROOT = Path(__file__).resolve().parent.parent
OUTSIDE = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}


def page_of(name: str) -> str:
    """A file of the repository's top as a page of the site: links into docs/ lose that folder, links to what
    is no page lose their address."""

    def link(match: re.Match[str]) -> str:
        text, target = match[1], match[2]
        if re.match("https?:|#", target):
            return match[0]
        path, hash_, anchor = target.partition("#")
        if path in OUTSIDE:
            return f"[{text}]({OUTSIDE[path]}{hash_}{anchor})"
        return f"[{text}]({path.removeprefix('docs/')}{hash_}{anchor})" if path.startswith("docs/") else text

    return re.sub(r"\[([^\]]*)\]\(([^)\s]+)\)", link, (ROOT / name).read_text(encoding="utf-8"))


def picture_of(example: Kernel) -> str | None:
    """The bank map of an example's costliest access, and with its fix, as SVG; None where none is drawn."""
    source = example.source()
    first = example.body.strip().splitlines()[0].strip()
    line = next(n for n, text in enumerate(source.splitlines(), 1) if text.strip() == first)
    with tempfile.TemporaryDirectory() as folder:
        path, image = Path(folder, "example.cu"), Path(folder, "map.svg")
        path.write_text(source, encoding="utf-8")
        block = ",".join(map(str, example.block))
        status = main(["banks", f"{path}:{line}", "--block", block, "--map-only", "-o", str(image)])
        return image.read_text(encoding="utf-8") if status == 0 and image.exists() else None


def rule_pages() -> dict[str, str]:
    """Path on the site -> content: a page for each rule, and the pictures of those about conflicts."""
    drawn: set[type[Rule]] = {type(rule) for rule in CONFLICT_RULES}
    found = {}
    for rule in RULES:
        picture = picture_of(rule.conflicting[0]) if rule in drawn else None
        name = rule.code.lower()
        if picture is not None:
            found[f"rules/{name}.svg"] = picture
        found[f"rules/{name}.md"] = rule_page(rule, f"{name}.svg" if picture is not None else "")
    return found


def on_config(config: Any) -> Any:
    """Put the rules' pages below "Rules"."""
    for section in config.nav:
        if isinstance(section, dict) and "Rules" in section:
            section["Rules"] += [{f"{r.code} {r.name}": f"rules/{r.code.lower()}.md"} for r in RULES]
    return config


def on_files(files: Any, config: Any) -> Any:
    from mkdocs.structure.files import File

    made = {page: page_of(name) for name, page in OUTSIDE.items()}
    for path, content in {**made, **rule_pages()}.items():
        files.append(File.generated(config, path, content=content))
    return files
