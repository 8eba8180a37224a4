"""Whether the reasons that smemlint gives for arrays without an edit are true: over any sources.

    python benchmarks/fixes/reasons.py FILE... [--json FILE]

Each sentence of each reason is held against the text, the traces and all layouts (held_reasons); none of the
search takes part. Prints those that are not so, and a table: reason, so, not so, unchecked.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent)]

from held_reasons.case import UNCHECKED, Case  # noqa: E402
from held_reasons.claims import verdicts  # noqa: E402

STATES = ("so", "not so", "unchecked")


def cases(path: Path) -> list[Case]:
    """The arrays of a file that have a conflict and no edit."""
    from smemlint.api import Job
    from smemlint.running import pipeline

    found: Any = pipeline.examine(Job(str(path)), str)
    if not hasattr(found, "suggestions"):
        return []
    return [Case(fix, found) for fix in found.suggestions.values() if fix.refused is not None]


def state(wrong: str) -> str:
    return STATES[0] if not wrong else STATES[2] if wrong.startswith(UNCHECKED) else STATES[1]


def held(path: Path) -> list[dict[str, Any]]:
    """Each clause of each reason of a file with what became of it."""
    rows = []
    for case in cases(path):
        refused = case.fix.refused
        assert refused is not None
        for clause, wrong in verdicts(case):
            rows.append(
                {
                    "path": str(path),
                    "array": case.name,
                    "line": case.fix.array.place.line,
                    "code": refused.code,
                    "clause": clause,
                    "state": state(wrong),
                    "why": wrong,
                }
            )
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for path in options.files:
        for row in held(path):
            rows.append(row)
            if row["state"] != STATES[0]:
                print(
                    f"{row['path']}:{row['line']}: {row['array']} {row['code']}: {row['clause']}", flush=True
                )
                print(f"    {row['why']}", flush=True)
    counts = Counter((row["code"], row["state"]) for row in rows)
    for code in sorted({code for code, _ in counts}):
        print(f"| `{code}` | " + " | ".join(str(counts[code, s]) for s in STATES) + " |")
    print(
        "| all | "
        + " | ".join(str(sum(n for (_, of), n in counts.items() if of == s)) for s in STATES)
        + " |"
    )
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return int(any(row["state"] == STATES[1] for row in rows))


if __name__ == "__main__":
    raise SystemExit(main())
