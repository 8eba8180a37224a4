"""Exports of Nsight Compute: the source page and the raw page as CSV, reports where its own module is there,
and the JSON that `benchmarks/fixtures_on_gpu.py` writes."""

from __future__ import annotations

import csv
import importlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from smemlint.profile.model import MeasuredKernel, MeasuredLine, Profile, ProfileError

WAVEFRONTS = ("L1 Wavefronts Shared", "memory_l1_wavefronts_shared")
IDEAL = ("L1 Wavefronts Shared Ideal", "memory_l1_wavefronts_shared_ideal")
WARPS = ("Instructions Executed", "inst_executed")
HELP = (
    "expected what `ncu --import FILE.ncu-rep --page source --csv --print-source cuda,sass` prints, or "
    "`--page raw --csv`"
)
_OPS = (
    (re.compile(r"\bLDGSTS"), "cp.async"),
    (re.compile(r"\bLDSM"), "ldmatrix"),
    (re.compile(r"\bSTSM"), "stmatrix"),
    (re.compile(r"\b(ATOMS|ATOM|RED)\b"), "atomic"),
    (re.compile(r"\b(LDS|LD)\b"), "load"),
    (re.compile(r"\b(STS|ST)\b"), "store"),
)

Key = tuple[str, int, str]
Sums = dict[Key, list[int]]


UNMODELLED = "other "
"""What stands before the opcode of an instruction that is no access of these kinds and has wavefronts."""


def op_of(sass: str) -> str:
    """The kind of shared-memory access of an instruction; of any other `other` and its opcode."""
    words = [word for word in sass.split() if not word.startswith("@")]
    known = next((op for pattern, op in _OPS if pattern.search(sass)), "")
    return known or UNMODELLED + (words[0].split(".")[0] if words else "?")


def read(path: str, data: bytes) -> Profile:
    """The profile in a file. Raises ProfileError."""
    if path.endswith(".ncu-rep"):
        return _report(path)
    if not data.strip():
        raise ProfileError("is empty")
    if b"\0" in data[:4096]:
        raise ProfileError(f"is binary; {HELP}")
    text = data.decode("utf-8-sig", errors="replace")
    if text.lstrip().startswith("{"):
        return _json(path, text)
    rows = _rows(text)
    if any("Metric Name" in row for row in rows[:200]):
        raise ProfileError(f"is the details page; {HELP}")
    if any(row[:1] == ["ID"] and "Kernel Name" in row for row in rows):
        return _raw(path, rows)
    if any(row[0] == "File Name" for row in rows) and ["Line No", "Source"] in rows:
        raise ProfileError(f"holds sources and no counters; {HELP}")
    if any(row[:1] in (["File Path"], ["Kernel Name"], ["Function Name"]) for row in rows):
        return _source(path, rows)
    raise ProfileError(f"is no export of Nsight Compute; {HELP}")


def _rows(text: str) -> list[list[str]]:
    """The rows of CSV, without what ncu prints around them."""
    try:
        rows = list(csv.reader(line for line in text.splitlines() if not line.startswith("==")))
    except csv.Error as error:
        raise ProfileError(f"is no CSV: {error}") from None
    return [row for row in rows if row]


def _source(path: str, rows: Sequence[Sequence[str]]) -> Profile:
    """The source page. A kernel comes as one section for each file, or as one of SASS alone."""
    kernels: list[_Section] = []
    file = ""
    current: _Section | None = None
    for row in rows:
        if row[0] == "File Path" and len(row) > 1:
            file, current = row[1], None
        elif row[0] in ("Kernel Name", "Function Name") and len(row) > 1:
            current = _section(kernels, row[1], file)
        elif row[0] in ("Line No", "Address", "#") and "Source" in row:
            if current is None:
                current = _section(kernels, "", file)
            current.begin(file, row)
        elif current is not None:
            current.add(row)
    made = tuple(section.kernel() for section in _once(kernels))
    if not any(k.lines or k.total is not None for k in made):
        if not any(section.header for section in kernels):
            raise ProfileError("ends before its first row: it is cut off")
        if not any(section.counted for section in kernels):
            raise ProfileError(
                f"has no column `{WAVEFRONTS[0]}`: collect it with `--set full` or `--section SourceCounters`"
            )
    return Profile(path, "source page", made)


