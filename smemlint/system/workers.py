"""Runs a function over items in processes of their own, so that one bad item cannot take the run with it.

A process that crashes, hangs or eats memory costs its own item, which is reported as a Failure; the others
are done.
"""

from __future__ import annotations

import contextlib
import gc
import math
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from pathlib import Path
from types import FrameType
from typing import Any, Generic, Protocol, TypeVar, cast

from smemlint.records import record
from smemlint.system.collection import COLLECTION
from smemlint.system.stopping import held_back, leave_to_the_system

try:
    import resource
except ImportError:  # not on Windows
    resource = None  # type: ignore[assignment]

Item = TypeVar("Item")
Result = TypeVar("Result")

DEBUG = "SMEMLINT_DEBUG"
"""Set in the environment, it lets workers write tracebacks to stderr."""
TICK = 0.1
"""Seconds between two looks of a watcher."""
WAIT = 8
SOON = 0.85
"""Of an item's time: when its worker is interrupted, to tell what it has."""
PATIENCE = 2
"""Seconds that processes have for ending once they are told to."""
PR_SET_PDEATHSIG = 1
GROWTH = 80 * 2**20
"""Bytes by which a worker is larger after a file when another takes its place: what is freed is not all given
back, and the next file may be a large one."""


@record(frozen=True, slots=True)
class Failure:
    """Why there is no result, for people."""

    message: str
    stage: str = ""
    """What the worker said that it was at (see `at_stage`)."""


class Watch(Protocol):
    """Somebody who looks on."""

    def given(self, index: int) -> None:
        """Item `index` is being worked on from now."""

    def tick(self) -> None:
        """Some time has passed: called every TICK seconds or more often."""


@record(frozen=True, slots=True)
class Renumbered:
    """A watcher of some of the items. numbers: of each of them among all."""

    watch: Watch
    numbers: Sequence[int]

    def given(self, index: int) -> None:
        self.watch.given(self.numbers[index])

    def tick(self) -> None:
        self.watch.tick()


class OutOfTimeError(BaseException):
    """The computing time of an item, or of a part of it, is over; what was found so far can still be told."""


@record(frozen=True, slots=True)
class _Said:
    stage: str


@record(frozen=True, slots=True)
class _Last:
    """A result after which the worker ends."""

    result: Any


_say: list[Callable[[str], None]] = []
"""How a worker tells its parent at what stage it is; empty outside of workers."""


@contextlib.contextmanager
def at_stage(stage: str, seconds: float) -> Iterator[None]:
    """Tell that what follows is of this stage, should it end the process; in a worker, OutOfTimeError is
    raised when it has computed for so many seconds."""
    if not _say or not hasattr(signal, "setitimer"):
        yield
        return
    began = time.process_time()
    _say[0](stage)
    left, _ = signal.getitimer(signal.ITIMER_PROF)
    signal.setitimer(signal.ITIMER_PROF, min(left, seconds) if left else seconds)
    try:
        yield
    finally:
        rest = left - (time.process_time() - began)
        signal.setitimer(signal.ITIMER_PROF, max(0.01, rest) if left else 0)
        _say[0]("")


def run_isolated(
    task: Callable[[Item], Result],
    items: Sequence[Item],
    *,
    jobs: int,
    seconds: float,
    memory: int,
    watch: Watch | None = None,
) -> Iterator[tuple[int, Result | Failure]]:
    """Yields (index of the item, result) in the order of completion.

    seconds: computing time that one item may take, so that a busy machine changes nothing; an item that waits
    for something is given up after WAIT times as long. memory: bytes of address space of one process.
    """
    waiting = deque(range(len(items)))
    pool: list[_Worker[Item, Result]] = []
    try:
        while waiting or any(w.index is not None for w in pool):
            idle = sum(w.index is None for w in pool)
            for _ in range(min(len(waiting) - idle, max(1, jobs) - len(pool))):
                with held_back():  # a worker that has begun is in the pool
                    pool.append(_Worker(task, seconds, memory, [w.connection for w in pool]))
            for worker in pool:
                if worker.index is None and waiting:
                    if watch is not None:
                        watch.given(waiting[0])
                    worker.give(waiting.popleft(), items)
            busy = [w for w in pool if w.index is not None]
            first = min(w.started for w in busy) + WAIT * seconds
            patience = max(0.0, first - time.monotonic())
            if watch is not None:
                watch.tick()
                patience = min(patience, TICK)
            ready = set(wait([w.connection for w in busy], patience))
            for worker in busy:
                index = worker.index
                assert index is not None
                if worker.connection in ready:
                    result = worker.take()
                    if not isinstance(result, _Said):
                        yield index, result
                elif time.monotonic() - worker.started >= WAIT * seconds:
                    worker.dead = True
                    yield index, Failure(_late(WAIT * seconds), worker.stage)
            gone = [w for w in pool if w.dead]
            pool[:] = [w for w in pool if not w.dead]
            _end(gone)
    finally:
        _end(pool)


def _end(workers: Sequence[_Worker[Any, Any]]) -> None:
    """End processes at once; only what holds signals back for a moment, to leave no half of a file, is
    waited for."""
    for worker in workers:
        worker.connection.close()
        worker.process.terminate()
    late = time.monotonic() + PATIENCE
    for worker in workers:
        worker.process.join(max(0.0, late - time.monotonic()))
        worker.process.kill()
        worker.process.join()


