"""Arrays that change: what is emitted for them, what is saved, what is refused, and that calls stay what they were."""

import operator
import sys
from dataclasses import dataclass

import numpy as np
import pytest

from s2sgrad import CompileError, NonScalarError, TapeError, grad, value_and_grad, vjp

X = np.linspace(0.5, 1.5, 6)
OUTSIDE = np.ones(6)


def diffuse(u0, n):
    u = u0.copy()
    for _ in range(n):
        u[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u * u)


def exchange(u0, n):
    u, v = u0.copy(), np.zeros_like(u0)
    for _ in range(n):
        v[1:-1] = u[2:] * u[:-2]
        u, v = v, u
    return np.sum(u * v)


def fill(x):
    out = np.zeros(len(x))
    for i in range(1, len(x)):
        out[i] = out[i - 1] * x[i]
        out[i] += x[0]
    return np.sum(out)


def test_what_is_linear_saves_nothing():
    g = grad(diffuse)
    g(X, 3)
    assert "saved" not in g.source and "copy" not in g.source.replace("u0.copy()", "")
    assert "u[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])" in g.source


def test_what_is_written_over_is_copied_first():
    g = grad(exchange)
    g(X, 3)
    assert "saved.append((t1.copy(), t.copy()))" in g.source
    assert "u, v = v, u" in g.source and "dv, du = du, dv" in g.source


def test_scalar_stores_take_constant_time():
    g = grad(fill)
    g(X)
    loop = g.source.partition("in reversed(saved):")[2]
    assert "zeros_like" not in loop and "copy" not in loop


def test_a_call_leaves_its_arguments_as_the_function_does():
    def f(x, work):
        work[0] = x[1]
        x *= 2.0
        x[1:] -= work[:-1]
        return np.sum(x * work)

    plain = X.copy(), X[::-1].copy()
    f(*plain)
    given = X.copy(), X[::-1].copy()
    value, _ = value_and_grad(f, mode="compiled")(*given)
    assert value == f(X.copy(), X[::-1].copy())
    assert all(np.array_equal(a, b) for a, b in zip(given, plain, strict=True))


def test_arguments_that_share_memory_are_not_for_the_compiled_code():
    def f(x, work):
        work[:] = 2.0 * x[::-1]
        return np.sum(x * work)

    g = grad(f)
    expected = grad(f, mode="tape")(X.copy(), np.ones(6))
    np.testing.assert_allclose(g(X.copy(), np.ones(6)), expected)
    assert g.engine == "compiled"
    both = np.concatenate([X, X])
    with pytest.raises(Exception, match="also reached as another array object"):
        g(both[:6], both[3:9])


def read_there(i):
    return OUTSIDE[i] * 2.0


def read_by_default(i, held=OUTSIDE):
    return held[i] * 2.0


def read_on_the_tape(x):
    try:
        return np.sum(x * OUTSIDE[0])
    except ValueError:
        return 0.0


def reader_of(held):
    return lambda x: held[0] * x


FIRST, SECOND = reader_of(np.ones(6)), reader_of(OUTSIDE)


class Reading:
    held = OUTSIDE

    def __call__(self, i):
        return self.held[i]

    def at(self, i):
        return self.held[i]

    def __getitem__(self, i):
        return OUTSIDE[i]


reading = Reading()
READERS = {
    "a function that is not lowered": lambda x: read_there(0) * x,
    "one that calls such": lambda x: sum(map(read_there, [0, 1])) * x,
    "its default": lambda x: read_by_default(0) * x,
    "on the tape": lambda x: read_on_the_tape(x),
    "closures of one name": lambda x: FIRST(x) + SECOND(x),
    "an object that is called": lambda x: reading(0) * x,
    "a method": lambda x: reading.at(0) * x,
    "an object that is made": lambda x: Reading()[0] * x,
}


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_an_argument_that_is_written_to_may_be_an_array_that_a_called_function_reads(read):
    def f(x):
        x[0] = 2.0 * x[1]
        return read(x[2])

    g = value_and_grad(f)
    OUTSIDE[:] = X
    value, dx = g(X.copy())
    assert value == f(X.copy())
    np.testing.assert_allclose(dx, grad(f, mode="tape")(X.copy()))
    try:
        value, dx = g(OUTSIDE)
    except TapeError:
        return
    assert np.isnan(value)  # code that the tape does not see has read what carries a derivative


