"""Kills the real command by signals at random moments of `--fix` and looks at what it leaves.

    python benchmarks/kills.py --count 300 --seed 1

Each time: every file is the old one or the new one, no other file is there, and no worker lives on. Ends with
status 1 and the seed where that is not so. SIGKILL leaves no chance to tidy up; it is drawn as
often as the others.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

KERNEL = """\
__global__ void column(float *out) {
    __shared__ float tile[32][32];
    tile[threadIdx.y][threadIdx.x] = out[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
void start(float *out) { column<<<1, dim3(32, 8)>>>(out); }
"""
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL)
COMMAND = (sys.executable, "-m", "smemlint", "--fix", ".", "-j", "2")


def project(folder: Path, files: int) -> dict[str, bytes]:
    """A project with something to fix in every file; its texts by name."""
    (folder / ".git").mkdir()
    texts = {f"k{n}.cu": f"// {n}\n{KERNEL}".encode() for n in range(files)}
    for name, text in texts.items():
        (folder / name).write_bytes(text)
    return texts


def start(folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        COMMAND,
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


def living(session: int) -> list[int]:
    """Processes of a session that are no zombies."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if int(fields[3]) == session and fields[0] != "Z":
                found.append(int(entry.name))
    return found


def faults(folder: Path, old: dict[str, bytes], new: dict[str, bytes], session: int) -> list[str]:
    """What should not be after a kill, in words."""
    late = time.monotonic() + 10
    while (alive := living(session)) and time.monotonic() < late:
        time.sleep(0.01)
    said = [f"process {each} lives on" for each in alive]
    here = {path.name: path for path in folder.iterdir() if path.is_file()}
    said += [f"{name} is left behind" for name in here.keys() - old.keys()]
    for name, text in old.items():
        if name not in here or here[name].read_bytes() not in (text, new[name]):
            said.append(f"{name} is neither old nor new")
    return said


def main() -> int:
    """Run the kills; the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--files", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    draw = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        old = project(folder, options.files)
        began = time.monotonic()
        start(folder).wait()
        whole = time.monotonic() - began
        new = {each: (folder / each).read_bytes() for each in old}
        assert all(new[each] != old[each] for each in old), "the command fixes nothing"
        states: Counter[str] = Counter()
        for n in range(options.count):
            for each, text in old.items():
                (folder / each).write_bytes(text)
            number = draw.choice(SIGNALS)
            # Half of the kills come while files are written: from the first new one on.
            command = start(folder)
            if draw.random() < 0.5:
                while command.poll() is None and all(
                    (folder / each).read_bytes() == text for each, text in old.items()
                ):
                    time.sleep(0.0005)
                time.sleep(draw.uniform(0, 0.004))
            else:
                time.sleep(draw.uniform(0, whole))
            if command.poll() is None:
                os.kill(command.pid, number)
            status = command.wait()
            wrong = faults(folder, old, new, command.pid)
            if wrong:
                print(f"kill {n} by {number.name} (seed {options.seed}): " + "; ".join(wrong))
                return 1
            done = sum((folder / each).read_bytes() == new[each] for each in old)
            state = "none" if done == 0 else "all" if done == len(old) else "some"
            states[f"status {status}, {state} of the files new"] += 1
    print(f"{options.count} kills: every file old or new, nothing left behind, no process alive")
    for state, count in sorted(states.items()):
        print(f"{count:5}  {state}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
