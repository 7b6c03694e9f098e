"""What lives outside the function: globals and closures read at call time, side effects that happen once."""

import copy
from types import SimpleNamespace

import numpy as np
import pytest

from s2sgrad import grad, value_and_grad, vjp
from tests.programs import from_another_module, other_module

MODES = ["auto", "tape"]
X = np.array([0.5, -1.5, 2.0])

SCALE = 2.0
WEIGHTS = np.array([1.0, 2.0, 3.0])
LOG = []
CALLS = {"count": 0}


def helper(v):
    return v * v


def scaled(x):
    return np.sum(x * SCALE)


def weighted(x):
    return np.sum(np.sin(x) * WEIGHTS)


def helped(x):
    return np.sum(helper(x))


def logging(x):
    y = x**2
    LOG.append(y)
    return np.sum(y)


def counting(x):
    CALLS["count"] += 1
    return np.sum(x * x)


def noisy(x, rng):
    return np.sum(x * rng.normal(size=3))


def printing(x):
    print("loss", len(x))
    return np.sum(x * x)


def in_helper(v):
    LOG.append("helper")
    return v * 2


def effect_in_branch_and_loop(x):
    for i in range(2):
        if i == 1:
            LOG.append(i)
        x = in_helper(x)
    return np.sum(x)


@pytest.mark.parametrize("mode", MODES)
def test_global_number_is_read_at_call_time(mode, monkeypatch):
    derivative = grad(scaled, mode=mode)
    np.testing.assert_array_equal(derivative(X), np.full(3, 2.0))
    monkeypatch.setitem(globals(), "SCALE", 7.0)
    np.testing.assert_array_equal(derivative(X), np.full(3, 7.0))


@pytest.mark.parametrize("mode", MODES)
def test_global_changes_its_kind(mode, monkeypatch):
    derivative = grad(scaled, mode=mode)
    derivative(X)
    monkeypatch.setitem(globals(), "SCALE", np.array([1.0, 2.0, 4.0]))
    np.testing.assert_array_equal(derivative(X), [1.0, 2.0, 4.0])


@pytest.mark.parametrize("mode", MODES)
def test_global_array_changed_in_place(mode, monkeypatch):
    monkeypatch.setitem(globals(), "WEIGHTS", WEIGHTS.copy())
    derivative = grad(weighted, mode=mode)
    np.testing.assert_allclose(derivative(X), np.cos(X) * [1.0, 2.0, 3.0])
    WEIGHTS[0] = -5.0
    np.testing.assert_allclose(derivative(X), np.cos(X) * [-5.0, 2.0, 3.0])


@pytest.mark.parametrize("mode", MODES)
def test_helper_bound_to_another_function(mode, monkeypatch):
    derivative = grad(helped, mode=mode)
    np.testing.assert_allclose(derivative(X), 2 * X)
    monkeypatch.setitem(globals(), "helper", lambda v: v**3)
    np.testing.assert_allclose(derivative(X), 3 * X**2)
    monkeypatch.setitem(globals(), "helper", np.sin)
    np.testing.assert_allclose(derivative(X), np.cos(X))


@pytest.mark.parametrize("mode", MODES)
def test_numpy_name_bound_to_a_user_function(mode):
    def f(x):
        return np.sum(sin(x))

    sin = helper
    np.testing.assert_allclose(grad(f, mode=mode)(X), 2 * X)
    sin = np.sin
    np.testing.assert_allclose(grad(f, mode=mode)(X), np.cos(X))


@pytest.mark.parametrize("mode", MODES)
def test_closure_is_read_at_call_time(mode):
    k = 2.0

    def f(x):
        return np.sum(k * x)

    derivative = grad(f, mode=mode)
    np.testing.assert_array_equal(derivative(X), np.full(3, 2.0))
    k = 3.0
    np.testing.assert_array_equal(derivative(X), np.full(3, 3.0))


@pytest.mark.parametrize("mode", MODES)
def test_factories_do_not_share_their_closures(mode):
    def make(k):
        def f(x):
            return np.sum(k * x)

        return f

    two, three = grad(make(2.0), mode=mode), grad(make(3.0), mode=mode)
    assert (two(X)[0], three(X)[0], two(X)[0]) == (2.0, 3.0, 2.0)


