"""Derivatives of the house's own array helpers (``runtime/arrays.py``), so that derivatives of derivatives pass."""

import numpy as np

from s2sgrad.rules.table import elementwise, inactive, jvp, linear, vjp
from s2sgrad.runtime.arrays import (
    as_gradient,
    embed,
    embed_diagonal,
    embed_item,
    filled,
    from_items,
    from_rows,
    gather_adjoint,
    hit_count,
    is_less,
    over,
    part,
    part_where,
    part_where_not,
    reached,
    rows_of,
    scalar_seed,
    shared_out,
    slots_of,
    stays,
    times,
    tree_add,
    unbroadcast,
    where_less,
    widened,
    zeros_of,
)

# zero where either the cotangent or what it meets is: the promise holds for second derivatives too
elementwise(over, lambda t, g, d: over(t, d), lambda t, g, d, out: -over(np.where(g == 0, 0.0, times(t, out))[()], d))
elementwise(times, lambda t, g, p: times(t, p), lambda t, g, p: times(t, g))

elementwise(where_less, lambda t, g, x, y: where_less(t, x, y), None, None)
elementwise(part_where, lambda t, g, less: part_where(t, less), None)
elementwise(part_where_not, lambda t, g, less: part_where_not(t, less), None)

linear(unbroadcast, lambda t, g, x: unbroadcast(t, g))
linear(widened, lambda t, x, like: t)
linear(embed, lambda t, g, x, index: unbroadcast(t[index], g))
linear(
    embed_diagonal,
    lambda t, g, x, offset=0, axis1=0, axis2=1: unbroadcast(np.diagonal(t, offset, axis1, axis2), g),
)
linear(gather_adjoint, lambda t, g, x, source: unbroadcast(np.reshape(np.ravel(t)[np.ravel(source)], np.shape(g)), g))
linear(filled, lambda t, g, out: t)
linear(as_gradient, lambda t, d, x, owned=False: as_gradient(t, d))

vjp(from_rows, rows=lambda t, out, rows, x: [None if r is None else unbroadcast(t[i], r) for i, r in enumerate(rows)])
jvp(from_rows, rows=lambda t, out, rows, x: from_rows(t, x))
vjp(part, g=lambda t, out, g, i: [t if k == i else None for k in range(len(g))])
jvp(part, g=lambda t, out, g, i: part(t, i))
vjp(tree_add, a=lambda t, out, a, b: as_gradient(t, a), b=lambda t, out, a, b: as_gradient(t, b))
jvp(tree_add, a=lambda t, out, a, b: t, b=lambda t, out, a, b: t)

linear(embed_item, lambda t, g, x, index: as_gradient(t[index], g))
linear(rows_of, lambda t, g: from_rows(t, g))
linear(shared_out, lambda t, g, items: sum((d for d in t if d is not None), zeros_of(g)))
linear(from_items, lambda t, items, x, at_end=False: list(t[len(t) - len(items) :] if at_end else t[: len(items)]))
inactive(scalar_seed, slots_of, is_less, reached, hit_count, stays)
