"""The text that stands in for the CUDA toolkit and the standard library."""
