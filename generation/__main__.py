"""`accelerate launch ... -m convergebench.generation --suite ...` is `convergebench generate` on many processes."""

import sys

from convergebench.cli.__main__ import main

if __name__ == "__main__":
    sys.exit(main(["generate", *sys.argv[1:]], prog_name="convergebench"))
