"""Which address has each lane?

In: an ir.Module, a kernel of it and a Launch. Out: a KernelTrace, one Trace per access site.
May import ir only; never clang, never the renderers.
"""
