"""Every rule of the table against finite differences, its JVP against its VJP, and the promises of all rules."""

import inspect
import warnings

import numpy as np
import pytest

from s2sgrad import grad, rules
from s2sgrad.runtime.arrays import is_differentiable
from tests.rules import reference
from tests.rules.samples import SAMPLES, resolve

H = 1e-6


def cases(keep=lambda s: True):
    return list(_cases(keep))


def _cases(keep):
    for name, samples in SAMPLES.items():
        for i, s in enumerate(samples):
            if keep(s):
                yield pytest.param(name, s, id=f"{name}-{i}")


def random_like(tree, rng, project=None):
    """Random tangents or cotangents of the structure, shapes and kinds (real, complex) of `tree`; None elsewhere."""
    if isinstance(tree, (tuple, list)):
        return [random_like(item, rng, project) for item in tree]
    if not (is_differentiable(tree) or isinstance(tree, int) and not isinstance(tree, bool)):
        return None
    x = rng.standard_normal(np.shape(tree))
    if np.iscomplexobj(tree):
        x = x + 1j * rng.standard_normal(np.shape(tree))
    return project(x) if project else x


def shifted(tree, t, h):
    if t is None:
        return tree
    if isinstance(tree, (tuple, list)):
        return type(tree)(shifted(x, d, h) for x, d in zip(tree, t, strict=True))
    return tree + h * t


def inner(u, v):
    """The real inner product of two trees, None being zero."""
    if u is None or v is None:
        return 0.0
    if isinstance(u, (tuple, list)):
        return sum(inner(a, b) for a, b in zip(u, v, strict=True))
    assert np.shape(u) == np.shape(v)
    return float(np.real(np.sum(np.conj(u) * v)))


def shapes(tree):
    return [shapes(x) for x in tree] if isinstance(tree, (tuple, list)) else np.shape(tree)


def active_names(rule, sample, bound):
    names = sample.active or rule.differentiable
    return [
        n
        for n in names
        if n in bound.arguments and (reference.leaves(bound.arguments[n]) or isinstance(bound.arguments[n], int))
    ]


def check(name, sample):
    """VJP and JVP of one sample: against central differences, and against each other."""
    rng = np.random.default_rng(7)
    function, rule = resolve(name), rules.lookup(resolve(name))
    bound = reference.bind(rule, sample.args, sample.kwargs)
    names = active_names(rule, sample, bound)
    assert names
    out = reference.call(function, bound)
    g = sample.gradient(out) if sample.gradient else random_like(out, rng)
    cotangents = reference.vjp(rule, g, out, bound, names)
    for n in names:
        assert_fits(cotangents[n], bound.arguments[n])

    for _ in range(2):
        tangents = {n: random_like(bound.arguments[n], rng, sample.project) for n in names}
        ends = []
        for h in (H, -H):
            moved = {n: shifted(bound.arguments[n], t, h) for n, t in tangents.items()}
            changed = inspect.BoundArguments(bound.signature, bound.arguments | moved)
            ends.append(reference.call(function, changed))
        slope = sum(inner(cotangents[n], tangents[n]) for n in names)
        change = reference.jvp(rule, tangents, out, bound)
        assert shapes(change) == shapes(out)
        if sample.measure:
            numeric = (sample.measure(ends[0]) - sample.measure(ends[1])) / (2 * H)
        else:
            numeric = (inner(g, ends[0]) - inner(g, ends[1])) / (2 * H)
        assert np.isfinite(numeric)
        np.testing.assert_allclose(slope, numeric, rtol=2e-6, atol=2e-8 * scale(ends[0]))
        np.testing.assert_allclose(inner(g, change), slope, rtol=1e-9, atol=1e-11)


def scale(out):
    return 1 + max((float(np.max(np.abs(x), initial=0.0)) for x in reference.leaves(out)), default=0.0)


def assert_fits(d, x):
    """A cotangent has the shape of its argument, and is real where the argument is."""
    if isinstance(x, (tuple, list)) and isinstance(d, (tuple, list)):
        assert len(d) == len(x)
        for item, leaf in zip(d, x, strict=True):
            assert_fits(item, leaf)
    elif d is not None:
        assert np.shape(d) == np.shape(x)
        assert np.iscomplexobj(x) or not np.iscomplexobj(d)


