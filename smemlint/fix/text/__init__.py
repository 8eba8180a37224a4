"""What the text says of a shared array: declaration, uses, pitch, launches, and the constants behind them.

In: the bytes of a file; out: tokens, declarations, subscripts and named values, each with its place.
Nothing here knows of layouts or costs.
"""
