"""Every sample differentiated twice, by the tape, against differences of its first derivatives."""

import inspect
import warnings

import numpy as np
import pytest

from s2sgrad import rules
from s2sgrad.runtime.fallback import tape_vjp
from tests.rules import reference
from tests.rules.samples import SAMPLES, resolve
from tests.rules.test_rules import active_names, inner, random_like, shifted

H = 1e-5
NOT_CALLED_BY_USERS = ("arrays.part",)


def places(bound, names):
    """The position or the keyword of each active argument in the call."""
    found, position = [], 0
    for name, parameter in bound.signature.parameters.items():
        if name not in bound.arguments:
            continue
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            span = range(position, position + len(bound.arguments[name]))
        elif name in bound.kwargs:
            span = [name]
        else:
            span = [position]
        position += sum(isinstance(k, int) for k in span)
        found += span if name in names else []
    return found


def check(name, sample):
    function, rule = resolve(name), rules.lookup(resolve(name))
    bound = reference.bind(rule, sample.args, sample.kwargs)
    call = dict(enumerate(bound.args)) | bound.kwargs
    active = [k for k in places(bound, active_names(rule, sample, bound)) if reference.leaves(call[k])]
    values = [call[k] for k in active]
    rng = np.random.default_rng(3)
    g = random_like(function(*bound.args, **bound.kwargs), rng)
    g = tuple(g) if isinstance(g, list) else g

    def gradient(*values):
        at = call | dict(zip(active, values, strict=True))
        args = tuple(at[i] for i in range(len(bound.args)))
        return tape_vjp(function, args, {k: at[k] for k in bound.kwargs}, active)[1](g)

    first, pullback = tape_vjp(gradient, tuple(values), {}, range(len(values)))
    u = random_like(first, rng)
    second = pullback(tuple(u))
    t = [random_like(x, rng, sample.project) for x in values]
    ends = [gradient(*[shifted(x, d, h) for x, d in zip(values, t, strict=True)]) for h in (H, -H)]
    numeric = (inner(u, ends[0]) - inner(u, ends[1])) / (2 * H)
    assert np.isfinite(numeric)
    np.testing.assert_allclose(inner(second, t), numeric, rtol=1e-4, atol=1e-6)


CASES = [
    pytest.param(name, s, id=f"{name}-{i}")
    for name, samples in SAMPLES.items()
    for i, s in enumerate(samples)
    if s.measure is None and not s.once and name not in NOT_CALLED_BY_USERS
]


@pytest.mark.parametrize("name, sample", CASES)
def test_second_order(name, sample):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(name, sample)


@pytest.mark.parametrize("name, sample", [case for case in CASES if case.values[1].complex_too])
def test_second_order_complex(name, sample):
    check(name, sample.as_complex())
