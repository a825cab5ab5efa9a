"""`python -m convergebench` is the command `convergebench`."""

import sys

from convergebench.cli.__main__ import main

if __name__ == "__main__":
    sys.exit(main(prog_name="convergebench"))
