"""Text of host code that a launch depends on: literals, tables of characters, strings."""

from __future__ import annotations

import pytest
from host_code import blocks, launches

HEADERS = "#include <cstring>\n#include <string>\n"
KNOWN = {
    "compared, handed on": 'int t = of("wide");',
    "compared as part": 'const char *x = "t=64"; int t = strncmp(x, "t=", 2) == 0 ? atoi(x + 2) : 32;',
    "a table of digits": 'static const char table[] = "248"; int t = (table[1] - 48) * 16;',
    "walked through": 'int t = 0; for (const char *c = "22"; *c; ++c) t += (*c - 48) * 16;',
    "its length": 'const char *name = "ab"; int t = 32 * (int)strlen(name);',
    "a string, compared": 'std::string s = "wide"; int t = s == "wide" ? 64 : 32;',
    "a string, compared elsewhere": 'int t = named("wide");',
    "a string, cut": "std::string s = \"t=64\"; int t = std::stoi(s.substr(s.find('=') + 1));",
    "a string, not found": "std::string s = \"64\"; int t = s.find('=') == std::string::npos ? 64 : 32;",
    "a string, walked through": 'std::string s = "13"; int t = 0; for (char c : s) t += (c - 48) * 16;',
    "a string, copied": "std::string s = \"64\", r = s; s[0] = '3'; int t = std::stoi(r);",
}
FUNCTIONS = """
int of(const char *name) { return !strcmp(name, "wide") ? 64 : strcmp(name, "any") ? 32 : 128; }
int named(const std::string &name) { if (name != "wide") return 32; return 64; }
"""


@pytest.mark.parametrize("code", KNOWN.values(), ids=KNOWN.keys())
def test_text_is_followed(code: str) -> None:
    assert blocks(f"{HEADERS}{FUNCTIONS} int main() {{ {code} sum<<<1, t>>>(0, 0); }}") == [64]


def test_a_string_that_is_changed_is_not_known() -> None:
    for change in ("s += '0';", "s.append(1, '0');", "s[i] = '3';", "change(s);", "s.clear();"):
        code = f'void change(std::string &); void go(int i) {{ std::string s = "64"; {change}'
        assert all(x.assumed for x in launches(f"{HEADERS}{code} sum<<<1, std::stoi(s)>>>(0, 0); }}"))


def test_memory_that_was_asked_for_is_not_null() -> None:
    host = "void go(float *p) { sum<<<1, p ? 64 : 32>>>(0, 0); }"
    for made in ("cudaMalloc(&p, 64)", "cudaMalloc((void **)&p, 64)", "cudaMallocManaged(&p, 64)"):
        assert blocks(f"{host} int main() {{ float *p; {made}; go(p); }}") == [64]


def test_a_line_that_is_read_from_a_stream_is_not_known() -> None:
    """It was the text that the string began with."""
    text = """#include <sstream>
    #include <string>
    int main() {
        std::string line; std::istringstream in("x=1"); int t = 64;
        while (std::getline(in, line, ';')) { if (line.find('=') == std::string::npos) continue; t = 128; }
        sum<<<1, t>>>(0, 0);
    }"""
    assert all(x.assumed for x in launches(text))
