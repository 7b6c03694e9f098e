"""Loops: what their gradients save, what they compute once, and what they put together after the loop."""

import re

import numpy as np
import pytest

from s2sgrad import grad
from s2sgrad.runtime.arrays import where_less
from tests.programs import differences

LINE = np.linspace(0.4, 1.6, 7)
SQUARE = np.cos(np.add.outer(np.arange(5), 2.0 * np.arange(5)))


def checked(function, *args, argnums=0):
    """The compiled gradient, which is that of the tape and of finite differences."""
    argnums = argnums if isinstance(argnums, tuple) else (argnums,)
    derivative = grad(function, argnums, mode="compiled")
    taped = grad(function, argnums, mode="tape")(*args)
    for n, found, expected in zip(argnums, derivative(*args), taped, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(found, differences.gradient(function, args, {}, n), rtol=1e-7, atol=1e-8)
    return derivative


# ---------------------------------------------------------------- what is saved


def heat(u0, k, steps):
    u = u0.copy()
    for _ in range(steps):
        u[1:-1] += k * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u * u)


def test_a_linear_loop_saves_nothing():
    derivative = checked(heat, LINE, 0.2, 5)
    assert "append" not in derivative.source


def test_a_loop_saves_what_a_factor_is_multiplied_by():
    derivative = grad(heat, (0, 1), mode="compiled")
    derivative(LINE, 0.2, 5)
    assert re.findall(r"append\((.*)\)", derivative.source) == ["t"]


def test_nothing_is_saved_for_its_shape_alone():
    def gates(x, n):
        c = np.zeros(n)
        for _ in range(3):
            z = np.concatenate([c, x, c])
            a, b = np.tanh(z[:n]), np.tanh(z[1 : n + 1])
            c = a * c + b
        return np.sum(c * c)

    derivative = checked(gates, LINE[:4], 4)
    assert "append((z" not in derivative.source


def test_strided_parts_of_one_axis_are_as_long_as_each_other():
    def red_black(u0):
        u = u0.copy()
        for _ in range(3):
            u[1:-1:2] = u[:-2:2] * u[2::2]
            u[2:-1:2] = u[1:-2:2] + u[3::2]
        return np.sum(u * u)

    assert "unbroadcast" not in checked(red_black, LINE).source
    checked(red_black, LINE[:6])


def test_slices_with_the_same_bounds_of_equal_axes_are_equally_long():
    def tails(x):
        y = np.zeros_like(x)
        for k in range(len(x)):
            y[k:] = y[k:] * x[k] + np.sin(x[k:])
        return np.sum(y * y)

    assert "unbroadcast" not in checked(tails, LINE).source


def test_slices_of_different_turns_are_not_taken_to_be_equally_long():
    def heads(x):
        parts = []
        for k in range(1, 4):
            parts.append(x[:k] * x[0])
        return np.sum(parts[0] * parts[1]) + np.sum(parts[0] + parts[2])

    x = LINE
    expected = grad(heads, mode="tape")(x)
    np.testing.assert_allclose(grad(heads)(x), expected, rtol=1e-12)
    np.testing.assert_allclose(expected, differences.gradient(heads, (x,), {}, 0), rtol=1e-7)


def test_one_entry_is_broadcast():
    def shifted(x):
        s = 0.0
        for k in range(len(x)):
            s += np.sum(np.sin(x + x[k : k + 1]))
        return s

    checked(shifted, LINE)
    checked(shifted, LINE[:1])


def test_a_slice_of_no_entry():
    def beyond(x, n):
        s = 0.0
        for k in range(n):
            s += np.sum(x[k : k + 1] * x[:1])
        return s

    checked(beyond, LINE[:3], 5)


# ---------------------------------------------------------------- outer products


def test_outer_products_are_put_together():
    def network(w, x):
        h = x
        for _ in range(4):
            h = np.tanh(w @ h)
        return np.sum(h * h)

    derivative = checked(network, SQUARE, LINE[:5], argnums=(0, 1))
    assert "sum_of_outers(dw_outers, w)" in derivative.source


def test_no_turn_no_outer_product():
    def network(w, x, steps):
        h = x
        for _ in range(steps):
            h = w @ h
        return np.sum(h * h)

    np.testing.assert_array_equal(grad(network, mode="compiled")(SQUARE, LINE[:5], 0), np.zeros((5, 5)))
    single = grad(network, mode="compiled")(SQUARE.astype(np.float32), LINE[:5].astype(np.float32), 2)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, grad(network, mode="tape")(SQUARE, LINE[:5], 2), rtol=1e-5)


def test_vectors_that_are_written_to_are_not_kept_as_they_are():
    def network(w, x):
        v = x.copy()
        s = 0.0
        for i in range(4):
            s += np.sum(np.sin(w @ v))
            v[i] *= 0.5
            v += 0.1 * s
        return s

    checked(network, SQUARE, LINE[:5], argnums=(0, 1))


def test_several_sums_and_other_uses_of_the_matrix():
    def filtered(w, x):
        h, g = x, x
        for i in range(3):
            h = np.tanh(w @ h - w @ g)
            g = g + w[i] * h
        return np.sum(h * g)

    checked(filtered, SQUARE, LINE[:5], argnums=(0, 1))


def test_outer_products_of_a_second_derivative():
    def network(w):
        h = LINE[:5]
        for _ in range(3):
            h = np.tanh(w @ h)
        return np.sum(h * h)

    first = grad(network, mode="compiled")

    def along(w):
        return np.sum(first(w) * np.sin(SQUARE))

    checked(along, SQUARE)


# ---------------------------------------------------------------- what is read twice


