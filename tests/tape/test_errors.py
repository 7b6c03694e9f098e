"""What the tape cannot follow is an error that names the user's line; never a silent zero."""

import array
import contextlib
import copy
import decimal
import importlib
import json
import operator
import pickle
import struct
from types import SimpleNamespace

import numpy as np
import pytest

from s2sgrad.errors import MissingRuleError, TapeError
from tests.tape.numeric import differences, grad

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


def test_code_of_a_library_is_told_by_its_public_name():
    integrate, optimize = pytest.importorskip("scipy.integrate"), pytest.importorskip("scipy.optimize")
    interpolate = pytest.importorskip("scipy.interpolate")
    knots = np.array([0.0, 1.0, 2.0])
    calls = {
        "scipy.integrate.solve_ivp": lambda x: integrate.solve_ivp(lambda t, y: -x * y, (0, 1), knots).y.sum(),
        "scipy.integrate.quad": lambda x: integrate.quad(lambda t: t * x[0], 0, 1)[0],
        "scipy.optimize.minimize": lambda x: optimize.minimize(lambda y: np.sum((y - x) ** 2), knots).fun,
        "scipy.optimize.brentq": lambda x: optimize.brentq(lambda y: y * x[0] - 1, -5, 5),
        "scipy.interpolate.CubicSpline": lambda x: interpolate.CubicSpline(knots, x)(0.5),
        "pickle.dumps": lambda x: len(pickle.dumps(x)) * x[0],
    }
    for name, f in calls.items():
        f(X)
        text = raised(TapeError, f)
        known = "" if name.startswith("pickle") else f" by {name}: its derivative would be lost"
        assert known in text.splitlines()[0] and "test_errors.py" in text
        assert (f"Write what {name} does with NumPy functions, give the function that calls it" in text) is bool(known)
    first, *_ = raised(MissingRuleError, lambda x: integrate.solve_ivp(lambda t, y: -y, (0, 1), x).y.sum()).splitlines()
    assert first == "scipy.integrate.solve_ivp has no derivative rule, but a derivative has to flow through it"


def test_what_to_do_where_there_is_no_rule():
    linalg = pytest.importorskip("scipy.linalg")
    a = np.array([[4.0, 1.0], [1.0, 3.0]])
    text = raised(MissingRuleError, lambda a: np.sum(linalg.cholesky(a)), a)
    assert text.startswith("scipy.linalg.cholesky has no derivative rule")
    assert text.splitlines()[-1].startswith("Use numpy.linalg.cholesky, which has one (its conventions may differ)")
    assert "Write it with functions that have one" in raised(MissingRuleError, lambda a: np.sum(linalg.expm(a)), a)
    rng = np.random.default_rng(0)
    drawn = "Draw without it and use what is drawn (m + s * rng.normal(size=n), x[rng.permutation(n)])"
    text = raised(MissingRuleError, lambda x: np.random.normal(x).sum())
    assert text.startswith("numpy.random.normal has no derivative rule") and drawn in text
    text = raised(MissingRuleError, lambda x: rng.normal(x, 1.0).sum())
    assert text.startswith("numpy.random.Generator.normal has no derivative rule") and drawn in text
    text = raised(MissingRuleError, lambda x: np.sum(np.cumsum(x, dtype=np.float32)))
    assert text.startswith("the rule of cumsum does not cover the keyword 'dtype'") and "Register" not in text
    text = raised(MissingRuleError, lambda x: len(x.tobytes()) * x[0])
    assert "take it of stop_gradient(value)" in text and "rules.table" not in text


def test_write_into_a_plain_array():
    def f(x):
        outside.content[:] = x
        return np.sum(outside.content)

    text = raised(TapeError, f)
    assert "converted to an array" in text and "outside.content[:] = x" in text
    assert "into an array that an object holds, give the attribute a new array instead." in text


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


def structured(x):
    r = np.zeros(3, dtype=[("a", float)])
    r["a"] = x
    return r["a"].sum()


def field_by_field(x):
    r = np.zeros(3, dtype=[("a", float)])
    r["a"][0] = x[0]
    return r["a"].sum()


def row_by_row(x):
    r = np.zeros(3, dtype=[("a", float)])
    r[0] = (x[0],)
    return r["a"].sum()


def objects(x):
    a = np.empty(1, object)
    a[0] = x[0]
    return a[0] * 2


def through_memory(x):
    b = np.zeros(3)
    memoryview(b)[0] = x[0]
    return b.sum()


