"""Every program of the corpus: which engine, which gradient, and what differentiation must leave alone."""

import copy
import importlib
import pathlib
import warnings

import numpy as np
import pytest

from s2sgrad import grad, value_and_grad
from tests.programs import differences
from tests.programs.corpus import PROGRAMS

THEMES = sorted(p.stem for p in pathlib.Path(__file__).parent.glob("*.py"))
for theme in THEMES:
    if theme not in ("__init__", "corpus", "differences") and not theme.startswith("test_"):
        importlib.import_module(f"tests.programs.{theme}")

NAMES = [p.name for p in PROGRAMS]
BOTH = [pytest.param(p, m, id=f"{p.name}-{m}") for p in PROGRAMS for m in ("compiled", "tape") if m in (p.engine, "tape")]
SMOOTH = [p for p in PROGRAMS if p.smooth]


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def call(function, program):
    return function(*copy.deepcopy(program.args), **copy.deepcopy(program.kwargs))


def promoted(program):
    """The arguments as the function sees them: integers of a differentiated argument are floats."""

    def floating(leaf):
        if isinstance(leaf, int):
            return float(leaf)
        return leaf.astype(float) if np.asarray(leaf).dtype.kind in "iu" else leaf

    args, kwargs = copy.deepcopy(program.args), copy.deepcopy(program.kwargs)
    for which in argnums(program):
        leaves, rebuild = differences.flatten(differences.argument(program.function, args, kwargs, which))
        value = rebuild([floating(leaf) for leaf in leaves])
        args, kwargs = differences.replace_argument(program.function, args, kwargs, which, value)
    return args, kwargs


def argnums(program):
    return program.argnums if isinstance(program.argnums, tuple) else (program.argnums,)


def per_argument(program, gradients):
    return gradients if isinstance(program.argnums, tuple) else (gradients,)


def assert_same(got, expected):
    """Bit-identical trees."""
    got, expected = differences.flatten(got)[0], differences.flatten(expected)[0]
    assert len(got) == len(expected)
    for a, b in zip(got, expected, strict=True):
        if isinstance(b, (np.ndarray, np.generic, float, complex)):
            assert np.asarray(a).dtype == np.asarray(b).dtype
            assert np.shape(a) == np.shape(b)
            assert np.asarray(a).tobytes() == np.asarray(b).tobytes()
        else:
            assert a == b or a is b


def assert_close(got, expected, single=False):
    rtol = 5e-4 if single else 2e-8
    got, expected = differences.flatten(got)[0], differences.flatten(expected)[0]
    assert len(got) == len(expected)
    scale = max([1.0, *(np.max(np.abs(e)) for e in expected if np.size(e))])
    for a, b in zip(got, expected, strict=True):
        assert np.shape(a) == np.shape(b)
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * scale)


def is_single(program):
    args = (differences.argument(program.function, program.args, program.kwargs, w) for w in argnums(program))
    return any(np.asarray(x).dtype in (np.float32, np.complex64) for a in args for x in differences.flatten(a)[0])


def test_names_are_many_and_distinct():
    assert len(set(NAMES)) == len(NAMES) >= 120


@pytest.mark.parametrize("program", PROGRAMS, ids=NAMES)
def test_engine(program):
    derivative = grad(program.function, program.argnums)
    call(derivative, program)
    assert derivative.engine == program.engine, derivative.explain()


@pytest.mark.parametrize(("program", "mode"), BOTH)
def test_gradient(program, mode):
    got = per_argument(program, call(grad(program.function, program.argnums, mode=mode), program))
    if program.expect is not None:
        expected = per_argument(program, program.expect)
    else:
        point = (program.function, program.args, program.kwargs)
        expected = tuple(differences.gradient(*point, which) for which in argnums(program))
    assert len(got) == len(expected)
    for a, b in zip(got, expected, strict=True):
        assert_close(a, b, is_single(program))


@pytest.mark.parametrize(("program", "mode"), BOTH)
def test_value_is_that_of_the_plain_call(program, mode):
    args, kwargs = promoted(program)
    plain = program.function(*args, **kwargs)
    value, _ = call(value_and_grad(program.function, program.argnums, mode=mode), program)
    assert_same(value, plain)


@pytest.mark.parametrize(("program", "mode"), BOTH)
def test_arguments_are_left_as_a_plain_call_leaves_them(program, mode):
    plain_args, plain_kwargs = promoted(program)
    program.function(*plain_args, **plain_kwargs)
    args, kwargs = promoted(program)
    grad(program.function, program.argnums, mode=mode)(*args, **kwargs)
    assert_same((args, kwargs), (plain_args, plain_kwargs))


@pytest.mark.parametrize(("program", "mode"), BOTH)
def test_gradient_has_the_form_of_its_argument(program, mode):
    args, kwargs = copy.deepcopy(program.args), copy.deepcopy(program.kwargs)
    inputs = [leaf for leaf in differences.flatten((args, kwargs))[0] if isinstance(leaf, np.ndarray)]
    gradients = per_argument(program, grad(program.function, program.argnums, mode=mode)(*args, **kwargs))
    seen = []
    for which, gradient in zip(argnums(program), gradients, strict=True):
        value = differences.argument(program.function, args, kwargs, which)
        assert type(gradient) is type(value) or not isinstance(value, (list, tuple, dict))
        leaves, _ = differences.flatten(value)
        own, _ = differences.flatten(gradient)
        for g, x in zip(own, leaves, strict=True):
            dtype = np.asarray(x).dtype
            assert np.shape(g) == np.shape(x)
            assert np.asarray(g).dtype == (dtype if dtype.kind in "fc" else np.float64)
            if isinstance(g, np.ndarray):
                assert not any(np.shares_memory(g, other) for other in [*inputs, *seen])
                seen.append(g)


@pytest.mark.parametrize("program", SMOOTH, ids=[p.name for p in SMOOTH])
def test_second_order(program):
    """The gradient of <grad f, v> against differences of grad f along v."""
    (which,) = argnums(program)
    x = differences.widest(differences.argument(program.function, program.args, program.kwargs, which))
    v = np.random.default_rng(7).normal(size=np.shape(x))
    first = grad(program.function, which)

    def slope(value):
        args, kwargs = differences.replace_argument(program.function, program.args, program.kwargs, which, value)
        return first(*args, **kwargs)

    def along(value):
        return np.sum(slope(value) * v)

    h = differences.STEP
    near, far = slope(x + h * v) - slope(x - h * v), slope(x + 2 * h * v) - slope(x - 2 * h * v)
    assert_close(grad(along)(x), np.asarray((8 * near - far) / (12 * h)))
