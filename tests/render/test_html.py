"""The page: its numbers are those of the trace, it loads nothing, and a browser runs it without an error."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import struct
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from smemlint.api import Job, Options, analyse_file, collect
from smemlint.banks import wavefronts
from smemlint.diagnose.group import groups
from smemlint.render import render

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
KERNEL = """__global__ void k(float *out, const char *s) {
    __shared__ float t[32][32];  // </script><b>&amp;
    t[threadIdx.y][threadIdx.x] = 0;
    __syncthreads();
    for (int i = 0; i < 4; i++)
        out[i] += t[threadIdx.x >> i][threadIdx.y];
}
void start(float *out) { k<<<1, dim3(32, 8)>>>(out, "x"); }
"""


@pytest.fixture(scope="module")
def page() -> str:
    report = analyse_file(Job("a b.cu", Options(exhibits=True), KERNEL))
    return render("html", collect([report], texts={"a b.cu": KERNEL}))


def offsets(visit: int, warp: int, pitch: int = 32) -> list[int | None]:
    return [((lane >> visit) * pitch + warp) * 4 for lane in range(32)]


class Tags(HTMLParser):
    """All tags with their attributes; whether each that must be closed is."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in ("meta", "br", "input", "wbr"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open.pop() == tag


def data_of(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


def test_the_maps_in_the_page_are_those_of_the_trace(page: str) -> None:
    (exhibit,) = data_of(page)["exhibits"].values()
    for side, pitch in (("now", 32), ("after", 33)):
        strip = exhibit[side]
        assert len(strip["frames"]) == 4 * 8
        for frame, number in strip["frames"].items():
            warp, visit = map(int, frame.split(":"))
            asked = offsets(visit, warp, pitch)
            drawn = strip["maps"][number]
            served = [s for each in drawn["passes"] for s in each["served"]]
            assert len(drawn["passes"]) == wavefronts("load", 4, asked).wavefronts
            assert {lane: word * 4 for _, word, lanes in served for lane in lanes} == dict(enumerate(asked))
            assert all(bank == word % 32 for bank, word, _ in served)


def test_each_line_has_the_cost_of_its_accesses(page: str) -> None:
    lines = {a["id"]: a for tag, a in Tags(page).seen if tag == "tr" and "data-wavefronts" in a}
    cost = sum(
        wavefronts("load", 4, offsets(visit, warp)).wavefronts for visit in range(4) for warp in range(8)
    )
    line = lines["a%20b.cu:6"]
    assert (line["data-wavefronts"], line["data-at-best"]) == (str(cost), "32")
    assert lines["a%20b.cu:3"]["data-wavefronts"] == "8"


def test_the_page_is_well_formed_whatever_the_source_holds(page: str) -> None:
    assert Tags(page).open == []
    assert "</script><b>" not in page and "&lt;/script&gt;&lt;b&gt;&amp;amp;" in page


def test_the_page_loads_nothing(page: str) -> None:
    tags = Tags(page).seen
    assert not [a for _, a in tags if "src" in a or (a.get("href", "#") not in (None, "") and "//" in str(a))]
    policy = next(str(a["content"]) for tag, a in tags if a.get("http-equiv") == "Content-Security-Policy")
    script = page.rsplit("<script>", 1)[1].split("</script>")[0]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert "default-src 'none'" in policy and f"script-src 'sha256-{digest}'" in policy


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here")
def test_a_browser_draws_the_map_of_the_line_that_is_linked(page: str, tmp_path: Path) -> None:
    assert CHROMIUM is not None
    file, shot = tmp_path / "r.html", tmp_path / "r.png"
    file.write_text(page)
    url = f"{file.as_uri()}#a%2520b.cu:6"
    call = [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr"]
    call += [f"--user-data-dir={tmp_path / 'profile'}", "--window-size=390,800"]
    done = subprocess.run([*call, "--dump-dom", url], capture_output=True, text=True, timeout=120)
    assert "CONSOLE" not in done.stderr, done.stderr
    maps = [a for tag, a in Tags(done.stdout).seen if tag == "svg" and "data-wavefronts" in a]
    assert [(a["data-wavefronts"], a["data-ideal"]) for a in maps] == [("32", "1"), ("1", "1")]
    cells = [a for tag, a in Tags(done.stdout).seen if tag == "g" and "data-lanes" in a]
    assert len(cells) == 64 and {c["data-bank"] for c in cells[:32]} == {"0"}
    sliders = [a["aria-label"] for tag, a in Tags(done.stdout).seen if tag == "input"]
    assert sliders == ["warp", "iteration"]
    subprocess.run([*call, f"--screenshot={shot}", url], capture_output=True, timeout=120, check=True)
    assert shot.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", shot.read_bytes()[16:24]) == (390, 800)


TWO = """__global__ void k(float *out, int n) {
    __shared__ float t[32][32];
    t[threadIdx.y][threadIdx.x] = 0;
    __syncthreads();
    out[0] = t[threadIdx.x][threadIdx.y];
    out[n] = t[threadIdx.x][n];
}
void start(float *out, int n) { k<<<1, dim3(32, 8)>>>(out, n); }
"""


def test_one_cause_is_one_row_with_the_cost_of_all_its_places() -> None:
    found = collect([analyse_file(Job("k.cu", Options(exhibits=True), TWO))], texts={"k.cu": TWO})
    text = render("html", found)
    (group,) = groups(found.diagnostics)
    assert len(group.all) == 2 and group.cost is not None
    rows = re.findall(r"<tr><td class=\"sev.*?</tr>", text, re.S)
    assert len(rows) == 1 and "in 2 places" in rows[0]
    assert re.findall(r'href="#(k\.cu:\d+)"', rows[0]) == ["k.cu:5", "k.cu:6"]
    numbers = re.findall(r'data-label="(?:wavefronts|at best)">([\d,]+)<', rows[0])
    assert numbers == ["512", "16"] == [f"{n:g}" for n in (group.cost.own.wavefronts, group.cost.own.floor)]
    assert f"{group.lead.code} " in rows[0] and "512 of 520 a block" in rows[0]
