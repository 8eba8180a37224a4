"""How long an editor waits for a hover: the real server, warm, over every access of every fixture.

    python benchmarks/hover.py [--fixtures DIR] [--limit 0.3]

Each file is opened in one session of `smemlint lsp`; when its findings are there, the cursor rests on each
access once. Exit status 1 where a hover takes longer than the limit, or says nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.client import LanguageClient

ROOT = Path(__file__).resolve().parents[1]
COMMAND = [sys.executable, "-m", "smemlint", "lsp"]
PATIENCE = 300.0


def places(path: Path) -> list[tuple[int, int]]:
    """Line and column, from 0, of each access."""
    from smemlint.api import Job, Options, analyse_file

    report = analyse_file(Job(str(path), Options(suggest=False)))
    found = {(a.place.line - 1, a.place.column - 1) for k in report.kernels for a in k.accesses}
    return sorted(found)


async def measured(paths: list[Path]) -> dict[str, list[float]]:
    """Seconds of each hover by file; negative where it said nothing."""
    client = LanguageClient("hover", "1")
    ready: dict[str, asyncio.Event] = {}

    def published(params: types.PublishDiagnosticsParams) -> None:
        ready[params.uri].set()

    client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(published)
    await client.start_io(*COMMAND, cwd=str(ROOT.parent))
    await client.initialize_async(types.InitializeParams(types.ClientCapabilities(), root_uri=ROOT.as_uri()))
    client.initialized(types.InitializedParams())
    found: dict[str, list[float]] = {}
    for path in paths:
        uri = path.as_uri()
        ready[uri] = asyncio.Event()
        item = types.TextDocumentItem(uri, "cuda-cpp", 1, path.read_text(encoding="utf-8"))
        client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        await asyncio.wait_for(ready[uri].wait(), PATIENCE)
        found[path.name] = [await hover(client, uri, line, column) for line, column in places(path)]
    await client.shutdown_async(None)
    client.exit(None)
    return found


async def hover(client: Any, uri: str, line: int, column: int) -> float:
    at = types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(line, column))
    began = time.perf_counter()
    said = await client.text_document_hover_async(at)
    took = time.perf_counter() - began
    return took if said is not None and said.contents.value else -took


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--fixtures", type=Path, default=ROOT / "fixtures")
    parser.add_argument("--limit", type=float, default=0.3, help="seconds (default: 0.3)")
    options = parser.parse_args()
    found = asyncio.run(measured(sorted(options.fixtures.resolve().glob("*.cu"))))
    for name, took in found.items():
        if took:
            print(f"{name:24} {len(took):4} hovers, the slowest {1000 * max(map(abs, took)):6.1f} ms")
    every = sorted(abs(t) for took in found.values() for t in took)
    silent = sum(t < 0 for took in found.values() for t in took)
    late = sum(t > options.limit for t in every)
    middle, last = every[len(every) // 2], every[-1]
    print(f"{len(every)} hovers: median {1000 * middle:.1f} ms, slowest {1000 * last:.1f} ms", end="; ")
    print(f"{late} over {1000 * options.limit:.0f} ms, {silent} without an answer")
    return 1 if late or silent else 0


if __name__ == "__main__":
    raise SystemExit(main())
