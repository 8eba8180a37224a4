"""Launches in the text: what stands between `<<<` and `>>>`, whether all are known, how their bytes grow.

In: tokens and launches with their places; out: edits of the bytes, or why there are none.
"""
