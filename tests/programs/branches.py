"""Branches: taken, not taken, nested, on values and on types."""

import numpy as np

from tests.programs.corpus import program

X = np.array([0.5, -1.5, 2.0])


@program(1.2, engine="compiled", smooth=True)
def then(x):
    if x > 1:
        y = x * x
    else:
        y = np.sin(x)
    return y * x


@program(0.2, engine="compiled", smooth=True)
def otherwise(x):
    if x > 1:
        y = x * x
    else:
        y = np.sin(x)
    return y * x


@program(0.2, engine="compiled")
def no_else(x):
    y = x
    if x > 0:
        y = y * 3
    if x > 100:
        y = y * y
    return y


@program(X, engine="compiled")
def middle_of_three(x):
    s = np.sum(x)
    if s > 5:
        y = x
    elif s > 0.5:
        y = x**2
    elif s > 0.1:
        y = x**3
    else:
        y = x**4
    return np.sum(y)


@program(X, engine="compiled")
def nested(x):
    if x[0] > 0:
        a = x * 2
        if x[1] > 0:
            a = a + x
        else:
            if x[2] > 1:
                a = a * x
            a = a - 1
    else:
        a = x
    return np.sum(a * a)


@program(X, "square", engine="compiled")
def on_a_string(x, kind):
    if kind == "square":
        return np.sum(x * x)
    return np.sum(x)


@program(X, None, engine="compiled")
def on_none(x, weights):
    if weights is None:
        weights = np.ones_like(x) * 2
    return np.sum(weights * x * x)


@program(X, engine="compiled")
def on_type_and_shape(x):
    if isinstance(x, np.ndarray) and x.ndim == 1 and len(x) == 3:
        return x @ x
    return np.sum(x)


@program(X, engine="compiled")
def early_return(x):
    y = np.sum(x)
    if y > 0:
        return y * y
    y = y * 3
    return y


@program(X, engine="compiled")
def every_branch_returns(x):
    if x[0] > 1:
        return x[0]
    elif x[0] > 0:
        z = x[0] * x[1]
        return z * x[2]
    else:
        return x[2]


@program(1.5, 0.5, engine="compiled", argnums=(0, 1))
def names_of_one_branch_only(x, y):
    if x > y:
        only = x * y
        result = only * x
    else:
        result = y
    return result


@program(1.5, engine="compiled")
def value_overwritten_in_branch(x):
    y = x * x
    if x > 1:
        y = 7.0
    return y * x


@program(0.5, engine="compiled")
def value_not_overwritten(x):
    y = x * x
    if x > 1:
        y = 7.0
    return y * x


@program(1.5, engine="compiled")
def inactive_becomes_active(x):
    y = 2.0
    if x > 1:
        y = x * y
    return y * y


@program(0.5, engine="compiled")
def inactive_stays_inactive(x):
    y = 2.0
    if x > 1:
        y = x * y
    return y * y + x


@program(1.5, engine="compiled")
def one_name_two_kinds(x):
    if x > 1:
        y = np.array([x, 2 * x])
    else:
        y = x
    return np.sum(y * x)


@program(0.8, engine="compiled", smooth=True)
def chained_comparison(x):
    if 0 < x < 1 and not x == 0.5 or x > 10:
        return x**3
    return -x


@program(X, engine="compiled")
def test_with_a_computed_name(x):
    m = np.max(x)
    big = m > 1
    if big:
        return m * x[0]
    return m


@program(X, engine="compiled")
def branch_on_an_array(x):
    if np.any(x < 0) and (x < 5).all():
        return np.sum(np.abs(x))
    return np.sum(x)


@program(0.7, 0.2, engine="compiled", argnums=(0, 1))
def choice_of_names(x, y):
    big, small = (x, y) if x > y else (y, x)
    return big**2 - small * big


@program(0.7, engine="compiled")
def nested_conditional_expressions(x):
    return x if x > 1 else x * x if x > 0.5 else x**3


@program(1.7, engine="compiled")
def short_circuit_value(x):
    y = x > 1 and 3.0 or 5.0
    return x * y


@program(np.array([2.0, 3.0]), 1.0, engine="compiled", argnums=(0, 1))
def branch_does_not_use_argument(x, y):
    if x[0] > 100:
        return np.sum(x) * y
    return np.sum(x**2)


@program(0.5, engine="compiled")
def branch_with_raise(x):
    if x < 0:
        raise ValueError("negative")
    return np.sqrt(x)


@program(0.5, engine="compiled", smooth=True)
def and_within_or(x):
    return (x and x * x) or 1.0


@program(0.5, engine="compiled")
def or_of_three(x):
    return (x * 0 or np.sin(x) or x**3) * x


@program(0.7, engine="compiled")
def comparison_and_value(x):
    return (x > 0 and x * x) + (x < 0 and x) + (x < 0 and x or -x)


@program(X, engine="compiled")
def and_or_in_a_loop(x):
    total = 0.0
    for v in x:
        total = total + (v > 1 and v * v or v)
    return total


@program([0.5], engine="tape")
def and_of_a_list(xs):
    return (xs and xs[0]) * 2


@program(np.array([0.5, 1.5, 0.2]), 0.4, engine="compiled", argnums=(0, 1))
def old_conditional_expressions(x, k):
    y = x * 1.0
    y[0] *= k > 0.3 and np.sum(x) or 0.9
    y[1] = (k == 1 and x[2]) or x[1] or 2.0
    s = np.asarray((1.7 < k and k) or k * 3.0)
    s.fill((k < 0.3 or x[0] > 0.1) and y[0] or y[1])
    np.putmask(y, y > 0.4, (k == 1 and x[2] or x[1]))
    return np.sum(y) * s


@program(X, engine="compiled", smooth=True)
def lengths_of_what_a_branch_has_reshaped(x):
    if x.ndim == 1:
        x = x[None]
    n, d = x.shape
    y = x[:, None] if d > 2 else x
    k, *_ = y.shape
    return np.sum(x * x) * n * d + np.sum(y) * k
