"""`smemlint config`: the settings that hold for a path, and where each was set."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from typing import Any

from smemlint.commands import CLEAN
from smemlint.config import Glob, PerFile, PerKernel, Settings
from smemlint.configurations import Configurations, Layer, folded
from smemlint.system.streams import put
from smemlint.system.visible import visible

_LINES = ("jobs", "timeout", "output", "extend")
"""Settings that a configuration does not have, or that are used up in reading it."""


def options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("path", nargs="?", default=".", metavar="PATH", help="a file or folder (default: this folder)")
    add("--config", metavar="FILE", help="read this configuration file and no other")
    add("--output-format", choices=("table", "json"), default="table", help="default: table")


def run(options: argparse.Namespace) -> int:
    layers = Configurations(Settings(), options.config).layers(options.path)
    whole = folded(layers)
    rows = {
        name.replace("_", "-"): (_plain(value), _origins(layers, name))
        for name, value in sorted(whole.options().items())
        if name not in _LINES
    }
    if options.output_format == "json":
        data = {name: {"value": value, "from": origins} for name, (value, origins) in rows.items()}
        put(json.dumps({"version": 1, "path": options.path, "settings": data}, indent=2) + "\n")
        return CLEAN
    width = max(map(len, rows))
    for name, (value, origins) in rows.items():
        put(visible(f"{name:{width}}  {json.dumps(value)}  ({', '.join(origins)})") + "\n")
    return CLEAN


def _origins(layers: list[Layer], name: str) -> list[str]:
    """Where a setting was said; several places where they are joined."""
    said = [layer.origin for layer in layers if name in layer.settings.said()]
    if name in ("blocks", "exclude", "per_file", "per_kernel"):
        return [origin for origin in said if origin != "default"] or ["default"]
    return said[:1] or ["default"]


def _plain(value: object) -> Any:
    if isinstance(value, Settings):
        return {name.replace("_", "-"): _plain(v) for name, v in value.said().items()}
    if isinstance(value, tuple):
        return [_plain(v) for v in value]
    if isinstance(value, Glob):
        return value.text
    if isinstance(value, PerFile):
        return {"files": _plain(value.files), **_plain(value.settings)}
    if isinstance(value, PerKernel):
        return asdict(value)
    return value
