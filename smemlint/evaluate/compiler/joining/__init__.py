"""Which neighbouring accesses nvcc makes one of, which it drops, and what it knows of their addresses."""