class Held:
    held = OUTSIDE


class Listed(Held):
    held = [OUTSIDE]

    def at(self, i):
        return self.held[0][i]


@dataclass
class Kept:
    k: float


KEPT = Kept(1.0)
KEPT.held = OUTSIDE


@pytest.mark.parametrize(
    ("holder", "read"),
    [
        (Held(), lambda o, x: o.held[0] * x),
        (Listed(), lambda o, x: o.at(0) * x),
        ([Listed()], lambda o, x: o[0].at(0) * x),
        (KEPT, lambda o, x: o.held[0] * x),
    ],
)
def test_an_argument_that_is_written_to_may_be_an_array_that_a_class_holds(holder, read):
    def f(x, holder):
        x[0] = 2.0 * x[1]
        return read(holder, x[2])

    g = value_and_grad(f)
    OUTSIDE[:] = X
    value, dx = g(X.copy(), holder)
    assert value == f(X.copy(), holder)
    np.testing.assert_allclose(dx, grad(f, mode="tape")(X.copy(), holder))
    try:
        value, dx = g(OUTSIDE, holder)
    except TapeError:
        return
    assert np.isnan(value)  # code that the tape does not see has read what carries a derivative


def read_elsewhere(i):
    return ELSEWHERE[0][i] + found_there(i)


def nothing(i):
    return 0.0


def found_there(i):
    return ELSEWHERE[0][i]


def writes_outside(x):
    OUTSIDE[0] = x[0] * x[1]
    return read_elsewhere(0) * x[2]


ELSEWHERE = [np.ones(6)]


def test_what_a_called_function_reads_may_become_the_array_that_is_written_to(monkeypatch):
    g = grad(writes_outside)
    monkeypatch.setattr(sys.modules[__name__], "found_there", nothing)
    assert g(X)[0] == 0.0
    assert g.engine == "compiled"
    monkeypatch.setattr(sys.modules[__name__], "ELSEWHERE", [OUTSIDE])
    np.testing.assert_allclose(g(X)[:3], [X[1] * X[2], X[0] * X[2], X[0] * X[1]])
    monkeypatch.undo()
    ELSEWHERE[0] = OUTSIDE
    np.testing.assert_allclose(g(X)[:3], 2 * np.array([X[1] * X[2], X[0] * X[2], X[0] * X[1]]))


def scaled(a, k, out=None):
    if out is None:
        out = np.zeros(6)
    out[:] = a * k
    out[0] = a[1]
    return out


def test_a_parameter_called_out_is_what_the_function_makes_of_it():
    def f(x):
        a = x * 1.0
        c = scaled(a, 2.0, out=a[::-1])
        return np.sum(a * c * x)

    value, dx = value_and_grad(f)(X)
    assert value == f(X)
    np.testing.assert_allclose(dx, grad(f, mode="tape")(X))


def test_an_array_of_objects_may_hold_the_array_that_is_written_to():
    def f(x, held):
        x[0] = 2.0 * x[1]
        return held[0][0] * x[2]

    with pytest.raises(CompileError, match="held may hold the same array"):
        grad(f, mode="compiled")(X.copy(), np.array([X, None], object))


def written_and_default(x, held=OUTSIDE):
    OUTSIDE[0] = x[0] * x[1]
    return held[0] * x[2]


def default_that_is_written(x, held=OUTSIDE, *, other=(OUTSIDE,)):
    held[0] = x[0] * x[1]
    return OUTSIDE[0] * other[0][0] * x[2]


@pytest.mark.parametrize("f", [written_and_default, default_that_is_written])
def test_a_default_may_be_the_array_that_is_written_to(f):
    expected = grad(f, mode="tape")(X)
    assert expected[0]
    np.testing.assert_allclose(grad(f)(X), expected)
    if f is written_and_default:
        g = grad(f)
        g(X, np.ones(6))
        assert g.engine == "compiled"


