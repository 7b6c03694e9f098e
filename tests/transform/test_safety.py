"""What a derivative may leave out, and what it has to run because the function would fail there."""

import math
import operator

import numpy as np
import pytest

from s2sgrad import grad
from s2sgrad.transform import ir
from s2sgrad.transform.analysis import types
from s2sgrad.transform.analysis.lengths import Lengths
from s2sgrad.transform.analysis.safety import cannot_fail

X, W = np.ones((2, 3)), np.ones(2)


@pytest.mark.parametrize(
    "function, argument",
    [
        (lambda x: x @ np.ones(4), np.ones(3)),
        (lambda x: np.dot(x, np.ones(4)), np.ones(3)),
        (lambda w: W @ (X @ w), np.ones(4)),
        (lambda x: np.sum(np.where(np.ones(4) > 0, x, 0)), np.ones(3)),
        (lambda x: np.sum(x + np.ones(4)), np.ones(3)),
        (lambda x: np.sum(np.sum(x, axis=1)), np.ones(3)),
        (lambda x: np.sum(np.reshape(x, (2, 2))), np.ones(3)),
        (lambda x: np.sum(x) + 0.0 * x[5], np.ones(3)),
        (lambda x: np.sum(np.stack([x, np.ones(4)])), np.ones(3)),
        (lambda x: x + math.log(x) * 0.0, -1.0),
        (lambda x: x + 1.0 / (x - x), 1.0),
    ],
)
def test_the_gradient_fails_where_the_function_fails(function, argument):
    with pytest.raises((ArithmeticError, ValueError, IndexError)) as plain:
        function(argument)
    gradient = grad(function, mode="compiled")
    with pytest.raises(type(plain.value)):
        gradient(argument)


def unused(x):
    y = x[7]  # noqa: F841
    return np.sum(x)


def test_what_is_not_used_fails_as_well():
    with pytest.raises(IndexError):
        grad(unused, mode="compiled")(np.ones(3))


def times_what_is_not_there(x, a):
    y = x * np.min(a)  # noqa: F841
    return np.sum(x**2)


def branch_on_what_is_not_there(x, a):
    if np.max(a) > 0:
        y = x * 2  # noqa: F841
    return np.sum(x**2)


def counted_by_what_is_not_there(x, a):
    for _ in range(int(a.min())):
        y = x * 2  # noqa: F841
    return np.sum(x**2)


def stored_in_a_list(x, a):
    places = [None] * 3
    for i in range(3):
        places[i] = np.min(a) if i else x[0]
    return np.sum(x**2)


def stored_in_a_dict(x, a):
    found = {}
    found["a"] = np.linalg.inv(np.zeros((2, 2)))
    found["b"] = x
    return np.sum(x**2)


def kept_in_a_tuple(x, a):
    y = (x, math.log(len(a)))  # noqa: F841
    return np.sum(x**2)


@pytest.mark.parametrize(
    "function",
    [
        times_what_is_not_there,
        branch_on_what_is_not_there,
        counted_by_what_is_not_there,
        stored_in_a_list,
        stored_in_a_dict,
        kept_in_a_tuple,
    ],
)
def test_expressions_in_what_is_not_used_fail_as_well(function):
    with pytest.raises(ValueError):
        grad(function, mode="compiled")(np.ones(3), np.array([]))


def stores_outside(x):
    u = np.zeros(3)
    u[4] = x[0]
    return np.sum(x)


def stores_outside_in_the_last_turn(x):
    u = np.zeros(2)
    for i in range(3):
        u[i] = x[0]
    return np.sum(x)


def stores_an_array_as_a_number(x):
    u = np.zeros(3)
    u[0] = x
    return np.sum(x)


def stores_too_much(x):
    u = np.zeros(3)
    u[1:] += x
    return np.sum(x)


def stores_at_a_mask_of_another_length(x):
    u = np.zeros(4)
    u[x > 0] = x[0]
    return np.sum(x)


def unpacks_too_few(x):
    for _ in range(2):
        a, b = x
    return np.sum(x)


def unpacks_a_number(x):
    a, b = 0.5
    return np.sum(x)


def unpacks_deep(x):
    a, (b, c) = x[0], x  # noqa: F841
    return np.sum(x)


@pytest.mark.parametrize(
    "function",
    [
        stores_outside,
        stores_outside_in_the_last_turn,
        stores_an_array_as_a_number,
        stores_too_much,
        stores_at_a_mask_of_another_length,
        unpacks_too_few,
        unpacks_a_number,
        unpacks_deep,
    ],
)
def test_stores_and_patterns_that_nobody_reads_fail_as_well(function):
    with pytest.raises((ValueError, IndexError, TypeError)) as plain:
        function(np.ones(3))
    with pytest.raises(type(plain.value)):
        grad(function, mode="compiled")(np.ones(3))


def read_at_the_index_of_another(x, w):
    i = int(np.argmax(x))
    t = w[i] * 2.0  # noqa: F841
    return x[i] ** 2


def read_in_a_loop_that_writes(x, w):
    for i in range(4):
        t = w[i]  # noqa: F841
        x[i] = x[i] * 2.0
    return np.sum(x)


def read_where_another_way_is_taken(x, w):
    s = 0.0
    for i in range(4):
        t = w[i] * x[i]  # noqa: F841
        if i < 2:
            s = s + w[i] * x[i]
    return s


def read_in_a_longer_loop(x, w):
    s = 0.0
    for i in range(3):
        s = s + w[i] * x[i]
    for i in range(4):
        t = w[i] * x[i]  # noqa: F841
    return s


