"""What is found of code before it runs, once for all launches.

What an address depends on, what is pure, what can be moved, which line an access is counted on.
"""