@pytest.mark.parametrize("mode", MODES)
def test_captured_value_differentiated_by_the_outer_function(mode):
    """A closure that captures the outer function's active argument."""

    def outer(a):
        def inner(v):
            return a * v

        return np.sum(inner(X) * a)

    np.testing.assert_allclose(grad(outer, mode=mode)(3.0), 2 * 3.0 * np.sum(X))


@pytest.mark.parametrize("mode", MODES)
def test_argument_changes_its_kind_between_calls(mode):
    def f(x):
        y = x
        y += x
        return np.sum(y * x)

    derivative = grad(f, mode=mode)
    assert derivative(3.0) == pytest.approx(12.0)
    x = X.copy()
    np.testing.assert_allclose(derivative(x), 8 * X)  # y is x: both are doubled
    np.testing.assert_allclose(x, 2 * X)
    assert derivative(3.0) == pytest.approx(12.0)


@pytest.mark.parametrize("mode", MODES)
def test_logged_values_are_plain_arrays(mode):
    LOG.clear()
    grad(logging, mode=mode)(X)
    assert [type(entry) for entry in LOG] == [np.ndarray]
    np.testing.assert_array_equal(LOG[0], X**2)


@pytest.mark.parametrize("mode", MODES)
def test_side_effects_happen_once(mode, capsys):
    CALLS["count"] = 0
    value_and_grad(counting, mode=mode)(X)
    assert CALLS["count"] == 1
    value_and_grad(printing, mode=mode)(X)
    assert capsys.readouterr().out == "loss 3\n"
    LOG.clear()
    grad(effect_in_branch_and_loop, mode=mode)(X)
    assert LOG == ["helper", 1, "helper"]


@pytest.mark.parametrize("mode", MODES)
def test_random_draws_are_those_of_the_plain_call(mode):
    drawn = np.random.default_rng(3).normal(size=3)
    np.testing.assert_array_equal(grad(noisy, mode=mode)(X, np.random.default_rng(3)), drawn)
    rng, plain = np.random.default_rng(3), np.random.default_rng(3)
    value, _ = value_and_grad(noisy, mode=mode)(X, rng)
    assert value == noisy(X, plain)
    assert rng.normal() == plain.normal()


@pytest.mark.parametrize("mode", MODES)
def test_exception_of_the_function_is_the_users(mode):
    def f(x):
        if np.sum(x) > 0:
            raise RuntimeError("too big")
        return np.sum(x)

    with pytest.raises(RuntimeError, match="too big"):
        grad(f, mode=mode)(X)


@pytest.mark.parametrize("mode", MODES)
def test_result_of_one_call_survives_the_next(mode):
    derivative = grad(weighted, mode=mode)
    first = derivative(X)
    kept = copy.deepcopy(first)
    derivative(X * 2)
    np.testing.assert_array_equal(first, kept)


@pytest.mark.parametrize("mode", MODES)
def test_gradient_may_be_changed_by_its_owner(mode):
    """No gradient is a view of an argument, of a constant or of another gradient."""

    def f(x, y):
        return np.sum(x * y)

    x, y = X.copy(), X + 1
    dx, dy = grad(f, (0, 1), mode=mode)(x, y)
    dx[:] = 0.0
    dy[:] = 0.0
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(y, X + 1)
    dw = grad(lambda x: np.sum(x * WEIGHTS), mode=mode)(X)
    dw[:] = 0.0
    np.testing.assert_array_equal(WEIGHTS, [1.0, 2.0, 3.0])
    ones = grad(lambda x: np.sum(x), mode=mode)(X)
    ones += 1.0  # writable
    np.testing.assert_array_equal(ones, np.full(3, 2.0))


def sum_of_both(x, y):
    return np.sum(x + y)


