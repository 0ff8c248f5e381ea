"""The parts of the flights example: data, streams, expected output, report."""
