"""Resident blocks: what more shared memory costs."""

from __future__ import annotations

STATIC_LIMIT = 48 * 1024
"""Bytes of statically declared shared memory that a block may have on every architecture."""