def test_defaults_may_hold_other_kinds_of_values_later():
    def f(x, factors=[2.0]):  # noqa: B006
        return np.sum(x * factors[0])

    g = grad(f)
    assert g(np.array([3.0])) == 2.0
    f.__defaults__[0][0] = np.ones(3)
    assert g(np.array([3.0])) == 3.0
    f.__defaults__[0][0] = 1j
    with pytest.raises(NonScalarError, match="complex"):
        g(np.array([3.0]))


def test_the_results_of_vjp_do_not_change_with_what_is_written_later():
    def f(x):
        y = x * x
        y[0] = y[1] * x[0]
        return y

    out, pull = vjp(f, X)
    first = pull(np.ones(6))
    out[:] = 0.0
    np.testing.assert_array_equal(pull(np.ones(6)), first)


def one_of_two(x):
    a, b = x * 1.0, x * 2.0
    c = a if x[0] > 0 else b
    c[0] = x[1]
    return np.sum(a)


def test_whether_two_names_are_of_one_array_is_asked():
    gradient = grad(one_of_two, mode="compiled")
    for sign in (1, -1):
        np.testing.assert_array_equal(gradient(sign * X), grad(one_of_two, mode="tape")(sign * X))
    assert "same = a is c\n" in gradient.source
    assert "if same:" in gradient.source.partition("# backward")[2]


def test_what_is_done_again_to_a_view_is_left_out_where_nobody_asks():
    def f(x):
        u = 0.5 - x
        m = u.reshape(1, -1)
        for i in range(x.size):
            u[i] *= m[0, 0]
        return np.sum(m)

    gradient = grad(f)
    gradient(X)
    assert "\n        u.reshape" not in gradient.source


def part_of_one_of_two(x):
    a, b = x * 1.0, x * 2.0
    c = a[int(x[1]) :] if x[0] > 0 else b
    c[0] = x[1]
    return np.sum(a)


def test_what_is_not_surely_known_is_refused():
    with pytest.raises(CompileError, match="may share memory"):
        grad(part_of_one_of_two, mode="compiled")(X)


def in_one_place(x):
    y = np.zeros(3)
    y[np.array([0, 2, 0])] = x[:3] ** 2
    return np.sum(y)


def added_in_one_place(x):
    y = np.zeros(3)
    np.add.at(y, [0, 2, 0], x[:3] ** 2)
    return np.sum(y)


def test_of_several_values_in_one_place_the_last_stays_or_each_counts():
    gradient, adding = grad(in_one_place), grad(added_in_one_place)
    assert np.array_equal(gradient(X), [0, 2 * X[1], 2 * X[2], 0, 0, 0])
    assert np.array_equal(adding(X), [2 * X[0], 2 * X[1], 2 * X[2], 0, 0, 0])
    assert "y[np.array([0, 2, 0])] = " in gradient.source and "stays(" in gradient.source
    assert "np.add.at(y, [0, 2, 0], " in adding.source and "stays(" not in adding.source


def safely_divided(x, d):
    return np.sum(np.divide(x, d, out=np.zeros_like(x), where=d != 0))


def test_where_nothing_is_computed_nothing_is_divided_by():
    d = np.array([1.0, 0.0, 2.0, 0.0, 4.0, 5.0])
    with np.errstate(all="raise"):
        gradient = grad(safely_divided, mode="compiled")
        assert np.array_equal(gradient(X, d), [1, 0, 0.5, 0, 0.25, 0.2])


# --------------------------------------------------------------- names of memory that is written to later

