"""A process that stays warm and analyses one buffer after the other; what is stale is ended with it."""

from __future__ import annotations

import multiprocessing
import threading
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import TYPE_CHECKING

from smemlint.diagnose.model import FileReport, Problem

if TYPE_CHECKING:
    from smemlint.running.jobs import Job

PATIENCE = 2.0
"""Seconds that a stale analysis may go on before it is ended: to start anew costs about as much."""
_LIMIT = 4.0
"""How many times its computing time a job may take by the clock."""


def _serve(connection: Connection) -> None:
    """The loop of the process: a job in, its report out."""
    import signal

    from smemlint.api import MEMORY, analyse_file, shown

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    except (ImportError, ValueError, OSError):
        pass
    import smemlint.running.reports  # noqa: F401  so that the first buffer does not wait for it

    while True:
        try:
            job: Job = connection.recv()
        except (EOFError, OSError):
            return
        try:
            report = analyse_file(job)
        except Exception as error:
            message = f"internal error: {type(error).__name__}: {error}"
            report = FileReport(job.path, problems=(Problem(shown(job.path), message),))
        connection.send(report)


class Worker:
    """One process, used by one thread at a time; `end` may be called from any."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: BaseProcess | None = None
        self._connection: Connection | None = None
        self._begin()

    def _begin(self) -> None:
        context = multiprocessing.get_context("spawn")
        here, there = context.Pipe()
        process = context.Process(target=_serve, args=(there,), daemon=True)
        process.start()
        there.close()
        with self._lock:
            self._process, self._connection = process, here

    def analyse(self, job: Job) -> FileReport | None:
        """The report; None where the process was ended before it was done."""
        process, connection = self._process, self._connection
        if process is None or connection is None or not process.is_alive():
            self._begin()
            process, connection = self._process, self._connection
        assert connection is not None
        try:
            connection.send(job)
            if not connection.poll(_LIMIT * job.seconds):
                self.end()
                return FileReport(job.path, problems=(Problem(job.path, "the analysis took too long"),))
            report: FileReport = connection.recv()
        except (EOFError, OSError):
            return None
        return report

    def end(self) -> None:
        """End the process at once; the next job starts another."""
        with self._lock:
            process, connection = self._process, self._connection
            self._process = self._connection = None
        if process is not None:
            process.terminate()
        if connection is not None:
            connection.close()
