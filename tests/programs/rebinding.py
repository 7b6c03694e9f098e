"""Functions that bind names of the functions around them anew: counters, sums that are kept, the best so far."""

import numpy as np

from tests.programs.corpus import program

X = np.array([0.5, 1.5, 2.0])


def stepped(rhs, u, n):
    for _ in range(n):
        k = rhs(u)
        if np.sum(k * k) < 1e-8:
            break
        u = u + 0.1 * (k + rhs(u + 0.1 * k))
    return u


@program(X, engine="compiled", smooth=True)
def calls_are_counted(x):
    calls = 0

    def rhs(u):
        nonlocal calls
        calls += 1
        return np.sin(u) * x

    return np.sum(stepped(rhs, x, 3)) * calls


@program(X, engine="compiled", smooth=True)
def losses_are_added_up(x):
    loss, n = 0.0, 0

    def add(v, weight=1.0):
        nonlocal loss, n
        loss, n = loss + weight * np.sum(v**2), n + 1
        return v * 2

    y = add(x)
    for i in range(3):
        if x[i] > 1.0:
            y = add(y * x[i], weight=0.5)
            continue
        add(y)
    return loss * np.sum(y) / n


@program(X, engine="compiled", smooth=True)
def best_so_far(x):
    best = where = None

    def see(v, i):
        nonlocal best, where
        if best is not None and v >= best:
            return False
        best, where = v, i
        return True

    for i in range(3):
        see((x[i] - 1.4) ** 2, i)
    return best * x[where]


@program(X, engine="compiled", smooth=True)
def read_before_and_after_it_is_bound(x):
    s = x[0]

    def grow(k):
        nonlocal s
        s = s * k
        return s + 1.0

    def now():
        return s * x[1]

    y = s + grow(2.0) * s + now()
    z = [s, grow(x[2]), s, now()]
    return y * z[0] + z[1] * z[2] * z[3]


@program(X, engine="compiled", smooth=True)
def bound_by_a_function_within_a_function(x):
    total = 0.0

    def outer(v):
        def inner(w):
            nonlocal total
            total = total + w * w
            return total

        return inner(v) + inner(2 * v)

    y = outer(x[0])
    while total < 20.0:
        y = y + outer(x[1])
    return y * total


@program(X, engine="compiled", smooth=True)
def bound_where_no_derivative_flows(x):
    turn = 0

    def advance():
        nonlocal turn
        turn += 1

    for _ in range(4):
        advance()
    while turn < 7:
        advance()
    return np.sum(x**turn)


@program(X, engine="compiled", smooth=True)
def augmented_by_what_binds_it(x):
    s = x[0]

    def grow(k):
        nonlocal s
        s = s * k
        return s

    s += grow(x[1])
    return s * x[2]


def counter(scale):
    n = 1.0

    def count(v):
        nonlocal n
        n += 1.0
        return v * n * scale

    return count


@program(X, engine="tape")
def names_that_outlive_their_function(x):
    count = counter(x[0])
    return count(x[1]) * count(x[2])


@program(X, engine="tape")
def passed_on_with_what_it_binds(x):
    seen = 0

    def key(i):
        nonlocal seen
        seen += 1
        return -i

    order = sorted(range(3), key=key)
    return np.sum(x[order] * np.arange(3.0)) * seen


def fill_twice(a, k):
    a[0] = k
    k = 2 * k
    a[1] = k


@program(X, engine="compiled", smooth=True)
def read_later_by_a_lambda(x, k=1.5):
    scale = lambda v: v * k
    work = np.zeros(2)
    fill_twice(work, np.sum(x) * 3)
    return np.sum(work * x[:2]) * scale(2)


@program(X, engine="compiled", smooth=True)
def read_later_by_a_nested_function(x, k=1.5):
    def scale(v):
        return v * k

    work = np.zeros(2)
    for _ in range(2):
        fill_twice(work, np.sum(x * work[1]) + 3)
    return np.sum(work * x[:2]) * scale(2)


@program(X, engine="compiled", smooth=True)
def read_later_by_a_generator(x, k=1.5):
    scales = (v * k for v in range(1, 3))
    work = np.zeros(2)
    fill_twice(work, np.sum(x) * 3)
    return np.sum(work * x[:2]) * sum(scales)


@program(X, engine="compiled", smooth=True)
def read_later_by_what_a_loop_makes(x):
    total = 0.0
    for i in range(3):
        k = i + 1.5
        scale = lambda v: v * k  # noqa: B023
        work = np.zeros(2)
        fill_twice(work, np.sum(x) * 3)
        total += np.sum(work * x[:2]) * scale(2)
    return total


@program(X, X + 1.0, engine="compiled", smooth=True)
def functions_of_constants_that_get_other_values_later(x, y):
    k = 2.0
    least = lambda a: np.min(y) * k * a
    first = least(1.0)
    y = y * 3.0
    k += 1.0
    return np.sum(x * x) * least(first) + first * np.sum(x)


