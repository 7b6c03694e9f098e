"""Partials as straight programs: what they compute is to the bit what the rule's line computes."""

import inspect

import numpy as np
import pytest

import s2sgrad
from s2sgrad.rules import neural, table
from s2sgrad.rules.table import RULES
from s2sgrad.runtime.elementwise import elementwise_of
from s2sgrad.runtime.fallback import tape_vjp
from s2sgrad.runtime.fuse import BOXES, fused
from s2sgrad.runtime.refusals import full_name

ELEMENTWISE = [
    f
    for f, rule in RULES.items()
    if rule.kind == "elementwise"
    and {None, table.unknown}.isdisjoint(rule.partials)
    and len(rule.partials) < 3
    and getattr(f, "__module__", "") not in ("math", "cmath")
]


def actives(arity):
    return [(i,) for i in range(arity)] + ([(0, 1)] if arity == 2 else [])


box = BOXES[np.dtype(float)].__getitem__


def arguments(function, arity, dtype, numbers=()):
    rng = np.random.default_rng(arity)
    args = [BOXES[dtype][0.7] if i in numbers else rng.uniform(0.2, 0.9, (2, 3)).astype(dtype) for i in range(arity)]
    if "arccosh" in getattr(function, "__name__", ""):
        args[0] = 1.0 + args[0]
    if getattr(function, "__name__", "") == "ndtri_exp":  # of logarithms of probabilities
        args[0] = -args[0]
    return args


@pytest.mark.parametrize("dtype", BOXES, ids=str)
@pytest.mark.parametrize("function", ELEMENTWISE, ids=full_name)
def test_programs_compute_what_the_rules_say(function, dtype):
    operation = elementwise_of(function)
    arity = len(operation.partials)
    for active in actives(arity):
        for number in [None] if arity == 1 or len(active) == 2 else [None, 1 - active[0]]:
            form, keep, out = operation.fitting(active)
            exact = operation.exact(active, number, dtype)
            if exact is form:
                continue
            args = arguments(function, arity, dtype, () if number is None else (number,))
            result = np.asarray(function(*args), dtype)
            saved = [a if k else None for a, k in zip(args, keep, strict=True)] + ([result] if out else [])
            g = np.random.default_rng(7).normal(size=result.shape).astype(dtype)
            before = [None if s is None else s.copy() for s in saved]
            due = form.pull(g.copy(), *saved)
            for pull, given in ((exact.pull, g), (exact.over, g.copy())):
                kept = given.copy()
                found = pull(given, *saved)
                if pull is exact.pull:
                    assert np.array_equal(given, kept), "only `over` may write into the cotangent"
                found, wanted = (found, due) if len(active) == 2 else ((found,), (due,))
                for a, b in zip(found, wanted, strict=True):
                    assert a.dtype == b.dtype and np.array_equal(a, b)
                    assert not any(s is not None and np.shares_memory(a, s) for s in saved)
                assert len(active) == 1 or exact.fresh is None or not np.shares_memory(*found)
                for s, b in zip(saved, before, strict=True):
                    assert s is None or np.array_equal(s, b), "saved values stay as they are"


def test_the_common_rules_are_programs():
    for dtype in BOXES:
        for function in (np.sin, np.cos, np.tanh, np.square, np.negative, np.deg2rad, np.exp, np.log, np.sqrt):
            assert elementwise_of(function).exact((0,), None, dtype).fresh is dtype, function
        for function in (np.multiply, np.divide, neural.quotient):
            for active in ((0,), (1,), (0, 1)):
                assert elementwise_of(function).exact(active, None, dtype).fresh is dtype


@pytest.mark.parametrize("dtype", BOXES, ids=str)
@pytest.mark.parametrize("singular", [0.0, -0.0, np.inf, -np.inf, np.nan, 1e300])
@pytest.mark.parametrize("function", [np.exp, np.log, np.sqrt, np.divide, neural.quotient, np.arctanh])
def test_programs_are_the_rules_at_singular_points(function, singular, dtype):
    operation = elementwise_of(function)
    arity = len(operation.partials)
    g = np.array([0.0, -0.0, 1.0, 0.0, np.inf, np.nan], dtype)
    with np.errstate(all="ignore"):
        args = [np.array([singular, singular, singular, 2.0, singular, singular], dtype) for _ in range(arity)]
        out = function(*args)
        for active in actives(arity):
            numbers = [None] if len(active) == 2 or arity == 1 else [None, 1 - active[0]]
            for number in numbers:
                saved = [BOXES[dtype][singular] if i == number else a for i, a in enumerate(args)]
                form, _, uses_out = operation.fitting(active)
                exact = operation.exact(active, number, dtype)
                saved += [out] if uses_out else []
                due = form.pull(g.copy(), *saved)
                for pull in (exact.pull, exact.over):
                    np.testing.assert_array_equal(pull(g.copy(), *saved), due)


