"""What loops and functions save where the backward pass needs less than the arrays themselves."""

import copy

import numpy as np
import pytest

from s2sgrad import grad

RNG = np.random.default_rng(5)
LINE = RNG.normal(size=6)
SQUARE = RNG.normal(size=(4, 4))


def agreeing(function, *args):
    """The source of the compiled gradient with respect to all arguments, which is that of the tape; twice."""
    argnums = tuple(range(len(args)))
    first = grad(function, argnums)

    def again(*args):
        total = 0.0
        for d in first(*args):
            total = total + np.sum(np.sin(d))
        return total

    sources = []
    for f in (function, again):
        compiled, taped = (grad(f, argnums, mode=mode) for mode in ("compiled", "tape"))
        found, expected = (derivative(*copy.deepcopy(args)) for derivative in (compiled, taped))
        for d, e in zip(found, expected, strict=True):
            np.testing.assert_allclose(d, e, rtol=1e-12, atol=1e-14)
        sources.append(compiled.source)
    return sources[0]


def saved(source):
    """What is appended to the list that the backward loop runs over."""
    return source.split("saved.append(")[1].split("\n")[0][:-1]


def test_the_lesser_of_two_arrays():
    def f(d):
        for k in range(len(d)):
            d = np.minimum(d, d[:, k : k + 1] + d[k : k + 1, :])
        return np.sum(d * d)

    source = agreeing(f, SQUARE)
    assert saved(source) == "(k, less)" and "less = is_less(d, t)" in source and "split(dd, less)" in source
    agreeing(f, np.round(SQUARE))  # which has ties


def test_bounds_are_read_off_the_cotangent():
    def points(f):
        u = np.zeros((f.shape[0] + 2, f.shape[1] + 2))
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                u[i, j] = u[i - 1, j] + u[i, j - 1] - 0.5 * f[i - 1, j - 1]
        return np.sum(u)

    def slices(f):
        u = np.sin(f)
        for _ in range(2):
            u[1 : len(u)] = u[: len(u) - 1] * 2.0
        return np.sum(u * u)

    for function in (points, slices):
        source = agreeing(function, SQUARE)
        assert "np.copy" not in source
    source = agreeing(points, SQUARE)
    assert "saved" not in source and "range(1, du.shape[1] - 1)" in source


def test_the_loop_back_runs_over_what_is_written_to():
    def f(x):
        u = np.sin(x)
        for i in range(1, len(u)):
            u[i] = u[i - 1] * 0.5 + x[i]
        return np.sum(u * u)

    source = agreeing(f, LINE)
    assert "for i in reversed(range(1, len(u))):" in source and "u1" not in source


def test_relu():
    def f(x, w):
        for _ in range(3):
            x = np.maximum(w @ x, 0)
        return np.sum(x * x)

    assert saved(agreeing(f, LINE[:4], SQUARE)) == "(x, less)"


@pytest.mark.filterwarnings("ignore")
def test_ties_and_what_cannot_be_compared():
    def f(x, y):
        total = 0.0
        for k in range(3):
            x = np.minimum(x * 1.0, y + k - 1)
            total = total + np.sum(x)
        return total

    x, y = np.array([1.0, 2.0, np.nan, np.inf, -np.inf, 3.0]), np.array([1.0, np.nan, 2.0, np.inf, 0.0, 4.0])
    assert saved(agreeing(f, x, y)) == "less"


def test_bounds_and_largest_entries():
    def bounded(x, w):
        for _ in range(3):
            x = np.clip(w @ x, -1.0, 1.0)
        return np.sum(x * x)

    def largest(score, w):
        for _ in range(3):
            score = np.max(score[:, None] + w, axis=0)
        return np.sum(score * score)

    assert saved(agreeing(bounded, LINE[:4], SQUARE)) == "(x, t == x1)"
    assert saved(agreeing(largest, LINE[:4], SQUARE)) == "hits"


def test_of_a_function_that_is_called():
    def relu(x):
        return np.maximum(x, 0.0)

    def f(x, w):
        for _ in range(3):
            x = relu(w @ x)
        return np.sum(x * x)

    source = agreeing(f, LINE[:4], SQUARE)
    assert "saved = (less,)" in source and "part_where(dresult, less)" in source


def test_of_a_branch():
    def f(x, w):
        for k in range(4):
            x = w @ x
            if k % 2:
                y = np.tanh(x)
                x = np.maximum(y, 0.1 * x) + 1.0
        return np.sum(x * x)

    source = agreeing(f, LINE[:4], SQUARE)
    assert "is_less" in source or "where_less" in source


def test_what_is_saved_anyway_is_compared_backward():
    def f(x):
        for _ in range(3):
            x = np.minimum(np.sin(x), np.cos(x)) * np.tanh(x)
        return np.sum(x)

    def rows(w):
        total = 0.0
        for row in w:
            total = total + np.sum(np.maximum(row, 0.2) ** 2)
        return total

    def numbers(x):
        y = x[0]
        for v in x:
            y = min(y * v, y + v)
        return y

    def once(x, y):
        return np.sum(np.minimum(x * x, y * y) ** 2)

    assert "is_less" not in agreeing(rows, SQUARE)
    assert "is_less" not in agreeing(numbers, LINE)
    assert "is_less" not in agreeing(once, LINE, LINE[::-1].copy())
    assert "is_less" not in agreeing(f, LINE)


def test_arrays_that_are_written_to():
    def f(x, w):
        x = x.copy()
        for k in range(4):
            x[1:] = np.minimum(x[1:], w[k] + x[:-1])
        return np.sum(x * x)

    source = agreeing(f, LINE, LINE[:4] + 0.5)
    assert "np.copy" not in source and saved(source) == "(k, less)"

    def other(x, w):
        x = x.copy()
        for k in range(4):
            y = x[1:]
            x[0] = x[0] * w[k]
            x[1:] = np.maximum(y, x[:-1]) * w[0]
        return np.sum(x * x)

    agreeing(other, LINE, LINE[:4] + 0.5)


def test_a_loop_that_is_left():
    def f(x):
        for k in range(10):
            x = np.minimum(1.5 * x, x + 0.3)
            if np.sum(x) > 4.0:
                break
            x = np.maximum(x, 0.2 * k - 1.0)
        return np.sum(x * x)

    agreeing(f, np.abs(LINE))


def test_only_a_shape_is_saved():
    def f(x):
        total = 0.0
        for k in range(3):
            total = total + np.sum(np.reshape(np.outer(x, x) * k, (-1, 2)) @ np.ones(2))
        return total

    agreeing(f, LINE)
