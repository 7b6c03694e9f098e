"""What the derivatives are: the one rule table, a family a file, read by both engines.

Importing this package fills the table; `lookup` asks it.
"""

from s2sgrad.rules import (
    bessel,
    elementwise,
    factorizations,
    fft,
    fitting,
    gaussian,
    helpers,
    inactive,
    indexing,
    linalg,
    methods,
    neural,
    placing,
    products,
    reductions,
    scalar,
    shapes,
    sorting,
    special,
)
from s2sgrad.rules.table import (
    ATTRIBUTES,
    INACTIVE_ATTRIBUTES,
    INACTIVE_METHODS,
    METHODS,
    RULES,
    Method,
    Rule,
    lookup,
)

FAMILIES = (
    *(elementwise, scalar, reductions, shapes, indexing, products),
    *(linalg, fitting, fft, sorting, inactive, methods, helpers, neural, placing),
    *(special, gaussian, bessel, factorizations),
)

__all__ = [
    "ATTRIBUTES",
    "FAMILIES",
    "INACTIVE_ATTRIBUTES",
    "INACTIVE_METHODS",
    "METHODS",
    "RULES",
    "Method",
    "Rule",
    "lookup",
]