@program(X, X + 1.0, engine="compiled", smooth=True)
def functions_of_constants_that_a_loop_changes(x, y):
    total, k = 0.0, 1.0

    def least(a=2.0):
        return np.min(y) * k * a

    for v in x:
        total += v * v * least()
        y = y + 0.5
        k = k * 2.0
    return total * least()


@program(X, X + 1.0, engine="compiled", smooth=True)
def functions_of_constants_that_are_written_to(x, y):
    z = y.copy()
    total = 0.0
    least = lambda a: np.min(z) * a
    for i in range(3):
        total += np.sum(x * x) * least(1.0) + least(3.0) * x[i]
        z[0] *= 0.5
    return total * least(2.0)


@program(X, X + 1.0, engine="tape", smooth=True)
def functions_of_constants_that_are_kept(x, y):
    readers, total = [], 0.0
    for i in range(3):
        readers.append(lambda: y[i])
    for i, read in enumerate(readers):
        total += read() * x[i]
    y = y * 2.0
    return total * readers[0]() * sum(map(lambda a: a * y[0], [1.0, 2.0]))


@program(X, np.array([[1.5], [0.5]]), 0.5, engine="compiled", smooth=True)
def names_that_hide_what_is_read(x, a, k):
    m = a
    n = k
    first = lambda a: m[0, -1] * a

    def second(a, k=2.0):
        a = a * n
        return a + k * m[1, 0]

    rest = [a * k for a in m[:, 0] for k in (1, 2) if a > n]
    table = {k: n * a for k, a in enumerate(m[:, 0])}
    return np.sum(x) * first(k) * second(k) * sum(rest) + table[1] * x[0] ** 2


@program(X, np.array([[1.5], [0.5]]), engine="compiled", smooth=True)
def called_by_names_that_hide_what_is_read(x, a):
    m = a
    first = lambda a: m[0, -1] * a

    def second(a=1.0, *, b=2.0):
        return m[1, 0] * a + b

    return np.sum(x) * first(a=2.0) * second(a=3.0) + x[0] * second(b=x.size)


@program(X, engine="compiled", smooth=True)
def read_by_another_function_after_it_is_bound(x):
    s = x[0] * x[1]

    def read(t):
        return s * t

    def change():
        nonlocal s
        s = np.sum(x)
        s = read(s) + x[2]

    change()
    return s * read(2.0)


@program(X, engine="compiled", smooth=True)
def bound_by_another_function_and_read(x):
    s = x[0] * x[1]

    def add(t):
        nonlocal s
        s = s + t * x[2]
        return s * 0.5

    def both(t):
        add(t)
        return s * add(s)

    return both(0.3) + s


@program(X, engine="compiled", smooth=True)
def bound_by_two_functions_in_turns(x):
    s = x[0] * x[1]

    def add(t):
        nonlocal s
        s = s + t * x[2]

    def grow(n):
        nonlocal s
        for i in range(n):
            s = s * x[0]
            add(s)
        if s > 0.1:
            add(1.0)
        return s

    return grow(2) * s


@program(X, engine="compiled", smooth=True)
def bound_by_functions_in_functions(x):
    s = x[0] * x[1]

    def read(t):
        return s * t

    def outer(t):
        z = t * s

        def inner(u):
            nonlocal s, z
            z = z + s
            s = z * u
            return read(z)

        return inner(t) * s * z

    return outer(0.7) * read(s)


@program(X, engine="compiled", smooth=True)
def arrays_and_lists_bound_anew_and_read(x):
    u, xs = x * 2, [x[0]]

    def total():
        return np.sum(u) * sum(xs)

    def change(t):
        nonlocal u, xs
        u = u * t
        a = total()
        xs = [*xs, t * a]
        u[1] = total()
        return a

    return change(0.5) + change(x[2]) * total()


@program(X, engine="compiled", smooth=True)
def one_name_for_a_parameter_and_for_what_is_bound(x):
    s = x[0] * x[1]

    def add(t):
        nonlocal s
        s = s + t
        return s

    def hides(s):
        return add(s) * s

    def own(t):
        s = add(t)
        return s * add(s)

    return hides(x[2]) + own(0.5) * s


@program(X, 1, engine="compiled")
@program(X, -1, engine="compiled", name="a_default_called_as_a_name_of_the_function-gone_on")
def a_default_called_as_a_name_of_the_function(x, c):
    s = x[0]
    try:
        u = x * 2
        if c > 0:
            raise ValueError

        def scaled(t, c=s):
            return t * c + u[0]

        u[0] = 0.3
        v = scaled(u)
    except ValueError:
        v = x * 3
    return np.sum(v) if c > 0 else np.sum(v) * s


def growing(v, n):
    for i in range(n):
        yield v[i] * (i + 1)


@program(X, engine="compiled", smooth=True)
def a_generator_whose_names_the_function_may_bind_anew(x):
    u, v, n = x * 2, np.sin(x), 2.0

    def total():
        nonlocal v, n
        return sum(growing(u, 3))

    return total() * np.sum(u * v) * n
