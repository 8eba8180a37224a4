"""From cost to finding: explained, merged over instances and launches, suppressed, selected.

In: KernelAnalysis of one file; then FileReports of all files. Out: FileReport, then Diagnostics. Never
imports clang, the renderers or the command line.
"""
