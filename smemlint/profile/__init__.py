"""What a profiler measured, beside what was predicted: reading its exports, joining them with the accesses.

In: files that Nsight Compute exports, and kernels with their accesses. Out: plain records of each measured
line with its verdict. Prints nothing and analyses no source.
"""

from __future__ import annotations
