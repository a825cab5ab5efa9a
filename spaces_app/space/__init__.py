"""The Space: tabs, views and endpoints over one dataset."""

import os

# Both are read when numpy and pyarrow are loaded, so they stand before anything else of the Space.
# Matrix products are small here: a second thread of BLAS only waits, which took a tenth of a start.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# The system's allocator gives large blocks back when a picture was read; Arrow's own kept 100 MB of them for later.
os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
