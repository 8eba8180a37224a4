"""The language server: findings, hints, hovers and fixes while a file is typed.

In: buffers of an editor. Out: what the protocol carries. `worker` analyses in a process of its own, `answer`
holds what is known of a buffer, `convert` says it in the protocol's words, `server` listens. Needs pygls.
"""

from __future__ import annotations
