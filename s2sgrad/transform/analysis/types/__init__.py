"""What is known of values before the program runs: the types of arguments, of calls, of joins.

The frontend asks here while it lowers a function: `of` gives the type of an actual argument or of a
captured datum, `infer` the type of a call's result from the types of its operands, `join` what two
branches (or two turns of a loop) have in common. Passes then ask the types whether a conjugate, an
`unbroadcast` or a conversion can be left out. What is claimed is always true of the value at run time;
what is not surely known is left open.

A shape is a tuple of one symbol per axis (see ``axes.py``), or, where the number of axes is not known, a
token: equal tokens, equal shapes. None equals nothing: compare with `same_shape`, ask with `axes_of`.

Beside NumPy's dtype names there are vague ones. `REAL`: no complex numbers in it, nothing else known. ``DOUBLE``: a
Python float on one way and a ``np.float64`` on another; `WHOLE`: the same of integers; `WIDE`: one of these four;
`COMPLEX`: a complex number of Python's or NumPy's; `EITHER`: a float or complex number of Python's; `FLOATING`: in
single or double precision; `INTEGRAL`: small integers or long ones. `WAYS` says what they may be: the type of a result
is what those on all ways have in common. They equal nothing: compare with `same_dtype`.

Examples
--------
>>> import numpy as np
>>> from s2sgrad.transform import ir
>>> x = ir.Value("x", of(np.ones((2, 3))))
>>> infer(np.sin, (x,)) == x.type
True
>>> infer(np.sum, (x,)) == ir.FLOAT64
True
"""

from s2sgrad.transform.analysis.axes import fresh
from s2sgrad.transform.analysis.types import (
    creation,
    drawing,
    elementwise,
    helpers,
    indexing,
    products,
    python,
    reductions,
    shapes,
    tuples,
)
from s2sgrad.transform.analysis.types.calls import OPERATORS, handles, infer
from s2sgrad.transform.analysis.types.drawing import GENERATORS
from s2sgrad.transform.analysis.types.indexing import (
    ELLIPSIS,
    INTEGER,
    NEW,
    axes_consumed,
    entries_of,
    is_single,
    lengths_of,
    slices_of,
)
from s2sgrad.transform.analysis.types.objects import (
    COMPLEX,
    DOUBLE,
    EITHER,
    FLOATING,
    INTEGRAL,
    LONGEST,
    REAL,
    VAGUE,
    WAYS,
    WHOLE,
    WIDE,
    axes_of,
    is_namedtuple,
    join,
    of,
    of_all,
    of_any,
    of_any_layout,
    of_any_length,
    of_each,
    of_last,
    same_dtype,
    same_shape,
    sequence,
    with_names,
)
from s2sgrad.transform.analysis.types.operands import OPEN, constant, length_of, shape_of, type_of
from s2sgrad.transform.analysis.types.promotion import array_like, broadcast, one_array, promote, resolve, strong
from s2sgrad.transform.analysis.types.reductions import averaged, modulus, reduced_axes, reduction
from s2sgrad.transform.analysis.types.shapes import parts_of, permuted
from s2sgrad.transform.analysis.types.tuples import several, stacked

__all__ = [
    "COMPLEX",
    "DOUBLE",
    "EITHER",
    "ELLIPSIS",
    "FLOATING",
    "INTEGRAL",
    "GENERATORS",
    "INTEGER",
    "LONGEST",
    "NEW",
    "OPEN",
    "OPERATORS",
    "REAL",
    "VAGUE",
    "WAYS",
    "WHOLE",
    "WIDE",
    "array_like",
    "averaged",
    "axes_consumed",
    "axes_of",
    "broadcast",
    "constant",
    "creation",
    "drawing",
    "elementwise",
    "entries_of",
    "fresh",
    "handles",
    "helpers",
    "indexing",
    "infer",
    "is_namedtuple",
    "is_single",
    "join",
    "modulus",
    "of",
    "of_all",
    "of_any_layout",
    "of_any",
    "of_any_length",
    "of_each",
    "of_last",
    "one_array",
    "parts_of",
    "permuted",
    "products",
    "promote",
    "python",
    "reduced_axes",
    "reduction",
    "reductions",
    "resolve",
    "same_dtype",
    "same_shape",
    "sequence",
    "several",
    "length_of",
    "lengths_of",
    "shape_of",
    "shapes",
    "slices_of",
    "stacked",
    "strong",
    "tuples",
    "type_of",
    "with_names",
]
