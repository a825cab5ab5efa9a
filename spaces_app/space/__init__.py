"""The Space: tabs, views and endpoints over one dataset."""

import os

# Before numpy is loaded: its products of matrices are small here, and a second thread of BLAS waits more than it works,
# a tenth of all that a start takes.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
