"""What does each site cost?

In: a Trace. Out: a Conflict: wavefronts, ideal, ways, the worst request and why.
May import evaluate's data and banks; never clang, never the renderers.
"""
