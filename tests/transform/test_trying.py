"""What a derivative raises where its function does in a `try` block, and what it does then."""

import numpy as np
import pytest

import s2sgrad

X = np.array([0.5, 1.5, 2.0])
SEEN = []


def solved(x, A):
    try:
        y = np.linalg.solve(A, x)
    except np.linalg.LinAlgError as error:
        raise ValueError(f"singular of size {len(A)}") from error
    finally:
        SEEN.append(len(x))
    return np.sum(y * x)


def looked_up(x, table, key):
    total = 0.0
    for v in x:
        try:
            w = table[key] * v
        except KeyError as error:
            SEEN.append(key)
            raise LookupError(key) from error
        total = total + w
    return total


@pytest.mark.parametrize("mode", ["compiled", "tape"])
def test_the_error_is_the_handlers(mode):
    SEEN.clear()
    derivative = s2sgrad.grad(solved, mode=mode)
    np.testing.assert_allclose(derivative(X, np.eye(3)), 2 * X)
    with pytest.raises(ValueError, match="singular of size 3") as caught:
        derivative(X, np.zeros((3, 3)))
    assert isinstance(caught.value.__cause__, np.linalg.LinAlgError)
    assert SEEN == [3, 3]


@pytest.mark.parametrize("mode", ["compiled", "tape"])
def test_a_handler_reads_what_it_is_given(mode):
    SEEN.clear()
    derivative = s2sgrad.grad(looked_up, mode=mode)
    np.testing.assert_allclose(derivative(X, {"a": 2.0}, "a"), [2.0, 2.0, 2.0])
    with pytest.raises(LookupError, match="b"):
        derivative(X, {"a": 2.0}, "b")
    assert SEEN == ["b"]


def test_the_source_has_the_block():
    derivative = s2sgrad.grad(solved)
    derivative(X, np.eye(3))
    source = derivative.source
    assert "except np.linalg.LinAlgError as error:" in source
    assert "    finally:\n        SEEN.append(len(x))\n" in source


def test_the_pullback_runs_after_the_block():
    SEEN.clear()
    value, pullback = s2sgrad.vjp(lambda x: solved(x, np.eye(3)), X)
    np.testing.assert_allclose(pullback(1.0)[0], 2 * X)
    assert SEEN == [3]


def solved_or_not(A, b):
    try:
        y = np.linalg.solve(A, b)
    except np.linalg.LinAlgError as error:
        print(error)
        y = A @ b
    return np.sum(y)


def test_the_source_of_an_attempt():
    derivative = s2sgrad.grad(solved_or_not)
    derivative(np.eye(3), X)
    forward = """\
    try:
        y = np.linalg.solve(A, b)
        done = True
    except np.linalg.LinAlgError as error:
        print(error)
        y = A @ b
        done = False
"""
    assert forward in derivative.source
    assert "    if done:\n" in derivative.source


def tried_for_its_own_sake(x, table):
    try:
        table["a"]
        y = x * 2
    except KeyError:
        y = x * 3
    return np.sum(y)


def test_what_is_tried_runs_for_its_own_sake():
    derivative = s2sgrad.grad(tried_for_its_own_sake, mode="compiled")
    np.testing.assert_array_equal(derivative(X, {"a": 1}), [2.0, 2.0, 2.0])
    np.testing.assert_array_equal(derivative(X, {"b": 1}), [3.0, 3.0, 3.0])


def in_steps(x, y, fails):
    try:
        x = x * y
        if fails:
            raise ValueError("it fails")
        y[0] = np.sum(x)
    except ValueError:
        y *= x
    return np.sum(x * y)


def test_the_source_of_steps():
    derivative = s2sgrad.grad(in_steps, (0, 1))
    for fails in (True, False):
        expected = s2sgrad.grad(in_steps, (0, 1), mode="tape")(X, X + 1.0, fails)
        np.testing.assert_allclose(derivative(X, X + 1.0, fails), expected)
    forward = """\
    try:
        x1 = x * y
    except ValueError:
        failed = True
        x1 = x
        done1 = False
    else:
        try:
            if fails:
                raise ValueError("it fails")
            y[0] = np.sum(x1)
            done = True
        except ValueError:
            failed = True
            done = False
        done1 = True
"""
    assert derivative.engine == "compiled"
    assert forward in derivative.source


def test_steps_leave_what_the_function_leaves():
    for fails in (True, False):
        plain, differentiated = X + 1.0, X + 1.0
        in_steps(X, plain, fails)
        s2sgrad.grad(in_steps, mode="compiled")(X, differentiated, fails)
        np.testing.assert_array_equal(plain, differentiated)


def bound_in_a_step(x, fails):
    try:
        y = x * 2
        if fails:
            raise ValueError("it fails")
        x = x * y
    except ValueError:
        x = x * 3
    return np.sum(y * x)


def test_what_may_have_been_bound_by_half_is_not_followed():
    derivative = s2sgrad.grad(bound_in_a_step)
    np.testing.assert_allclose(derivative(X, True), 12 * X)
    assert "y may have been bound before what is tried raised an exception" in str(derivative.explain())


def written_before_it_raises(x):
    with np.errstate(over="raise"):
        try:
            s = np.sum(x)
            x *= 1e300
            s = s + x[0]
        except Exception:
            s = np.sum(x)
    return s


def test_what_arithmetic_raises_after_it_has_written():
    derivative = s2sgrad.grad(written_before_it_raises, mode="compiled")
    np.testing.assert_allclose(derivative(X.copy()), [1e300 + 1, 1, 1])
    with pytest.raises(RuntimeError, match="no derivative where an array has been written to"):
        derivative(X * 1e10)


def changed_finally(x, fails):
    try:
        if fails:
            raise ValueError("it fails")
        y = x * 2
    finally:
        x *= 3
    return np.sum(x * y)


def test_what_is_changed_finally():
    derivative = s2sgrad.grad(changed_finally, mode="compiled")
    x = X.copy()
    np.testing.assert_allclose(derivative(x, False), 12 * X)
    np.testing.assert_array_equal(x, 3 * X)
    with pytest.raises(ValueError, match="it fails"):
        derivative(x, True)
    np.testing.assert_array_equal(x, 9 * X)
    assert "    except:\n        x *= 3\n        raise\n" in derivative.source
