"""Looking at a derivative: what its loops save, and breakpoints in it."""

import sys

import numpy as np

from s2sgrad import grad


def helper(v):
    w = v * 2
    breakpoint()
    return w * w


def simulated(x, n):
    total = 0.0
    for i in range(n):
        s = np.sum(x * i)
        total = total + s * s
    y, k = x, 0
    while k < 3:
        y = np.sin(y) * np.exp(y)
        k += 1
    for j in range(2):
        y = y + x * j
    return total + np.sum(y)


def stopped(x, n):
    total = 0.0
    for i in range(n):
        s = np.sum(x * i)
        if i == 1:
            breakpoint()
        total = total + s * s
    return total + np.sum(helper(x))


def test_explain_says_what_loops_save():
    derivative = grad(simulated)
    derivative(np.ones(2), 3)
    (row,) = derivative.explain().rows
    first = simulated.__code__.co_firstlineno
    assert row.loops == ((first + 2, 2), (first + 6, 3), (first + 9, 0)), derivative.source
    text = str(derivative.explain())
    assert f"      the loop in line {first + 2} saves 2 values per iteration\n" in text
    assert f"      the loop in line {first + 9} saves nothing per iteration\n" in text


def test_breakpoints_stop_in_the_generated_source(monkeypatch):
    stops = []

    def stop():
        frame = sys._getframe(1)
        stops.append((frame.f_code.co_name, dict(frame.f_locals)))

    derivative = grad(stopped)
    monkeypatch.setattr(sys, "breakpointhook", stop)
    got = derivative(np.ones(2), 3)
    assert derivative.engine == "compiled"
    assert [name for name, _ in stops] == ["stopped_grad", "helper_forward"]
    assert stops[0][1]["i"] == 1 and stops[0][1]["s"] == 2.0
    np.testing.assert_array_equal(stops[1][1]["w"], [2.0, 2.0])
    np.testing.assert_allclose(got, grad(stopped, mode="tape")(np.ones(2), 3))
    assert "breakpoint()" in derivative.source
