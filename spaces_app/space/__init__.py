"""The Space: tabs, views and endpoints over one dataset."""

import os

# Both are read when numpy and pyarrow are loaded, so they come before anything else of the Space.
# Matrix products are small here: a second thread of BLAS only waits, which took a tenth of a start.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# The system's allocator frees large blocks once a picture was read; Arrow's own held on to 100 MB of them.
os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
