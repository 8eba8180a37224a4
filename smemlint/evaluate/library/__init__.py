"""Functions without a body in the project: CUDA, its libraries, the host runtime."""
