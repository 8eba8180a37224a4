"""What would bring a number back, by the names of docs/limits.md."""

from __future__ import annotations

HELP: dict[str, str] = {
    "data-dependent": "nothing: it depends on the data",
    "data-dependent-mask": "nothing",
    "edge-of-grid": "nothing",
    "joined-or-not": "`__align__(16)` on the array",
    "run-time-choice": "a template argument for the mode",
    "several-parameters": "a template argument or a constant for one of them",
    "loop-carried": "an index that is a function of the loop counter",
    "local-array": "a loop that can be unrolled",
    "unknown-name": "`-I`, `-D`, `-p compile_commands.json`",
    "unknown-function": "`-I`",
    "unknown-constant": "`-I`, `-D`",
    "unknown-member": "`-I`",
    "unknown-size": "`-I`; a template argument that a launch shows",
    "wmma-fragment": "`-D`, `-I`",
    "budget": "fewer iterations, a smaller tile for analysis by `-D`",
    "time": "fewer iterations, a smaller tile for analysis by `-D`",
    "not-reached": "the launch, in this file or in one that is checked with it",
}
"""The third column of the first table of docs/limits.md; a test holds the two together."""
