"""What the examples share: a session, files that become a stream, and the comparison."""
