"""Types under template arguments, and where the members of a record lie."""
