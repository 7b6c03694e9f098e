"""Loops that the compiler takes: over ranges, pairs, rows, lists; nested, empty, with carried values."""

import numpy as np

from tests.programs.corpus import program

X = np.array([0.5, -1.5, 2.0])
M = np.arange(1.0, 7.0).reshape(3, 2) / 5


@program(0.9, 5, engine="compiled", smooth=True)
def power_by_loop(x, n):
    y = 1.0
    for _ in range(n):
        y = y * x
    return y


@program(X, engine="compiled", smooth=True)
def carried_array(x):
    for _ in range(4):
        x = x + 0.1 * np.sin(x)
    return np.sum(x)


@program(X, 0, engine="compiled")
def no_iteration(x, n):
    y = x * 2
    for _ in range(n):
        y = y * x
    return np.sum(y)


@program(X, 0, engine="compiled")
def no_iteration_and_nothing_else(x, n):
    s = 0.0
    for i in range(n):
        s = s + x[i]
    return s


@program(X, engine="compiled", smooth=True)
def number_becomes_array(x):
    s = 0.0
    for k in range(1, 4):
        s = s + x**k
    return np.sum(s * s)


@program(X, engine="compiled")
def integer_becomes_float(x):
    s = 0
    for i in range(len(x)):
        s = s + x[i] * i
    return s


@program(X, engine="compiled", smooth=True)
def shape_grows(x):
    y = x
    for k in range(3):
        y = np.concatenate([y, y[:1] * x[k]])
    return np.sum(y**2)


@program(0.4, engine="compiled")
def augmented_in_loop(x):
    s = 0.0
    for k in range(1, 5):
        s += x**k / k
        s *= 0.9
    return s


@program(X, engine="compiled")
def backwards(x):
    s = 0.0
    for i in range(len(x) - 1, -1, -1):
        s = s * x[i] + x[i]
    return s


@program(X, engine="compiled")
def enumerated(x):
    s = 0.0
    for i, w in enumerate([1.0, 2.0, 3.0]):
        s = s + w * x[i] ** 2
    return s


@program(X, engine="compiled")
def zipped(x):
    s = x[0]
    for a, (b, c) in zip([1.0, 2.0], [(3, 4.0), (5, 6.0)]):
        s = np.sin(s) * a + b * x[1] - c * x[2]
    return s


@program(M, engine="compiled", smooth=True)
def over_rows(m):
    s = 0.0
    for row in m:
        s = s + np.sum(row) ** 2 + row[0] * s
    return s


@program(X, engine="compiled")
def over_entries(x):
    p = 1.0
    for v in x:
        p = p * (1 + v)
    return p


@program(M, engine="compiled")
def over_enumerated_rows(m):
    s = 0.0
    for i, row in enumerate(m):
        s = s + i * np.prod(row)
    return s


@program(M, X, engine="compiled", argnums=(0, 1))
def over_two_arrays(m, x):
    s = 0.0
    for row, v in zip(m, x):
        s = s + v * np.sum(row * row)
    return s


@program(M, engine="compiled", smooth=True)
def nested(m):
    s = 0.0
    for i in range(m.shape[0]):
        t = 0.0
        for j in range(m.shape[1]):
            t = t * m[i, j] + m[i, j] ** 2
        s = s + t * t
    return s


@program(M, engine="compiled")
def triangle(m):
    s = 0.0
    for i in range(3):
        for j in range(i):
            s = s + m[i, 0] * m[j, 1]
    return s


@program(X, engine="compiled")
def branch_in_loop(x):
    s = 0.0
    for i in range(3):
        if x[i] > 0:
            s = s + x[i] ** 2
        elif i == 1:
            s = s * x[i]
        else:
            s = s - x[i]
    return s


@program(X, engine="compiled")
def loop_in_branch(x):
    if x[0] > 0:
        y = x
        for k in range(3):
            y = y * np.cos(y + k)
    else:
        y = x * 2
    return np.sum(y)


@program(X, engine="compiled")
def deep_nest(x):
    s = x[0]
    for i in range(2):
        if i == 0:
            for j in range(3):
                if j > 0:
                    s = s * x[1] + j
                else:
                    s = s + x[2]
        else:
            s = np.tanh(s)
    return s


@program(X, engine="compiled")
def overwritten_each_time(x):
    y = 0.0
    for i in range(3):
        y = x[i] * i
    return y * y


@program(X, engine="compiled")
def loop_variable_after_the_loop(x):
    s = 0.0
    for i in range(3):
        last = x[i] ** 2
        s = s + last
    return s * last + x[i]


@program(X, engine="compiled")
def loop_variable_assigned(x):
    s = 0.0
    for i in range(3):
        v = x[i]
        i = i * 2
        s = s + v * i
    return s


@program(1.1, 0.3, engine="compiled", argnums=(0, 1))
def two_carried_values_swapped(a, b):
    for _ in range(5):
        a, b = b, a * b + 0.5
    return a * b


@program(0.5, 1.5, engine="compiled", argnums=(0, 1))
def lag(x, y):
    previous = y
    total = 0.0
    for _ in range(4):
        total = total + previous * x
        previous = x
        x = x * y
    return total


