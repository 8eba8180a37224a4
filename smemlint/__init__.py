"""smemlint: shared-memory bank conflicts of CUDA code, told from the source."""

__version__ = "0.1.0"
