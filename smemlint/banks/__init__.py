"""What one warp request costs: 32 banks of 4 bytes, as silicon counts it.

In: an operation, a width and byte offsets. Out: wavefronts, ideal, ways. Imports nothing of the project.
"""
