from __future__ import annotations

from smemlint.rules.base import Rule, Severity


class UnparsedAccess(Rule):
    """The parser dropped text that mentions shared memory.

    ## Why it matters
    A statement that the parser dropped may hold conflicts that nobody sees. It is counted in the last
    line.

    ## Use instead
    Pass the include folders and macros of the build (`-I`, `-D`, `-p compile_commands.json`).

    ## Fix safety
    No fix.

    ## References
    docs/limits.md.
    """

    code, name, severity = "SMEM903", "unparsed", Severity.NOTE
