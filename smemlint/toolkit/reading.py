"""Methods of the C++ library's objects that leave them as they are."""

READING = frozenset((
    "at", "back", "begin", "capacity", "cbegin", "cend", "contains", "count", "crbegin", "crend", "data",
    "empty", "end", "find", "front", "get", "has_value", "length", "load", "lower_bound", "max_size",
    "operator*", "operator->", "operator[]", "rbegin", "rend", "size", "upper_bound", "value",
))  # fmt: skip