def _section(kernels: list[_Section], name: str, file: str) -> _Section:
    """The kernel that a section belongs to: the one before, as long as it has not shown this file yet."""
    last = kernels[-1] if kernels else None
    if last is not None and last.name == name and file and file not in last.files:
        return last
    kernels.append(_Section(name))
    return kernels[-1]


def _once(sections: list[_Section]) -> list[_Section]:
    """The launches, each once: ncu 2025.3 prints every listing of SASS alone twice."""
    pairs = list(zip(sections[::2], sections[1::2], strict=False))
    same = all((a.name, a.addresses, a.sums) == (b.name, b.addresses, b.sums) for a, b in pairs)
    alone = all(s.addresses and s.number is None for s in sections)
    return sections[::2] if pairs and alone and same and len(sections) % 2 == 0 else sections


class _Section:
    """The rows of one launch as they come."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.files: dict[str, dict[int, str]] = {}
        self.header: list[str] = []
        self.counted = False
        self.sums: Sums = {}
        self.addresses: list[str] = []
        self.places: set[tuple[str, int, str]] = set()
        self.number: int | None = None
        self.whole: Sums = {}
        self.file = ""
        self.line = 0

    def begin(self, file: str, header: Sequence[str]) -> None:
        self.file, self.line = file, 0
        self.header = list(header)
        self.files.setdefault(file, {})
        self.waves, self.ideal, self.warps = (_column(header, n) for n in (WAVEFRONTS, IDEAL, WARPS))
        self.counted = self.counted or self.waves is not None
        self.number = _column(header, ("Line No", "#")) if "Line No" in header else None
        self.address = header.index("Address") if "Address" in header else None
        sources = [at for at, name in enumerate(header) if name == "Source"]
        self.sass = sources[-1] if self.address is not None else None
        self.text = sources[0]

    def add(self, row: Sequence[str]) -> None:
        if not self.header or len(row) < len(self.header):
            return
        if self.number is not None and row[self.number].strip().isdigit():
            self.line = int(row[self.number])
            self.files[self.file][self.line] = row[self.text]
            if self.waves is not None:
                self._count(self.whole, (self.file, self.line, ""), row)
        elif self.sass is not None and self.address is not None and row[self.address].startswith("0x"):
            self.addresses.append(row[self.address])
            op = op_of(row[self.sass])
            place = (self.file, self.line, row[self.address])
            new = self.file == "" or place not in self.places  # ncu 2025.3 prints each of them twice
            self.places.add(place)
            if self.waves is not None and new:
                self._count(self.sums, (self.file, self.line, op), row)

    def _count(self, sums: Sums, key: Key, row: Sequence[str]) -> None:
        waves = _number(row, self.waves)
        if not waves:
            return
        total = sums.setdefault(key, [0, 0, 0])
        for at, column in enumerate((self.waves, self.ideal, self.warps)):
            total[at] += _number(row, column)

    def kernel(self) -> MeasuredKernel:
        sums = self.sums or self.whole
        lines = [
            MeasuredLine(file, line, op, waves, ideal if self.ideal is not None else None, warps or None)
            for (file, line, op), (waves, ideal, warps) in sorted(sums.items())
        ]
        if any(line.line for line in lines):
            return MeasuredKernel(self.name, None, None, tuple(x for x in lines if x.line), self.files)
        total = (sum(x.wavefronts for x in lines), sum(x.ideal or 0 for x in lines) if lines else 0)
        return MeasuredKernel(self.name, None, None, (), self.files, total if self.counted else None)


def _column(header: Sequence[str], names: Sequence[str]) -> int | None:
    return next((header.index(name) for name in names if name in header), None)


def _number(row: Sequence[str], column: int | None) -> int:
    if column is None:
        return 0
    text = row[column].strip().replace(",", "").replace(" ", "")
    try:
        return int(float(text))
    except ValueError:
        return 0


def _raw(path: str, rows: Sequence[Sequence[str]]) -> Profile:
    """The raw page: one row a launch. A second row of it holds the units."""
    start = next(at for at, row in enumerate(rows) if row[:1] == ["ID"])
    header = list(rows[start])
    waves, ideal = _column(header, WAVEFRONTS), _column(header, IDEAL)
    dynamic = _column(header, ("launch__shared_mem_per_block_dynamic",))
    kernels = []
    for row in rows[start + 1 :]:
        if len(row) < len(header) or not row[0].isdigit():
            continue
        told = dict(zip(header, row, strict=False))
        kernels.append(
            MeasuredKernel(
                name=told["Kernel Name"],
                block=_shape(told, "Block Size", "launch__block_dim"),
                grid=_shape(told, "Grid Size", "launch__grid_dim"),
                lines=(),
                total=(_number(row, waves), _number(row, ideal) if ideal is not None else None)
                if waves is not None
                else None,
                dynamic=_number(row, dynamic) if dynamic is not None else None,
            )
        )
    if not kernels:
        raise ProfileError("has a header and no launch: it is cut off, or nothing ran")
    return Profile(path, "raw page", tuple(kernels))


def _shape(told: Mapping[str, str], name: str, metric: str) -> tuple[int, ...] | None:
    numbers = [int(n) for n in re.findall(r"\d+", told.get(name, ""))]
    if not numbers:
        numbers = [
            int(told[f"{metric}_{axis}"]) for axis in "xyz" if told.get(f"{metric}_{axis}", "").isdigit()
        ]
    return tuple((*numbers, 1, 1)[:3]) if numbers else None


def _json(path: str, text: str) -> Profile:
    """`fixtures`: file -> launches with `lines` [file, line, op, warps, threads, wavefronts, ideal]."""
    try:
        data = json.loads(text)
        launches = [launch for runs in data["fixtures"].values() for launch in runs]
        return Profile(path, "measured lines", tuple(map(_launch, launches)))
    except json.JSONDecodeError as error:
        raise ProfileError(f"is no JSON: {error.msg} in line {error.lineno}") from None
    except (KeyError, TypeError, ValueError, AttributeError):
        raise ProfileError(f"is JSON of something else; {HELP}") from None


def _launch(data: Mapping[str, Any]) -> MeasuredKernel:
    lines = tuple(
        MeasuredLine(str(file), int(line), str(op), int(waves), int(ideal), int(warps))
        for file, line, op, warps, _, waves, ideal in data["lines"]
    )
    return MeasuredKernel(str(data["kernel"]), tuple(data["block"]), tuple(data["grid"]), lines)


def _report(path: str) -> Profile:
    """A report itself, through the module that comes with Nsight Compute."""
    try:
        module = importlib.import_module("ncu_report")
    except ImportError:
        raise ProfileError(
            "is a report, which needs NVIDIA's module `ncu_report` (in extras/python of Nsight Compute) on "
            f"PYTHONPATH; or {HELP}"
        ) from None
    try:
        context = module.load_report(path)
        return Profile(path, "report", tuple(map(_action, _actions(context))))
    except Exception as error:
        raise ProfileError(f"cannot be read: {error}") from None


def _actions(context: Any) -> Iterator[Any]:
    for r in range(context.num_ranges()):
        part = context.range_by_idx(r)
        for a in range(part.num_actions()):
            yield part.action_by_idx(a)


def _action(action: Any) -> MeasuredKernel:
    waves, ideal, warps = (_per_instruction(action, names[1]) for names in (WAVEFRONTS, IDEAL, WARPS))
    sums: Sums = {}
    for pc, count in waves.items():
        op = op_of(action.sass_by_pc(pc))
        if not count:
            continue
        source = action.source_info(pc)
        key = (PurePath(source.file_name()).name, int(source.line()), op) if source else ("?", 0, op)
        total = sums.setdefault(key, [0, 0, 0])
        for at, values in enumerate((waves, ideal, warps)):
            total[at] += values.get(pc, 0)
    lines = tuple(
        MeasuredLine(file, line, op, total[0], total[1] if ideal else None, total[2] or None)
        for (file, line, op), total in sorted(sums.items())
    )
    name = action.name(action.NameBase_DEMANGLED)
    return MeasuredKernel(name, _dimensions(action, "block"), _dimensions(action, "grid"), lines)


def _per_instruction(action: Any, name: str) -> dict[int, int]:
    metric = action.metric_by_name(name)
    if metric is None:
        return {}
    at = metric.correlation_ids()
    return {int(at.as_uint64(i)): int(metric.as_uint64(i)) for i in range(metric.num_instances())}


def _dimensions(action: Any, what: str) -> tuple[int, ...] | None:
    found = [action.metric_by_name(f"launch__{what}_dim_{axis}") for axis in "xyz"]
    return tuple(int(m.as_uint64()) for m in found) if all(m is not None for m in found) else None
