"""What the tape cannot follow is an error that names the user's line; never a silent zero."""

import json
import operator

import numpy as np
import pytest

from s2sgrad.errors import MissingRuleError, TapeError
from tests.tape.numeric import grad

X = np.array([1.0, 2.0, 3.0])


class Box:
    content = np.zeros(3)


outside = Box()
shared = np.zeros(4)
part = shared[1:]


class Model:
    def __init__(self):
        self.w = np.zeros(3)

    def forward(self, x):
        self.w[:] = x
        return np.sum(self.w)


def raised(kind, f, x=X):
    with pytest.raises(kind) as info:
        grad(f)(x.copy() if isinstance(x, np.ndarray) else x)
    return str(info.value)


def test_conversion_by_c_code_names_the_line():
    def f(x):
        return json.loads(json.dumps({"a": operator.attrgetter("__float__")(x[0])()}))["a"] * x[1]

    text = raised(TapeError, f)
    assert "converted to a plain float" in text
    assert "test_errors.py" in text and "json.loads" in text
    assert "stop_gradient" in text


def test_write_into_a_plain_array():
    def f(x):
        outside.content[:] = x
        return np.sum(outside.content)

    text = raised(TapeError, f)
    assert "converted to an array" in text and "outside.content[:] = x" in text


def test_write_into_an_attribute():
    model = Model()
    text = raised(TapeError, lambda x: model.forward(x))
    assert "self.w[:] = x" in text


def test_out_into_a_plain_array():
    text = raised(TapeError, lambda x: np.sum(np.multiply(x, x, out=outside.content)))
    assert "a plain array that the tape does not see" in text


def test_a_missing_rule_names_the_callable_and_the_line():
    def f(x):
        return np.sum(np.spacing(x))

    text = raised(MissingRuleError, f)
    assert "numpy.spacing" in text and "return np.sum(np.spacing(x))" in text
    assert "s2sgrad.rules.table" in text


def test_a_keyword_that_the_rule_does_not_cover():
    def f(x):
        return np.sum(np.transpose(x, sideways=True))

    with pytest.raises(TypeError):
        grad(f)(X)


def test_where_without_out():
    text = raised(MissingRuleError, lambda x: np.sum(np.sin(x, where=x > 1)))
    assert "undefined" in text


def test_a_method_without_rule():
    text = raised(MissingRuleError, lambda x: np.sum(x.view(np.float32)))
    assert "'view'" in text
    text = raised(MissingRuleError, lambda x: np.sum(np.zeros(3).view().choose(x)))
    assert "'choose'" in text


def test_a_recorded_number_as_a_key():
    text = raised(TapeError, lambda x: {x[0]: 1.0}[x[0]] * x[1])
    assert "key of a dict" in text
    with pytest.raises(TypeError, match="unhashable"):
        grad(lambda x: {x: 1.0}[x])(X)


def test_writes_through_two_array_objects_on_the_same_memory():
    def f(x):
        part[:] = x
        return np.sum(shared)

    assert "another array object on the same memory" in raised(TapeError, f)
    np.testing.assert_array_equal(part, X)  # the write itself happened, as in a plain call

    def writes_both(x):
        y = part * shared[1:]
        shared[0] = x[0]
        return np.sum(y) + shared[0]

    assert "same memory" in raised(TapeError, writes_both)


def test_numpy_errors_are_numpys_own():
    with pytest.raises(ValueError, match="broadcast"):
        grad(lambda x: np.sum(x + np.ones(4)))(X)
    with pytest.raises(IndexError):
        grad(lambda x: x[7])(X)

    def int_in_place(x):
        y = np.zeros(3, int)
        y += x
        return np.sum(y)

    with pytest.raises(TypeError, match="same_kind"):
        grad(int_in_place)(X)


def test_read_only_stays_read_only():
    frozen = np.ones(3)
    frozen.flags.writeable = False

    def f(x):
        frozen[0] = 1.0
        return np.sum(frozen * x)

    with pytest.raises(ValueError, match="read-only"):
        grad(f)(X)


def test_after_an_error_everything_is_as_the_plain_call_left_it():
    log = []

    def f(x):
        log.append(x * 2)
        raise KeyError("stop")

    with pytest.raises(KeyError):
        grad(f)(X)
    assert type(log[0]) is np.ndarray
    assert grad(lambda x: np.sum(x))(X).tolist() == [1, 1, 1]