@pytest.mark.parametrize("mode", MODES)
def test_gradients_within_a_function_are_memory_of_their_own(mode):
    """They may be written into: neither the other gradient nor the cotangent changes, nor is one read-only."""

    def of_gradients(x, y):
        total, pullback = vjp(np.add, x, y)
        a, b = pullback(x)
        a += y
        a *= y
        total += b
        c, d = grad(sum_of_both, (0, 1))(x, y)
        c += x
        d += y * c
        return np.sum(a * total * x) + np.sum(c * d)

    def plainly(x, y):
        a = (x + y) * y
        c = 1 + x
        return np.sum(a * (x + y + x) * x) + np.sum(c * (1 + y * c))

    x, y = np.array([0.5, 1.5, 2.0]), np.array([2.0, 0.25, 1.0])
    value, gradients = value_and_grad(of_gradients, (0, 1), mode=mode)(x, y)
    expected, wanted = value_and_grad(plainly, (0, 1))(x, y)
    np.testing.assert_allclose(value, expected)
    np.testing.assert_allclose(gradients, wanted)


def from_the_end(a):
    return a[::-1]


def raised(a):
    a[0] += 1.0
    return a * 2.0


@pytest.mark.parametrize("mode", MODES)
def test_what_a_helper_gives_is_the_argument_it_is_a_part_of(mode):
    """What is written into what a helper gives reaches the caller's array, though nobody reads that any more."""

    def f(x, y):
        return np.sum(x * raised(from_the_end(y)))

    def turns(x, y):
        a = from_the_end(y)
        for i in range(len(x)):
            a[i] *= x[i]
        return np.sum(a * a)

    for function in (f, turns):
        plain, y = X.copy(), X.copy()
        function(X.copy(), plain)
        grad(function, (0, 1), mode=mode)(X.copy(), y)
        np.testing.assert_array_equal(y, plain)


@pytest.mark.parametrize("mode", MODES)
def test_recursion_on_a_tree(mode):
    def depth_sum(tree, x):
        if isinstance(tree, tuple):
            left, right = tree
            return depth_sum(left, x * 2) + depth_sum(right, x * 3)
        return x * tree

    assert grad(depth_sum, 1, mode=mode)(((1.0, 2.0), (3.0, 4.0)), 5.0) == pytest.approx(4 + 12 + 18 + 36)


@pytest.mark.parametrize("mode", MODES)
def test_many_threads_at_once(mode):
    from concurrent.futures import ThreadPoolExecutor

    derivative = grad(weighted, mode=mode)
    points = [X * k for k in range(1, 40)]
    with ThreadPoolExecutor(8) as pool:
        for x, g in zip(points, pool.map(derivative, points), strict=True):
            np.testing.assert_allclose(g, np.cos(x) * WEIGHTS)


def turned(x, k):
    z = k + 1j * x
    u = -0.5 - x
    z[:1] *= 0.5 + u[1] * 1j
    return np.sum(np.abs(z)), z


def turned_alone(x, k):
    z = (k + 1j * x)[:1]
    z *= 0.5 - 1.07j
    return np.sum(np.abs(z)), z


@pytest.mark.parametrize("mode", ["compiled", "tape"])
@pytest.mark.parametrize("f", [turned, turned_alone])
def test_one_complex_number_is_changed_in_place(f, mode):
    """NumPy rounds that otherwise than a product which goes to memory of its own."""
    x = np.array([0.39, 0.57])
    value, z = f(x, 0.9)
    (found, left), _ = value_and_grad(f, mode=mode, has_aux=True)(x, 0.9)
    assert found == value
    np.testing.assert_array_equal(left, z)


def test_what_names_of_another_module_stand_for(monkeypatch):
    derivative, x = grad(from_another_module.what_writes), np.array([0.5, 1.5, 2.0])
    derivative(x)
    assert derivative.engine == "compiled"
    monkeypatch.setattr(other_module, "np", SimpleNamespace(sin=np.cos))
    np.testing.assert_allclose(derivative(x), grad(from_another_module.what_writes, mode="tape")(x), rtol=1e-12)
    assert derivative.engine == "tape"


def test_a_builtin_that_another_module_gets_a_name_of(monkeypatch):
    def f(x):
        a = x * 1.0
        other_module.changed(a, x[1])
        return np.sum(a * x)

    derivative, x = grad(f), np.array([0.5, -1.5, 2.0])
    derivative(x)
    assert derivative.engine == "compiled"
    monkeypatch.setattr(other_module, "abs", np.exp, raising=False)
    np.testing.assert_allclose(derivative(x), grad(f, mode="tape")(x), rtol=1e-12)
    assert derivative.engine == "tape"
