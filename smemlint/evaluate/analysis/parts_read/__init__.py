"""Which part of what is loaded a thread uses: nvcc loads no more, and joins loads by what they need."""
