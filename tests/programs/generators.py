"""Generators of the user's that a loop or a comprehension runs over."""

import numpy as np
from numpy import copyto

from tests.programs.corpus import program

X = np.array([0.5, 1.5, 2.0, 0.7])


def scaled(u, n=3, k=1.1):
    for _ in range(n):
        u = u * k
        yield u


def integrated(u, end):
    t = 0.0
    while t < end:
        u = u + 0.1 * np.sin(u)
        t += 1.0
        yield t, u


def neighbours(x):
    for i in range(len(x) - 1):
        yield x[i], x[i + 1]


def large(x, bound):
    for v in x:
        w = v * v
        if w > bound:
            yield w


def filled(x):
    u = np.zeros(3)
    for i in range(3):
        u[i] = x[i] * x[i + 1]
        yield u


def with_an_end(x):
    s = 0.0
    for v in x:
        s = s + v
        yield s
    print("all")


def of_another(x):
    for u in scaled(x, 2):
        yield u * x


def both(x):
    yield x[0]
    yield x[1]


def handed_back(x):
    try:
        yield x * 2
    finally:
        print("closed")


@program(X, engine="compiled", smooth=True)
def loop_over_a_generator(x):
    s = 0.0
    for u in scaled(x, k=x[0]):
        s = s + np.sum(u**2)
    return s


@program(X, engine="compiled", smooth=True)
def names_of_both_are_apart(x):
    n, u, k = 2.0, x * 3, 4
    for i, u_ in enumerate(scaled(u, n=k)):
        n = n + i * np.sum(u_)
        u = u + 1
    return n * np.sum(u) * k


@program(X, engine="compiled", smooth=True)
def pairs_that_are_yielded(x):
    for t, u in integrated(x, 4):
        y = np.sum(u) * t
    return y + sum((a - b) ** 2 for a, b in neighbours(x)) + np.sum([a * b for a, b in neighbours(x) if a > 0.6])


@program(X, engine="compiled", smooth=True)
def left_early(x):
    s = 0.0
    for u in scaled(x, 10):
        if u[0] < 0.6:
            continue
        s = s + np.sum(u)
        if s > 20:
            break
    for u in scaled(x * 2, 10):
        if u[0] > 1.3:
            return s * u[1]
    return s


@program(X, engine="compiled", smooth=True)
def used_up_at_once(x):
    return np.sum(np.array(list(scaled(x)))) * sum(large(x, 0.4)) + len(tuple(large(x, 0.4)))


@program(X, engine="compiled", smooth=True)
def one_array_yielded_again(x):
    s = 0.0
    for u in filled(x):
        s = s + np.sum(u**2)
    return s


@program(X, engine="compiled", smooth=True)
def something_at_the_end(x):
    s = 0.0
    for v in with_an_end(x):
        s += v**2
    return s


@program(X, engine="compiled", smooth=True)
def generator_over_a_generator(x):
    return sum(np.sum(u) for u in of_another(x))


@program(X, engine="compiled", smooth=True)
def generator_defined_there(x):
    k = x[0]

    def steps(u):
        for _ in range(3):
            u = u * k
            yield u

    s = 0.0
    for u in steps(x):
        s = s + np.sum(u)
    return s


@program(X, engine="tape", smooth=True)
def left_before_its_end(x):
    s = 0.0
    for v in with_an_end(x):
        s = s + v**2
        if s > 5:
            break
    return s


@program(X, engine="compiled", smooth=True)
def several_places(x):
    s = 0.0
    for v in both(x):
        s = s + v**2
    return s


@program(X, engine="tape", smooth=True)
def closed_finally(x):
    s = 0.0
    for v in handed_back(x):
        s = s + np.sum(v**2)
    return s


@program(X, engine="tape", smooth=True)
def one_array_that_is_summed(x):
    return np.sum(sum(filled(x)))


@program(X, engine="tape", smooth=True)
def asked_for_one_by_one(x):
    steps = scaled(x)
    return np.sum(next(steps)) * np.sum(next(steps))


@program(X, engine="tape", smooth=True)
def generator_after_what_changes_it(x):
    xs = [x[0], x[1]]
    return xs.pop() + sum(large(xs, 0.0)) * x[2]


@program(X, engine="compiled", smooth=True)
def generator_after_what_changes_nothing(x):
    return np.sum(x) * sum(large(x, 0.0)) / len(x)


def euler(f, y, dt, n):
    t = 0.0
    for _ in range(n):
        yield t, y
        y = y + dt * f(t, y)
        t += dt
    yield t, y


def newton(f, x, tol=1e-10):
    while True:
        dx = f(x)
        x = x - dx
        yield x
        if abs(dx) < tol:
            return


def one_of_two(x):
    for v in x:
        if v > 1:
            yield v * v
        else:
            yield v


def twice_a_turn(x):
    for v in x:
        yield v
        yield v * v


def in_four_places(x):
    yield x[0]
    yield x[1]
    yield x[2]
    yield x[3]


@program(X, engine="compiled", smooth=True)
def steps_and_the_last_one(x):
    s = 0.0
    for t, y in euler(lambda t, y: -y * x[0] + t, x, 0.1, 5):
        s += np.sum(y) * (1 + t)
    return s


@program(2.0, engine="compiled", smooth=True)
def run_to_its_return(a):
    y = a
    for y in newton(lambda z: (z * z - a) / (2 * z), a):
        pass
    return y