TORCH = ("s2sgrad.rules.neural", "s2sgrad.runtime.eager", "s2sgrad.torch")  # in the table once imported; tested there
ONE_EACH = [
    rule  # synonyms share a rule
    for rule in dict.fromkeys(rules.RULES.values())
    if not str(getattr(rule.function, "__module__", "")).startswith(TORCH)
]


@pytest.mark.parametrize("rule", ONE_EACH, ids=lambda r: getattr(r.function, "__name__", "?"))
def test_every_differentiable_rule_has_a_sample(rule):
    if rule.kind != "inactive":
        assert any(rules.lookup(resolve(name)) is rule for name in SAMPLES)
        if rule.kind == "general":
            assert set(rule.pushforwards) == set(rule.differentiable)


@pytest.mark.parametrize("name, sample", cases())
def test_rule(name, sample):
    check(name, sample)


@pytest.mark.parametrize("name, sample", cases(lambda s: s.complex_too))
def test_rule_complex(name, sample):
    check(name, sample.as_complex())


def as_float32(tree):
    if isinstance(tree, (tuple, list)):
        return type(tree)(as_float32(x) for x in tree)
    if isinstance(tree, np.ndarray) and tree.dtype == np.float64:
        return tree.astype(np.float32)
    return np.float32(tree) if isinstance(tree, np.float64) else tree


@pytest.mark.parametrize("name, sample", cases(lambda s: s.measure is None))
def test_float32_stays_float32(name, sample):
    function, rule = resolve(name), rules.lookup(resolve(name))
    bound = reference.bind(rule, as_float32(sample.args), as_float32(sample.kwargs))
    names = active_names(rule, sample, bound)
    out = reference.call(function, bound)
    leaves = reference.leaves(out)
    if not all(getattr(x, "dtype", None) == np.float32 for x in leaves):
        return  # the function itself leaves float32
    g = as_float32(tree_map(np.float64, random_like(out, np.random.default_rng(1))))
    for n, d in reference.vjp(rule, g, out, bound, names).items():
        for leaf, x in zip(reference.leaves(d), reference.leaves(bound.arguments[n]), strict=False):
            if isinstance(x, np.ndarray):
                assert leaf.dtype == np.float32


def tree_map(f, tree):
    if isinstance(tree, (tuple, list)):
        return [tree_map(f, x) for x in tree]
    return tree if tree is None or isinstance(tree, np.ndarray) else f(tree)


@pytest.mark.parametrize("name, sample", cases(lambda s: s.measure is None))
def test_a_zero_cotangent_stays_zero(name, sample):
    function, rule = resolve(name), rules.lookup(resolve(name))
    bound = reference.bind(rule, sample.args, sample.kwargs)
    out = reference.call(function, bound)
    zero = tree_map(float, shifted_zero(out))
    for d in reference.vjp(rule, zero, out, bound, active_names(rule, sample, bound)).values():
        for leaf in reference.leaves(d):
            assert not np.any(leaf)


def shifted_zero(tree):
    if isinstance(tree, (tuple, list)):
        return [shifted_zero(x) for x in tree]
    return np.zeros(np.shape(tree))[()]


INF, NAN = np.inf, np.nan

SINGULAR = {
    "np.sqrt": [[0.0, -1.0]],
    "np.cbrt": [[0.0]],
    "np.log np.log2 np.log10": [[0.0, -1.0, NAN, INF]],
    "np.log1p": [[-1.0, -2.0]],
    "np.divide": [[1.0, 0.0, INF, 1.0], [0.0, 0.0, INF, NAN]],
    "np.reciprocal": [[0.0, NAN]],
    "np.power": [[0.0, 0.0, -1.0, 0.0, -2.0], [0.5, -1.0, 0.5, 0.0, 1.5]],
    "np.exp np.exp2 np.expm1 np.sinh np.cosh": [[1e4, -1e4, NAN]],
    "np.arcsin np.arccos np.arctanh": [[1.0, -1.0, 2.0]],
    "np.arccosh": [[1.0, 0.5]],
    "np.arctan2 np.hypot": [[0.0, 1.0], [0.0, NAN]],
    "np.logaddexp np.logaddexp2": [[-INF, INF], [-INF, 1.0]],
    "np.absolute": [[0.0, -1.0]],
    "np.linalg.norm np.std np.var": [[0.0, 0.0]],
    "np.linalg.norm ": [[NAN, 1.0]],
    "np.sinc": [[0.0]],
    "np.prod np.nanprod np.cumprod": [[1e200, 1e200, 2.0]],
}


