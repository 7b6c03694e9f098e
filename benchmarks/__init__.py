"""Time ratios against hand-written adjoints and against other libraries: ``python -m benchmarks``."""
