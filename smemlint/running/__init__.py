"""From a file to its report: the stages in order, launches by launches, and reports that are kept.

In: jobs. Out: file reports. Imported by the interfaces above it; never prints.
"""
