"""The parts of the flights example: data, streams, independent answer, report."""