@pytest.mark.parametrize("name, args", [(n, args) for names, args in SINGULAR.items() for n in names.split()])
def test_a_zero_cotangent_stays_zero_where_the_partial_is_singular(name, args):
    args = [np.array(a) for a in args]
    function, rule = resolve(name), rules.lookup(resolve(name))
    bound = reference.bind(rule, args, {})
    with np.errstate(all="ignore"):
        out = reference.call(function, bound)
        g = np.zeros(np.shape(out))
        cotangents = reference.vjp(rule, g, out, bound, rule.differentiable[: len(args)])
    for d in cotangents.values():
        assert not np.any(d)


@pytest.mark.parametrize("x, y", [(0.0, 0.5), (0.0, -1.0), (0.0, 0.0), (-2.0, 0.5)])
@pytest.mark.parametrize("kind", [float, np.array])
def test_power_singular_exponents_that_are_numbers(x, y, kind):
    rule = rules.lookup(np.power)
    with np.errstate(all="ignore"):
        d = rule.partials[0](kind(0.0), kind(x), y)
    assert not np.any(d)


# ---------------------------------------------------------------- special points


def pullback(function, g, *args, **kwargs):
    rule = rules.lookup(function)
    bound = reference.bind(rule, args, kwargs)
    out = reference.call(function, bound)
    return reference.vjp(rule, g, out, bound, [n for n in rule.differentiable if n in bound.arguments])


def test_ties_of_maximum_share_equally():
    d = pullback(np.maximum, np.array([1.0, 1.0]), np.array([2.0, 1.0]), np.array([2.0, 0.0]))
    np.testing.assert_array_equal(d["x"], [0.5, 1.0])
    np.testing.assert_array_equal(d["y"], [0.5, 0.0])


def test_ties_of_max_share_equally():
    d = pullback(np.max, np.array([1.0, 3.0]), np.array([[2.0, 1.0, 2.0], [5.0, 5.0, 5.0]]), axis=1)
    np.testing.assert_array_equal(d["a"], [[0.5, 0.0, 0.5], [1.0, 1.0, 1.0]])


def test_clip_passes_on_the_bounds():
    d = pullback(np.clip, np.ones(3), np.array([-1.0, 0.0, 1.0]), -1.0, 1.0)
    np.testing.assert_array_equal(d["a"], [1.0, 1.0, 1.0])
    assert d["a_min"] == d["a_max"] == 0.0


def test_abs_is_flat_at_zero():
    assert pullback(np.abs, 1.0, 0.0)["x"] == 0.0
    assert pullback(np.abs, 1.0, 0j)["x"] == 0.0


def test_gradient_of_squared_modulus_is_twice_z():
    z = 1.0 + 2.0j
    r = np.abs(z)
    assert pullback(np.abs, 2 * r, z)["x"] == pytest.approx(2 * z)


@pytest.mark.parametrize("ord", [None, 2, 1, 3, np.inf])
def test_norm_is_flat_at_zero(ord):
    np.testing.assert_array_equal(pullback(np.linalg.norm, 1.0, np.zeros(3), ord=ord)["x"], np.zeros(3))


def test_std_is_flat_where_all_are_equal():
    np.testing.assert_array_equal(pullback(np.std, 1.0, np.full(3, 2.0))["a"], np.zeros(3))


def test_nuclear_norm_with_equal_singular_values():
    d = pullback(np.linalg.norm, 1.0, 3 * np.eye(3), ord="nuc")["x"]
    np.testing.assert_allclose(d, np.eye(3), atol=1e-15)


def test_nuclear_norm_of_a_singular_matrix_ignores_the_null_space():
    d = pullback(np.linalg.norm, 1.0, np.diag([2.0, 0.0]), ord="nuc")["x"]
    np.testing.assert_allclose(d, np.diag([1.0, 0.0]), atol=1e-15)


def test_square_at_zero_has_finite_repeated_derivatives():
    partial = rules.lookup(np.power).partials[0]
    assert partial(1.0, np.zeros(1), 2) == 0.0
    assert partial(1.0, np.zeros(1), 1) == 1.0
    assert partial(1.0, np.zeros(1), 0) == 0.0
    assert partial(1.0, np.zeros(1), np.zeros(1)) == 0.0


def test_square_root_by_power_is_infinite_at_zero_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert pullback(np.power, 1.0, np.zeros(1), 0.5)["x"] == np.inf


