"""The names of the reasons for which an array gets no edit, as users are told them.

docs/fixes.md holds the same table.
"""

from __future__ import annotations

REASONS: dict[str, tuple[str, str]] = {
    "no-better-layout": (
        "no layout that was tried costs less in sum; the best of them is named with its "
        "wavefronts, and the accesses that it makes worse by line. Lanes that update one word "
        "take turns anywhere",
        "let other lanes meet: another distribution of the work, or fewer lanes on one word",
    ),
    "no-room": (
        "a padding would cost less, and a block has no room for it: 48 KiB of shared memory, static and "
        "dynamic, are what it has without asking for more",
        "a smaller tile, or dynamic shared memory with `cudaFuncSetAttribute`",
    ),
    "not-worth-it": (
        "a layout costs less, and saves less than 2 % of the kernel's shared-memory wavefronts, "
        "or about as much as its integer work or the resident blocks that it takes cost; or none costs "
        "less, and all conflicts of the array come to less than 2 %; the finding is a note",
        "nothing; the conflict is cheap",
    ),
    "unresolved-use": (
        "an access of the array is not resolved",
        "`--show-unresolved` tells what is missing",
    ),
    "data-dependent": (
        "an address depends on data",
        "an index that is a function of the thread, or nothing",
    ),
    "run-time-choice": (
        "where an access goes, or what it costs, is one of several answers as run time decides",
        "an assumption, or a template argument for what decides",
    ),
    "run-time-stride": (
        "an address is multiplied by a value that the launch gives",
        "a constant, or an assumption",
    ),
    "escapes": (
        "the address of the array goes where analysis cannot follow: into a call, or to what lays out rows "
        "by itself (a bulk copy, a wgmma descriptor, inline PTX that is not read)",
        "for a bulk copy the swizzle of its tensor map",
    ),
    "passed-on": (
        "the array is used as a pointer, so that not every access can be rewritten, or bound to "
        "a reference to so many elements in a function that others call too",
        "index the array itself",
    ),
    "size-elsewhere": (
        "the size is taken by `sizeof`, or the launch gives it and is not known, or its extent is defined "
        "in a file that was not read, or by the build",
        "a launch whose bytes are constants; `-D NAME=VALUE`",
    ),
    "part-start": (
        "where a part of a pool starts is not a constant of the launch, each thread has its "
        "own, or it is not aligned for its accesses",
        "",
    ),
    "part-overlaps": (
        "an access leaves its part of a pool, or reaches the part in another way (by an address that is an "
        "integer, by a second pointer) and a layout would pay: it is named with its numbers",
        "one pointer for each part",
    ),
    "launch-elsewhere": (
        "the array would need more bytes, and a launch is not in this file, comes from a macro "
        "or gives no bytes",
        "",
    ),
    "launches-differ": (
        "the array would need more bytes, not the same number at every launch or in every run, and no "
        "formula for them is found",
        "a named pitch, in the size too",
    ),
    "struct-layout": (
        "elements are structures that lanes reach member by member; no pitch changes their stride",
        "one array per member",
    ),
    "used-in-macro": (
        "a macro names the array",
        "",
    ),
    "constant-elsewhere": (
        "the row pitch is a named constant that also serves something else than the array",
        "a constant of its own for the pitch",
    ),
    "declared-in-macro": (
        "the declaration, or its extents, come from a macro or a type",
        "",
    ),
    "declared-twice": (
        "the name is declared again in the same scope",
        "",
    ),
    "several-kernels": (
        "the array is declared outside of functions, and no function of that file uses it, or something else "
        "there has its name (a parameter, a local variable, a class)",
        "declare it in the kernel",
    ),
    "other-file": (
        "the array is declared in a file that was not given",
        "",
    ),
    "index-used-elsewhere": (
        "the local variable that holds the rows of every index also serves another purpose",
        "",
    ),
    "pitch-not-found": (
        "the row pitch of a flattened array is not seen in its indices",
        "a named constant for the pitch",
    ),
    "run-time-pitch": (
        "the row pitch of a flattened array that has extents is known at the launch only, or rows are as "
        "wide as a launch says and no padding helps at each width that launches give",
        "a named constant for the pitch",
    ),
    "size-not-rows": (
        "the size of a flattened array is not written as rows of its pitch",
        "a named constant for the pitch",
    ),
    "extent-not-an-expression": (
        "the extent is no C expression",
        "",
    ),
    "side-effect": (
        "an index must not be evaluated twice: it has side effects",
        "a local variable",
    ),
    "nested-use": (
        "an index reads shared memory itself, or the array stands in its own index",
        "a local variable",
    ),
    "no-place-for-helper": (
        "the function around the array is not found in the text (its braces do not match), or is a member",
        "",
    ),
    "out-of-time": (
        "the work set aside for the fixes of a file was used up before a layout was found, or its time was",
        "split the file; `--timeout`",
    ),
    "non-ascii": (
        "the edit would have to move non-ASCII text",
        "",
    ),
    "not-proved": (
        "after the edit some access did not reach the predicted address, because the pitch is also "
        "written somewhere else, or the compiler joined it with other neighbours",
        "",
    ),
}
"""Name -> (what it means, what the author can do, or '')."""


def explained(name: str) -> str | None:
    """The reason of that name in Markdown, None where there is none."""
    if name not in REASONS:
        return None
    meaning, helps = REASONS[name]
    text = f"# {name}\n\nWhy an array that conflicts gets no edit: {meaning}.\n"
    return text + (f"\n## What helps\n\n{helps}.\n" if helps else "")
