"""Loops: how often they run, iteration by iteration, and what each one leaves to the next."""
