"""Where a function's body stands in the text."""

from __future__ import annotations


def body_range(text: str, name: int) -> tuple[int, int]:
    """(start, end) in bytes of the function whose name stands at byte `name`, from its name to its last
    brace.

    Where preprocessor conditionals may unbalance the braces, and where they do not balance, the end is that
    of the file: too much rather than too little.
    """
    from smemlint.source.blank import blank_literals

    code = blank_literals(text.encode())
    depth, parentheses = 0, 0
    for at in range(name, len(code)):
        character = code[at : at + 1]
        if character == b"(":
            parentheses += 1
        elif character == b")":
            parentheses -= 1
        elif character == b"{" and parentheses == 0:
            depth += 1
        elif character == b"}" and parentheses == 0:
            depth -= 1
            if depth == 0:
                return (name, len(code)) if b"#if" in code[name:at] else (name, at + 1)
        elif character == b";" and depth == 0 and parentheses == 0:
            break
    return name, len(code)