VIEWS = {
    "split": lambda x, b: np.split(x, 2)[0],
    "reshape": lambda x, b: np.reshape(x, (2, 2))[0],
    "method": lambda x, b: x.reshape(2, 2).T[1],
    "expand_dims": lambda x, b: np.expand_dims(x, 0)[0],
    "atleast_2d": lambda x, b: np.atleast_2d(x)[0],
    "moveaxis": lambda x, b: np.moveaxis(x[None], 0, 1)[:, 0],
    "rot90": lambda x, b: np.rot90(x.reshape(2, 2))[0],
    "ellipsis": lambda x, b: x[0, ...],
    "broadcast_arrays": lambda x, b: np.broadcast_arrays(x, x)[0],
    "conj": lambda x, b: x.conj(),
    "view": lambda x, b: x.view(),
    "asarray": lambda x, b: np.asarray(x),
    "tuple": lambda x, b: (x, b)[0],
    "list": lambda x, b: [x, b][0],
    "dict": lambda x, b: {"q": x}["q"],
    "starred": lambda x, b: [*x[None]][0],
    "sorted": lambda x, b: sorted([x], key=len)[0],
}


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_of_what_becomes_active_later(name):
    view = VIEWS[name]

    def f(x, b, k):
        v = view(x, b)
        x[:] = k * b
        return np.sum(v * v)

    x, b = np.linspace(0.5, 1.5, 4), np.linspace(0.3, 0.9, 4)
    expected = (f(x.copy(), b, 0.7 + 1e-6) - f(x.copy(), b, 0.7 - 1e-6)) / 2e-6
    assert np.isclose(grad(f, 2)(x.copy(), b, 0.7), expected, rtol=1e-7)


def overwritten(b):
    u = np.sin(b)
    u[1] = 0.0
    return np.sum(u) + np.sum(np.cos(b))


def overwritten_in_a_loop(b):
    u = np.cos(b)
    for i in range(2):
        u[i] *= 0.3
    return np.sum(u) + np.sum(np.sin(b))


def overwritten_through_a_view(b):
    u = np.sin(b)
    v = u[1:]
    v *= -1.0
    return np.sum(u)


@pytest.mark.parametrize("f", [overwritten, overwritten_in_a_loop, overwritten_through_a_view])
def test_what_was_overwritten_is_not_used_again(f):
    gradient = grad(f, mode="compiled")
    expected = [(f(X + step) - f(X - step)) / 2e-6 for step in 1e-6 * np.eye(6)]
    assert np.allclose(gradient(X), expected, rtol=1e-7, atol=1e-8)
    second = grad(lambda x: np.sum(np.sin(gradient(x))))
    change = lambda x: np.sum(np.sin(gradient(x)))  # noqa: E731
    assert np.allclose(second(X), [(change(X + s) - change(X - s)) / 2e-6 for s in 1e-6 * np.eye(6)], atol=1e-7)


def rebound_to_a_row(k, a):
    u = np.zeros(3)
    for i in range(3):
        u[i] = k
        u = a[i]
    return np.sum(a) + np.sum(u)


def test_a_name_that_a_loop_rebinds_to_the_callers_array():
    a = np.arange(9.0).reshape(3, 3)
    plain, left = rebound_to_a_row(0.7, mine := a.copy()), a.copy()
    value, slope = value_and_grad(rebound_to_a_row)(0.7, left)
    assert value == plain and slope == 2.0 and np.array_equal(left, mine)


def zero_dimensional(b):
    z = np.array(b[0])
    z[()] *= b[1]
    return z[()] * 2.0


def test_arrays_of_dimension_0_are_written():
    assert np.allclose(grad(zero_dimensional)(X), [2 * X[1], 2 * X[0], 0, 0, 0, 0])


def rebound_by_an_inert_loop(b, k):
    c = b.reshape(-1, 1)
    c += k
    for r in np.eye(6):
        b, r = r, b
    return np.sum(b) + np.sum(c)


def test_a_loop_that_reads_a_name_whose_memory_was_written():
    assert np.array_equal(grad(rebound_by_an_inert_loop)(X.copy(), 2.0), np.ones(6))


HOLDERS = {
    "list repeated": lambda b: ([b] * 2)[1],
    "tuple repeated": lambda b: (2 * (b,))[0],
    "lists joined": lambda b: ([b] + [1.0])[0],
    "list repeated by name": lambda b: operator.mul([b], 2)[1],
    "method conj": lambda b: b.conj(),
    "method conjugate": lambda b: b.conjugate(),
}


