"""The stages of a measurement of fixes: `prepare` here, `measure` on a GPU, `table` of what it said."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path


def run(
    description: str,
    inputs: Mapping[str, Path | None],
    out: Path,
    prepare: Callable[..., int],
    measure: Callable[[Path, str], int],
    table: Callable[[Path], int],
    built: Callable[[Path, str], int] | None = None,
) -> int:
    """The stage that the command line names.

    inputs: options of `prepare` with their defaults, None where one must be given; it is called with their
    values and the folder to write, `out` unless told otherwise. built: makes what `measure` runs where there
    is no GPU.
    """
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    first = commands.add_parser("prepare")
    for name, default in inputs.items():
        first.add_argument(name, type=Path, default=default, required=default is None)
    first.add_argument("--out", type=Path, default=out)
    for name in ("measure", "built") if built is not None else ("measure",):
        second = commands.add_parser(name)
        second.add_argument("folder", type=Path)
        second.add_argument("--arch", default="sm_90")
    third = commands.add_parser("table")
    third.add_argument("measured", type=Path)
    options = parser.parse_args()
    if options.command == "prepare":
        return prepare(*(getattr(options, name.strip("-")) for name in inputs), options.out)
    if options.command == "built" and built is not None:
        return built(options.folder, options.arch)
    if options.command == "measure":
        return measure(options.folder, options.arch)
    return table(options.measured)
