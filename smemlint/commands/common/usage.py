"""A command line that cannot be followed."""

from __future__ import annotations

import argparse
from typing import NoReturn

from smemlint.system.streams import put


class UsageError(Exception):
    """The command line cannot be followed."""


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (see `{self.prog} --help`)")

    def _print_message(self, message: str, file: object = None) -> None:
        """As argparse does, but a standard output that takes nothing is told."""
        put(message)
