"""What host code says without being run: which of it matters to launches, and what it names."""
