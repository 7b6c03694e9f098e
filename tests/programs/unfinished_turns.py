"""Turns of loops that are left in the middle, differentiated twice: what they do not come to has no value in them."""

import numpy as np

from tests.programs.corpus import program

X = np.array([0.3, 0.7, 1.1, 1.4])


@program(X, engine="compiled", smooth=True)
def left_before_anything(x):
    while True:
        if -1.9:
            break
        x = 0.5 / x**2
        x -= 0.5
    return np.sum(x * 0.7)


@program(X, 3, engine="compiled", smooth=True)
@program(X, 0, engine="compiled", smooth=True, name="left_after_a_write-at_once")
def left_after_a_write(x, n):
    i = 0
    while True:
        if i == n:
            break
        x = 0.5 / (x + 1.0) ** 2
        x -= 0.5
        i += 1
    return np.sum(x**3)


@program(X, engine="compiled", smooth=True)
def left_before_parts_are_read(x):
    s = 0.0
    for i in range(4):
        y = np.sin(x) * (s + 1.0)
        if y[0] > 0.9:
            break
        z = y * y
        s = s + z[i] * y[1] + x[i]
    return s


@program(X, engine="compiled", smooth=True)
def left_before_slices_are_read(x):
    s = 0.0
    i = 0
    while True:
        if i == 3:
            break
        y = np.sin(x + s)
        z = y[1:] * y[:-1]
        s = s + np.sum(z * z[::-1])
        i += 1
    return s


@program(X, engine="compiled", smooth=True)
def gone_on_before_a_write(x):
    s = 0.0
    for i in range(3):
        if i == 1:
            continue
        y = np.sin(x + s)
        y[1] = y[0] * y[2]
        y *= x
        s = s + np.sum(y * y)
    return s


@program(X, engine="compiled", smooth=True)
def left_before_a_loop_in_it(x):
    s = np.zeros(4)
    for i in range(3):
        if i == 2:
            break
        y = np.sin(x + s)
        for j in range(4):
            s = s + y[j] * y * x[j]
        s[i] = s[i] * y[i] * y[i]
    return np.sum(s)


@program(X, engine="compiled", smooth=True)
def returned_before_a_loop(x):
    if x[0] < 0.1:
        return np.sum(x)
    y = np.sin(x) * x
    if x[1] > 9:
        return y[0]
    z = np.exp(y) * y
    for k in range(4):
        if z[k] > 1.5:
            return z[k] * y[0]
        z = z * (y[k] + 1.0)
    return np.sum(z)


@program(X, engine="compiled", smooth=True)
def left_before_rows_are_gathered(x):
    rows = []
    for i in range(3):
        if i == 2:
            break
        r = x * x * i + x**3
        a, b = r[:2], r[2:]
        rows.append(a * b + np.dot(r, r) * a)
    return np.sum(rows[0] * rows[1])


@program(X, engine="compiled", smooth=True)
def left_while_in_place(x):
    x = x.copy()
    while True:
        x /= 1.5
        if np.sum(x) < 1:
            break
        t = x * x
        x += t * 0.1
        x[0] = t[1] * t[2]
    return np.sum(x**3)


@program(X, engine="compiled", smooth=True)
def gone_on_with_a_matrix(x):
    m = np.outer(x, x)
    for i in range(4):
        if m[i, i] < 0.1:
            continue
        w = m @ x
        w = w / np.sqrt(w @ w)
        m = m + np.outer(w, w * x)
        m[i] = w * m[i]
    return np.sum(m)


@program(X, engine="compiled", smooth=True)
def bound_again_and_left(x):
    u = x * 2
    for i in range(4):
        if i == 2:
            w = u
            break
        u[0] = x[1] * u[1]
        w = u * u
    u *= 3
    return np.sum(w * u)


@program(X, engine="compiled", smooth=True)
def left_inside_and_outside(x):
    s = np.sum(x)
    for i in range(4):
        y = x * s
        z = np.cos(y)
        for j in range(4):
            if j > i:
                break
            z = np.tanh(y)
            y[j] = z[j] * z[i]
        else:
            y = y * z
        if s > 40:
            break
        z = y**2
        s = s + np.sum(z[: i + 1] * y[i])
    return s


def early_or_late(x, n):
    u = x * 2
    for j in range(n):
        if j == 2:
            return u
        u[0] = x[1] * u[j]
    return u * u


@program(X, 4, engine="tape", smooth=True)
@program(X, 2, engine="tape", smooth=True, name="parts_of_an_early_result-late")
def parts_of_an_early_result(x, n):
    y = early_or_late(x, n)
    s = 0.0
    for i in range(3):
        s += y[i] * y[i + 1] * x[i]
    y[1] *= y[0]
    return s + np.sum(y * y)


def left_before_it_is_changed(x, n):
    u = x * 2
    for _ in range(2):
        a = np.sin(u)
        if n > 5:
            u[:] = a
            return u
    return u


@program(X, 0, engine="tape", smooth=True)
@program(X, 6, engine="tape", smooth=True, name="sum_of_an_early_result-changed")
def sum_of_an_early_result(x, n):
    return np.sum(left_before_it_is_changed(x, n))


def looped_on_one_way(x):
    u = x * 2.0
    for i in range(2):
        if i == 1:
            k = 0
            while k < 3:
                u = np.concatenate((x[1:], np.sin(x)[:1]))
                k += 1
            x[i] = u @ u * 0.3
    return u


@program(X, engine="compiled", smooth=True)
def shapes_of_a_loop_on_one_way(x):
    q = x * 1.1
    return np.sum(looped_on_one_way(q) * q)


@program(X, engine="compiled", smooth=True)
def collected_on_one_way(x):
    for _ in range(1):
        if 0.5:
            return sum([v * x[1] for v in x])
    return 2


def shifted(x):
    return x + 0.2


@program(X, 5, engine="compiled", smooth=True)
@program(X, 0, engine="compiled", smooth=True, name="what_the_turn_before_has_bound-not")
def what_the_turn_before_has_bound(x, n):
    u = x * 2.0
    if n > 2:
        for _ in range(3):
            v = shifted(u)
            u = shifted(u)
        u = np.concatenate((x[1:], v[:1]))
    return np.sum(x * u) + np.sum(u * x)
