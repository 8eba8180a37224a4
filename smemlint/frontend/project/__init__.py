"""How a file is to be parsed: options, compile database, includes."""
