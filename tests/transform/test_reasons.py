"""What the compiler says of what it refuses, what it follows, and where an exception comes from."""

import functools
import warnings

import numpy as np
import pytest

from s2sgrad import grad
from s2sgrad.errors import CompileError


class Model:
    scale = 2.0

    @property
    def k(self):
        return 3.0

    @staticmethod
    def square(x):
        return x * x

    def __call__(self, x):
        def inner(y):
            return self.k * y

        return inner(x) * x

    def by_static(self, x):
        return self.square(x)


def by_default(x, f=np.sin):
    return f(x)


def by_named_default(x, *, f=Model.square):
    return f(x)


def with_object(model, x):
    return model.k * x


def reason(function, *args):
    with pytest.raises(CompileError) as caught:
        grad(function, mode="compiled")(*args)
    return caught.value.reason


@pytest.mark.parametrize(
    "function, expected",
    [
        (Model(), 12.0),
        (Model().by_static, 4.0),
        (by_default, np.cos(2.0)),
        (by_named_default, 4.0),
        (functools.partial(with_object, Model()), 3.0),
    ],
)
def test_it_is_compiled(function, expected):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert grad(function, mode="compiled")(2.0) == pytest.approx(expected)


def test_a_default_that_is_replaced_is_seen():
    def f(x, g=np.sin):
        return g(x)

    df = grad(f)
    assert df(0.5) == pytest.approx(np.cos(0.5))
    assert df(0.5, np.cos) == pytest.approx(-np.sin(0.5))
    assert df(0.5, g=np.exp) == pytest.approx(np.exp(0.5))
    assert df(0.5) == pytest.approx(np.cos(0.5))


def test_builtins_are_refused_by_their_name():
    assert reason(lambda x: dict(a=x)["a"], 3.0) == (
        "the builtin dict of values that carry a derivative is not compiled ({...} is)"
    )


def written_at(x):
    y = x * 1.0
    np.multiply.at(y, [0, 0], x[1])
    return np.sum(y)


def test_methods_of_ufuncs_are_refused_by_their_names():
    message = "np.multiply.at of values that carry a derivative is not compiled"
    assert reason(written_at, np.ones(3)) == message


CALLS = 0


def counts(x):
    y = x * x
    if x > 0:
        global CALLS
        CALLS += 1
    return y


class Chosen:
    def __init__(self):
        self.act = np.tanh


def by_field(x):
    chosen = Chosen()
    for _ in range(9):
        x = chosen.act(x)
        chosen.act = np.cos
    return x


def waits(x):
    async def later():
        return x

    return later


def by_lookup(x):
    return getattr(np, "s" + "in")(x)


def test_reasons_are_in_the_words_of_those_who_write_programs():
    with pytest.raises(CompileError) as caught:
        grad(counts, mode="compiled")(3.0)
    assert caught.value.reason == "CALLS is rebound outside of the function (global or nonlocal)"
    assert caught.value.source_line.strip() == "global CALLS"
    assert reason(waits, 3.0).startswith("`async def`")
    assert reason(by_lookup, 3.0) == (
        "the call of getattr(np, 's' + 'in') carries a derivative, but it is not known which function it is"
    )
    assert reason(by_field, 3.0) == (
        "the call of chosen.act carries a derivative, but it is not known which function it is"
    )
    assert reason(np.linalg.norm, np.ones(3)) == "norm is no Python function: there is no source to differentiate"


def product(w, x):
    y = 2.0 * w
    return np.sum(x @ y)


def test_an_exception_says_which_line_of_the_users_it_comes_from():
    with pytest.raises(ValueError, match="matmul") as caught:
        grad(product)(np.ones(3), np.ones((2, 4)))
    line = product.__code__.co_firstlineno + 2
    assert caught.value.__notes__ == [f"from test_reasons.py:{line}: return np.sum(x @ y)"]
