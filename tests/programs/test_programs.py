"""Every program of the corpus: which engine, which gradient, and what differentiation must leave alone."""

import copy
import functools
import importlib
import inspect
import pathlib
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

from s2sgrad import grad, value_and_grad
from s2sgrad.errors import S2SGradError
from tests.programs import differences
from tests.programs.corpus import PROGRAMS

THEMES = sorted(p.stem for p in pathlib.Path(__file__).parent.glob("*.py"))
for theme in THEMES:
    if theme not in ("__init__", "corpus", "differences") and not theme.startswith("test_"):
        importlib.import_module(f"tests.programs.{theme}")

SURE = [p for p in PROGRAMS if p.engine]  # an engine is expected to run them
TRICKY = [p for p in PROGRAMS if not p.engine]  # may be refused, never be wrong
SMOOTH = [p for p in SURE if p.smooth]
BOTH = [(p, mode) for p in SURE for mode in ("compiled", "tape") if mode in (p.engine, "tape") and not p.taped]
BOTH += [(p, mode) for p in SURE for mode in ("auto", "tape") if p.taped]


def over(programs):
    return pytest.mark.parametrize("program", programs, ids=[p.name for p in programs])


both_engines = pytest.mark.parametrize(("program", "mode"), BOTH, ids=[f"{p.name}-{mode}" for p, mode in BOTH])


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


def is_object(x):
    """Is it an object of a class of the corpus?"""
    return type(x).__module__.startswith("tests.") or isinstance(x, SimpleNamespace)


def held_by(x):
    return vars(x) if hasattr(x, "__dict__") else {name: getattr(x, name) for name in x.__slots__}


def assert_same(got, expected):
    """Bit-identical trees."""
    got, expected = differences.flatten(got)[0], differences.flatten(expected)[0]
    assert len(got) == len(expected)
    for a, b in zip(got, expected, strict=True):
        if isinstance(b, (np.ndarray, np.generic, float, complex)):
            assert np.asarray(a).dtype == np.asarray(b).dtype
            assert np.shape(a) == np.shape(b)
            assert np.asarray(a).tobytes() == np.asarray(b).tobytes()
        elif is_object(b):
            assert_same(held_by(a), held_by(b))
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


def expected_gradient(program):
    if program.expect is not None:
        return per_argument(program, program.expect)
    point = (program.function, program.args, program.kwargs)
    return tuple(differences.gradient(*point, which) for which in argnums(program))


def is_single(program):
    args = (differences.argument(program.function, program.args, program.kwargs, w) for w in argnums(program))
    return any(np.asarray(x).dtype in (np.float32, np.complex64) for a in args for x in differences.flatten(a)[0])


def test_names_are_many_and_distinct():
    assert len({p.name for p in PROGRAMS}) == len(PROGRAMS) >= 120


@over(SURE)
def test_engine(program):
    derivative = grad(program.function, program.argnums)
    call(derivative, program)
    assert derivative.engine == program.engine, derivative.explain()
    assert "internal error" not in str(derivative.explain())
    if program.engine == "compiled":
        source = derivative.source
        call(derivative, program)
        assert derivative.source is source  # nothing is compiled again for a call that is like the last one
        assert any(row.engine == "tape" for row in derivative.explain().rows) is program.taped, derivative.explain()


@both_engines
def test_gradient(program, mode):
    got = per_argument(program, call(grad(program.function, program.argnums, mode=mode), program))
    expected = expected_gradient(program)
    assert len(got) == len(expected)
    for a, b in zip(got, expected, strict=True):
        assert_close(a, b, is_single(program))
    args, kwargs = promoted(program)
    for g, which in zip(got, argnums(program), strict=True):
        x = differences.argument(program.function, args, kwargs, which)
        for a, b in zip(differences.flatten(g)[0], differences.flatten(x)[0], strict=True):
            assert not isinstance(b, np.ndarray | np.generic) or a.dtype == b.dtype


@pytest.mark.parametrize("mode", ["auto", "compiled", "tape"])
@over(TRICKY)
def test_right_or_refused(program, mode):
    try:
        value, got = call(value_and_grad(program.function, program.argnums, mode=mode), program)
    except S2SGradError:
        return
    assert_close((got,), expected_gradient(program))
    assert_same(value, call(program.function, program))


@both_engines
def test_value_is_that_of_the_plain_call(program, mode):
    args, kwargs = promoted(program)
    plain = program.function(*args, **kwargs)
    value, _ = call(value_and_grad(program.function, program.argnums, mode=mode), program)
    assert_same(value, plain)


@both_engines
def test_arguments_are_left_as_a_plain_call_leaves_them(program, mode):
    plain_args, plain_kwargs = promoted(program)
    program.function(*plain_args, **plain_kwargs)
    args, kwargs = promoted(program)
    grad(program.function, program.argnums, mode=mode)(*args, **kwargs)
    assert_same((args, kwargs), (plain_args, plain_kwargs))


@both_engines
def test_gradient_has_the_form_of_its_argument(program, mode):
    args, kwargs = copy.deepcopy(program.args), copy.deepcopy(program.kwargs)
    before = copy.deepcopy((args, kwargs))  # it may change what it is given
    inputs = [leaf for leaf in differences.flatten((args, kwargs))[0] if isinstance(leaf, np.ndarray)]
    gradients = per_argument(program, grad(program.function, program.argnums, mode=mode)(*args, **kwargs))
    seen = []
    for which, gradient in zip(argnums(program), gradients, strict=True):
        value = differences.argument(program.function, *before, which)
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


@over(SMOOTH)
def test_second_order(program):
    """The gradient of <grad f, v> against differences of grad f along v."""
    which = program.argnums
    x = differences.widest(program.args[which])
    v = np.random.default_rng(7).normal(size=np.shape(x))
    names = list(inspect.signature(program.function).parameters)[which + 1 :]
    after = dict(zip(names, program.args[which + 1 :], strict=False)) | program.kwargs
    slope = functools.partial(grad(program.function, which), *program.args[:which], **after)

    def along(x):
        return np.sum(slope(x) * v)

    h = differences.STEP
    near, far = slope(x + h * v) - slope(x - h * v), slope(x + 2 * h * v) - slope(x - 2 * h * v)
    assert_close(grad(along)(x), np.asarray((8 * near - far) / (12 * h)))
