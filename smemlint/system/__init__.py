"""The machine that smemlint runs on: files, streams, signals, processes, folders, computing time.

Keeps a run safe from what it reads. Knows nothing of CUDA; imported by every stage.
"""