@program(2.0, engine="compiled", smooth=True)
def summed_to_its_return(a):
    return sum(y * y for y in newton(lambda z: (z * z - a) / (2 * z), a, 1e-3))


@program(X, engine="compiled", smooth=True)
def turns_left_at_either_place(x):
    s = 1.0
    for v in one_of_two(x):
        if v < 0.6:
            continue
        if v > 3:
            break
        s *= v
    return s


@program(X, engine="compiled", smooth=True)
def loops_in_both_places(x):
    s = 0.0
    for v in twice_a_turn(x):
        for k, w in enumerate(x):
            if k > 1:
                break
            s += v * w * k
    return s


@program(X, engine="compiled", smooth=True)
def one_in_the_other(x):
    s = 0.0
    for v in one_of_two(x):
        for w in twice_a_turn(x * v):
            s += v * w
    return s


@program(X, engine="tape", smooth=True)
def goes_on_between_two_places(x):
    s = 1.0
    for v in twice_a_turn(x):
        if v < 0.6:
            continue
        s *= v
    return s


@program(X, engine="tape", smooth=True)
def many_places(x):
    s = 1.0
    for v in in_four_places(x):
        s = s * v + v
    return s


def growing(u, n):
    for i in range(n):
        u[i] *= 2.0
        try:
            s = u[i] * u[0]
        except ValueError:
            s = 0.0
        yield s
        u[i] = u[i] + s


@program(X, engine="compiled", smooth=True)
def used_up_by_what_stands_alone(x):
    u = x * 0.5
    s = sum(growing(u, 2))
    t = list(growing(u, 1))
    m = max(growing(u, 2), default=0.5)
    w = sum(v * v for v in growing(u, 2))
    for i, v in enumerate(growing(u, 2), 1):
        w += i * v
    return s + np.sum(u) * m + t[0] * w


@program(X, engine="tape", smooth=True)
def what_is_changed_is_read_before(x):
    u = x * 0.5
    return u[0] + sum(growing(u, 2))


@program(X, engine="compiled", smooth=True)
def used_up_without_a_turn(x):
    s = sum(growing(x * 1.0, 0))
    m = min((v * v for v in growing(x * 1.0, 0)), default=0.5)
    return s + m * np.sum(x)


def squares(u):
    for v in u:
        yield v * v


def delegating(u):
    item = u[1]
    yield from u
    yield item * np.sum(u)
    yield from squares(u)


@program(X, engine="compiled", smooth=True)
def runs_over_others(x):
    s, item = 0.0, 2.0
    for v in delegating(x):
        s += v * v * item
    return s + item * x[0]


def halved(v):
    while True:
        yield v
        v = v * 0.5


@program(X, engine="tape", smooth=True)
def left_by_what_reads_it(x):
    found = any(v < 0.1 for v in halved(x[0]))
    return x[1] * found


def changed_after_it_is_given(u):
    for i in range(2):
        u[i] *= 3.0
        yield u


@program(X, engine="tape", smooth=True)
def given_and_changed(x):
    us = list(changed_after_it_is_given(x * 1.0))
    return np.sum(us[0] * us[1])


@program(X, 0, engine="compiled", smooth=True)
@program(X, 1, engine="compiled", smooth=True, name="in_a_case-1")
def in_a_case(x, way):
    s = 0.0
    match way:
        case 0:
            s = sum(squares(x))
        case _:
            try:
                s = x[way + 4]
            except IndexError:
                for v in squares(x):
                    s += v * x[0]
    return s


@program(X, engine="tape", smooth=True)
def counted_in_its_own_place(x):
    u = x * 1.0
    i = 0
    for i, u[i] in enumerate(scaled(x[0])):
        u[i] *= x[i]
    return np.sum(u * x) * i


def doubled_where_it_is(u, n):
    for _ in range(n):
        np.multiply(u, 2.0, u)
        yield u[0]


def copied_where_it_is(u, n):
    for _ in range(n):
        copyto(u, u * 2.0)
        yield u[0]


@program(X, engine="tape", smooth=True)
def written_by_a_call_after_a_read(x):
    u = x * 1.0
    return u[0] * sum(doubled_where_it_is(u, 2))


@program(X, engine="tape", smooth=True)
def copied_by_a_call_after_a_read(x):
    u = x * 1.0
    return u[0] * sum(copied_where_it_is(u, 2))


@program(X, engine="compiled", smooth=True)
def written_by_a_call_alone(x):
    u = x * 1.0
    total = sum(doubled_where_it_is(u, 2))
    return u[0] * total


bent = np.sin


def called_under_a_name_of_the_outside(u, bent):
    for _ in range(2):
        yield bent(u)


@program(X, engine="tape", smooth=True)
def what_a_parameter_hides(x):
    u = x * 1.0

    def raised(v):
        v += 1.0
        return v[0]

    return u[0] * sum(called_under_a_name_of_the_outside(u, raised))


class Growing:
    def __init__(self, size):
        self.size = size

    def sum(self):
        self.size = self.size * 2.0
        return self.size


def sums(thing):
    for _ in range(2):
        yield thing.sum()


@program(X, engine="tape", smooth=True)
def a_method_that_has_the_name_of_one_of_arrays(x):
    thing = Growing(x[0])
    return thing.size * sum(sums(thing))


@program(X, engine="compiled", smooth=True)
def a_method_alone(x):
    thing = Growing(x[0])
    total = sum(sums(thing))
    return thing.size * total
