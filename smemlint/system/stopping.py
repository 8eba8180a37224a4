"""Signals that ask a run to end: it ends at once, tidied up, with the status that a shell expects.

SIGINT, SIGTERM and SIGHUP become one exception, so that every `finally` on the way runs. What must not be
left half done holds them back for a moment.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

AGAIN = 0.5
"""Seconds after which a further signal is a second one. What ends whole groups of processes (`timeout`, build
servers) often sends each of them two at once."""
SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


_asked: list[int] = []
"""Signals that came, less those that came at once after another."""
_holding: list[bool] = []
"""One for each held_back() that is entered."""


class Stopped(BaseException):
    """A signal asked the run to end."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number

    @property
    def name(self) -> str:
        return signal.Signals(self.number).name

    @property
    def status(self) -> int:
        """The exit status that stands for a death by this signal."""
        return 128 + self.number


@contextmanager
def stopped_by_signals() -> Iterator[None]:
    """Within it, the first signal raises Stopped; a second one, AGAIN later, ends the process at once.

    A signal that is ignored (`nohup`, a job in the background) stays so.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {each: signal.getsignal(each) for each in SIGNALS}
    taken = [each for each, what in before.items() if what not in (signal.SIG_IGN, None)]
    _asked.clear()
    latest = 0.0

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal latest
        now = time.monotonic()
        if _asked and now - latest < AGAIN:
            return
        latest = now
        _asked.append(number)
        if _holding:
            return
        if len(_asked) > 1:
            os._exit(128 + number)
        raise Stopped(number)

    for each in taken:
        signal.signal(each, stop)
    try:
        yield
    finally:
        for each in taken:
            signal.signal(each, before[each])


@contextmanager
def held_back() -> Iterator[None]:
    """Within it no signal stops the run; one that came does so afterwards.

    Blocking them is for a process that leaves them to the system, and does not do alone: the system may hand
    a signal to another thread.
    """
    blocking = hasattr(signal, "pthread_sigmask")
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS) if blocking else ()
    came = len(_asked)
    _holding.append(True)
    try:
        yield
    finally:
        _holding.pop()
        if blocking:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
    if len(_asked) > came and not _holding:
        raise Stopped(_asked[-1])


def leave_to_the_system() -> None:
    """In a process of its own that is nobody's to tidy up: it dies of these signals, but for the terminal's
    SIGINT, which its parent sees as well."""
    _holding.clear()
    for each in SIGNALS:
        signal.signal(each, signal.SIG_IGN if each == signal.SIGINT else signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