def test_an_integer_conversion_takes_steps():
    np.testing.assert_array_equal(pullback(np.astype, np.ones(2), np.array([1.5, 2.5]), int)["x"], np.zeros(2))
    np.testing.assert_array_equal(pullback(np.sum, 1.0, np.array([1.5, 2.5]), dtype=int)["a"], np.zeros(2))


def test_missing_cotangents_of_several_results_are_zero():
    a = np.array([[2.0, 1.0], [1.0, 3.0]])
    only_values = pullback(np.linalg.eigh, (np.ones(2), None), a)["a"]
    np.testing.assert_allclose(only_values, np.eye(2), atol=1e-15)
    np.testing.assert_array_equal(pullback(np.split, [None, np.ones(1)], np.ones(2), 2)["ary"], [0.0, 1.0])


def test_vectors_of_equal_eigenvalues_have_no_derivative():
    """A function of a matrix by its eigenvectors has off-diagonal terms there that the formula cannot see."""
    g = (np.ones(2), np.array([[0.0, 1.0], [1.0, 0.0]]))
    assert np.isnan(pullback(np.linalg.eigh, g, np.eye(2))["a"]).any()
    gu = np.array([[0.0, 1.0], [0.0, 0.0]])
    assert np.isnan(pullback(np.linalg.svd, (gu, np.ones(2), -gu), np.eye(2))["a"]).any()
    np.testing.assert_allclose(pullback(np.linalg.eigh, (np.ones(2), np.zeros((2, 2))), np.eye(2))["a"], np.eye(2))
    np.testing.assert_allclose(pullback(np.linalg.svd, (None, np.ones(2), None), np.eye(2))["a"], np.eye(2))


def test_a_vector_of_a_simple_eigenvalue_has_a_derivative_beside_equal_ones():
    x, r = np.array([0.5, 1.0, 0.3, 0.2]), np.sqrt(2) / 8
    found = pullback(np.linalg.eigh, (None, np.diag([0.0, 0.0, 1.0])), np.diag([1.0, 1.0, 3.0]) + 0.0)["a"]
    np.testing.assert_allclose(found, np.zeros((3, 3)), atol=1e-15)
    a = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 1.0]])
    g = np.zeros((3, 3))
    g[0, 2] = np.sign(np.linalg.eigh(a)[1][0, 2])
    np.testing.assert_allclose(pullback(np.linalg.eigh, (None, g), a)["a"], np.diag([r, -r, 0.0]), atol=1e-15)

    def first(x):
        return abs(np.linalg.svd(np.outer(x, x) + np.eye(4))[0][0, 0])

    slopes = [(first(x + h) - first(x - h)) / 2e-6 for h in 1e-6 * np.eye(4)]
    np.testing.assert_allclose(grad(first)(x), slopes, atol=1e-8)


@pytest.mark.parametrize(
    "function, args, kwargs",
    [
        (np.pad, (np.ones(3), 1), {"mode": "mean"}),
        (np.linalg.qr, (np.ones((2, 3)),), {}),
        (np.ravel, (np.ones((2, 3)),), {"order": "K"}),
        (np.einsum, (np.ones(2), [0], np.ones(2), [0]), {}),
        (np.nanmedian, (np.ones((2, 2)),), {"overwrite_input": True}),
    ],
)
def test_what_a_rule_does_not_cover_is_refused(function, args, kwargs):
    out = function(*args, **kwargs)
    g = out if not isinstance(out, tuple) else tuple(out)
    with pytest.raises(TypeError):
        pullback(function, g, *args, **kwargs)


# ---------------------------------------------------------------- rules of the user's own


def weighted(x, w):
    return np.sum(x * w)


def test_a_pullback_that_cannot_be_called_is_refused():
    for wrong, name in ((lambda g, x: g, "x"), (lambda g, out, a, w: g, "x"), (lambda g, out, x: g, "w")):
        with pytest.raises(ValueError, match=rf"weighted.* for '{name}' takes .*\(g, out\)"):
            rules.table.vjp(weighted, **{name: wrong})
    with pytest.raises(ValueError, match="for 'y' takes"):
        rules.table.vjp(weighted, "x", "y")(lambda g, out, x, w: (g, g))


def test_a_rule_is_not_replaced():
    def own(x):
        return x * 2.0

    rules.table.vjp(own, x=lambda g, out, x: g * 2.0)
    assert grad(own)(3.0) == 2.0
    with pytest.raises(ValueError, match="own.* has a rule for x already"):
        rules.table.vjp(own, x=lambda g, out, x: g * 3.0)
