"""The names of what smemlint could not tell, and what they mean: the tables of docs/limits.md, by heading.

A test holds the two together.
"""

from __future__ import annotations

from smemlint.view.help import HELP

REASONS: dict[str, dict[str, str]] = {
    "An access without a number": {
        "data-dependent": (
            "the index is read from memory, from another lane or from an atomic, and nothing bounds it"
        ),
        "data-dependent-mask": "which lanes take part depends on data, and no bound could be proved",
        "edge-of-grid": (
            "only blocks at the edge of the grid run it (`else s[t] = 0;` beside `if (i < n)`), with "
            "lanes that depend on the problem's size; a range"
        ),
        "nonlinear-index": (
            "the index goes through an operation that mixes a run-time value with the lane (a "
            "division, a mask, a hash that wraps around); only its range is known"
        ),
        "joined-or-not": (
            "whether nvcc joins neighbouring accesses into a wider one cannot be decided from the "
            "source; a range over both"
        ),
        "stored-or-not": (
            "a store to a static array that no load needs, because the thread still has the "
            "value in a register (`s[i] = x; y = s[i];`): nvcc drops the store where the loads "
            "stand near, and keeps it where they do not. Or a load of what the thread stored in "
            "an earlier round of a loop (`x = s[r & 7]; s[(r + 1) & 7] = x;`): nvcc keeps the "
            "value in a register in some copies of the loop. A range that begins at no access at "
            "all"
        ),
        "run-time-choice": (
            "the address is one of a few, and what decides is the same for all lanes and known only "
            "at run time (`switch (mode)`, a `break` under a condition, a loop that may not run); a "
            "range over them"
        ),
        "several-parameters": (
            "how far lanes are apart depends on more than one run-time value (`s[t * a + (t & 3) "
            "* b]`), or on one and on data besides; a range"
        ),
        "loop-carried": (
            "a variable changes from iteration to iteration in a way that has no closed form here"
        ),
        "local-array": "an array in registers or local memory is read at an index that is not known",
        **dict.fromkeys(
            ("untracked-local", "untracked-value"),
            "the index comes from a value that is not followed (float arithmetic, parts of a wider value)",
        ),
        "several-arrays": (
            "lanes of one request go to several arrays, and which, or how far the arrays are apart, "
            "is not known; a range"
        ),
        **dict.fromkeys(
            ("untracked-pointer", "untracked-reference"),
            "a pointer or reference to shared memory is computed, stored or passed on in a way "
            "that is not followed",
        ),
        "uninitialised": "a variable is read before it is set on the way that was followed",
        "unknown-name": "a name is declared in no file that was read",
        "unknown-function": "a function that gives the index is defined in no file that was read",
        "unknown-constant": "a static constant has no value that could be found",
        "unknown-member": "a member of a type that is not known",
        "unknown-size": (
            "the size of the element type is not known (a library's number type that no file "
            "declares, a trait's type); or a member lies behind one of unknown size and whether "
            "neighbours join depends on where it begins"
        ),
        **dict.fromkeys(
            ("unknown-expression", "unknown-statement"),
            "C++ that is not read; the text says which",
        ),
        **dict.fromkeys(
            ("copy-size", "byte-copy", "group-copy"),
            "an asynchronous or library copy whose width is not a constant, or is the library's choice",
        ),
        **dict.fromkeys(
            ("copy-alignment", "copy-source"),
            "a copy whose width depends on an alignment that is not known; or a 16-byte "
            "`cp.async`, which bypasses L1: its cost depends on where in global memory it reads, "
            "too",
        ),
        "wmma-fragment": (
            "the shape, type or layout of a fragment is not known, or its rows are smaller than a byte"
        ),
        "misaligned": "the address is no multiple of the access width: the access would fault",
        "unsupported-width": "the hardware has no such access",
        **dict.fromkeys(
            ("recursion", "nesting"),
            "calls or expressions go too deep",
        ),
        **dict.fromkeys(
            ("budget", "time"),
            "the kernel, or the file, used up its share of steps, memory or time (`--timeout`); in a "
            "file with many launches each kernel's first one comes before any second one",
        ),
        "not-reached": "the text shows the access, and no known launch gets there",
        "unknown": "nothing is known of the address",
    },
    "A part of a kernel that was not looked at": {
        "no-access": "a kernel declares shared memory and no access to it was reached",
        "ptx-address": ("a shared-memory instruction in inline PTX whose address operand is not understood"),
        "ptx-outside": "an instruction on shared memory that is outside of what is modelled",
        "ptx-unread": "inline PTX that mentions shared memory and could not be read",
        "unknown-function": (
            "a shared array's address goes to a function that is not defined in the files that were read"
        ),
        "unknown-macro": (
            "a statement in capitals that no file defines: what it stands for may use shared memory "
            "(not for names of assertions and prints)"
        ),
        **dict.fromkeys(
            ("unknown-expression", "unknown-statement", "unknown-member"),
            "the address goes into C++ that is not read",
        ),
        **dict.fromkeys(
            ("atomic-address", "copy-address", "wmma-address"),
            "an atomic, an asynchronous copy or a matrix load whose address is not followed",
        ),
        "distributed-shared": "accesses to another block's shared memory (`cluster.map_shared_rank`)",
        "unnamed-union": (
            "`__shared__ union { ... };` without a variable's name: nvcc drops the `__shared__` (its warning "
            "1866), so that each thread has a union of its own, in local memory"
        ),
        "barrier-object": "a barrier or pipeline object that lives in shared memory",
        "library-storage": "temporary storage that a library uses in its own way (cub)",
        "recursion": "a function that calls itself too deeply",
        "internal-error": (
            "a fault of smemlint's own, reported as an error with exit status 2: the accesses that "
            "depend on it are unresolved by this name, and all of the kernel's where it cannot be cut"
            " off more closely; please report it"
        ),
    },
    "A kernel that was not looked at": {
        "unknown-kernel": "a launch in a checked file starts it, and no file that was read defines it",
        "unparsed": (
            "clang dropped the whole kernel, or no configuration that was tried switches it on (text "
            "for HIP or behind `#if 0` is not meant)"
        ),
        "not-called": (
            "a function for the device (not a kernel) declares shared memory and hands it to others, "
            "no kernel of its file calls it, and no file of the run was seen to get there"
        ),
        "run-time-text": (
            'the kernel is a string in the program (`R"(... __global__ ...)"`), which is compiled as it runs'
        ),
    },
    "What an exact number takes for granted": {
        "interior-block": (
            "a comparison of an index of the block and a size (`i < n`) goes as in a block in the "
            "middle of the grid"
        ),
        "large-size": (
            "a comparison of a size alone (`threadIdx.x < n`) goes as for a size larger than the block"
        ),
        "block-shape": "the block shape: no launch tells it",
        "no-arguments": (
            "that `main` is run without arguments: with others it may be another number, or another block"
        ),
        "type-size": (
            "that a number whose type no file declares (a library's `real_type<T>`) has 4 or 8 bytes:"
            " both give the same. Where they do not, a range holds both; a class that is only copied "
            "has no size"
        ),
        "whole-warps": (
            "that the block has whole warps: a launch leaves its number of threads open, and "
            "whichever it is gives the same ways (`any_block`)"
        ),
        "instance": "the template arguments, or that a pointer leads to this kernel: no launch tells",
        "loop-as-written": (
            "lanes leave a loop one after the other, and nvcc's copies of it are not modelled: it is "
            "too long, or lanes meet in it (a shuffle, a barrier)"
        ),
    },
}
"""Heading of the table -> name -> meaning."""


def names() -> set[str]:
    return {name for table in REASONS.values() for name in table}


def explained(name: str) -> str | None:
    """The reason of that name in Markdown, None where there is none."""
    meanings = [f"{head}: {table[name]}.\n" for head, table in REASONS.items() if name in table]
    if not meanings:
        return None
    helps = HELP.get(name, "")
    text = f"# {name}\n\n" + "\n".join(meanings)
    return text + (f"\n## What helps\n\n{helps}.\n" if helps else "")
