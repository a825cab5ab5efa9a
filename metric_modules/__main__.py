"""`accelerate launch ... -m convergebench.metric_modules DATASET` is `convergebench score` on many processes."""

import sys

from convergebench.cli.__main__ import main

if __name__ == "__main__":
    sys.exit(main(["score", *sys.argv[1:]], prog_name="convergebench"))