@pytest.mark.parametrize("name", HOLDERS)
def test_what_holds_an_array_that_becomes_active_later(name):
    held = HOLDERS[name]

    def f(x, b):
        v = held(b)
        b[1] = x[0]
        return np.sum(v * v)

    assert np.array_equal(grad(f)(X, np.ones(6)), [2 * X[0], 0, 0, 0, 0, 0])


def conjugated(x):
    y = x * 1.5
    v = y.conj()
    v[0] = 7.0
    return np.sum(y * y)


def test_the_conjugate_of_a_real_array_is_that_array():
    value, slope = value_and_grad(conjugated)(X)
    assert value == conjugated(X)
    assert np.allclose(slope, [0, *(4.5 * X[1:])])


def dotted(a, b, k):
    w = np.zeros(6)
    v = a.dot(b, w)
    v[1] = k
    return np.sum(w * b)


def clipped(a, b, k):
    w = np.zeros(6)
    v = b.clip(-9, 9, w)
    v[1] = k
    return np.sum(w * b)


def largest(a, b, k):
    w = np.zeros(6)
    v = a.max(0, w)
    v[1] = k
    return np.sum(w * b)


@pytest.mark.parametrize("f", [dotted, clipped, largest])
def test_methods_that_write_their_result_somewhere(f):
    value, slope = value_and_grad(f, 2)(np.eye(6), X, 0.7)
    assert value == f(np.eye(6), X, 0.7) and np.isclose(slope, X[1])


def negated(x):
    b = x * 1.0
    u = -b
    b[2] = np.sum(u * u)
    return np.sum(u * -b)


def test_second_derivative_of_a_value_whose_operand_is_overwritten():
    gradient = grad(negated, mode="compiled")
    change = lambda x: np.sum(gradient(x) * np.arange(6.0))  # noqa: E731
    expected = [(change(X + step) - change(X - step)) / 2e-6 for step in 1e-6 * np.eye(6)]
    assert np.allclose(grad(change)(X), expected, rtol=1e-7, atol=1e-7)


def used_up(x):
    numbers = iter([0.5, 0.7])
    unused = [r * 1.0 for r in numbers]  # noqa: F841
    s = 1.0
    for e in numbers:
        s += e
    return s * np.sum(x * x)


def test_what_is_not_needed_uses_up_its_iterator_all_the_same():
    assert np.allclose(grad(used_up)(X), 2 * X)


def negated_twice(x):
    y = x * 2.0
    v = -(-y)  # noqa: B002
    y[1] = x[0]
    return np.sum(v * y)


def test_the_negative_of_the_negative_is_an_array_of_its_own():
    value, slope = value_and_grad(negated_twice, mode="compiled")(X)
    expected = [(negated_twice(X + step) - negated_twice(X - step)) / 2e-6 for step in 1e-6 * np.eye(6)]
    assert value == negated_twice(X) and np.allclose(slope, expected, rtol=1e-7)


def through_a_reshaped_argument(x):
    v = x.reshape(-1)
    v[1] = v[0] * v[2]
    return np.sum(x * x)


def test_arrays_in_another_order_are_not_for_code_that_relies_on_the_order():
    gradient = grad(through_a_reshaped_argument)
    x = X.reshape(2, 3)
    in_order, other = gradient(x.copy()), gradient(np.asfortranarray(x))
    assert np.allclose(in_order, grad(through_a_reshaped_argument, mode="tape")(x.copy()))
    assert np.array_equal(other, 2 * x)  # what is written to is a copy
    assert "v = x.reshape(-1)" in gradient.source


def counted_by_a_loop_over_the_array(x):
    u = x.copy()
    for i in range(1, len(u) - 1):
        u[i] = u[i - 1] * u[i + 1]
    return np.sum(u)


def test_the_length_of_an_array_that_is_written_to_is_no_secret():
    gradient = grad(counted_by_a_loop_over_the_array)
    gradient(X)
    assert "for i in range(1, len(u) - 1):" in gradient.source and "u[i] = " in gradient.source


SCALES = np.linspace(0.3, 0.8, 6)


def scaled_in_place(x, y):
    y *= x
    return np.sum(SCALES * y)