class _Worker(Generic[Item, Result]):
    """One process and the pipe to it."""

    def __init__(
        self,
        task: Callable[[Item], Result],
        seconds: float,
        memory: int,
        others: Sequence[Connection],
    ) -> None:
        methods = multiprocessing.get_all_start_methods()
        fork = "fork" in methods
        context: Any = multiprocessing.get_context("fork" if fork else "spawn")
        self.connection: Connection
        self.connection, theirs = context.Pipe()
        # A forked worker must close its copies of our ends, or it and the others would outlive us, waiting.
        inherited = (self.connection, *others) if fork else ()
        arguments = (theirs, inherited, task, seconds, memory)
        self.process = context.Process(target=_serve, args=arguments, daemon=True)
        self.process.start()
        theirs.close()
        self.seconds = seconds
        self.index: int | None = None
        self.started = 0.0
        self.stage = ""
        self.dead = False

    def give(self, index: int, items: Sequence[Item]) -> None:
        self.index, self.started, self.stage = index, time.monotonic(), ""
        with contextlib.suppress(OSError):  # a process that is gone shows when its answer is taken
            self.connection.send(items[index])

    def take(self) -> Result | Failure | _Said:
        try:
            result: Result | Failure | _Said | _Last = self.connection.recv()
        except (EOFError, OSError):
            self.index = None
            self.dead = True
            self.process.join(1)
            if self.process.exitcode == -getattr(signal, "SIGXCPU", 0):
                return Failure(_late(self.seconds), self.stage)
            return Failure(f"the analysis crashed ({_ending(self.process.exitcode)})", self.stage)
        if isinstance(result, _Said):
            self.stage = result.stage
            return result
        self.index = None
        if not isinstance(result, _Last):
            return result
        self.dead = True
        return cast("Result | Failure", result.result)


def _late(seconds: float) -> str:
    return f"gave up after {seconds:g} s, the time limit of one file"


def _ending(code: int | None) -> str:
    if code is not None and code < 0:
        with contextlib.suppress(ValueError):
            return signal.Signals(-code).name
    return f"exit status {code}"


def _serve(
    connection: Connection,
    inherited: Sequence[Connection],
    task: Callable[[Any], Any],
    seconds: float,
    memory: int,
) -> None:
    """The life of a worker: items in, results out, until the pipe closes."""
    for each in inherited:
        each.close()
    leave_to_the_system()
    gc.freeze()  # what was imported stays
    gc.set_threshold(*COLLECTION)
    _end_with_parent()
    _limit(memory)
    debug = os.environ.get(DEBUG)
    if not debug:  # native code writes its own crash reports there
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    _say[:] = [lambda stage: connection.send(_Said(stage))]
    began = _held()
    while True:
        try:
            item = connection.recv()
        except (EOFError, OSError):
            return
        result: Any
        try:
            _limit_time(seconds)
            result = task(item)
            _stop_clock()
        except OutOfTimeError:
            result = Failure(_late(seconds))
        except MemoryError:
            result = Failure(f"gave up at {memory // 2**20} MiB, the memory limit of one file")
        except RecursionError:
            result = Failure("nested too deeply to be analysed")
        except Exception as error:
            if debug:
                import traceback

                traceback.print_exc()
            result = Failure(f"internal error: {type(error).__name__}: {error}")
        _stop_clock()
        full = _held() - began > GROWTH
        if full:
            _give_back()
            full = _held() - began > GROWTH
        try:
            connection.send(_Last(result) if full else result)
        except OSError:
            return
        if full:
            return


def _held() -> int:
    """The bytes that this process holds, or held at most where the system does not tell; 0 where it tells
    neither."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    if resource is None:
        return 0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def _give_back() -> None:
    """Have the C library give back what is free, where it can."""
    import ctypes

    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


def _end_with_parent() -> None:
    """See to it that this process does not outlive the one that started it, whatever it is doing then."""
    if not _told_by_the_system():
        threading.Thread(target=_watch_parent, daemon=True).start()


def _told_by_the_system() -> bool:
    """Have Linux send SIGTERM here when the parent dies; whether it will."""
    if not sys.platform.startswith("linux"):
        return False
    import ctypes

    parent = multiprocessing.parent_process()
    try:
        if ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0) != 0:
            return False
    except (OSError, AttributeError):
        return False
    if parent is not None and os.getppid() != parent.pid:  # it died before it was asked for
        os._exit(1)
    return True


def _watch_parent() -> None:
    """Wait until the pipe to the parent closes, which its death does."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _limit(memory: int) -> None:
    if resource is None:
        return
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    if hard == resource.RLIM_INFINITY or memory < hard:
        resource.setrlimit(resource.RLIMIT_AS, (memory, hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def _out_of_time(number: int, frame: FrameType | None) -> None:
    raise OutOfTimeError


def _stop_clock() -> None:
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, 0)


def _limit_time(seconds: float) -> None:
    """From now on, computing is interrupted shortly before so many seconds, and the system ends this process
    after them, where it is in native code."""
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGPROF, _out_of_time)
        signal.setitimer(signal.ITIMER_PROF, SOON * seconds)
    if resource is None:
        return
    limit = math.ceil(time.process_time() + seconds)
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    if hard == resource.RLIM_INFINITY or limit < hard:
        resource.setrlimit(resource.RLIMIT_CPU, (limit, hard))