@pytest.mark.parametrize(
    "partial",
    [
        lambda t, x: t if x > 0 else -t,
        lambda t, x: t * (x == 1.0),
        lambda t, x: t * float(x),
        lambda t, x: t * np.where(x > 0, 1.0, 0.0),
        lambda t, x: t * x**2,
        lambda t, x: t * np.isfinite(x),
        lambda t, x: t * x.real,
        lambda t, x: t * x[0],
        lambda t, x: t * len(x),
        lambda t, x: t * 1j,
        lambda t, x: np.add.reduce(t),
        lambda t, x: t,
    ],
    ids=lambda p: inspect.getsource(p).strip().rstrip(","),
)
def test_what_is_no_straight_arithmetic_stays_as_it_is(partial):
    assert fused([partial], ["x"], [False], partial) == (None, None)


def test_what_one_partial_gives_is_read_by_the_next():
    exact = elementwise_of(np.divide).exact((0, 1))
    t, x, y = np.array([1.0, 0.0]), np.array([3.0, 4.0]), np.array([2.0, 0.0])
    with np.errstate(all="ignore"):
        first, second = exact.over(t.copy(), x, y, x / y)
    assert first.tolist() == [0.5, 0.0] and second.tolist() == [-0.75, 0.0]
    assert exact.over.__code__.co_names.count("_quotient") == 1


def test_partials_that_are_equal_give_arrays_of_their_own():
    partial = lambda t, x, y: t * (x + y)  # noqa: E731
    x = np.array([1.0, 2.0])
    for pull in fused([partial, partial], ["x", "y"], [False, False], partial):
        first, second = pull(np.ones(2), x, x)
        assert np.array_equal(first, second) and not np.shares_memory(first, second)


def test_a_complex_cotangent_goes_the_plain_way():
    exact = elementwise_of(np.sin).exact((0,))
    x = np.linspace(0.0, 1.0, 3)
    assert np.array_equal(exact.pull(1j * np.ones(3), x), 1j * np.cos(x))


def test_boxes_keep_the_sign_of_zero_and_nan():
    assert np.signbit(box(-0.0)) and not np.signbit(box(0.0)) and np.isnan(box(float("nan")))
    x = np.array([1.0, 2.0])
    for zero in (0.0, -0.0, 0.0):
        value, _ = tape_vjp(lambda x, z=zero: x * z, (x,), {}, [0])
        assert np.array_equal(np.signbit(value), np.signbit(x * zero))


def test_boxes_of_one_and_true_are_not_confused():
    x = np.array([3.0, 4.0])
    for one in (1, 1.0, True, np.float64(1)):
        value, pull = tape_vjp(lambda x, k=one: x * k, (x,), {}, [0])
        assert value.dtype == np.float64 and np.array_equal(pull(np.ones(2))[0], np.ones(2))


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(np.sin(x * 1.1 + 0.1) * x),
        lambda x: np.sum((2 - x) * (x - 3) / 4 + 1 / (2 + x)),
        lambda x: np.sum(np.tanh(x) * np.cos(x) - (-x) * 3),
        lambda x: np.sum(x + 1.0) + np.sum((x + 2.0) * x),
        lambda x: np.sum((x + 0.5)[..., None] * (x - 0.5)[None]),
    ],
)
@pytest.mark.parametrize("kind", ["float64", "float32", "scalar", "zero-dimensional", "empty"])
def test_both_engines_agree_on_chains_with_numbers(f, kind):
    x = np.linspace(0.2, 0.9, 5)
    x = {"float64": x, "float32": x.astype(np.float32), "empty": x[:0]}.get(kind, x[2])
    x = {"scalar": np.float64, "zero-dimensional": np.array}.get(kind, lambda v: v)(x)
    taped = s2sgrad.grad(f, mode="tape")
    compiled = s2sgrad.grad(f, mode="compiled")
    a, b = taped(x), compiled(x)
    assert taped.engine == "tape" and np.asarray(a).dtype == np.asarray(b).dtype
    np.testing.assert_allclose(a, b, rtol=1e-5 if kind == "float32" else 1e-12, atol=1e-6 if kind == "float32" else 0)