def test_an_argument_that_is_an_array_outside_is_not_for_the_compiled_code():
    gradient, kept = grad(scaled_in_place), SCALES.copy()
    assert np.array_equal(gradient(X.copy(), np.full(6, 2.0)), 2 * SCALES) and gradient.engine == "compiled"
    try:
        given = gradient(X.copy(), SCALES)
        assert np.allclose(given, 2 * kept**2 * X)
    except TapeError as error:
        assert "also reached" in str(error)
    finally:
        SCALES[:] = kept


WORK = np.zeros(6)


def keeps_what_it_computed(x):
    before = np.sum(WORK * x)
    WORK[2] *= before
    WORK[3:] = x[3:]
    return np.sum(WORK**2 * x)


def test_a_work_array_outside_is_left_as_a_plain_call_leaves_it():
    gradient, start = value_and_grad(keeps_what_it_computed), X[::-1].copy()

    def plain(x):
        WORK[:] = start
        return keeps_what_it_computed(x)

    expected = [(plain(X + step) - plain(X - step)) / 2e-6 for step in 1e-6 * np.eye(6)]
    value, left = plain(X), WORK.copy()
    for _ in range(2):
        WORK[:] = start
        given, slope = gradient(X.copy())
        assert given == value and np.array_equal(WORK, left) and np.allclose(slope, expected, rtol=1e-7)
    assert gradient.engine == "compiled"


def test_a_work_array_that_is_an_argument_too_is_not_for_the_compiled_code():
    gradient = grad(keeps_what_it_computed)
    gradient(X.copy())
    with pytest.raises(TapeError, match="also reached"):
        gradient(WORK)


def exchanged_or_not(x):
    a, b, t = x * 1.5, x * 2.0, x[0]
    for _ in range(3):
        if x[1] > t:
            b, a = a, b
        else:
            t = t + t * 0.3
    return np.sum(a) + 2.0 * np.sum(b) + t


def test_an_exchange_in_one_branch_and_a_number_in_the_other():
    np.testing.assert_allclose(grad(exchanged_or_not, mode="compiled")(X), grad(exchanged_or_not, mode="tape")(X))


SEEN = [1.0, 2.0]


def seen():
    return SEEN[0]


def test_a_list_that_is_changed_may_be_another_argument():
    def f(x, p, q):
        q[0] = x[0] * 3
        return p[0] * x[1] + q[0]

    g = grad(f)
    assert list(g(np.array([2.0, 5.0]), [1.0], [1.0])) == [3.0, 1.0] and g.engine == "compiled"
    q = [1.0]
    assert list(g(np.array([2.0, 5.0]), q, q)) == [18.0, 6.0] and q == [6.0]


def test_a_list_that_is_changed_may_be_read_by_a_function_that_is_called():
    def f(x, q):
        q[0] = x[0] * 3
        return q[0] * x[1] + seen()

    g = grad(f)
    assert list(g(np.array([2.0, 5.0]), [1.0])) == [15.0, 6.0] and g.engine == "compiled"
    assert list(g(np.array([2.0, 5.0]), SEEN)) == [18.0, 6.0]


def test_an_array_in_a_list_that_is_changed_may_be_another_argument():
    def f(x, q):
        q[0][0] = x[1] * 3
        return np.sum(x * q[0])

    g = grad(f)
    x = np.array([2.0, 5.0])
    assert list(g(x, [np.ones(2)])) == [15.0, 7.0] and g.engine == "compiled"
    with pytest.raises(TapeError, match="also reached as another array object"):
        g(x, [x[:]])


def test_a_pullback_has_the_structure_that_the_container_had():
    def f(x, d):
        d["c"] = x * d["b"]
        del d["b"]
        return np.sum(d["c"] * d["a"])

    _, pull = vjp(f, X, {"a": X * 2, "b": 3.0})
    dx, dd = pull(1.0)
    np.testing.assert_allclose(dx, X * 2 * 3)
    assert list(dd) == ["a", "b"]
    np.testing.assert_allclose(dd["a"], X * 3)
    np.testing.assert_allclose(dd["b"], np.sum(X * X * 2))


