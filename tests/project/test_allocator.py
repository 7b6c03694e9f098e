"""What a derivative frees is there for its next call."""

import subprocess
import sys

PAGES = """
import resource
from s2sgrad import grad
from tests.programs.stencils import upwind, wave

derivative, u = grad(upwind, mode="compiled"), wave(1000)
derivative(u, 200)
derivative(u, 200)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(10):
    derivative(u, 200)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def test_no_page_is_asked_for_twice():
    """A call saves 400 arrays of 8 kB, which are 800 pages (where glibc is the C library)."""
    faults = int(subprocess.run([sys.executable, "-c", PAGES], capture_output=True, text=True, check=True).stdout)
    assert faults < 800
