"""SciPy's functions in both engines: what a rule knows is right, what none knows is an error that names the line."""

import runpy

import numpy as np
import pytest
from scipy import special, stats

from s2sgrad import elementwise_grad, grad
from s2sgrad.errors import CompileError, MissingRuleError

X = np.array([0.3, 1.2, 0.8])

PROGRAMS = {
    "gamma functions": lambda x: np.sum(special.gammaln(x) * special.psi(x + 1) - special.betaln(x, 2.0)),
    "softmax": lambda x: special.softmax(x) @ x + special.logsumexp(x, axis=0),
    "error functions": lambda x: np.sum(special.erf(x) * special.expit(x) + special.xlogy(x, 2 + x)),
    "likelihood": lambda x: -np.sum(stats.norm.logpdf(X, loc=x[0], scale=x[1])) - stats.gamma.logpdf(x[2], a=2.0),
    "shape": lambda x: np.sum(stats.gamma.cdf(X, x) + stats.t.logpdf(X, x[0])),
    "quantile": lambda x: np.sum(stats.norm.ppf(special.expit(x), x, 2.0)),
    "counts": lambda x: np.sum(stats.poisson.logpmf(np.array([0, 2, 1]), x)),
    "normal vectors": lambda x: stats.multivariate_normal.logpdf(x, np.zeros(3), np.eye(3) + np.outer(x, x)),
}


def numeric(f, x, h=1e-6):
    return np.array([(f(x + d) - f(x - d)) / (2 * h) for d in h * np.eye(len(x))])


@pytest.mark.parametrize("mode", ["compiled", "tape"])
@pytest.mark.parametrize("f", PROGRAMS.values(), ids=PROGRAMS)
def test_gradient(f, mode):
    gradient = grad(f, mode=mode)
    np.testing.assert_allclose(gradient(X), numeric(f, X), rtol=1e-6, atol=1e-8)
    assert gradient.engine == mode


@pytest.mark.parametrize("name", [n for n in PROGRAMS if n != "shape"])
def test_second_derivatives_are_compiled(name):
    f = PROGRAMS[name]
    along = grad(lambda x: np.sum(grad(f)(x) * np.array([1.0, -2.0, 3.0])))
    due = numeric(lambda x: np.sum(grad(f)(x) * np.array([1.0, -2.0, 3.0])), X, 1e-5)
    np.testing.assert_allclose(along(X), due, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("mode", ["compiled", "tape"])
def test_precision_of_the_argument(mode, dtype):
    f = lambda x: np.sum(special.betainc(1.3, 2.0, x) * special.gammaincc(2.0, x))  # noqa: E731
    assert grad(f, mode=mode)(np.array([0.3, 0.6], dtype)).dtype == dtype


UNKNOWN = {
    "order": lambda x: np.sum(special.jv(x, 2.0)),
    "order by keyword": lambda x: np.sum(special.betainc(x, 2.0, 0.5)),
    "shape": lambda x: np.sum(stats.beta.cdf(0.3, x, 2.0)),
    "shape by keyword": lambda x: np.sum(stats.beta.cdf(0.3, 2.0, b=x)),
    "count": lambda x: np.sum(stats.poisson.logpmf(x, 2.0)),
}


@pytest.mark.parametrize("f", UNKNOWN.values(), ids=UNKNOWN)
def test_derivative_that_no_rule_knows(f):
    with pytest.raises(CompileError, match="has no derivative rule for its argument") as error:
        grad(f, mode="compiled")(X)
    assert "test_scipy.py" in str(error.value)
    with pytest.raises(MissingRuleError, match="has no derivative for the argument") as error:
        grad(f, mode="tape")(X)
    assert "test_scipy.py" in str(error.value)


def test_second_derivative_that_no_rule_knows():
    with pytest.raises(MissingRuleError, match="gammainc_slope"):
        elementwise_grad(elementwise_grad(lambda a: special.gammainc(a, 1.3)))(X)


BY_PARAMETER = [  # of differences in fifty digits
    (0.5, 1e-3, -0.24772119046242067),
    (0.5, 40.0, -2.1253415656995285e-18),
    (3.0, 14.9, -7.935396595267528e-05),
    (3.0, 15.1, -6.705250616646564e-05),
    (50.0, 45.0, -0.04554329214012388),
    (50.0, 70.0, -0.001984018680936287),
    (2.0, 0.0, 0.0),
]


@pytest.mark.parametrize("a, x, due", BY_PARAMETER)
def test_gammainc_by_its_parameter(a, x, due):
    np.testing.assert_allclose(grad(lambda a: special.gammainc(a, x))(a), due, rtol=1e-11)


BOUNDED = [
    *((stats.lognorm, 0.7), (stats.gamma, 2.0), (stats.invweibull, 1.7), (stats.fisk, 1.7)),
    *((stats.weibull_min, 1.7), (stats.invgamma, 1.7), (stats.powerlaw, 1.7), (stats.pareto, 1.7)),
]


@pytest.mark.parametrize("mode", ["compiled", "tape"])
@pytest.mark.parametrize("method", ["pdf", "cdf", "sf", "logpdf"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_outside_of_the_support_nothing_changes(method, mode):
    for dist, shape in BOUNDED:
        function = getattr(dist, method)
        assert grad(lambda x: function(x, shape), mode=mode)(-1.0) == 0.0  # noqa: B023
        assert grad(lambda a: function(-1.0, a), mode=mode)(shape) == 0.0  # noqa: B023


@pytest.mark.parametrize("mode", ["compiled", "tape"])
@pytest.mark.filterwarnings("ignore:floating point number truncated", "ignore:non-integer arg n")
@pytest.mark.parametrize(
    "f",
    [
        lambda x: special.kn(2.6, x),
        lambda x: special.yn(-1.4, x),
        lambda x: special.expn(1.7, x),
        lambda x: special.expn(0.7, x),
        lambda x: special.bdtr(1.0, 3.8, x),
    ],
)
def test_orders_that_are_cut_to_integers(f, mode):
    np.testing.assert_allclose(grad(f, mode=mode)(0.6), (f(0.6 + 1e-6) - f(0.6 - 1e-6)) / 2e-6, rtol=1e-6)


def test_exported_source_runs(tmp_path):
    f = PROGRAMS["likelihood"]
    gradient = grad(f)
    due = gradient(X)
    gradient.export(tmp_path / "exported.py")
    names = runpy.run_path(str(tmp_path / "exported.py"))
    (made,) = [v for k, v in names.items() if k.endswith("_grad")]
    np.testing.assert_array_equal(made(X), due)