def test_a_list_that_is_changed_and_returned_is_not_followed():
    def f(x, q):
        q[0] = np.sum(x)
        return q[0] * x[0], q

    q = [1.0]
    g = grad(f, has_aux=True)
    gradient, aux = g(np.array([2.0, 5.0]), q)
    assert aux == q == [7.0] and list(gradient) == [9.0, 2.0] and g.engine == "tape"


@dataclass
class Moving:
    pos: object
    vel: object


def moved(a, b):
    a.pos = a.pos + b.vel
    b.pos = b.pos * a.pos
    a.vel[0] = 2.0
    return np.sum(a.pos * b.pos * b.vel)


def doubled_first(p, q):
    p[0] = p[0] * 2.0
    return q[0] * p[0]


@pytest.mark.parametrize("mode", ["auto", "tape"])
def test_dataclasses_and_lists_of_the_caller_that_are_one_or_share_arrays(mode):
    a, b = Moving(X * 1.0, X * 2.0), Moving(X + 1.0, X + 2.0)
    mine = Moving(X * 1.0, X * 2.0), Moving(X + 1.0, X + 2.0)
    derivative = value_and_grad(moved, (0, 1), mode=mode)
    value, _ = derivative(a, b)
    assert value == moved(*mine) and np.array_equal(a.pos, mine[0].pos) and a.vel[0] == 2.0
    assert derivative.engine == ("compiled" if mode == "auto" else "tape")
    with pytest.raises(TapeError, match="the same memory"):
        derivative(a, Moving(X + 1.0, a.vel))
    with pytest.raises(TapeError, match="is written that is also|passed twice"):
        derivative(a, a)
    both = [3.0]
    with pytest.raises(TapeError, match="is passed twice, or is an argument"):
        value_and_grad(doubled_first, (0, 1), mode=mode)(both, both)


@dataclass
class Scaled:
    """What its constructor stores is not what it is given."""

    u: object
    k: float = 2.0

    def __post_init__(self):
        self.u = self.u * self.k


def scaled_again(s):
    s.u = s.u * s.k
    s.k = s.u[0]
    return np.sum(s.u) * s.k


def test_the_gradient_of_a_dataclass_is_not_made_by_its_constructor():
    found, expected = (grad(scaled_again, mode=mode)(Scaled(X)) for mode in ("compiled", "tape"))
    assert np.allclose(found.u, expected.u) and np.isclose(found.k, expected.k)


BUFFER = np.zeros(6)


def made_by_the_class(x):
    y = np.ndarray(x.shape, dtype=float)
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = x[i] * y[i - 1]
    return np.sum(y * y)


def made_over_a_buffer(x):
    y = np.ndarray((6,), float, BUFFER)
    y[:] = x * 2
    return np.sum(y * BUFFER)


def test_an_array_made_by_its_class():
    d, steps = grad(made_by_the_class), 1e-6 * np.eye(6)
    expected = [(made_by_the_class(X + h) - made_by_the_class(X - h)) / 2e-6 for h in steps]
    assert np.allclose(d(X), expected, rtol=1e-7) and d.engine == "compiled"
    with pytest.raises(CompileError):
        grad(made_over_a_buffer, mode="compiled")(X)


def summed_downwards(x):
    y = x.copy()
    r, c = y.shape
    for i in range(1, r):
        for j in range(c):
            y[i, j] += y[i - 1, j]
    return np.sum(y)


def test_the_shape_of_an_array_that_changes_does_not_change():
    d = grad(summed_downwards)
    assert np.array_equal(d(np.ones((9, 8))), np.arange(9.0, 0.0, -1.0)[:, None] * np.ones(8))
    assert "r, c = y.shape" in d.source and "for i in reversed(range(1, r)):" in d.source and "saved" not in d.source


def counted_apart(x):
    k, y = len(x), x * 1.0
    m = k
    for i in range(len(y)):
        y[i] *= k
        k -= 1
        m = m * 2 if i % 2 else k
        y[:1] += m * 0.1
    return np.sum(y * m) * k


def test_numbers_that_change_beside_arrays_that_do():
    for mode in ("compiled", "tape"):
        expected = [(counted_apart(X + h) - counted_apart(X - h)) / 2e-6 for h in 1e-6 * np.eye(6)]
        assert np.allclose(grad(counted_apart, mode=mode)(X), expected, rtol=1e-6, atol=1e-8)


