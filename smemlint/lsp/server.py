"""The server: listens to an editor, analyses what it types, answers from what is known."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from lsprotocol import types
from pygls import uris
from pygls.lsp.server import LanguageServer

from smemlint import __version__
from smemlint.api import View, collect, shown
from smemlint.diagnose.model import FileReport
from smemlint.lsp import convert
from smemlint.lsp.answer import Answer, broken, moved_lines
from smemlint.lsp.worker import PATIENCE, Worker
from smemlint.running.jobs import Job

DEBOUNCE = 0.25
"""Seconds without a key before a text is analysed."""

JobOf = Callable[[str, str], "tuple[Job, View] | None"]
"""(path, text) -> how it is analysed and what is shown; None where its configuration is broken."""


@dataclass
class Buffer:
    """A file that is open. version: of the text; answer: the last good one."""

    uri: str
    text: str = ""
    version: int | None = None
    answer: Answer | None = None
    good: FileReport | None = None
    task: asyncio.Task[None] | None = None
    changed: float = 0.0
    running: bool = False
    moved: dict[int, int] | None = field(default=None)

    def lines_now(self) -> dict[int, int] | None:
        """Where the lines of the analysed text are now; None: it is the same text."""
        if self.answer is None or self.answer.text == self.text:
            return None
        if self.moved is None:
            self.moved = moved_lines(self.answer.text, self.text)
        return self.moved

    def set_text(self, text: str, version: int | None) -> None:
        self.text, self.version, self.moved, self.changed = text, version, None, time.monotonic()


class Server:
    """One editor's session."""

    def __init__(self, job_of: JobOf) -> None:
        self.job_of = job_of
        self.worker = Worker()
        self.turn = asyncio.Lock()
        self.buffers: dict[str, Buffer] = {}
        self.lsp = LanguageServer("smemlint", __version__)
        self._listen()

    def run(self) -> None:
        """Serve stdin and stdout until the editor leaves."""
        logging.getLogger("pygls").setLevel(logging.CRITICAL)  # a client that leaves is no error
        try:
            # pygls closes what it is given.
            self.lsp.start_io(os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb"))
        finally:
            self.worker.end()

    def _listen(self) -> None:
        self._on(types.TEXT_DOCUMENT_DID_OPEN, self.opened)
        self._on(types.TEXT_DOCUMENT_DID_CHANGE, self.changed)
        self._on(types.TEXT_DOCUMENT_DID_SAVE, self.saved)
        self._on(types.TEXT_DOCUMENT_DID_CLOSE, self.closed)
        self._on(types.TEXT_DOCUMENT_HOVER, self.hover)
        self._on(types.TEXT_DOCUMENT_INLAY_HINT, self.hints)
        self._on(types.TEXT_DOCUMENT_CODE_LENS, self.lenses)
        quick = types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix])
        self._on(types.TEXT_DOCUMENT_CODE_ACTION, self.actions, quick)

    def _on(self, name: str, answer: Callable[[Any], Awaitable[Any]], options: Any = None) -> None:
        """Answer a message by a method; pygls marks what it is given, and a method cannot be marked."""

        async def answered(params: Any) -> Any:
            return await answer(params)

        self.lsp.feature(name, options)(answered)

    async def opened(self, params: types.DidOpenTextDocumentParams) -> None:
        self._begin(params.text_document.uri, at_once=True)

    async def changed(self, params: types.DidChangeTextDocumentParams) -> None:
        self._begin(params.text_document.uri)

    async def saved(self, params: types.DidSaveTextDocumentParams) -> None:
        self._begin(params.text_document.uri)

    async def closed(self, params: types.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        buffer = self.buffers.pop(uri, None)
        if buffer is not None and buffer.task is not None:
            buffer.task.cancel()
        self.lsp.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    def _begin(self, uri: str, *, at_once: bool = False) -> None:
        """Take the text as it is now, and analyse it once the keys rest."""
        document = self.lsp.workspace.get_text_document(uri)
        buffer = self.buffers.setdefault(uri, Buffer(uri))
        buffer.set_text(document.source, document.version)
        if buffer.task is None or buffer.task.done():
            buffer.task = asyncio.ensure_future(self._follow(buffer, at_once))

    async def _follow(self, buffer: Buffer, at_once: bool) -> None:
        """Analyse until the text that was analysed is the text that is there."""
        done: int | str | None = "none"
        while self.buffers.get(buffer.uri) is buffer and done != buffer.version:
            rest = 0.0 if at_once else DEBOUNCE - (time.monotonic() - buffer.changed)
            at_once = False
            if rest > 0:
                await asyncio.sleep(rest)
                continue
            async with self.turn:
                done = buffer.version
                await self._analyse(buffer)

    async def _analyse(self, buffer: Buffer) -> None:
        text, version = buffer.text, buffer.version
        path = uris.to_fs_path(buffer.uri) or buffer.uri
        made = self.job_of(path, text)
        if made is None:
            return
        job, view = made
        loop = asyncio.get_running_loop()
        running = loop.run_in_executor(None, self.worker.analyse, job)
        while not running.done():
            await asyncio.wait([running], timeout=0.05)
            stale = buffer.version != version or self.buffers.get(buffer.uri) is not buffer
            if stale and time.monotonic() - buffer.changed > PATIENCE:
                self.worker.end()
                await running
                return
        file = running.result()
        if file is None or self.buffers.get(buffer.uri) is not buffer:
            return
        if not broken(file, buffer.good):
            name = shown(job.path)
            report = collect([file], view, {name: text})
            buffer.good = file
            buffer.answer, buffer.moved = Answer(name, text, file, report), None
        self._publish(buffer)

    def _publish(self, buffer: Buffer) -> None:
        answer = buffer.answer
        found = [] if answer is None else convert.diagnostics(answer, buffer.text, buffer.lines_now())
        self.lsp.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(buffer.uri, found, buffer.version)
        )
        workspace = self.lsp.client_capabilities.workspace
        if workspace is not None and workspace.inlay_hint and workspace.inlay_hint.refresh_support:
            self.lsp.workspace_inlay_hint_refresh(None)
        if workspace is not None and workspace.code_lens and workspace.code_lens.refresh_support:
            self.lsp.workspace_code_lens_refresh(None)

    def _known(self, uri: str) -> tuple[Buffer, Answer] | None:
        buffer = self.buffers.get(uri)
        return None if buffer is None or buffer.answer is None else (buffer, buffer.answer)

    async def hover(self, params: types.HoverParams) -> types.Hover | None:
        known = self._known(params.text_document.uri)
        if known is None:
            return None
        buffer, answer = known
        lines = buffer.text.splitlines()
        number = params.position.line + 1
        if number > len(lines):
            return None
        column = convert.column_at(lines[number - 1], params.position.character)
        moved = buffer.lines_now()
        back = {new: old for old, new in moved.items()} if moved is not None else None
        line = number if back is None else back.get(number)
        said = convert.hover(answer, line, column) if line is not None else ""
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, said)) if said else None

    async def hints(self, params: types.InlayHintParams) -> list[types.InlayHint]:
        known = self._known(params.text_document.uri)
        if known is None:
            return []
        buffer, answer = known
        first, last = params.range.start.line + 1, params.range.end.line + 1
        return convert.hints(answer, buffer.text, buffer.lines_now(), first, last)

    async def lenses(self, params: types.CodeLensParams) -> list[types.CodeLens]:
        known = self._known(params.text_document.uri)
        if known is None:
            return []
        buffer, answer = known
        return convert.lenses(answer, buffer.text, buffer.lines_now())

    async def actions(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        known = self._known(params.text_document.uri)
        if known is None or known[0].text != known[1].text:
            return []
        return list(convert.actions(known[1], params.text_document.uri, params.range))