@pytest.mark.parametrize(
    "f",
    [
        structured,
        field_by_field,
        row_by_row,
        lambda x: np.array([(x[0], 1.0)], dtype=[("a", float), ("b", float)])["a"].sum(),
        lambda x: np.rec.array([(x[0],)], dtype=[("a", float)]).a.sum(),
        lambda x: np.rec.fromarrays([x]).f0.sum(),
        objects,
        lambda x: x.astype(object).sum(),
        lambda x: np.full(2, x[0], dtype=object).sum(),
        lambda x: np.sum(x.astype(str).astype(float)),
        lambda x: pickle.loads(pickle.dumps(x)).sum(),
        lambda x: pickle.loads(pickle.dumps({"a": [x[0]]}))["a"][0],
        lambda x: np.frombuffer(x.data).sum(),
        lambda x: np.frombuffer(x.tobytes()).sum(),
        lambda x: memoryview(x)[0],
        through_memory,
        lambda x: x.__array_interface__["data"][0] * x[0],
        lambda x: array.array("d", x)[0],
        lambda x: struct.unpack("d", struct.pack("d", x[0]))[0],
        lambda x: json.loads(json.dumps([x[0]]))[0],
        lambda x: float(decimal.Decimal(x[0])),
        lambda x: float.__add__(x[0], 1.0),
        lambda x: np.longdouble(x[0]) * 2,
        lambda x: sum(float(t) for t in np.nditer(x)),
        lambda x: np.ma.array(x, mask=[0, 1, 0]).sum(),
        lambda x: np.matrix(x).sum(),
    ],
)
def test_what_takes_plain_data_is_an_error_that_names_the_line(f):
    assert np.isfinite(float(f(X.copy())))  # as a plain call it is fine
    assert "test_errors.py" in raised((TapeError, MissingRuleError), f)


class Holder:
    def __init__(self):
        self.u = np.ones(3)


@pytest.mark.parametrize(
    "store",
    [
        lambda u, x: np.copyto(u, x),
        lambda u, x: np.put(u, [0], x[0]),
        lambda u, x: np.place(u, [True, False, False], x[0]),
        lambda u, x: np.putmask(u, [True, False, False], x[0]),
        lambda u, x: np.multiply(x, 2, out=u),
        lambda u, x: np.add.at(u, [0, 0], x[:2]),
        lambda u, x: np.multiply.at(u, [0, 0], x[:2]),
    ],
)
def test_what_is_stored_in_an_array_of_an_object_is_an_error(store):
    def f(x, holder):
        u = holder.u
        store(u, x)
        return np.sum(holder.u * x)

    holder = Holder()
    assert "that the tape does not see" in raised(TapeError, lambda x: f(x, holder))


def test_the_line_is_the_users_and_not_the_standard_librarys():
    import statistics

    text = raised(MissingRuleError, lambda x: statistics.mean(x))
    assert "test_errors.py" in text and "statistics.py" not in text


def test_the_line_of_an_installed_package_says_who_called_it(tmp_path, monkeypatch):
    package = tmp_path / "site-packages" / "package_that_converts.py"
    package.parent.mkdir()
    package.write_text(
        "import array, json\n\ndef convert(x):\n    return array.array('d', x)[0]\n\ndef fail(x):\n"
        "    raise TypeError('Traced is no number\\nand more')\n"
    )
    monkeypatch.syspath_prepend(package.parent)
    module = importlib.import_module("package_that_converts")

    def f(x):
        return module.convert(x)

    def g(x):
        return module.fail(x)

    first = f.__code__.co_firstlineno + 1
    text = raised(TapeError, f)
    assert (
        f"\n  at {package}:4, in convert\n    return array.array('d', x)[0]\n  called at {__file__}:{first}, in f"
        in text
    )
    text = raised(TapeError, g)
    assert text.startswith(
        "a recorded value is given to code that takes plain numbers and arrays only (TypeError: Traced is no number)\n"
    )
    assert f"\n  called at {__file__}:{first + 3}, in g\n    return module.fail(x)\n" in text


@pytest.mark.parametrize(
    "f",
    [
        lambda x: float(str(x[0])),
        lambda x: np.float64(str(x[0])) * 2,
        lambda x: complex(f"{x[0]}").real,
        lambda x: float(f"{float(x[0])!r}"),
    ],
)
def test_a_number_is_made_of_the_text_of_a_value(f):
    assert "a number is made of the text of a recorded value" in raised(TapeError, f)


def test_texts_are_written():
    seen = []

    def f(x):
        seen.append("%.3f, %d and %s" % (x[0], x[1], x[2]))  # noqa: UP031
        text = "%5.1f"
        text %= x[0] * x[1]
        seen.append(text)
        seen.append(f"{x[0]:.2f} {x[1]} {x[2]!s:>5}")
        rounded = float("%.1f" % x[0]) + float(f"{x[1]:.1f}")  # noqa: UP031
        return np.sum(x) * rounded * float("2.0")

    np.testing.assert_array_equal(grad(f)(X), [6.0, 6.0, 6.0])
    assert seen == ["1.000, 2 and 3.0", "  2.0", "1.00 2.0   3.0"]
    assert "numpy.matrix: the array method 'view'" in raised(MissingRuleError, lambda x: np.sum(np.matrix(x)))