def test_what_is_read_twice_is_added_to_once():
    def cubes(x):
        s = 0.0
        for i in range(len(x)):
            s += x[i] * x[i] * x[i]
        return s

    assert checked(cubes, LINE).source.count("dx[i]") == 1


def test_an_element_that_is_written_between_two_reads():
    def rewritten(x):
        a = x * 1.0
        s = 0.0
        for i in range(len(x) - 1):
            t = a[i] * a[i + 1]
            a[i + 1] = t * a[i]
            s += a[i] * a[i + 1] * t
        return s + np.sum(a)

    checked(rewritten, LINE)


def test_a_read_before_the_loop_and_in_it():
    def outside(x):
        s = x[0] * x[1]
        for i in range(3):
            s = s * x[0] + x[i] * x[1]
            if s > 2.0:
                s = s - x[1] * x[0]
        return s

    checked(outside, LINE)


def test_arrays_made_alike_that_are_written_to_stay_apart():
    def buffers(x):
        a, b = x * 2.0, x * 2.0
        for i in range(3):
            a[i] = b[i + 1] * a[i + 1]
            b[i] = a[i] + b[i + 2]
        return np.sum(a * b)

    checked(buffers, LINE)


def test_an_array_of_numbers_gives_each_its_part():
    def spring(x):
        y = np.array([x[0], x[1]])
        for _ in range(3):
            y = y + 0.1 * np.array([y[1], -x[2] * y[0]])
        table = np.array([[y[0], 1.0], [x[3], y[0] * y[1]]])
        return np.sum(table * table) + np.sum(np.array([x[:2], y]) ** 3)

    assert "conversion_pullback" not in checked(spring, LINE).source


# ---------------------------------------------------------------- zeros stay zeros


@pytest.mark.parametrize("x", [0.5, 2.0])
def test_a_number_that_was_divided_by_is_not_zero(x):
    def quotients(x):
        y = x
        for k in range(3):
            y = y / x + k * x
            if y > 100.0:
                y = 1.0 / (x - 7.0)
        return y

    checked(quotients, x)


def test_extremes_of_large_arrays():
    rng = np.random.default_rng(3)
    x, y, g = rng.normal(size=(3, 900))
    y[::7] = x[::7]
    g[::5], g[::11] = np.inf, np.nan
    expected = np.where(x < y, g, np.where(x == y, g / 2, 0.0))
    np.testing.assert_array_equal(where_less(g, x, y), expected)
    np.testing.assert_array_equal(
        where_less(g.reshape(30, 30).T, x.reshape(30, 30).T, y.reshape(30, 30).T), expected.reshape(30, 30).T
    )


def test_a_square_root_behind_an_extreme_of_a_large_array():
    x = np.linspace(-1.0, 1.0, 1001)
    found = grad(lambda x: np.sum(np.sqrt(np.maximum(x, 0.0))), mode="compiled")(x)
    assert np.all(found[x < 0] == 0.0)
    np.testing.assert_allclose(found[x > 0], 0.5 / np.sqrt(x[x > 0]))


# ---------------------------------------------------------------- lists of numbers


def test_a_list_of_numbers_has_a_list_of_numbers_for_its_cotangent():
    def tree(x, n):
        values = [x * i for i in range(n + 1)]
        for step in range(n):
            values = [0.5 * (values[i + 1] * values[i] + x) for i in range(n - step)]
        return values[0]

    assert "tree_add" not in checked(tree, 0.8, 4).source


def test_a_list_of_numbers_iterated_and_read():
    def total(x):
        ps = [x[k] * 2.0 for k in range(4)]
        s = ps[0] * ps[1] + sum(ps)
        for p in ps:
            s += p * p * ps[2]
        return s * ps[-1]

    first = checked(total, LINE)

    def along(x):
        return np.sum(first(x)[0] * np.cos(LINE))

    checked(along, LINE)


def test_whole_powers_of_numbers_are_real():
    def powers(x, n):
        s = 0.0
        for i in range(n):
            s += x ** (2 * i - n)
        return s

    assert "conj" not in checked(powers, 1.3, 4).source
    checked(powers, -1.3, 4)


@pytest.mark.parametrize("at", [-1, 0, 1])
def test_what_is_in_a_list_twice_is_popped_once(at):
    def popped(x):
        xs = [x, x, 2 * x]
        if at == -1:
            xs.pop()
        elif at == 0:
            xs.pop(0)
        else:
            xs.pop(1)
        return sum(v * v for v in xs)

    derivative = checked(popped, 3.0)
    assert derivative(3.0)[0] == (12.0 if at == -1 else 30.0)


def test_only_pythons_own_range_surely_has_entries():
    import gast

    from s2sgrad.transform import ir
    from s2sgrad.transform.frontend.loops import has_entries

    call = ir.Code(gast.parse("range(3)").body[0].value, {}, ir.UNKNOWN)
    assert has_entries(call, ir.Namespace({}))
    assert not has_entries(call, ir.Namespace({"range": lambda n: []}))


def test_a_mixed_second_derivative_of_what_a_loop_binds_and_a_store_changes():
    def f(x, w):
        h = np.zeros(2)
        for _ in range(2):
            for _ in range(2):
                v = np.append(x, h)
            z = w @ v
            v[0] = 0.0
            h = z[:2]
        return np.sum(h * h)

    def slope(mode):
        first = grad(f, 1, mode=mode)
        return grad(lambda x, w: np.sum(np.sin(first(x, w))), mode=mode)

    x, w = np.array([0.3, 0.4]), np.arange(16.0).reshape(4, 4) / 10
    np.testing.assert_allclose(slope("compiled")(x, w), slope("tape")(x, w), rtol=1e-12)
