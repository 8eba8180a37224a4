"""C++ as far as addresses need it: names, members, conversions, overloads, inlining."""