@program(X, engine="compiled")
def iterator_changes_its_source(x):
    s = 0.0
    for v in x:
        x = x * 2
        s = s + v * np.sum(x)
    return s


@program(M, engine="compiled")
def iterable_computed(m):
    s = 0.0
    for row in m.T * 2:
        s = s + np.sum(row[::-1] * row)
    return s


@program([X, X * 2, 0.5], engine="compiled")
def over_a_list_argument(items):
    s = 0.0
    for item in items:
        s = s + np.sum(item * item)
    return s


@program([(M, X[:2]), (M.T, X)], np.ones(3), engine="compiled")
def layers(params, x):
    h = x
    for W, b in params[:-1]:
        h = np.tanh(h @ W + b)
    W, b = params[-1]
    return np.sum((h @ W + b) ** 2)


@program(X, engine="compiled")
def over_a_built_tuple(x):
    s = 1.0
    for part in (x, x * x, np.exp(x)):
        s = s * np.sum(part)
    return s


@program(X, engine="compiled")
def for_else(x):
    s = 0.0
    for v in range(2):
        s = s + x[v]
    else:
        s = s * x[2]
    return s


@program(0.3, engine="compiled", smooth=True)
def many_iterations(x):
    for _ in range(200):
        x = 0.99 * x + 0.01 * np.cos(x)
    return x


@program(X, 3, engine="compiled")
def trip_count_computed(x, n):
    steps = n * 2 - 1
    y = x
    for i in range(0, steps, 2):
        y = y * x[i // 2]
    return np.sum(y)


@program(X, engine="compiled")
def active_and_inactive_carried(x):
    k = 1
    s = 0.0
    for i in range(3):
        k = k * 2 + i
        s = s + k * x[i] ** 2
    return s


@program(np.array([0.1, 0.2]), engine="compiled", smooth=True)
def runge_kutta(y):
    def slope(y):
        return np.stack([y[1], -np.sin(y[0])])

    h = 0.1
    for _ in range(5):
        k1 = slope(y)
        k2 = slope(y + h / 2 * k1)
        k3 = slope(y + h / 2 * k2)
        k4 = slope(y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y[0] ** 2 + y[1]


def halved_twice(a, b):
    a, b = a / 2, b / 2
    return a + b


@program(np.array([0.5, 1.5, 2.0]), engine="compiled", smooth=True)
def helper_of_what_is_filled(x):
    """What the helper is given carries a derivative from the second turn on only."""
    r = np.ones((3, 3))
    r[0, 0] = 0
    for i in range(1, 3):
        for j in range(1, 3):
            r[i, j] = x[i] * halved_twice(r[i - 1, j], r[i, j - 1])
    return r[2, 2] * r[1, 2]


@program(np.array([0.5, 1.5, 2.0]), engine="compiled", smooth=True)
def helper_of_what_is_summed(x):
    s = 0.0
    for i in range(3):
        s = halved_twice(s, 1.0) * x[i]
        s = s * s + x[i]
    return s


@program(np.array([0.5, 1.5, 2.0]), engine="compiled", smooth=True)
def array_of_a_name_that_is_bound_anew(x):
    """Before the loop `d` is an array, in it a number: nothing is handed on."""
    d = np.zeros(3)
    s = np.sum(d)
    for i in range(2):
        d = x[i] - x[i + 1]
        s += d * d
    return s


@program(np.array([0.4, -1.2]), [2, 0, 3], engine="tape")
def last_value_of_an_earlier_turn(x, counts):
    s = 0.0
    for n in counts:
        for j in range(n):
            u = x * j
        s += np.sum(u * x)
    return s


@program(np.array([0.4, -1.2]), 2, engine="tape")
def last_value_of_an_earlier_turn_two_loops_down(x, n):
    s = 0.0
    for i in range(3):
        for j in range(2):
            for k in range(n - i - j):
                u = x * (k + i + j)
        s += np.sum(u * x)
    return s


@program(np.array([0.4, -1.2]), 2, engine="tape")
def last_value_before_a_break_in_an_earlier_turn(x, n):
    s = 0.0
    for i in range(3):
        for j in range(3):
            if j >= n - i:
                break
            u = x * (i + 1)
        s += np.sum(u * x)
    return s


@program(np.array([0.4, -1.2]), engine="compiled")
def last_value_of_loops_that_run(x):
    s = 0.0
    for i in range(3):
        for j in range(2):
            u = x * (i + j)
        for j in range(len(x)):
            v = x[j] * u
        for w in x:
            v = v + w
        s += np.sum(v * u)
    return s


@program(np.array([[0.5, 1.5], [0.2, 0.7], [1.1, 0.3]]), engine="compiled", smooth=True)
def what_turns_give_is_known_where_there_are_some(a):
    total = 0
    for row in a:
        total += np.sum(row * row)
    u = np.full(3, total)
    u[0] = a[0, 1]
    last = None
    for i in range(2):
        last = i if i == 0 else a[i, 0] * total
        if last is not None and i > 0:
            break
    return np.sum(u) * last


@program(np.array([0.5, 1.5]), 0, engine="compiled")
def what_turns_give_is_open_where_there_may_be_none(x, n):
    total = 1
    for i in range(n):
        total = total * x[i]
    u = x * total
    u[0] = x[1]
    return np.sum(u) * total
