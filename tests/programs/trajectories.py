"""Arrays that a loop fills: what was read of them is, or is not, written over later."""

import numpy as np

from tests.programs.corpus import program

X = np.linspace(0.3, 1.4, 15).reshape(5, 3)
V = np.linspace(0.2, 1.1, 6)


@program(V[:3], 5, engine="compiled", smooth=True)
def all_steps_kept(x, n):
    u = np.zeros((n + 1, len(x)))
    u[0] = x
    for t in range(n):
        u[t + 1] = u[t] + 0.1 * np.sin(u[t]) * u[t]
    return np.sum(u * u)


@program(V[:3], 5, engine="compiled", smooth=True)
def steps_of_a_helper(x, n):
    def step(v):
        return v + 0.1 * np.sin(v) * v

    u = np.zeros((n + 1, len(x)))
    u[0] = x
    for t in range(n):
        u[t + 1] = step(u[t])
    return np.sum(u * u)


@program(X, engine="compiled", smooth=True)
def from_the_end(x):
    u = x.copy()
    for t in range(len(x) - 2, -1, -1):
        u[t] += np.cos(u[t + 1]) * u[t + 1]
    return np.sum(u * u)


@program(X, engine="compiled", smooth=True)
def written_over_in_the_next_turn(x):
    u = x.copy()
    for t in range(4):
        u[t + 1] = np.sin(u[t]) * u[t + 1]
        u[t] = 0.5
    return np.sum(u * u)


@program(X, engine="compiled", smooth=True)
def written_over_two_turns_later(x):
    u = x.copy()
    for t in range(2, 5):
        s = np.sin(u[t])
        u[t - 2] = s * u[t - 1] * u[t - 2]
    for t in range(3):
        v = u[t + 2]
        u[t] = v * v * u[t]
    return np.sum(u * u)


@program(X, engine="compiled", smooth=True)
def first_read_is_the_last_row(x):
    u = x.copy()
    s = 0.0
    for t in range(4):
        v = u[t - 1]
        s = s + np.sum(v * v * v)
        u[t + 1] = v * u[t]
    return s + np.sum(u)


@program(X, engine="compiled", smooth=True)
def two_sweeps(x):
    u = x.copy()
    for _ in range(2):
        for t in range(4):
            u[t + 1] = np.sin(u[t]) * u[t + 1]
    return np.sum(u * u)


@program(X, engine="compiled", smooth=True)
def changed_after_the_loop(x):
    u = x.copy()
    for t in range(4):
        u[t + 1] = np.sin(u[t]) * u[t + 1] * u[t]
    s = np.sum(u * u)
    u[2] = 0.0
    return s + np.sum(u)


@program(X, engine="compiled", smooth=True)
def every_other_row(x):
    u = x.copy()
    for t in range(0, 4, 2):
        v = u[t + 1 :]
        u[t] = np.sum(v * v) * u[t]
    return np.sum(u * u)


@program(X, engine="compiled", smooth=True)
def rows_below_the_diagonal(x):
    u = x.copy()
    for k in range(2):
        for i in range(k + 1, 5):
            u[i, k] = u[i, k] / u[k, k]
            u[i, k + 1 :] -= u[i, k] * u[k, k + 1 :] * u[k, k + 1 :]
    return np.sum(u * u)


@program(X, engine="compiled", smooth=True)
def rows_from_the_diagonal_on(x):
    u = x.copy()
    for k in range(2):
        for i in range(k, 5):
            u[i, k + 1 :] -= u[i, k] * u[k, k + 1 :] * u[k, k + 1 :]
    return np.sum(u * u)


@program(X, engine="compiled", smooth=True)
def read_backwards(x):
    u = x.copy()
    for t in range(1, 4):
        v = u[t::-1]
        u[t + 1] = np.sum(v * v, axis=0) * u[t + 1]
        v = u[: t - 1 : -1]
        u[t] = np.sum(v * v * v, axis=0)
    return np.sum(u * u)


@program(X, X + 0.1, engine="compiled", argnums=(0, 1))
def two_tables_exchanged(x, y):
    u, v = x.copy(), y.copy()
    for t in range(4):
        w = u[t]
        v[t + 1] = np.sin(w) * w * v[t]
        u, v = v, u
    return np.sum(u * v)


@program(X, engine="compiled", smooth=True)
def through_a_view(x):
    u = x.copy()
    w = u[1:]
    for t in range(3):
        v = u[t + 1]
        w[t] = np.sin(v) * v
        w[t + 1] = v * w[t + 1]
    return np.sum(u * u)


@program(X, engine="compiled", smooth=True)
def a_number_of_its_own(x):
    u = x.copy()
    for t in range(3):
        k = t + 1
        v = u[k]
        u[k + 1] = v * v * u[t]
        u[k] *= 0.5
    return np.sum(u * u)


@program(V, engine="compiled", smooth=True)
def prefixes(x):
    u = x.copy()
    for i in range(1, len(x)):
        u[i] = u[i] - u[:i] @ u[:i]
    return np.sum(u * u)


@program(V, engine="compiled", smooth=True)
def prefixes_written_over(x):
    u = x.copy()
    for i in range(1, len(x)):
        p = u[:i]
        s = p @ p
        u[: i - 1] = s * u[1:i]
    return np.sum(u * u)


@program(X, engine="compiled", smooth=True)
def columns_beside_the_one_written(x):
    u = x.copy()
    for j in range(1, 3):
        v = u[:, :j]
        u[j:, j] = u[j:, j] * np.sum(v * v)
        v = u[:, j:]
        u[:j, j] = np.sum(v * v * v)
    return np.sum(u * u)


@program(X, engine="compiled", smooth=True)
def numbers_in_step(x):
    u = x.copy()
    for i, j in zip(range(4), reversed(range(4))):  # noqa: B905
        v = u[j]
        u[i] = v * v + u[j + 1]
    return np.sum(u * u)
