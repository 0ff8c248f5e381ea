"""Common parts of the examples: a session, files that become a stream, and the comparison."""
