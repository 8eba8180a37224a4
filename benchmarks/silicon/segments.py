"""Where the arrays of a block lie: addresses told by kernels on a GPU.

    python benchmarks/silicon/segments.py [--arch sm_90] [--out FILE.json]

Needs nvcc and a GPU. Each file of `segments/` is built and run; its kernels write the shared-memory address
of each of their arrays, which begin behind the bytes that the system keeps in each block (1024 on sm_90).
"""

from __future__ import annotations

import argparse
import datetime
import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from fixtures_on_gpu import device, one_row_a_line  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--out", type=Path, default=HERE / "segments.json")
    options = parser.parse_args()
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for source in sorted((HERE / "segments").glob("*.cu")):
            binary = Path(folder, source.stem)
            build = ["nvcc", f"-arch={options.arch}", "-std=c++17", "-O3", "-o", str(binary), str(source)]
            subprocess.run(build, check=True)
            done = subprocess.run([str(binary)], check=True, capture_output=True, text=True, timeout=60)
            found[source.name] = [json.loads(line) for line in done.stdout.splitlines()]
    facts = {
        "device": f"{device()} ({options.arch})",
        "date": datetime.date.today().isoformat(),
        "fields": "addresses: of the arrays in the order in which the kernel tells them",
        "files": found,
    }
    options.out.write_text(one_row_a_line(json.dumps(facts, indent=1)) + "\n", encoding="utf-8")
    for name, kernels in found.items():
        for each in kernels:
            print(name, each["kernel"], each["addresses"])
    return 0 if all(found.values()) else 1


if __name__ == "__main__":
    raise SystemExit(main())
