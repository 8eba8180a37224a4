"""The server, driven over its pipes by a real client."""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pygls", reason="pygls is not installed")
from lsprotocol import types
from pygls.lsp.client import LanguageClient

from smemlint.api import Job, Options, analyse_file

KERNEL = """__global__ void k(float *out) {
    __shared__ float t[32][32]; // é
    t[threadIdx.y][threadIdx.x] = 0;
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = t[threadIdx.x][threadIdx.y];
}
void start(float *out) { k<<<1, dim3(32, 32)>>>(out); }
"""
COMMAND = [sys.executable, "-m", "smemlint", "lsp"]
FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"


class Editor:
    """A client with one open file."""

    def __init__(self, client: LanguageClient, path: Path, published: Editor | None = None) -> None:
        self.client = client
        self.path = path
        self.uri = path.as_uri()
        self.version = 0
        self.text = ""
        self.told: dict[int | None, list[types.Diagnostic]] = {}
        self.news = asyncio.Event()
        self.open_files: dict[str, Editor] = {} if published is None else published.open_files
        self.open_files[self.uri] = self
        if published is None:
            client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(self._listener())

    def _listener(self) -> Callable[[types.PublishDiagnosticsParams], None]:
        def published(params: types.PublishDiagnosticsParams) -> None:
            editor = self.open_files.get(params.uri)
            if editor is not None:
                editor.told[params.version] = list(params.diagnostics)
                editor.news.set()

        return published

    def open(self, text: str) -> None:
        self.text, self.version = text, 1
        item = types.TextDocumentItem(self.uri, "cuda-cpp", 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def change(self, text: str) -> None:
        """The whole text anew."""
        self.text = text
        self.send(types.TextDocumentContentChangeWholeDocument(text))

    def send(self, change: Any) -> None:
        self.version += 1
        document = types.VersionedTextDocumentIdentifier(self.version, self.uri)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))

    async def findings(self) -> list[types.Diagnostic]:
        """Of the text as it is now."""
        end = time.monotonic() + 120
        while self.version not in self.told:
            self.news.clear()
            await asyncio.wait_for(self.news.wait(), max(0.1, end - time.monotonic()))
        return self.told[self.version]

    async def hover(self, line: int, character: int) -> str:
        at = types.HoverParams(types.TextDocumentIdentifier(self.uri), types.Position(line, character))
        found = await self.client.text_document_hover_async(at)
        if found is None:
            return ""
        assert isinstance(found.contents, types.MarkupContent)
        return found.contents.value


def session(folder: Path, script: Callable[[Editor], Awaitable[None]]) -> int:
    """Run a script against a server of its own; the server's exit status."""

    async def run() -> int:
        client = LanguageClient("test", "1")
        await client.start_io(*COMMAND, cwd=str(folder))
        root = folder.as_uri()
        await client.initialize_async(types.InitializeParams(types.ClientCapabilities(), root_uri=root))
        client.initialized(types.InitializedParams())
        await script(Editor(client, folder / "a.cu"))
        await client.shutdown_async(None)
        client.exit(None)
        server: Any = client._server
        return int(await asyncio.wait_for(server.wait(), 120))

    return asyncio.run(run())


def test_findings_hints_lenses_hovers_and_fixes_of_a_buffer(tmp_path: Path) -> None:
    async def script(editor: Editor) -> None:
        editor.open(KERNEL)
        (found,) = await editor.findings()
        assert (found.code, found.severity) == ("SMEM101", types.DiagnosticSeverity.Warning)
        assert found.range == types.Range(types.Position(4, 42), types.Position(4, 69))
        document = types.TextDocumentIdentifier(editor.uri)
        everything = types.Range(types.Position(0, 0), types.Position(9, 0))
        hints = await editor.client.text_document_inlay_hint_async(
            types.InlayHintParams(document, everything)
        )
        assert hints is not None and [(h.label, h.position) for h in hints] == [
            ("32-way", types.Position(4, 69))
        ]
        lenses = await editor.client.text_document_code_lens_async(types.CodeLensParams(document))
        assert lenses is not None and [lens.command.title for lens in lenses if lens.command] == [
            "1,056 shared-memory wavefronts a block of (32, 32, 1), 64 at best"
        ]
        said = await editor.hover(4, 50)
        assert "one block: 32 requests, 1,024 wavefronts, 32 at best: 32-way (exact)" in said
        assert "\nw31 " in said and "with the fix `t[32][33]`" in said
        assert await editor.hover(0, 3) == ""
        context = types.CodeActionContext([found])
        asked = types.CodeActionParams(document, found.range, context)
        actions = await editor.client.text_document_code_action_async(asked)
        assert actions is not None and len(actions) == 1
        (action,) = actions
        assert isinstance(action, types.CodeAction) and action.edit and action.edit.changes
        (edit,) = action.edit.changes[editor.uri]
        lines = editor.text.split("\n")
        line = lines[edit.range.start.line]
        lines[edit.range.start.line] = (
            line[: edit.range.start.character] + edit.new_text + line[edit.range.end.character :]
        )
        editor.change("\n".join(lines))
        assert await editor.findings() == []

    assert session(tmp_path, script) == 0


