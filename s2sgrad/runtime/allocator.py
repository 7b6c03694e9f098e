"""Memory that a derivative frees stays with the process, and the next call takes it from there.

What a loop saves for its backward pass is much memory in small pieces. When the pass is over, the C library hands it
back to the operating system, and the next call waits for each page of it again, longer than it takes to compute what
is in it. glibc keeps what is freed (``M_TRIM_THRESHOLD``), and takes larger blocks from there (``M_MMAP_THRESHOLD``),
as soon as it has seen a large block freed: so it is shown one, the largest that it learns from. Afterwards it keeps up
to 64 MB. Where the environment sets its parameters, and with other C libraries, nothing changes.
"""

import functools

import numpy as np

LARGEST = (32 << 20) - (64 << 10)  # with its header and whole pages it is below 32 MB


@functools.cache
def keep_freed_memory() -> None:
    """Let the allocator keep what is freed. The block is never touched: this takes some microseconds, once."""
    np.empty(LARGEST, np.uint8)
