"""The command line: ``python -m winops``."""

import sys

from winops._tools.command_line import main

if __name__ == "__main__":
    sys.exit(main())