def test_broken_text_keeps_the_last_good_answer(tmp_path: Path) -> None:
    async def script(editor: Editor) -> None:
        editor.open(KERNEL)
        await editor.findings()
        editor.change("// a line\n" + KERNEL.replace("k(float *out) {", "k(float"))
        (found,) = await editor.findings()
        assert found.range.start.line == 5
        assert "32-way" in await editor.hover(5, 50)

    assert session(tmp_path, script) == 0


class Typist:
    """Random edits of an editor's text, each of which can be taken back."""

    def __init__(self, editor: Editor, seed: int) -> None:
        self.editor = editor
        self.random = random.Random(seed)
        self.back: list[tuple[int, int, str]] = []

    def type(self) -> None:
        """Replace up to three characters somewhere, new lines among them."""
        start = self.random.randint(0, len(self.editor.text))
        end = min(len(self.editor.text), start + self.random.choice((0, 0, 1, 3)))
        new = self.random.choice(("", "x", "é", "\n", "[", "}", "𝒳", "t[threadIdx.x][0] = 1;", "/*"))
        self.back.append((start, start + len(new), self.editor.text[start:end]))
        self.replace(start, end, new)

    def take_back(self) -> None:
        self.replace(*self.back.pop())

    def replace(self, start: int, end: int, new: str) -> None:
        text = self.editor.text
        at = types.Range(position(text, start), position(text, end))
        self.editor.text = text[:start] + new + text[end:]
        self.editor.send(types.TextDocumentContentChangePartial(at, new))


def position(text: str, at: int) -> types.Position:
    """A place in a text as the protocol counts: lines, and UTF-16 units in the line."""
    before = text[:at]
    line = before.rpartition("\n")[2]
    return types.Position(before.count("\n"), len(line.encode("utf-16-le")) // 2)


def test_a_thousand_random_edits_in_a_row_leave_the_server_right(tmp_path: Path) -> None:
    """Half of them take back the other half, so that what the server must hold is known to the letter."""

    async def script(editor: Editor) -> None:
        editor.open(KERNEL)
        before = await editor.findings()
        typist = Typist(editor, 7)
        for step in (typist.type, typist.take_back):
            for n in range(500):
                step()
                if n % 50 == 0:
                    await editor.hover(n % 7, 0)
        assert editor.text == KERNEL and editor.version == 1001
        assert await editor.findings() == before and len(before) == 1
        assert "32-way (exact)" in await editor.hover(4, 50)
        typist.replace(KERNEL.index("32]; //"), KERNEL.index("]; //"), "33")
        assert await editor.findings() == []

    assert session(tmp_path, script) == 0


def test_configurations_hold_and_every_access_has_a_hover(tmp_path: Path) -> None:
    """How fast: benchmarks/hover.py."""
    (tmp_path / "smemlint.toml").write_text('ignore = ["SMEM101"]\n')
    path = FIXTURES / "transpose.cu"
    known = analyse_file(Job(str(path), Options(suggest=False)))

    async def script(editor: Editor) -> None:
        editor.open(KERNEL)
        assert await editor.findings() == []
        other = Editor(editor.client, path, published=editor)
        other.open(path.read_text())
        await other.findings()
        places = {(a.place.line, a.place.column) for k in known.kernels for a in k.accesses}
        for line, column in sorted(places):
            assert await other.hover(line - 1, column - 1) != ""

    assert session(tmp_path, script) == 0


def test_an_editor_that_leaves_in_the_middle_takes_the_server_with_it(tmp_path: Path) -> None:
    server = subprocess.Popen(
        COMMAND, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert server.stdin is not None
    asked = {"capabilities": {}, "rootUri": None, "processId": None}
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": asked}
    body = json.dumps(message).encode()
    server.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    server.stdin.write(b"Content-Length: 500\r\n\r\n{")
    server.stdin.flush()
    server.stdin.close()
    assert server.wait(120) == 0
    assert server.stderr is not None and b"Traceback" not in server.stderr.read()