def test_type_in_brackets():
    def f(x, of: type = None):
        def inner(y, kind: type[int] | None = None):
            return y * y

        return inner(x[0])

    np.testing.assert_array_equal(grad(f)(X), [2, 0, 0])


def test_copies_are_followed():
    def f(x):
        return np.sum(copy.deepcopy({"a": x})["a"]) + copy.copy(x)[0] + copy.deepcopy(x[1]) + np.array(x)[2]

    np.testing.assert_array_equal(grad(f)(X), [2, 2, 2])


def test_what_is_stored_in_an_array_of_objects_is_plain_afterwards():
    box = np.empty(1, object)

    def f(x):
        box[0] = x[0]
        return box[0] * 2

    np.testing.assert_array_equal(grad(f)(X), [2, 0, 0])
    assert type(box[0]) is np.float64


@pytest.mark.parametrize(
    "f",
    [
        lambda x: abs(complex(x[0], x[1])),
        lambda x: abs(complex(real=x[0], imag=x[1])),
        lambda x: abs(complex(3.0, x[0] * x[1])),
        lambda x: complex(x[0] ** 2 * 1j, x[1]).imag,
        lambda x: abs(np.complex128(x[0], x[1])),
        lambda x: np.abs(np.array([complex(x[0] * x[2], x[1])])).sum(),
    ],
)
def test_complex_of_two_numbers(f):
    np.testing.assert_allclose(grad(f)(X), differences(f, X), atol=1e-7)


def test_complex_of_two_numbers_has_the_very_value():
    seen = []

    def f(x):
        z = complex(x[0], x[1])
        seen.append(str(z))
        return z.real

    grad(f)(np.array([-0.0, np.inf]))
    assert seen == [str(complex(-0.0, np.inf))]


def test_the_public_function_is_named():
    assert "in numpy.kaiser: numpy.arange has no" in raised(MissingRuleError, lambda x: np.kaiser(5, x[0]).sum())
    assert "in numpy.union1d: numpy.unique has no" in raised(MissingRuleError, lambda x: np.union1d(x, x).sum())
    assert raised(MissingRuleError, lambda x: np.spacing(x).sum()).startswith("numpy.spacing has no")
    special = pytest.importorskip("scipy.special")
    assert "scipy.special.kolmogorov has no" in raised(MissingRuleError, lambda x: special.kolmogorov(x).sum())


def test_objects_of_scipy_that_can_be_called():
    from scipy.stats import exponpow, norm

    assert "exponpow_gen.logpdf" in raised(MissingRuleError, lambda x: exponpow.logpdf(x, 2.0).sum())
    assert "norm_gen has no" in raised(MissingRuleError, lambda x: norm(0, x[0]).logpdf(1.0))
    np.testing.assert_array_equal(grad(lambda x: np.sum(x) * norm.cdf(0.0))(X), [0.5, 0.5, 0.5])


def test_small_floats_keep_their_derivative():
    import ml_dtypes

    grads = grad(lambda x: np.sum(x.astype(ml_dtypes.bfloat16).astype(float) * 2))(X)
    np.testing.assert_array_equal(grads, [2, 2, 2])


squares = np.frompyfunc(lambda v: v * v, 1, 1)


def test_a_refusal_that_the_function_catches():
    def goes_on(x):
        try:
            y = squares(x).astype(float)
        except Exception:
            y = x * 0.0
        return np.sum(y)

    def suppresses(x):
        y = x * 1.0
        with contextlib.suppress(TypeError):
            y = json.loads(json.dumps([operator.attrgetter("__float__")(v)() for v in x])) * x
        return np.sum(y)

    def returns_finally(x):
        y = np.sum(x)
        try:
            y = np.sum(squares(x).astype(float))
        finally:
            return y  # noqa: B012

    held = SimpleNamespace(a=np.ones(2))

    def of_an_error_in_its_place(x):
        a = held.a * 2.0
        with contextlib.suppress(ValueError):
            a[1] = x[0]  # NumPy says that this is no number
        return np.sum(a * x[0])

    assert "has no derivative rule" in raised(MissingRuleError, goes_on)
    assert "converted to a plain float" in raised(TapeError, of_an_error_in_its_place)
    assert "converted to a plain float" in raised(TapeError, suppresses)
    assert "has no derivative rule" in raised(MissingRuleError, returns_finally)


def test_a_refusal_is_of_its_own_run():
    def f(x):
        try:
            y = squares(x).astype(float)
        except TypeError as error:
            raise ValueError("no squares") from error
        return np.sum(y)

    with pytest.raises(ValueError, match="no squares"):
        grad(f)(X)

    def g(x):
        try:
            y = x[5]
        except IndexError:
            y = x[1]
        return y * x[0]

    np.testing.assert_array_equal(grad(g)(X), [2.0, 1.0, 0.0])
