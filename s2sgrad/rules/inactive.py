"""Callables that no derivative flows through: questions, comparisons, indices, steps, allocations.

Either the derivative is zero almost everywhere, or the result is no number to differentiate.
Conversions to a plain `float` or `int` are not among them: the number would flow on.
"""

import builtins
import cmath
import math
import operator

import numpy as np

from s2sgrad.rules.table import inactive
from s2sgrad.runtime import arrays

# comparisons and logic
inactive(np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal)
inactive(np.logical_and, np.logical_or, np.logical_xor, np.logical_not)
inactive(np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert, np.left_shift, np.right_shift)
inactive(np.isnan, np.isinf, np.isfinite, np.isneginf, np.isposinf, np.signbit)
inactive(np.isclose, np.allclose, np.array_equal, np.array_equiv, np.isin)
inactive(np.iscomplexobj, np.isrealobj, np.iscomplex, np.isreal, np.isscalar, np.any, np.all)
inactive(operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)
inactive(operator.is_, operator.is_not, operator.not_, operator.truth, operator.contains)
inactive(operator.and_, operator.or_, operator.xor, operator.invert, operator.lshift, operator.rshift)

# steps
inactive(np.floor, np.ceil, np.rint, np.round, np.around, np.trunc, np.fix, np.floor_divide)
inactive(operator.floordiv, builtins.round, math.floor, math.ceil, math.trunc)

# indices and counts
inactive(np.argmax, np.argmin, np.nanargmax, np.nanargmin, np.argsort, np.argpartition, np.lexsort)
inactive(np.nonzero, np.flatnonzero, np.argwhere, np.count_nonzero, np.searchsorted, np.digitize)
inactive(np.tril_indices, np.triu_indices, np.diag_indices, np.unravel_index, np.ravel_multi_index, np.indices)

# shapes and types
inactive(np.shape, np.ndim, np.size, np.result_type, np.can_cast, np.promote_types, np.issubdtype)
inactive(np.dtype, np.finfo, np.iinfo, np.may_share_memory, np.shares_memory, np.broadcast_shapes)

# allocations: their contents do not depend on the array they are shaped like
inactive(np.zeros_like, np.ones_like, np.empty_like, np.zeros, np.ones, np.empty, np.eye, np.identity, np.tri)
inactive(np.ndarray)

# plain Python
inactive(builtins.print, builtins.len, builtins.isinstance, builtins.issubclass, builtins.type, builtins.id)
inactive(builtins.repr, builtins.str, builtins.format, builtins.hash, builtins.bool, builtins.callable)
inactive(builtins.hasattr, builtins.any, builtins.all, builtins.range)
inactive(math.isnan, math.isinf, math.isfinite, math.isclose)
inactive(cmath.isnan, cmath.isinf, cmath.isfinite, cmath.isclose)

# the house's own questions
inactive(arrays.zeros_of, arrays.selects_once, arrays.is_differentiable, arrays.is_promotable, arrays.indices_like)
inactive(arrays.is_same)
