"""Parameters of a call are what they were when it was made, for its derivative and for its views looked at again."""

import copy

import numpy as np
import pytest

from s2sgrad.errors import TapeError
from s2sgrad.runtime.fallback import tape_vjp
from tests.tape.numeric import differences

X = np.array([[0.3, -1.2, 0.8], [1.1, 0.4, -0.7]])


def check(f, x, *parameters):
    expected = f(x.copy(), *copy.deepcopy(parameters))
    out, pullback = tape_vjp(f, (x.copy(), *copy.deepcopy(parameters)), {}, [0])
    assert out == expected
    plain = differences(lambda x: f(x, *copy.deepcopy(parameters)), x)
    np.testing.assert_allclose(pullback(1.0)[0], plain, rtol=1e-6, atol=1e-7)


def change(p, new):
    if isinstance(p, dict):
        p.update(new)
    elif isinstance(p, list):
        p[:] = new
    else:
        p[...] = new


class Held:
    parameter = None


def used(x, call, p, new):
    a = x * 2.0
    v = call(a, p)
    s = np.sum(v**2)
    change(p, new)
    a *= 3.0
    return s + np.sum(v**3)


def of_argument(call, p, new):
    return lambda x, p: used(x, call, p, new), (p,)


def of_own(call, p, new):
    def f(x):
        return used(x, call, np.array(p) if isinstance(p, np.ndarray) else copy.deepcopy(p), new)

    return f, ()


def of_attribute(call, p, new):
    def f(x):
        change(Held.parameter, p)
        return used(x, call, Held.parameter, new)

    Held.parameter = copy.deepcopy(p)
    return f, ()


def array(*values):
    return np.array(values)


ONE, TWO = np.array(1), np.array(2)
CALLS = {
    # what is taken
    "reduceat": (lambda a, p: np.add.reduceat(a.ravel(), p), array(0, 2, 4), [0, 3, 4]),
    "reduceat, keyword": (lambda a, p: np.add.reduceat(a.ravel(), indices=p), array(0, 2, 4), [0, 3, 4]),
    "take": (lambda a, p: np.take(a, p), array(0, 2), [0, 3]),
    "take, keyword": (lambda a, p: np.take(a, indices=p), array(0, 2), [0, 3]),
    "take, method": (lambda a, p: a.take(indices=p), array(0, 2), [0, 3]),
    "take, list": (lambda a, p: np.take(a, indices=p), [0, 2], [0, 3]),
    "take, dict": (lambda a, p: np.take(a, **p), {"indices": [0, 2], "axis": 1}, {"axis": None}),
    "take, axis": (lambda a, p: np.take(a, [0, 1], axis=p), ONE, 0),
    "take_along_axis": (lambda a, p: np.take_along_axis(a, indices=p, axis=1), array([0, 2], [1, 1]), 0),
    "compress": (lambda a, p: np.compress(p, a, axis=1), array(True, False, True), False),
    "compress, method": (lambda a, p: a.compress(condition=p, axis=1), array(True, False, True), False),
    "compress, flat": (lambda a, p: a.compress(condition=p), array(True, False, True), False),
    "delete": (lambda a, p: np.delete(a, obj=p, axis=1), array(0, 2), 1),
    "delete, slice": (lambda a, p: np.delete(a, slice(p, None), axis=1), TWO, 1),
    "delete, list of numbers": (lambda a, p: np.delete(a, obj=[p, 2], axis=1), ONE, 0),
    "repeat": (lambda a, p: np.repeat(a, repeats=p, axis=1), array(1, 2, 1), [2, 1, 1]),
    "repeat, method": (lambda a, p: a.repeat(repeats=p, axis=1), array(1, 2, 1), [2, 1, 1]),
    "item": (lambda a, p: a[p], array(1, 0, 1), 0),
    "item, mask": (lambda a, p: a[:, p], array(True, False, True), False),
    # along which axis
    "sum": (lambda a, p: np.sum(a, axis=p), ONE, 0),
    "sum, method": (lambda a, p: a.sum(axis=p), ONE, 0),
    "sum, list of numbers": (lambda a, p: np.sum(a[None], axis=(0, p)), ONE, 2),
    "cumsum": (lambda a, p: np.cumsum(a, axis=p), ONE, 0),
    "cumsum, method": (lambda a, p: a.cumsum(axis=p), ONE, 0),
    "roll": (lambda a, p: np.roll(a, shift=p, axis=1), ONE, 0),
    "roll, axis": (lambda a, p: np.roll(a, 1, axis=p), ONE, 0),
    "roll, numbers": (lambda a, p: np.roll(a, shift=(p, 2), axis=(0, 1)), ONE, 0),
    "concatenate": (lambda a, p: np.concatenate([a, a], axis=p), ONE, 0),
    "where of a sum": (lambda a, p: np.sum(a, 1, where=p), array(True, False, True), False),
    "triu": (lambda a, p: np.triu(a, k=p), ONE, 0),
    "rot90": (lambda a, p: np.rot90(a, k=p), ONE, 0),
    # views
    "transpose": (lambda a, p: np.transpose(a, p)[0], array(1, 0), [0, 1]),
    "transpose, keyword": (lambda a, p: np.transpose(a, axes=p)[0], array(1, 0), [0, 1]),
    "transpose, method": (lambda a, p: a.transpose(p)[0], array(1, 0), [0, 1]),
    "transpose, list": (lambda a, p: np.transpose(a, axes=p)[0], [1, 0], [0, 1]),
    "transpose, numbers": (lambda a, p: np.transpose(a, axes=(p, 0))[0], ONE, 0),
    "moveaxis": (lambda a, p: np.moveaxis(a, p, [1, 0])[0], array(0, 1), [1, 0]),
    "moveaxis, keyword": (lambda a, p: np.moveaxis(a, source=p, destination=[1, 0])[0], array(0, 1), [1, 0]),
    "moveaxis, list": (lambda a, p: np.moveaxis(a, source=[0, 1], destination=p)[0], [1, 0], [0, 1]),
    "swapaxes": (lambda a, p: np.swapaxes(a, axis1=p, axis2=0)[0], ONE, 0),
    "flip": (lambda a, p: np.flip(a, axis=p)[0, :2], ONE, 0),
    "expand_dims": (lambda a, p: np.expand_dims(a, axis=p)[0], ONE, 2),
    "broadcast_to": (lambda a, p: np.broadcast_to(a, shape=p), array(2, 2, 3), [1, 2, 3]),
    "reshape": (lambda a, p: np.reshape(a, shape=p)[0], array(3, 2), [2, 3]),
    "reshape, method": (lambda a, p: a.reshape(p)[0], [3, 2], [2, 3]),
    "diagonal": (lambda a, p: np.diagonal(a, offset=p), ONE, 0),
    "diagonal, method": (lambda a, p: a.diagonal(offset=p), ONE, 0),
    "split": (lambda a, p: np.split(a, indices_or_sections=p, axis=1)[1], array(1, 2), [1, 3]),
    # slices
    "from": (lambda a, p: a[:, p:], TWO, 1),
    "to": (lambda a, p: a[:, :p], TWO, 1),
    "in steps": (lambda a, p: a[:, ::p], TWO, 1),
    "dots": (lambda a, p: a[..., p:], TWO, 1),
    "first axis": (lambda a, p: a[p:], ONE, 0),
    "slice": (lambda a, p: a[slice(p)], ONE, 2),
    "of a view": (lambda a, p: a.reshape(-1)[p:], TWO, 1),
    "of flat": (lambda a, p: a.flat[p:], TWO, 1),
    "with numbers": (lambda a, p: a[p:, [0, 2]], ONE, 0),
}