REFUSED_IN_PLACE = [
    "b /= 2", "b[1:] /= 2", "b[b > 1] /= 2", "b *= 0.5", "b **= 0.5", "b //= 0.5", "v = b[1:]; v /= 2",
    "d = {'b': b}; d['b'] /= 2", "np.divide(b, 2, out=b)", "b = b > 1; b *= 2", "b = b > 1; b |= 2",
    "b = b.astype(np.uint8); b *= np.int8(3)", "b = np.bincount(b); b /= b.sum()", "b = np.argsort(x); b /= 2",
    "b = b * 1.0; b *= np.ones((1, 3))", "b = x * 1; b /= np.ones((1, 3))", "b = np.asarray(x.sum()); b *= np.ones(1)",
    "b = np.ones(3); np.multiply(x, np.ones((1, 3)), out=b)", "b = np.ones(3); np.add(b, np.ones((1, 3)), b)",
    "b = np.ones((2, 3)); np.sum(x, out=b)", "b = np.ones((1, 3)); np.mean(np.outer(x, x), axis=1, out=b)",
    "b = np.ones((1, 3)); np.cumsum(x, out=b)", "b = np.ones((3, 1)); np.dot(np.outer(x, x), x, out=b)",
    "b = b * 1.0; b @= x", "b = np.outer(b, x); b @= x[:, None]", "b = np.eye(3); b @= x[:, None]",
]  # fmt: skip
DONE_IN_PLACE = [
    "b //= 2", "b %= 2", "b *= 2", "b **= 2", "b <<= 1", "b[1:] *= b[:-1]", "b[0] /= 2", "b[b > 1] %= 2", "b *= len(x)",
    "b = b > 1; b &= x > 0; b ^= x < 1", "b = b * 1.0; b /= 2; b *= np.ones(3); b *= np.ones(1); b **= b",
    "b = np.ones((2, 3)); np.multiply(x, 2, out=b); np.sqrt(b, b)", "b = np.ones(3); np.copyto(b, x[None])",
    "b = np.ones(3); np.sum(np.outer(x, x), axis=0, out=b); np.cumsum(b * x, out=b)",
    "b = x * 1; b *= x; b /= 2.0; b[1:] *= np.ones((1, 2))[0]", "b = b.astype(np.uint8); b //= 2",
]  # fmt: skip


def in_place(tmp_path, text):
    (tmp_path / "written.py").write_text(
        "import numpy as np\n\n\ndef f(x, b):\n    "
        + text.replace("; ", "\n    ")
        + "\n    return np.sum(np.sum(x) * b)\n"
    )
    names: dict = {}
    exec(compile((tmp_path / "written.py").read_text(), str(tmp_path / "written.py"), "exec"), names)
    return names["f"]


@pytest.mark.parametrize("mode", ["auto", "tape"])
@pytest.mark.parametrize("text", REFUSED_IN_PLACE)
def test_what_numpy_does_not_write_in_place_is_an_error(text, mode, tmp_path):
    f, x = in_place(tmp_path, text), np.array([0.5, 1.5, 2.5])
    b, c = np.array([3, 4, 5]), np.array([3, 4, 5])
    with pytest.raises(Exception) as plain:  # noqa: PT011
        f(x, b)
    with pytest.raises(plain.type):
        value_and_grad(f, mode=mode)(x, c)
    np.testing.assert_array_equal(c, b)


@pytest.mark.parametrize("text", DONE_IN_PLACE)
def test_what_numpy_writes_in_place_is_compiled(text, tmp_path):
    f, x = in_place(tmp_path, text), np.array([0.5, 1.5, 2.5])
    b, c, d = (np.array([3, 4, 5]) for _ in range(3))
    derivative = value_and_grad(f)
    value, gradient = derivative(x, c)
    assert derivative.engine == "compiled"
    assert value == f(x, b)
    np.testing.assert_array_equal(c, b)
    np.testing.assert_allclose(gradient, value_and_grad(f, mode="tape")(x, d)[1])