def read_at_other_places_of_nonzeros(x, w):
    t = np.sum(w[np.nonzero(x < 2)])
    s = np.sum(w[np.nonzero(x > 0)])  # noqa: F841
    return np.sum(x) + t


def read_through_a_shorter_view(x, w):
    i = 3
    v = x[1:]
    t = v[i]  # noqa: F841
    return x[i] ** 2


def read_past_the_end_in_a_turn_of_its_own(x, w):
    u = np.sin(x)
    for i in range(5):
        s = u[i] * np.sin(u[3])  # noqa: F841
        if i == 5:
            u = u * np.sin(x[i])
    return np.sum(u * x)


def read_at_an_index_that_is_changed(x, w):
    i = np.array([0, 1])
    s = np.sum(x[i])
    i[0] = 9
    t = np.sum(x[i])  # noqa: F841
    return s + np.sum(w)


def read_at_an_index_that_a_loop_changes(x, w):
    i = np.array([0, 1])
    for _ in range(3):
        t = np.sum(w[i])  # noqa: F841
        i += 1
    return np.sum(x) + np.sum(w)


@pytest.mark.parametrize("argnums", [0, 1, (0, 1)])
@pytest.mark.parametrize(
    "function",
    [
        read_at_the_index_of_another,
        read_in_a_loop_that_writes,
        read_where_another_way_is_taken,
        read_in_a_longer_loop,
        read_at_other_places_of_nonzeros,
        read_through_a_shorter_view,
        read_past_the_end_in_a_turn_of_its_own,
        read_at_an_index_that_is_changed,
        read_at_an_index_that_a_loop_changes,
    ],
)
def test_an_item_that_is_not_there_is_missed_though_another_of_its_index_is_there(function, argnums):
    args = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 2.0, 3.0])
    with pytest.raises(IndexError):
        function(*args)
    with pytest.raises(IndexError):
        grad(function, argnums, mode="compiled")(*args)


def items_that_the_adjoint_or_an_earlier_line_takes(x):
    i = int(x[0])
    y = x[i] * x[i] + x[i]
    t = x[i]  # noqa: F841
    return y


def test_items_that_the_adjoint_or_an_earlier_line_takes_are_not_taken_again():
    gradient = grad(items_that_the_adjoint_or_an_earlier_line_takes, mode="compiled")
    gradient(np.ones(3))
    assert "kept" not in gradient.source
    with pytest.raises(IndexError):
        gradient(np.full(3, 3.0))


def stores_and_unpacks(x):
    u = x * 1.0
    u[1] = x[0]
    u[1:] = x[1:] * 2
    u[...] = 0.5
    u[None, :] *= 3
    a, (b, c) = x[0], (x[1], x[-1])  # noqa: F841
    return np.sum(x)


def test_stores_and_patterns_that_cannot_fail_are_left_out():
    gradient = grad(stores_and_unpacks, mode="compiled")
    gradient(np.ones(3))
    assert "# forward" not in gradient.source


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.sum(np.sin(x)),
        lambda x: np.sum(2.0 * x + 1.0),
        lambda x: np.mean(x + x, axis=0),
        lambda x: np.sum(x[1:]) + x[-1],
        lambda x: np.sum(x.T),
        lambda x: np.sum(x[:, None] + X[:, :1].T),
    ],
)
def test_what_cannot_fail_is_left_out(function):
    gradient = grad(function, mode="compiled")
    gradient(np.ones(3))
    assert "# forward" not in gradient.source


def value(array):
    return ir.Value("x", types.of(array))


@pytest.mark.parametrize(
    "function, args, kwargs, sure",
    [
        (operator.add, (np.ones(3), np.ones(1)), {}, True),
        (operator.add, (np.ones(3), np.ones(3)), {}, False),  # of lengths that are not known to be equal
        (operator.matmul, (np.ones((3, 1)), np.ones((1, 2))), {}, True),
        (np.max, (np.ones(3),), {}, True),
        (np.max, (np.ones(0),), {}, False),
        (np.sum, (np.ones(3),), {"axis": -1}, True),
        (np.sum, (np.ones(3),), {"axis": 1}, False),
        (np.transpose, (np.ones(3), (1, 0)), {}, False),
        (np.expand_dims, (np.ones(3), 2), {}, False),
        (operator.getitem, (np.ones(3), 1), {}, True),
        (operator.getitem, (np.ones(3), 2), {}, False),
        (operator.getitem, (np.ones(3), (0, 0)), {}, False),
        (operator.truediv, (1.0, 2.0), {}, False),
        (math.sqrt, (1.0,), {}, False),
        (np.linalg.inv, (np.ones((2, 2)),), {}, False),
    ],
)
def test_what_is_sure(function, args, kwargs, sure):
    operands = [value(a) if isinstance(a, (np.ndarray, float)) else ir.Constant(a) for a in args]
    named = {name: ir.Constant(option) for name, option in kwargs.items()}
    target = ir.Value("y", types.infer(function, tuple(operands), named))
    assert cannot_fail(ir.Op(target, function, tuple(operands), named), Lengths()) is sure


def first_and_others(x):
    first, *others = x
    return first * sum(others)


def ends(x):
    first, *_, last = x
    return first * last


@pytest.mark.parametrize("function, length", [(first_and_others, 0), (ends, 0), (ends, 1)])
def test_too_few_rows_to_unpack(function, length):
    with pytest.raises(ValueError, match="not enough values to unpack"):
        grad(function)(np.ones(length))