@pytest.mark.parametrize("place", [of_argument, of_own, of_attribute])
@pytest.mark.parametrize(("call", "p", "new"), CALLS.values(), ids=CALLS)
def test_parameters_that_change_later(call, p, new, place):
    f, parameters = place(call, p, new)
    check(f, X, *parameters)


def test_bounds_of_a_slice_that_count_on():
    def f(x, p):
        a = np.zeros(6)
        for i in range(3):
            a[p : p + 2] += x[0, i]
            a[:p] *= x[1, i]
            p += 1
        return np.sum(a * a)

    check(f, X, np.array(0))


def test_bounds_of_a_slice_are_numbers_or_refused_as_numpy_does():
    for bound in (np.array(1.5), np.array([1, 2])):
        with pytest.raises(TypeError, match="only integer scalar arrays"):
            tape_vjp(lambda x, p: np.sum(x[p:]), (X, bound), {}, [0])


def test_what_is_written_into_is_no_parameter():
    def f(x, out):
        np.cumsum(x, axis=np.array(1), out=out)
        return np.sum(out**2)

    check(f, X, np.zeros((2, 3)))


# ---------------------------------------------------------------- views of one of several arrays of the same memory


def interleaved(x):
    a = (x * 1.0).reshape(3, 2)
    u, v = np.broadcast_arrays(a[:, :1], a[:, 1:])
    a *= 2.0
    return np.sum(u * v**2)


def backwards(x):
    a = x[0] * 1.0
    q = np.broadcast_arrays(a, a[::-1])[1]
    a[0] = 0.0
    return np.sum(q * np.arange(3.0))


def argument(x):
    q = np.broadcast_arrays(x, x[:, ::-1])[1]
    x[0, 0] = 0.0
    return np.sum(q * np.arange(3.0))


def written(x):
    a = x * 1.0
    p, q = np.broadcast_arrays(a, a[:, ::-1])
    q[:, 0] = x[:, 1]
    return np.sum(p**2 * np.arange(3.0))


def twice(x):
    a = x * 1.0
    p, q = np.broadcast_arrays(a, a)
    a *= x
    return np.sum(p * q**2)


def constant_first(x):
    a = x * 1.0
    p, q = np.broadcast_arrays(np.arange(3.0), a[0])
    a *= x
    return np.sum(p * q**2)


def grid(**options):
    def f(x):
        a = x[0] * 1.0
        p, q = np.meshgrid(a[1:], a[:2], copy=False, **options)
        a *= x[1]
        return np.sum(p * q**2)

    return f


def of_constants(x):
    a = np.arange(3.0)
    p, q = np.broadcast_arrays(a, a[::-1])
    a[:2] = x[:, 0]
    return np.sum(p * q**2)


def one_array_twice(x):
    a = np.arange(3.0)
    p, q = np.atleast_1d(a, a)
    q[:2] = x[:, 0]
    return np.sum(p**2 * a)


MEETING = [interleaved, backwards, argument, written, twice, constant_first, of_constants, one_array_twice]
MEETING += [grid(), grid(sparse=True), grid(indexing="ij")]


@pytest.mark.parametrize("f", MEETING)
def test_views_of_one_of_several_arrays_of_the_same_memory(f):
    check(f, X)


def test_view_that_cannot_be_told_of_which_array_is_refused(monkeypatch):
    given = []

    def first_given(a, b):
        given.append(a)
        return given[0][:2]

    def f(x):
        a = np.arange(3.0)
        v = np.first_given(a, a[::-1])
        a[0] = x[0, 0]
        return np.sum(v)

    monkeypatch.setattr(np, "first_given", first_given, raising=False)
    with pytest.raises(TapeError, match="one of several arrays of the same memory"):
        tape_vjp(f, (X,), {}, [0])
