"""Fewer calls, less copying: the generated code that it gives, and that its numbers are those of the tape."""

import copy

import numpy as np
import pytest

from s2sgrad import grad
from s2sgrad.runtime import arrays

RNG = np.random.default_rng(7)


def agreeing(function, *args, argnums=0):
    """The source of the compiled gradient, which is that of the tape."""
    compiled, taped = (grad(function, argnums, mode=mode) for mode in ("compiled", "tape"))
    found, expected = (derivative(*copy.deepcopy(args)) for derivative in (compiled, taped))
    for d, e in zip(*[g if isinstance(argnums, tuple) else (g,) for g in (found, expected)], strict=True):
        assert np.shape(d) == np.shape(e)
        np.testing.assert_allclose(d, e, rtol=1e-12, atol=1e-14)
    return compiled.source


# ---------------------------------------------------------------- minimum and maximum ask once


SPECIAL = np.array([0.0, -1.0, 2.0, np.inf, -np.inf, np.nan, 3.0])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128"])
@pytest.mark.parametrize("y", [SPECIAL, np.roll(SPECIAL, 1), SPECIAL[:, None], 1.0, np.float32(2.0)])
@pytest.mark.parametrize("special", [False, True])
def test_both_parts_are_those_of_each(dtype, y, special):
    shape = np.broadcast_shapes(SPECIAL.shape, np.shape(y))
    g = (np.resize(SPECIAL, shape) if special else RNG.normal(size=shape)).astype(dtype)
    found = arrays.split_by_less(g, SPECIAL, y)
    for part, expected in zip(found, (arrays.where_less(g, SPECIAL, y), arrays.where_less(g, y, SPECIAL)), strict=True):
        assert part.dtype == g.dtype
        np.testing.assert_array_equal(part, expected)
    expected = np.where(np.less(SPECIAL, y), g, np.where(np.equal(SPECIAL, y), g / 2, 0.0))
    np.testing.assert_array_equal(found[0], expected)


def test_a_strided_cotangent():
    g, x, y = RNG.normal(size=(3, 6, 4))[:, ::2, ::-1]
    less = x < y
    for part, expected in zip(arrays.split_by_less(g, x, y), (g * less, g * ~less), strict=True):
        np.testing.assert_array_equal(part, expected)


def test_minimum_of_two_arrays():
    def f(x, y):
        for _ in range(3):
            x, y = np.minimum(x, y * y), np.maximum(x, y)
        return np.sum(x * y)

    source = agreeing(f, RNG.normal(size=5), RNG.normal(size=5), argnums=(0, 1))
    assert "where_less(" not in source and "part_where" not in source and source.count(" = split(") == 2


# ---------------------------------------------------------------- products in which zeros stay


def test_a_product_keeps_zeros():
    g, p, q = np.array([0.0, 1.0, 0.0, 2.0]), np.array([0.5, 0.0, np.nan, 3.0]), np.array([1.0, np.inf, np.nan, 4.0])
    np.testing.assert_array_equal(arrays.product(g, p, q), [0.0, 0.0, 0.0, 24.0])
    np.testing.assert_array_equal(arrays.product(g, p, q), arrays.times(arrays.times(g, p), q))


def test_each_factor_is_looked_at_that_may_be_infinite_alone():
    def f(x):
        return np.sum(np.sqrt(np.exp(-1 / x)))

    source = agreeing(f, np.array([0.5, 2.0]))
    assert "times(" in source


def test_the_derivative_of_a_logistic_function_multiplies_by_what_is_at_hand():
    def f(x):
        return np.sum(1 / (1 + np.exp(-x)))

    with np.errstate(over="ignore"):
        source = agreeing(f, np.array([0.5, -1.0, 800.0, -800.0, np.inf, -np.inf, np.nan]))
    assert "over(" not in source and source.count("product(") == 1


def test_a_reciprocal_where_its_cotangent_is_zero():
    def f(x):
        return np.sum(np.where(x > 0, 1 / x, x) + np.where(x > 0, 2 / x, x))

    with np.errstate(all="ignore"):
        agreeing(f, np.array([0.0, 2.0, -1.0, np.inf, np.nan, -np.inf, 1e-200]))


# ---------------------------------------------------------------- parts that do not overlap


def gates(w, x):
    n = len(x) // 4
    h = np.ones(n)
    for _ in range(3):
        z = w * x
        h = np.tanh(z[:n]) * h + np.sin(z[n : 2 * n]) * z[2 * n : 3 * n] + z[3 * n :]
    return np.sum(h * h)


def test_parts_that_follow_each_other_are_stored():
    source = agreeing(gates, RNG.normal(size=12), RNG.normal(size=12))
    assert source.count("dz[") == 4 and "] += " not in source
    assert "dz = np.zeros(x.shape)" in source


