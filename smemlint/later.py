"""Functions whose module is read when they are first called: most files need few of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["later"]


def later(module: str, name: str) -> Callable[..., Any]:
    """The function of that name; who imports it for type checkers alone says what it takes and gives."""
    found: Callable[..., Any] | None = None

    def called(*arguments: Any, **named: Any) -> Any:
        nonlocal found
        if found is None:
            from importlib import import_module

            found = getattr(import_module(module), name)
        return found(*arguments, **named)

    return called
