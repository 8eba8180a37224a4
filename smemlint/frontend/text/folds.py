"""Fold expressions, which clang's tree does not tell apart from what stands in them."""

from __future__ import annotations

from smemlint.patterns import pattern

_OPERATOR = r"(?:<<=?|>>=?|[<>=!]=|&&|\|\||->\*|\.\*|[-+*/%^&|]=?|[<>=,])"
_BEFORE = pattern(rf"({_OPERATOR})\s*$")
_AFTER = pattern(rf"\s*({_OPERATOR})")


def fold_of(text: str) -> tuple[str, bool] | None:
    """The operator of `(pattern op ...)`, and whether the dots come first; None where it is none."""
    at = text.find("...")
    if at < 0 or not text.startswith("(") or not text.rstrip().endswith(")"):
        return None
    depth = 0
    for i, c in enumerate(text):
        depth += (c in "([{") - (c in ")]}")
        if depth == 0 and i < len(text.rstrip()) - 1:
            return None
        if text.startswith("...", i) and depth == 1:
            before, after = _BEFORE.search(text[1:i]), _AFTER.match(text[i + 3 :])
            if before is None and after is None:
                return None
            found = before or after
            assert found is not None
            return found[1], before is None
    return None
