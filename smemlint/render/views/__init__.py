"""How answers about one access, or one kernel, are said: bank maps, memory maps, sweeps, derivations.

In: what `view/` makes. Out: text, SVG or JSON. The formats of findings, one room up, may draw with it.
"""
