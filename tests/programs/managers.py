"""`with` blocks, of NumPy's, Python's and the user's context managers, left at their end and in the middle."""

import contextlib
import threading
import time

import numpy as np

from tests.programs.corpus import program

X = np.array([0.5, 1.5, 2.0])
LOCK = threading.Lock()


class Timer:
    def __init__(self, name):
        self.name = name
        self.total = 0.0

    def __enter__(self):
        self.start = time.perf_counter()
        return self

    def __exit__(self, *exc):
        self.total += time.perf_counter() - self.start


class Scale:
    """What is within is of another scale, which the manager keeps itself."""

    def __init__(self, k):
        self.k = k

    def __enter__(self):
        self.k, self.before = 3.0, self.k

    def __exit__(self, *exc):
        self.k = self.before
        return False


class Calm:
    """Lets no `ValueError` through."""

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        return kind is ValueError


TIMER, SCALE, DEPTH = Timer("all"), Scale(2.0), []


@contextlib.contextmanager
def section(name):
    start = time.perf_counter()
    try:
        yield
    finally:
        time.perf_counter() - start


@contextlib.contextmanager
def deeper():
    DEPTH.append(1.0)
    yield
    DEPTH.pop()


@contextlib.contextmanager
def calm():
    try:
        yield
    except ValueError:
        pass


@program(X, engine="compiled", smooth=True)
def timers(x):
    with Timer("sine") as t:
        y = np.sin(x)
    with TIMER:
        y = y * x
    return np.sum(y * x) + 0 * len(t.name)


@program(X, engine="compiled", smooth=True)
def locks_and_other_managers(x):
    with LOCK, np.printoptions(precision=3):
        y = np.sin(x)
        n = 2
    with contextlib.nullcontext(), section("a"):
        y = y * x * n
    return np.sum(y)


@program(X, engine="compiled", smooth=True)
def manager_around_a_loop_that_is_left(x):
    s = 0.0
    for v in x:
        with Timer("turn"):
            w = v * v
            if w > 3.0:
                break
            if w < 0.3:
                continue
            s = s + np.log(w) * v
    return s * x[2]


@program(X, engine="compiled", smooth=True)
def return_from_a_with_block(x):
    with np.errstate(all="ignore"):
        y = np.log(x)
        if y[0] > 0:
            return np.sum(y)
        z = y * x
    return np.sum(z * y)


@program(X, engine="compiled", smooth=True)
def returns_on_all_ways_of_a_with_block(x):
    with section("all"):
        if x[0] > 1.0:
            return x[0] * x[1]
        elif x[1] > 1.0:
            return x[1] * x[2]
        return np.sum(x)


@program(X, engine="compiled", smooth=True)
def return_from_nested_with_blocks(x):
    with TIMER:
        with np.errstate(all="ignore"):
            y = x**2
            if y[1] > 2.0:
                if y[2] > 40.0:
                    return y[0]
                y = y * x[0]
            z = y * 3
        for v in z:
            if v > 100.0:
                return v
            z = z + v
    return np.sum(z * y)


@program(X, engine="compiled", smooth=True)
def return_from_a_loop_within_a_with_block(x):
    y = x * 1.0
    with Timer("loop"):
        for i in range(5):
            if y[0] < 0.1:
                return np.sum(y * x)
            y = y * x[i % 2]
    return np.sum(y)


@program(X, engine="compiled", smooth=True)
def array_written_within_a_manager(x):
    u = np.zeros(3)
    for i in range(3):
        with LOCK:
            u[i] = x[i] ** 2
            if i == 1:
                continue
            u[0] += x[1] * u[i]
    return np.sum(u * x)


@program(X, engine="tape")
def manager_that_changes_what_is_read(x):
    a = x * SCALE.k
    with SCALE:
        b = x * SCALE.k
    return np.sum(a * 10 + b + x * SCALE.k)


@program(X, engine="tape")
def manager_that_changes_a_list(x):
    with deeper():
        y = x * len(DEPTH)
    return np.sum(y * x)


@program(X, engine="tape")
def managers_that_catch(x):
    y = x
    with Calm():
        y = y * 2
        raise ValueError
    with calm():
        y = y * x
        raise ValueError
    return np.sum(y)


@program(X, X + 1, 0.8, engine="compiled")
def left_before_an_array_is_changed(x, y, k):
    with np.errstate():
        with np.errstate():
            if k > 0.9:
                return 0.5
            s = 0.5
        y[1] = x[1] = 0.5
    w = x[int(s <= 1.7)]
    return np.sum(x) * w * y[1]


class Doubling:
    def __init__(self, u):
        self.u = u

    def __enter__(self):
        self.u *= 2.0

    def __exit__(self, *exc):
        self.u = self.u * 1.0


@program(X, engine="tape")
def manager_that_changes_what_it_was_given(x):
    y = x * 1.5
    with Doubling(y):
        s = np.sum(y * x)
    return s * np.sum(y)
