"""What can be shown of an access: its requests as maps of the banks, its array in memory, how a number came
about.

In: what evaluation and the bank rule found (`KernelAnalysis`), with the numbers of the trace. Out: plain data
for renderers. Nothing here is printed, drawn or looked up again, and no renderer or rule is imported.
"""

from __future__ import annotations
