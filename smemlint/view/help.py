"""What would bring a number back, by the names of docs/limits.md."""

from __future__ import annotations

HELP: dict[str, str] = {
    "data-dependent": "nothing: it depends on the data",
    "data-dependent-mask": "nothing",
    "edge-of-grid": "nothing",
    "joined-or-not": "`__align__(16)` on the array",
    "run-time-choice": "a template argument in place of the run-time value",
    "several-parameters": "a template argument or a constant for one of them",
    "loop-carried": "an index that is a function of the loop counter",
    "local-array": "a loop that can be unrolled",
    "unknown-name": "`-I`, `-D` or `-p compile_commands.json`, as in the build",
    "unknown-function": "the folder of its header (`-I`)",
    "unknown-constant": "the folder of its header (`-I`), or its value (`-D`)",
    "unknown-member": "the folder of the type's header (`-I`)",
    "unknown-size": "the folder of the type's header (`-I`), or a launch that names the type",
    "wmma-fragment": "`-D`, `-I`",
    "budget": "fewer iterations, or a smaller tile: `-D TILE=16`",
    "time": "fewer iterations, or a smaller tile: `-D TILE=16`",
    "not-reached": "checking it together with the file that holds the launch",
}
"""The third column of the first table of docs/limits.md; a test holds the two together."""
