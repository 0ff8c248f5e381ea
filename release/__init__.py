"""What makes and checks a release: versions, the Maven bundle, the rehearsal."""