@pytest.mark.parametrize("part", [lambda z, n, m: z[1 : n + 1], lambda z, n, m: z[-n:], lambda z, n, m: z[m : m + n]])
def test_parts_that_may_overlap_are_added(part):
    def f(w, x, m):
        n = len(x) // 4
        z = w * x
        return np.sum(z[:n] * part(z, n, m))

    assert "] += " in agreeing(f, RNG.normal(size=8), RNG.normal(size=8), 1)


def test_a_bound_that_may_be_negative_is_no_length():
    def f(w, n):
        z = w * w
        return np.sum(z[:n]) * np.sum(z[n:]) + np.sum(z[: 2 * n] * 3.0)

    for n in (2, -2):
        assert "] += " in agreeing(f, RNG.normal(size=8), n)


# ---------------------------------------------------------------- what is not asked for is not computed


def test_a_part_of_a_product_is_the_product_of_a_part():
    def f(w, xs):
        h = np.zeros(3)
        for x in xs:
            h = np.tanh(np.concatenate([x, h]) @ w)
        return np.sum(h)

    source = agreeing(f, RNG.normal(size=(5, 3)), RNG.normal(size=(4, 2)))
    assert "w[n:] @ " in source


def test_a_part_of_a_product_with_what_was_filled_before():
    def f(w, xs):
        h = np.ones(3)
        for x in xs:
            z = np.concatenate([x, h]) @ w
            h = np.tanh(z[:3]) * np.sin(z[3:])
        return np.sum(h)

    source = agreeing(f, RNG.normal(size=(5, 6)), RNG.normal(size=(4, 2)))
    assert "w[n:] @ dz" in source


def test_a_part_of_a_product_with_what_is_written_afterwards():
    def f(w, x):
        y = x * 1.0
        for _ in range(2):
            z = w @ y
            y[:] = np.cos(y)
            y[1:] *= z[:2]
        return np.sum(y)

    agreeing(f, RNG.normal(size=(3, 3)), RNG.normal(size=3), argnums=(0, 1))
    of_gradient = grad(lambda w, x: np.sum(grad(f, mode="compiled")(w, x) ** 2), mode="tape")
    w, x = RNG.normal(size=(3, 3)), RNG.normal(size=3)
    np.testing.assert_allclose(
        of_gradient(w, x), grad(lambda w, x: np.sum(grad(f, mode="tape")(w, x) ** 2), mode="tape")(w, x), rtol=1e-10
    )


# ---------------------------------------------------------------- in loops


def test_what_is_seen_in_a_turn_to_be_of_one_length_is_added_in_place():
    def f(w, x):
        n = len(x) // 2
        c = np.zeros(n)
        total = 0.0
        for _ in range(3):
            z = w * x
            c = np.sin(z[:n]) * c + np.cos(z[n:])
            h = np.tanh(c)
            total += np.sum(h * h)
        return total

    source = agreeing(f, RNG.normal(size=8), RNG.normal(size=8), argnums=(0, 1))
    assert "dc += " in source
    agreeing(f, np.float64(0.3), RNG.normal(size=8), argnums=(0, 1))
    agreeing(f, RNG.normal(size=(1,)), RNG.normal(size=8), argnums=(0, 1))


def test_what_is_taken_away_is_not_given_a_sign_first():
    def f(a):
        low = np.zeros_like(a)
        for j in range(len(a)):
            low[j, j] = np.sqrt(a[j, j] - low[j, :j] @ low[j, :j])
            low[j + 1 :, j] = (a[j + 1 :, j] - low[j + 1 :, :j] @ low[j, :j]) / low[j, j]
        return np.sum(np.log(np.diag(low))) + np.sum(low)

    source = agreeing(f, RNG.normal(size=(4, 4)) + 5 * np.eye(4))
    assert "] -= " in source and "= -(" not in source


def methods(x):
    a = x * 1.0
    total = 0.0
    for _ in range(2):
        total += np.sum(a * a) + np.mean(np.sin(a), axis=0)[0] + np.sum(a, 1, keepdims=True)[0, 0]
        a = a / np.max(a, axis=1, keepdims=True) * np.min(a) + np.prod(a)
    return total * np.sum(a)


def test_reductions_in_loops_are_methods_outside_they_are_as_written():
    source = agreeing(methods, RNG.normal(size=(3, 2)) + 2)
    before = source[: source.index("# backward")]
    assert before.count("np.sum(") == 1 and "np.sum(a)" in before
    for name in ("sum", "mean", "max", "min", "prod"):
        assert f".{name}(" in before.replace("np.sum(", "")


def test_a_reduction_of_what_may_be_no_array_stays_as_it_is():
    def f(x):
        s = x
        for _ in range(2):
            s = np.sum(s) * x
        return np.sum(s)

    agreeing(f, 0.5)
    agreeing(f, np.float64(0.5))
    agreeing(f, RNG.normal(size=3))
    agreeing(lambda x: sum(np.sum([x[i], x[0]]) for i in range(2)), RNG.normal(size=3))


