"""The state of one evaluation: lanes, masks, objects, join points and the log of shared accesses."""
