"""Static shared memory of every kernel of the fixtures, as nvcc lays it out.

    python benchmarks/shared_sizes.py [--arch sm_90] [--out fixtures/shared_bytes.json]

Needs nvcc and readelf, no GPU. Each fixture becomes a cubin, in which every kernel has a section
`.nv.shared.NAME`; its size less the bytes that the system reserves in each block is the kernel's.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RESERVED = {"sm_80": 1024, "sm_86": 1024, "sm_89": 1024, "sm_90": 1024, "sm_100": 1024, "sm_120": 1024}
_SECTION = re.compile(r"\]\s+\.nv\.shared\.(\S+)\s+NOBITS\s+\S+\s+\S+\s+(\S+)\s")
_KERNEL = re.compile(r"\]\s+\.text\.(\S+)\s")


def sections(cubin: Path, reserved: int) -> dict[str, int]:
    """Bytes of each kernel of a cubin, by its mangled name."""
    call = ["readelf", "-SW", str(cubin)]
    text = subprocess.run(call, check=True, capture_output=True, text=True).stdout
    found = dict.fromkeys(_KERNEL.findall(text), 0)
    for name, size in _SECTION.findall(text):
        if name in found:
            found[name] = int(size, 16) - reserved
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--arch", default="sm_90", choices=sorted(RESERVED))
    parser.add_argument("--fixtures", type=Path, default=ROOT / "fixtures")
    parser.add_argument("--out", type=Path, default=ROOT / "fixtures" / "shared_bytes.json")
    options = parser.parse_args()
    version = subprocess.run(["nvcc", "--version"], check=True, capture_output=True, text=True).stdout
    release = re.search(r"release ([\d.]+)", version)
    kernels: dict[str, dict[str, int]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for source in sorted(options.fixtures.glob("*.cu")):
            cubin = Path(folder, f"{source.stem}.cubin")
            call = [
                "nvcc",
                f"-arch={options.arch}",
                "-std=c++17",
                "-O3",
                "-cubin",
                "-o",
                str(cubin),
                str(source),
            ]
            done = subprocess.run(call, check=False, capture_output=True, text=True)
            if done.returncode:
                print(f"{source.name}: {done.stderr}", file=sys.stderr)
                return 1
            kernels[source.name] = sections(cubin, RESERVED[options.arch])
    tool = f"nvcc {release[1] if release else '?'} -arch={options.arch} -O3"
    options.out.write_text(json.dumps({"tool": tool, "kernels": kernels}, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