def test_what_was_stretched_is_summed_once():
    def f(a, b, c, n):
        for i in range(n):
            y = a[i:] * b
            c = y + c
        return np.sum(c * c)

    a, c = RNG.normal(size=4), RNG.normal(size=4)
    for b in (RNG.normal(size=4), RNG.normal(size=1)):
        agreeing(f, a, b, c, 1, argnums=(0, 1, 2))
    agreeing(f, a[:1], RNG.normal(size=1), c, 1, argnums=(0, 1, 2))
    agreeing(f, a[:1], c, RNG.normal(size=(3, 4)), 1, argnums=(0, 1, 2))


def test_nothing_is_made_like_what_is_not_there_yet():
    def f(params, x):
        for w, b in params:
            y = x @ w + b[0]
        return np.sum(y) + np.sum(w * w) + np.sum(b)

    params = [(RNG.normal(size=(3, 3)), RNG.normal(size=3)) for _ in range(6)]
    found, expected = (grad(f, mode=mode)(params, np.ones((2, 3))) for mode in ("compiled", "tape"))
    for one, other in zip(found, expected, strict=True):
        for d, e in zip(one, other, strict=True):
            np.testing.assert_allclose(d, e, rtol=1e-12)


# ---------------------------------------------------------------- additions in place


def test_a_stretched_number_is_added_without_being_stretched():
    def f(x, w):
        k = len(w)
        total = 0.0
        for i in range(len(x) - k + 1):
            total = total + np.sum(x[i : i + k] * w) ** 2
        return total

    source = agreeing(f, RNG.normal(size=9), RNG.normal(size=3), argnums=(0, 1))
    assert "np.broadcast_to(" not in source
    agreeing(f, RNG.normal(size=4), RNG.normal(size=1), argnums=(0, 1))


def test_what_is_added_and_taken_out_at_once_passes_by():
    def f(x):
        r = np.zeros(len(x))
        for i in range(len(x)):
            r[i] = x[i] * x[i]
            x = x * r[i]
        return np.sum(x) + np.sum(r)

    source = agreeing(f, RNG.normal(size=4))
    assert "= dr[i] + np.vdot(" in source and "dr[i] += " not in source


def test_what_passes_by_was_computed_from_a_part_that_is_read_where_it_is():
    def f(x, n):
        x[-1] = x[n % 2]
        x[1:-1] += x[-1] * x[1:-1]
        return np.sum(0.5 * x)

    assert "dt = dx[-1] + dt" in agreeing(f, RNG.normal(size=4), 2)


@pytest.mark.parametrize("n", [0, 1, 3])
def test_what_a_loop_carries_is_added_to_in_place(n):
    def f(x, w):
        total = 0.0
        for _ in range(n):
            x = np.tanh(w @ x)
            total = total + np.sum(x * x)
        return total + np.sum(x * x)

    source = agreeing(f, RNG.normal(size=3), RNG.normal(size=(3, 3)), argnums=(0, 1))
    assert "dx += 2.0 * x" in source or "dx += 2 * x" in source


def test_what_a_loop_carries_and_somebody_else_reads_is_not_written_to():
    def f(x, w):
        kept = 0.0
        for _ in range(3):
            for _ in range(2):
                y = x
                x = np.sin(w * x)
                kept = kept + np.sum(x * y) - np.sum(y)
        return kept

    agreeing(f, RNG.normal(size=3), RNG.normal(size=3), argnums=(0, 1))


def test_a_shape_is_not_asked_of_what_another_branch_inside_defines():
    def f(x, y):
        for i in range(len(x)):
            if i:
                continue
            x[i] = 0.5
            x, y = y, x
            u = np.array(x)
            x[1] = u[0]
            if i > 0:
                x = (x / 1.5) ** 2
        return np.sum(x * 0.7)

    agreeing(f, RNG.normal(size=2), RNG.normal(size=2), argnums=(0, 1))


def test_factors_of_several_shapes_or_dtypes_are_multiplied_one_by_one():
    def several_shapes(x, y):
        return np.sum(np.exp(np.exp(x) * y))

    def several_dtypes(x, y):
        return np.sum(np.exp(np.exp(x) + y))

    assert "product(" not in agreeing(several_shapes, RNG.normal(size=3), RNG.normal(size=(4, 3)), argnums=(0, 1))
    single = RNG.normal(size=3).astype(np.float32)
    assert "product(" not in agreeing(several_dtypes, single, RNG.normal(size=3), argnums=(0, 1))


@pytest.mark.parametrize("g", [1, 2.0, 1j, np.float64(3.0), np.ones((2, 1))])
@pytest.mark.parametrize("x", [1, 2.0, 1j, np.float64(3.0), np.ones((1, 1)), np.array(1.0)])
def test_unbroadcast_of_numbers_and_arrays(g, x):
    found = arrays.unbroadcast(g, x)
    expected = np.sum(g) if np.iscomplexobj(x) else np.sum(g).real
    assert np.shape(found) == np.shape(x)
    assert np.all(found == expected)
