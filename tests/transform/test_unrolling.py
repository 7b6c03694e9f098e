"""Loops over a few values become the statements that they are."""

# ruff: noqa: B007, B020, B023, B905, SIM108

import numpy as np
import pytest

from s2sgrad import grad


def layers(params, x):
    h = x
    for w, b in params:
        h = np.tanh(h @ w + b)
    return np.sum(h)


def but_the_last(params, x):
    h = x
    for w, b in params[:-1]:
        h = np.tanh(h @ w + b)
    w, b = params[-1]
    return np.sum(h @ w + b)


def numbered(params, x):
    total = 0.0
    for i, (w, b) in enumerate(params):
        total = total + (i + 1) * np.sum((x @ w + b) ** 2)
    return total


def zipped(params, x):
    ws, bs = [p[0] for p in params], [p[1] for p in params]
    total = 0.0
    for w, b in zip(ws, bs):
        total = total + np.sum(np.sin(x @ w)) * np.sum(b)
    return total


def backwards(params, x):
    total = np.sum(x)
    for w, b in reversed(params):
        total = total * np.sum(w) + np.sum(b * b)
    return total


def after_the_loop(params, x):
    for w, b in params:
        y = x @ w
    return np.sum(y) + np.sum(w * w) + np.sum(b)


def else_too(params, x):
    h = np.sum(x)
    for w, b in params:
        h = h + np.sum(w) * np.sum(b)
    else:
        h = h * h
    return h


def with_a_branch(params, x):
    h = np.sum(x)
    for w, b in params:
        if np.sum(w) > 0:
            h = h * np.sum(w)
        else:
            h = h - np.sum(b)
    return h


def rebound(params, x):
    total = 0.0
    for params in params[:2]:
        total = total + np.sum(params[0] ** 2)
    return total


def grows(params, x):
    kept = []
    for w, b in params:
        kept.append(np.sum(w) * np.sum(b))
    return kept[0] * kept[-1]


FUNCTIONS = [layers, but_the_last, numbered, zipped, backwards, after_the_loop, else_too, with_a_branch, rebound, grows]


def params_of(n, size=3):
    rng = np.random.default_rng(n)
    return [(rng.normal(size=(size, size)), rng.normal(size=size)) for _ in range(n)]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7])
def test_same_gradients(function, n):
    params, x = params_of(n), np.linspace(-1, 1, 6).reshape(2, 3)
    found, expected = grad(function)(params, x), grad(function, mode="tape")(params, x)
    assert len(found) == n and type(found) is list
    for one, other in zip(found, expected, strict=True):
        for d, e in zip(one, other, strict=True):
            np.testing.assert_allclose(d, e, atol=1e-12)


def test_short_loops_are_unrolled_and_long_ones_are_not():
    derivative = grad(layers, mode="compiled")
    x = np.ones((2, 3))
    derivative(params_of(3), x)
    assert "for " not in derivative.source
    derivative(params_of(9), x)
    assert "for " in derivative.source


def test_a_list_that_has_become_longer():
    derivative = grad(layers, mode="compiled")
    x = np.ones((2, 3))
    for n in (2, 3, 2, 6, 1):
        found = derivative(params_of(n), x)
        expected = grad(layers, mode="tape")(params_of(n), x)
        np.testing.assert_allclose(found[0][0], expected[0][0], atol=1e-12)


def test_nothing_flows_to_what_is_not_asked_for():
    derivative = grad(layers, mode="compiled")
    derivative(params_of(2), np.ones((2, 3)))
    code = "".join(line.partition("#")[0] for line in derivative.source.splitlines())
    assert code.count("@") == 5  # two forward, two for the weights, one for the layer between


def test_lambdas_see_the_last_value():
    def f(params, x):
        made = []
        for w, b in params:
            made.append(lambda: np.sum(w))
        return sum(g() for g in made) * np.sum(x)

    found, expected = grad(f)(params_of(2), np.ones(3)), grad(f, mode="tape")(params_of(2), np.ones(3))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one[0], other[0])


def test_empty_list():
    assert grad(layers)([], np.ones((2, 3))) == []
