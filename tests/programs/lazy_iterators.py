"""Iterators over what carries no derivative, which read something else when they run than where they stand."""

import numpy as np

from tests.programs.corpus import program

X = np.array([0.53, 2.1, 1.2])


@program(X, engine="tape")
def a_name_that_is_another_later(x):
    k = 1
    places = (j * k for j in range(2))
    k = 2
    return x[sum(places)] ** 2


@program(X, engine="tape")
def a_list_that_grows_later(x):
    places = [0, 1]
    held = (i for i in places)
    places.append(2)
    return sum(x[i] ** 2 for i in held)


@program(X, engine="tape")
def a_list_that_grows_under_a_map(x):
    places = [0, 1]
    held = map(int, places)
    both = zip(places, places)
    places.append(2)
    return sum(x[i] ** 2 for i in held) * sum(x[i] * x[j] for i, j in both)


@program(X, engine="tape")
def an_array_that_is_written_later(x):
    w = np.ones(3)
    held = (w[j] for j in range(2))
    w[1] = 5.0
    return x[0] ** 2 * sum(held)


@program(X, engine="tape")
def beside_another_in_a_loop_that_changes_it(x):
    w, s = 2.0, 0.0
    for q, v in zip((w * j for j in range(3)), x, strict=True):
        s = s + q * v
        w = w + 1
    return s


@program(X, engine="tape")
def conditions_that_the_loop_changes(x):
    done = np.zeros(3, bool)
    n, s = 3, 0.0
    for i in (j for j in (0, 1, 1, 2, 0) if not done[j] and j < n):
        done[i] = True
        s = s + x[i] ** 2
        n = n - 1
    return s


@program(X, engine="tape")
def extremes_that_the_loop_changes(x):
    y, s = x * 1.0, 0.0
    for i in (min(range(3), key=lambda j: y[j]) for _ in range(3)):
        s = s + x[i] * 2
        y = -y
    return s


@program(X, engine="compiled", smooth=True)
def what_a_chained_target_leaves(x):
    i, j = [*k] = (v for v in range(2))
    return x[i] * x[j] * (len(k) + 1) + x[2]


@program(X, engine="compiled", smooth=True)
def used_up_where_they_stand(x):
    places = []
    for i in range(3):
        places.append(i)
    n = 2
    n = n + 1
    s = 0.0
    for _, (i, j) in enumerate(zip(places, places, strict=True)):
        s = s + x[i] * j
    for i, v in zip(reversed(places), x):
        s = s + i * v
    s = s + sum(x[i] * j for i in range(n) for j in range(n))
    return s * (2.0 if any(i > n for i in range(5)) else 1.0) * sum(x[i] for i in reversed(places))


@program(X, engine="tape")
def the_extreme_of_nothing(x):
    return max([], key=lambda j: x[j], default=x[1] * 2) * x[0]


@program(X, engine=None)
def the_extreme_of_nothing_by_words(x):
    places = max([j for j in range(3) if x[j] > 100], default=x[1] * 2)
    return places * max([], **{"default": x[0]})


@program(X, engine=None)
def many_turns(x):
    d = {i: x[i % 3] * i for i in range(10)}
    some = {i: x[i % 3] for i in range(40) if i > 37}
    return sum(d.values()) * sum(some.values()) * len(d)


@program(X, engine="compiled", smooth=True)
def names_with_what_is_left(x):
    state = {}
    for name, *pair in (("a", x[0], x[1]), ("b", x[1], x[2])):
        state[name] = pair[0] * pair[1]
    return state["a"] + state["b"] ** 2
