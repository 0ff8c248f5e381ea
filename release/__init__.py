"""Tools that make and check a release: versions, the Maven bundle, the rehearsal."""
