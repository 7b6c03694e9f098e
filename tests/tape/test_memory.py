"""Long graphs neither recurse nor stay: reference counting alone brings memory back."""

import gc
import threading
import tracemalloc

import numpy as np
import pytest

from s2sgrad.errors import TapeError
from s2sgrad.runtime.engine import backward
from s2sgrad.runtime.fallback import tape_vjp
from s2sgrad.runtime.grad_mode import enable_grad, is_grad_enabled, no_grad
from s2sgrad.runtime.node import leaf
from s2sgrad.runtime.tensor import traced

DEEP = 100_000


def chain(x, n):
    for _ in range(n):
        x = x * 1.00001
    return x


def test_a_deep_chain_runs_backward_and_is_freed_without_recursion():
    _, pullback = tape_vjp(chain, (2.0, DEEP), {}, [0])
    np.testing.assert_allclose(pullback(1.0)[0], 1.00001**DEEP)
    del pullback  # the graph is still whole: its deallocation must not recurse either


def test_a_deep_chain_that_is_never_pulled_back_is_freed():
    t = traced(np.ones(2), leaf())
    for _ in range(DEEP):
        t = t + 1.0
    del t


def test_a_deep_chain_of_writes():
    def f(x):
        y = np.zeros(2)
        for _ in range(DEEP // 10):
            y += x
            y[0] *= 0.5
        return np.sum(y)

    _, pullback = tape_vjp(f, (np.ones(2),), {}, [0], once=True)
    np.testing.assert_allclose(pullback(1.0)[0], [1.0, DEEP // 10])


@pytest.mark.parametrize("program", [lambda x: np.sum(chain(x, 500)), lambda x: np.sum(np.sin(x[1:] * x[:-1]) ** 2)])
def test_memory_returns_by_reference_counting_alone(program):
    x = np.ones(1000)

    def run():
        _, pullback = tape_vjp(program, (x,), {}, [0])
        pullback(1.0)

    run()
    gc.collect()
    gc.disable()
    try:
        tracemalloc.start()
        run()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(5):
            run()
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
        gc.enable()
    assert grown < 20_000  # one graph of the chain holds 4 MB


def test_saved_values_are_released_unless_retained():
    x = traced(np.ones(3), leaf())
    y = x * x
    assert np.array_equal(backward([(y.node, np.ones(3))], [x.node], retain=True)[0], [2, 2, 2])
    assert np.array_equal(backward([(y.node, np.ones(3))], [x.node])[0], [2, 2, 2])
    with pytest.raises(TapeError, match="released by an earlier pass"):
        backward([(y.node, np.ones(3))], [x.node])


def test_cotangents_passed_in_are_not_changed():
    g = np.ones(4)

    def f(x):
        y = x * 1.0
        y[0] = x[1]
        return y

    _, pullback = tape_vjp(f, (np.arange(4.0),), {}, [0])
    np.testing.assert_array_equal(pullback(g)[0], [0, 2, 1, 1])
    np.testing.assert_array_equal(g, 1)


def test_threads_run_at_the_same_time():
    results = {}

    def work(k):
        f = lambda x: np.sum(chain(x, 200) * k)  # noqa: E731
        for _ in range(20):
            _, pullback = tape_vjp(f, (np.ones(3),), {}, [0])
            results.setdefault(k, []).append(pullback(1.0)[0])

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for k in range(4):
        np.testing.assert_allclose(results[k], np.full((20, 3), k * 1.00001**200))


def test_no_grad_is_a_context_a_decorator_and_of_its_thread():
    x = traced(2.0, leaf())
    with no_grad():
        assert (x * x) == 4.0
        assert type(x * x) is float
        with enable_grad():
            assert (x * x).node is not None
        seen = []
        thread = threading.Thread(target=lambda: seen.append(is_grad_enabled()))
        thread.start()
        thread.join()
        assert seen == [True]
    assert is_grad_enabled()

    @no_grad()
    def f():
        return is_grad_enabled()

    assert f() is False
    with pytest.raises(ZeroDivisionError), no_grad():
        _ = 1 / 0
    assert is_grad_enabled()
