"""What lies in the objects of an evaluation: bytes, parts of values, pointers to one of several objects."""
