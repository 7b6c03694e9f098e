"""Orders and extremes by a key: what is chosen, by values that carry a derivative, carries none itself."""

import numpy as np

from tests.programs.corpus import program

X = np.array([0.5, 2.0, 1.2])


@program(X, engine="compiled", smooth=True)
def sorted_positions(x):
    s = 0.0
    for rank, i in enumerate(sorted(range(len(x)), key=lambda i: x[i])):
        s += rank * x[i] ** 2
    return s


@program(X, engine="compiled", smooth=True)
def sorted_positions_from_the_largest(x):
    order = sorted(range(len(x)), key=x.__getitem__, reverse=True)
    s = 0.0
    for rank, i in enumerate(order):
        s += rank * x[i] ** 2
    return s


@program(X, engine="compiled", smooth=True)
def nearest(x):
    best = min(range(3), key=lambda i: (x[i] - 1.0) ** 2)
    return x[best] ** 3


def distance(i, x):
    return (x[i] - 1.0) ** 2


@program(X, engine="compiled", smooth=True)
def furthest_by_a_helper(x):
    best = max(range(3), key=lambda i: distance(i, x))
    return x[best] ** 3


@program(X, engine="compiled", smooth=True)
def smallest_of_what_is_written_meanwhile(x):
    y = x * 1.0
    s = 0.0
    for k in range(4):
        i = min(range(3), key=lambda j: y[j])
        y[i] = y[i] * 3.0
        s += y[i] * k
    return s


@program(X, engine="compiled", smooth=True)
def names_in_the_order_of_values(x):
    places = {"a": 1, "b": 0, "c": 2}
    order = sorted(places, key=lambda name: x[places[name]])
    return x[places[order[0]]] * 2 + x[places[order[2]]] ** 2


@program(np.array([[0.1, 2.0, 1.0], [3.0, 0.5, 0.2], [1.0, 1.0, 4.0]]), engine="compiled", smooth=True)
def pivots(a):
    a = a.copy()
    n = len(a)
    product = 1.0
    for k in range(n):
        p = max(range(k, n), key=lambda i: abs(a[i, k]))
        if p != k:
            a[[k, p]] = a[[p, k]]
            product = -product
        product = product * a[k, k]
        for i in range(k + 1, n):
            a[i, k:] -= a[i, k] / a[k, k] * a[k, k:]
    return product


LOOKED_AT: list = []


def looked_at(i):
    LOOKED_AT.append(i)
    return i


@program(X, engine="tape")
def a_key_that_changes_something(x):
    LOOKED_AT.clear()
    best = max(range(3), key=lambda i: looked_at(i) * x[i])
    return x[best] * len(LOOKED_AT)


def doubled(y, i):
    y[i] = y[i] * 2.0
    return y[i]


@program(X, engine=None)
def a_key_that_writes(x):
    y = x * 1.0
    best = max(range(3), key=lambda i: doubled(y, i))
    return y[best] * y[0]


@program(X, engine="compiled", smooth=True)
def pairs_of_positions(x):
    s = 0.0
    for i, j in np.ndindex(3, 3):
        s += (i + 1) * x[i] * x[j]
    for i, j in np.ndindex((2, 3)):
        s += x[i] * x[j] ** 2
    return s


TABLE = np.array([[1.0, 2.0, 0.3], [0.5, 1.0, 0.2], [0.1, 0.7, 2.0]])


@program(X, engine="compiled", smooth=True)
def entries_of_a_table(x):
    s = 0.0
    for (i, j), v in np.ndenumerate(TABLE):
        s += v * x[i] * x[j]
    return s
