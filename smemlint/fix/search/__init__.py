"""The layouts that cost an array less: candidates, their wavefronts over all accesses, and whether they pay.

In: analyses of kernels, and what the text says of the array; out: layouts, best first, with their numbers.
Nothing here writes an edit.
"""
