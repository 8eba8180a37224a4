"""What nvcc does to accesses that the source does not show: joins, unrolls, hoists, sinks.

Rules and measurements: docs/dev/joining.md.
"""
