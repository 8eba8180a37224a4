"""Which lanes are where: masks, join points, choices of a launch, and what loops carry."""