def test_gradients_are_memory_of_their_own():
    x, y = np.ones(3), np.ones(3)
    seed = np.array([1.0, 2.0, 3.0])
    _, pull = tape_vjp(lambda x, y: x + y + 1.0, (x, y), {}, [0, 1])
    a, b = pull(seed)
    assert not np.shares_memory(a, b) and not np.shares_memory(a, seed)
    _, pull = tape_vjp(lambda x: (x * 2.0, x + 1.0), (x,), {}, [0])
    (d,) = pull([seed, seed])
    assert np.array_equal(d, 3 * seed) and np.array_equal(seed, [1.0, 2.0, 3.0])
    again = pull([seed, seed])[0]
    assert np.array_equal(d, again) and not np.shares_memory(d, again)


def test_a_seed_is_never_written_to():
    x = np.linspace(0.1, 1.0, 4)
    seed = np.ones(4)
    for f in (lambda x: -x, lambda x: x * 2.0, lambda x: x + 1.0, lambda x: np.cos(-x), lambda x: x * x):
        _, pull = tape_vjp(f, (x,), {}, [0])
        first, second = pull(seed)[0], pull(seed)[0]
        assert np.array_equal(seed, np.ones(4)) and np.array_equal(first, second)


def test_second_derivatives_pass_boxed_numbers():
    f = lambda x: np.sum(np.sin(2.0 * x) * 3 - x / 4.0)  # noqa: E731
    hessian = s2sgrad.jacobian(s2sgrad.grad(f, mode="tape"))
    x = np.array([0.3, 0.8])
    np.testing.assert_allclose(hessian(x), np.diag(-12 * np.sin(2 * x)), rtol=1e-12)


def test_signatures_are_read_once(monkeypatch):
    f = lambda w, b: np.sum((w @ w.T + b) ** 2)  # noqa: E731
    w, b = np.ones((3, 2)), np.ones(3)
    tape_vjp(f, (w, b), {}, [0, 1])
    monkeypatch.setattr(inspect, "signature", lambda *args: pytest.fail("read again"))
    tape_vjp(f, (w, b), {}, [0, 1])


@pytest.mark.parametrize("narrow", [np.float16, np.float32])
def test_a_cotangent_of_a_narrower_type_does_not_narrow_what_is_computed_with_it(narrow):
    def f(x):
        return np.sum((-np.sin(-(x * 1.1))).astype(narrow))

    x = np.array([0.3, 1.0, 0.7])
    found = s2sgrad.grad(f, mode="tape")(x)
    np.testing.assert_allclose(found, np.cos(x * 1.1) * 1.1, rtol=1e-14)


@pytest.mark.parametrize(
    "cotangent", [2.0, [2, 2, 2], np.full(3, 2), np.full(3, 2, np.float32), 2 + 1j, np.full(1, 2.0)]
)
def test_rules_of_users_may_give_what_broadcasts_or_converts_to_the_cotangent(cotangent):
    def total(x):
        return 2.0 * np.sum(x)

    table.vjp(total, x=lambda g, out, x: cotangent)
    try:
        x = np.array([0.3, 1.0, 0.7])
        for f, due in (
            (lambda x: total(-(x * 2.5)), [-5.0, -5.0, -5.0]),
            (lambda x: total(-np.sin(x)), -2 * np.cos(x)),
            (lambda x: total(-x) + total(x * 3.0) + np.sum(x), [5.0, 5.0, 5.0]),
        ):
            np.testing.assert_allclose(s2sgrad.grad(f, mode="tape")(x), due, rtol=1e-14)
    finally:
        del RULES[total]


def test_numbers_that_overflow_are_told_of_each_time():
    x = np.ones(2, np.float32)
    for _ in range(3):
        with np.errstate(over="raise"), pytest.raises(FloatingPointError):
            s2sgrad.grad(lambda x: np.sum(x * 1e40), mode="tape")(x)
