"""The object itself: source, explain, check, export, metadata, pickling, engines."""

import copy
import importlib
import inspect
import pickle
import pydoc
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest
from rich.console import Console

import s2sgrad
from s2sgrad import GradientCheckError, elementwise_grad, grad, value_and_grad, vjp
from s2sgrad.rules import table

SCALES = np.array([1.0, 2.0, 3.0])


def loss(w, x, y=1.0):
    """Squared error.

    Of a linear model.
    """
    r = w * x - y
    return np.sum(r * r)


@grad
def decorated(x):
    return x**3


class Owner:
    k = 2.0

    @grad
    def method(self, x):
        return self.k * x * x

    def plain(self, x):
        return self.k * x * x


def fills(x):
    try:
        out = np.array([x, x])
    except KeyError:
        out = 0.0
    except OSError:
        out = 0.0
    return np.sum(out * out)


class TestMetadata:
    def test_name_doc_signature(self):
        g = grad(loss)
        assert g.__name__ == "loss" and g.__module__ == loss.__module__
        assert g.__wrapped__ is loss and g.primal is loss
        assert inspect.signature(g) == inspect.signature(loss)
        assert g.__doc__ == "The gradient of `loss` (by s2sgrad).\n\n" + inspect.getdoc(loss)
        assert pydoc.render_doc(g).count("The gradient of `loss`") == 1
        assert value_and_grad(lambda x: x).__doc__ == "The value and the gradient of `<lambda>` (by s2sgrad)."

    def test_repr(self):
        g = grad(loss, ("w", "x"), mode="tape")
        assert repr(g) == "<grad of loss: not called yet, argnums=('w', 'x'), mode='tape'>"
        g(1.0, 2.0)
        assert repr(g) == "<grad of loss: tape, argnums=('w', 'x'), mode='tape'>"
        assert repr(value_and_grad(loss, has_aux=True)).startswith("<value_and_grad of loss: not called yet, has_aux")

    def test_engine(self):
        g = grad(loss)
        assert g.engine is None
        g(1.0, 2.0)
        assert g.engine == "compiled"
        t = grad(fills)
        t(1.0)
        assert t.engine == "tape"


class TestSource:
    def test_before_any_call(self):
        source = grad(loss).source
        assert isinstance(source, str) and source.startswith("def loss_grad(w, x, y=1.0):")
        compile(source, "<source>", "exec")

    def test_after_a_call(self):
        g = grad(loss)
        g(2.0, 3.0)
        scalar = g.source
        g(np.ones(3), 3.0)
        assert g.source != scalar or "def loss_grad" in scalar
        assert grad(loss).source.startswith("def loss_grad")

    def test_of_a_method(self):
        assert "def method_grad(self, x):" in Owner().method.source

    def test_of_extra_arguments(self):
        def total(*xs, **ws):
            return xs[0] * xs[1] * ws["scale"]

        assert "def total_grad(*xs, **ws):" in grad(total, (1, "scale")).source

    def test_on_the_tape(self):
        with pytest.raises(s2sgrad.CompileError, match='mode="tape" was asked for'):
            _ = grad(loss, mode="tape").source

    def test_it_is_seen_by_inspect_and_tracebacks(self):
        def bad(x):
            y = x * 2.0
            return np.sum(y @ y @ y)

        g = grad(bad)
        with pytest.raises(ValueError, match="matmul") as caught:
            g(np.ones(2))
        assert g.engine == "compiled"
        assert any("@ y" in str(entry.statement) for entry in caught.traceback)


class TestExplain:
    def test_compiled(self):
        g = grad(loss)
        g(1.0, 2.0)
        explanation = g.explain()
        assert explanation.rows[0].function == "loss" and explanation.rows[0].engine == "compiled"
        assert f"{__file__}:" in str(explanation) and str(explanation).startswith("grad of loss: compiled")
        assert repr(explanation) == str(explanation)

    def test_a_name_that_two_modules_read_is_told_once(self, tmp_path, monkeypatch):
        (tmp_path / "neighbour_of_derivative.py").write_text(
            "import numpy as np\n\ndef half(x):\n    return np.sum(x) / 2\n"
        )
        monkeypatch.syspath_prepend(tmp_path)
        half = importlib.import_module("neighbour_of_derivative").half
        g = grad(lambda x: half(x) * np.prod(x))
        g(np.ones(3))
        assert g.explain().guards.count("np") == 1

    def test_what_is_assumed_is_told_in_short_lines(self):
        def f(x):
            return np.sum(np.sin(x) * SCALES) + np.prod(np.cos(x) + np.tanh(x)) + loss(np.max(x), np.min(x))

        g = grad(f)
        g(np.ones(3))
        lines = str(g.explain()).splitlines()
        start = next(i for i, line in enumerate(lines) if "compiled again" in line)
        assert lines[start].startswith("  compiled again when one of these is not what it was: ")
        told = " ".join(line.strip() for line in lines[start:])
        assert "np, numpy.sum, numpy.sin, SCALES (an array of float64 with 1 axes), numpy.prod" in told
        assert "loss (the function loss), the code and the defaults of loss" in told
        assert len(lines) > start + 1 and all(len(line) <= 120 for line in lines[start:])

    def test_before_any_call(self):
        assert "no call yet" in str(grad(loss).explain())

    def test_tape(self):
        g = grad(fills)
        g(1.0)
        (row,) = g.explain().rows
        assert row.engine == "tape" and row.line.strip() == "try:"
        assert row.where == f"{__file__}:{fills.__code__.co_firstlineno + 1}"
        assert row.reason in str(g.explain())

    def test_table(self):
        g = grad(fills)
        g(1.0)
        console = Console(width=200, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
        console.print(g.explain())
        text = console.export_text()
        assert "try:" in text and "tape" in text and "fills" in text
        assert g.explain()._repr_html_().startswith("<pre>")

    def test_mistakes_of_the_compiler_are_not_hidden(self, monkeypatch):
        def broken(*_, **__):
            raise RuntimeError("lost the thread")

        from s2sgrad.api import compilation

        monkeypatch.setattr(compilation, "compile", broken)
        g = grad(loss)
        with pytest.warns(
            RuntimeWarning, match="could not compile loss because of a mistake of its own.*lost the thread"
        ):
            assert g(2.0, 3.0) == 30.0
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            g(2.0, 3.0)
        assert "internal error of the compiler: RuntimeError: lost the thread" in str(g.explain())
        with pytest.raises(RuntimeError, match="lost the thread"):
            grad(loss, mode="compiled")(2.0, 3.0)


class TestCheck:
    @pytest.mark.parametrize("mode", ["auto", "tape"])
    @pytest.mark.parametrize(
        "args",
        [(2.0, 3.0), (np.ones(3), np.arange(3.0)), (np.ones((2, 3)), 2.0, np.ones(3)), (np.ones(2, "f4"), 2.0), (2, 3)],
    )
    def test_right(self, args, mode):
        agreement = grad(loss, (0, 1), mode=mode).check(*args)
        assert agreement.entries == np.size(args[0]) + np.size(args[1])
        assert agreement.worst < 1e-3

    def test_complex(self):
        agreement = grad(lambda z: abs(z * z * (1 + 2j)) ** 2).check(1.5 - 0.5j)
        assert agreement.entries == 2 and agreement.worst < 1e-8
        grad(lambda z: np.sum(np.abs(np.exp(z))) + np.sum(z.imag)).check(np.array([1 + 1j, 2.0]))

    @pytest.mark.filterwarnings("ignore:invalid value")
    @pytest.mark.parametrize("function", [lambda x: np.sum(x * np.nan), lambda x: np.sum(np.sqrt(x - 5.0))])
    def test_nan_is_no_agreement(self, function):
        with pytest.raises(GradientCheckError, match="is not finite to both sides"):
            grad(function).check(np.ones(2))

    def test_trees(self):
        value_and_grad(lambda p: p["a"] * np.sum(p["b"][0] ** 2)).check({"a": 2.0, "b": [np.ones(2)]})

    def test_keywords_aux_and_elementwise(self):
        grad(loss, "y").check(1.0, x=np.ones(2), y=3.0)
        grad(lambda x: (x * x, "aux"), has_aux=True).check(3.0)
        elementwise_grad(lambda x: np.sin(x)).check(np.ones((2, 2)))

    def test_large_arrays_are_sampled(self):
        agreement = grad(lambda x: np.sum(np.sin(x))).check(np.linspace(0, 1, 1000))
        assert agreement.entries == 201

    def test_arguments_are_left_alone(self):
        x = np.ones(3)

        def f(x):
            x *= 2.0
            return np.sum(x * x)

        grad(f).check(x)
        np.testing.assert_array_equal(x, np.ones(3))

    @pytest.fixture
    def wrong(self):
        """A function with a rule that is wrong in one place."""

        def almost(x):
            return x * x

        table.vjp(almost, x=lambda g, out, x: g * np.where(np.arange(3) == 1, 5.0, 2.0) * x)
        yield almost
        del table.RULES[almost]

    def test_wrong(self, wrong):
        def f(p):
            return np.sum(wrong(p["x"])) + p["c"]

        with pytest.raises(GradientCheckError) as caught:
            grad(f, mode="tape").check({"x": np.array([1.0, 2.0, 3.0]), "c": 1.0})
        text = str(caught.value)
        assert "worst at p['x'][1]: gradient" in text and "10.0" in text and "finite difference" in text
        assert float(text.rpartition("difference ")[2]) == pytest.approx(4.0)

    def test_at_a_minimum_the_errors_of_the_quotients_are_larger_than_the_slope(self):
        grad(lambda x: 1e3 * np.sum(np.exp(5 * x) - 5 * x)).check(np.array([1e-9, 0.0]))

    def test_wrong_at_a_minimum(self, wrong):
        with pytest.raises(GradientCheckError):
            grad(lambda x: 85.0 + np.sum(wrong(x)), mode="tape").check(np.array([0.0, 1e-6, 0.0]))

    def test_a_kink_is_near(self):
        grad(lambda x: np.sum(np.maximum(x, 0.0))).check(np.array([5e-4, -1e-4, 1.0]))

    @pytest.fixture
    def twice_too_much(self):
        def twice_too_much(a):
            return np.linalg.cholesky(a)

        table.vjp(twice_too_much, a=lambda g, out, a: 2.0 * (a @ a))
        yield twice_too_much
        del table.RULES[twice_too_much]

    @pytest.fixture
    def one_sided(self):
        def one_sided(a):
            return a * 1.0

        table.vjp(one_sided, a=lambda g, out, a: g + g.T)
        yield one_sided
        del table.RULES[one_sided]

    def test_gradients_of_what_reads_one_triangle_are_symmetric(self, twice_too_much, one_sided):
        a = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]])
        agreement = grad(lambda a: np.sum(np.linalg.cholesky(a))).check(a)
        assert agreement.symmetric == ("a",) and agreement.entries == 6
        assert str(agreement).endswith("; a compared along symmetric directions")
        grad(lambda p: np.sum(np.linalg.eigvalsh(p["s"]) ** 3)).check({"s": a})
        hermitian = a + 0.3j * (np.tri(3) - np.tri(3).T)
        assert grad(lambda z: np.sum(np.abs(np.linalg.cholesky(z)))).check(hermitian).entries == 9
        grad(lambda a: np.sum(np.linalg.cholesky(a))).check(np.stack([a, a + np.eye(3)]))

        assert grad(lambda a: np.sum(np.linalg.inv(a))).check(a).symmetric == ()
        with pytest.raises(GradientCheckError, match=r"wrong, worst at a\[\d, \d\]"):
            grad(lambda a: np.sum(twice_too_much(a)), mode="tape").check(a)
        with pytest.raises(GradientCheckError, match=r"gradient of .* is wrong"):
            grad(lambda a: np.sum(one_sided(a) * np.tri(3)), mode="tape").check(a)

    @pytest.mark.parametrize(
        ("function", "x", "what"),
        [
            (lambda x: np.sum(np.round(x) + x), 0.5, "jumps there, from 0.8 to 1.8 .gradient 1.0, finite difference"),
            (lambda x: np.sum(np.floor(x) * x), 2.0, "jumps there, from 2 to 4 "),
            (lambda x: np.sum(np.clip(x, 0.0, 1.0)), 1.0, "a kink there: its slope is 1 to the one side and 0 to"),
            (lambda x: np.sum(np.where(x > 0, 3 * x, x)), 0.0, "a kink there: its slope is 1 to the one side and 3 to"),
            (lambda x: x[0] + x[1] * np.random.default_rng().random(), 2.0, "does not return the same value twice"),
            (lambda x: np.sum(x + np.sqrt(np.abs(x))), 0.0, "a kink there"),
        ],
    )
    def test_there_is_no_derivative(self, function, x, what):
        with pytest.raises(GradientCheckError, match=rf"cannot be checked at x\[\d\]: the function .*{what}"):
            grad(function).check(np.array([0.3, x]))

    def test_not_finite_to_one_side(self):
        with np.errstate(all="ignore"), pytest.raises(GradientCheckError, match=r"at x\[1\]: .* is not finite to both"):
            grad(lambda x: np.sum(np.sqrt(x + 1.0))).check(np.array([1.0, -1.0]))

    def test_what_is_wrong_comes_before_what_has_no_derivative(self, wrong):
        with pytest.raises(GradientCheckError, match=r"is wrong, worst at x\[1\]"):
            grad(lambda x: np.sum(wrong(x) + 9 * np.floor(x)), mode="tape").check(np.array([1.0, 0.5, 1.5]))

    def test_wrong_only_outside_of_the_sample(self):
        def almost(x):
            return x * 1.0

        table.vjp(almost, x=lambda g, out, x: g * np.where(np.arange(5000) % 2 == 0, 1.0, 1.1))
        try:
            with pytest.raises(GradientCheckError):
                grad(lambda x: np.sum(almost(x)), mode="tape").check(np.ones(5000))
        finally:
            del table.RULES[almost]


SQUARE = np.array([[3.0, 1.0], [0.5, 2.0]])


def largest_stretch(a):
    return np.linalg.svd(a)[1][0]


def corner_of_qr(a):
    q, r = np.linalg.qr(a)
    return r[0, 0] + q[1, 0]


def fitted(a):
    return np.sum(np.linalg.lstsq(a, np.ones(2), rcond=None)[0]) + np.convolve(a[0], a[1])[1]


def without_diagonal(a):
    d = np.copy(a)
    np.fill_diagonal(d, 0)
    return np.sum(d * d)


def written_flat(a):
    d = np.copy(a)
    np.put(d, [0, 1], [a[1, 1], 0.0])
    return np.sum(d * d)


class Spring:
    def __init__(self, k=1.0):
        self.k = k

    def energy(self, x):
        return self.k * x * x


class Stiff(Spring):
    def energy(self, x):
        return self.k * x**4


class Pair:
    def __init__(self, spring):
        self.spring = spring


def energies(x, spring, springs, table):
    total = spring.energy(x) * table["a"].spring.energy(x)
    for one in springs:
        total += one.energy(x)
    return total


def many_energies(x, item, pairs):
    total = item * x
    for pair in pairs:
        total += pair.spring.energy(x) * item
    return total


def scaled_tanh(x, k, q):
    return np.sum(np.tanh(x) * k * q[0]) / len(x) + q[1]


def shifted(p, seen=(), w=None, f=np.sin):
    y = p["a"] if p["b"] is None else p["a"] + p["b"]
    if w is not None:
        y = y * w
    return 2 * np.sum(f(y))


def exported_from(derivative, folder) -> dict:
    """What the file has, by name, that a derivative is exported to."""
    derivative.export(folder / "exported.py")
    names: dict = {}
    exec((folder / "exported.py").read_text(), names)
    return names


class TestExport:
    def test_it_runs_without_the_package(self, tmp_path):
        path = tmp_path / "exported.py"
        g = grad(loss, ("w", "x"))
        w, x = np.array([1.0, 2.0]), np.array([[3.0, 4.0], [5.0, 6.0]])
        expected = g(w, x)
        g.export(path)
        text = path.read_text()
        assert "import s2sgrad" not in text and "from s2sgrad" not in text and "Generated by s2sgrad" in text
        program = (
            "import sys; sys.modules['s2sgrad'] = None\n"
            "import numpy as np, exported\n"
            "dw, dx = exported.loss_grad(np.array([1.0, 2.0]), np.array([[3.0, 4.0], [5.0, 6.0]]))\n"
            "print(dw.tolist(), dx.tolist())"
        )
        done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
        assert done.stdout.strip() == f"{expected[0].tolist()} {expected[1].tolist()}", done.stderr

    @pytest.mark.parametrize("f", [largest_stretch, corner_of_qr, fitted, without_diagonal])
    def test_helpers_that_may_refuse(self, f, tmp_path):
        g = grad(f, mode="compiled")
        expected = g(SQUARE)
        assert np.array_equal(exported_from(g, tmp_path)[f"{f.__name__}_grad"](SQUARE), expected)

    @pytest.mark.parametrize(
        "other, match",
        [
            ((np.ones(3), np.ones((4, 3)), [0.5, 2.0]), "a float number k, not for an array of float64 of shape"),
            (([1.0, 2.0, 3.0], 2.0, [0.5, 2.0]), "a float array x .* not for one of type list"),
            ((np.ones((3, 3)), 2.0, [0.5, 2.0]), "a float array x .* not for an array of float64 of shape"),
            ((np.ones(3), 2.0, [0.5, np.ones(3)]), r"a float number q\[1\], not for an array"),
            ((np.ones(3) * 1j, 2.0, [0.5, 2.0]), "a float array x .* not for an array of complex128"),
            ((np.ones(3), 2.0 + 1j, [0.5, 2.0]), "a float number k, not for one of type complex"),
            ((np.arange(3), 2.0, [0.5, 2.0]), "a float array x .* not for an array of int64"),
            ((np.ones(3), 2, [0.5, 2.0]), "a float number k, not for one of type int"),
            ((np.ones(3), 2.0, [0.5]), "q of length 2, not 1"),
        ],
    )
    def test_arguments_of_another_kind(self, other, match, tmp_path):
        g = grad(scaled_tanh, (0, 1, 2))
        given = np.array([0.5, 1.0, 2.0]), 2.0, [0.5, 2.0]
        expected = g(*given)
        exported = exported_from(g, tmp_path)["scaled_tanh_grad"]
        assert repr(exported(*given)) == repr(expected)
        exported(np.ones(7), np.float64(3.0), [0.5, np.float64(2.0)])
        with pytest.raises(TypeError, match=f"made for .*{match}"):
            exported(*other)

    def test_what_a_call_leaves_to_its_default(self, tmp_path):
        g = grad(shifted)
        p = {"a": np.ones(3), "b": None}
        assert repr(g(p)) == "{'a': array([1.08060461, 1.08060461, 1.08060461]), 'b': None}" and g.engine == "compiled"
        exported = exported_from(g, tmp_path)["shifted_grad"]
        assert repr(exported(p)) == repr(g(p))
        for other, match in [
            (({"b": None, "a": np.ones(3)},), r"""p with the keys \["a", "b"\], not \['b', 'a'\]"""),
            (({"a": np.ones(3), "b": 2.0},), r'p\["b"\] left to None, not float'),
            ((p, (), np.ones(3)), "w left to None, not ndarray"),
            ((p, (), None, np.cos), "f left to its default, not <ufunc 'cos'>"),
        ]:
            with pytest.raises(TypeError, match=f"made for {match}"):
                exported(*other)

    def test_objects_of_another_class(self, tmp_path):
        g = grad(energies)
        given = 2.0, Spring(), [Spring(3.0), Spring()], {"a": Pair(Spring(2.0))}
        expected = g(*given)
        exported = exported_from(g, tmp_path)["energies_grad"]
        assert g.engine == "compiled" and exported(*given) == expected
        for at, other in [(1, Stiff()), (1, None), (2, [Spring(), Stiff()]), (3, {"a": Pair(Stiff())})]:
            with pytest.raises(TypeError, match="of class Spring, not"):
                exported(*given[:at], other, *given[at + 1 :])

    def test_objects_in_a_long_list(self, tmp_path):
        g = grad(many_energies)
        given = 2.0, 0.5, [Pair(Spring(float(k))) for k in range(40)]
        expected = g(*given)
        exported = exported_from(g, tmp_path)["many_energies_grad"]
        assert g.engine == "compiled" and exported(*given) == expected
        with pytest.raises(TypeError, match="of class Spring, not Stiff"):
            exported(2.0, 0.5, [*given[2][:-1], Pair(Stiff())])

    def test_what_holds_for_one_layout_only(self, tmp_path):
        g = grad(written_flat, mode="compiled")
        g(SQUARE)
        with pytest.raises(s2sgrad.CompileError, match="arguments of any layout"):
            g.export(tmp_path / "none.py")

    def test_on_the_tape(self, tmp_path):
        g = grad(fills)
        g(1.0)
        with pytest.raises(s2sgrad.CompileError):
            g.export(tmp_path / "none.py")
        assert not (tmp_path / "none.py").exists()


class TestPickle:
    def test_decorated(self):
        assert pickle.loads(pickle.dumps(decorated)) is decorated
        assert copy.deepcopy(decorated) is decorated

    def test_made_by_a_call(self):
        g = grad(loss, ("w", "x"), mode="tape")
        g(1.0, 2.0)
        again = pickle.loads(pickle.dumps(g))
        assert again is not g and repr(again) == "<grad of loss: not called yet, argnums=('w', 'x'), mode='tape'>"
        assert again(1.0, 2.0) == g(1.0, 2.0)

    def test_methods(self):
        assert pickle.loads(pickle.dumps(Owner().method))(3.0) == 12.0
        assert pickle.loads(pickle.dumps(Owner.method)) is Owner.method
        assert pickle.loads(pickle.dumps(grad(Owner().plain)))(3.0) == 12.0

    def test_gradients_of_gradients(self):
        assert pickle.loads(pickle.dumps(grad(decorated)))(2.0) == 12.0

    def test_what_cannot_be_pickled(self):
        with pytest.raises((pickle.PicklingError, AttributeError)):
            pickle.dumps(grad(lambda x: x))


class TestEngines:
    def test_each_kind_of_arguments_is_compiled_once(self, monkeypatch):
        from s2sgrad.api import compilation

        compiled = []
        real = compilation.compile

        def counting(*args):
            compiled.append(args)
            return real(*args)

        monkeypatch.setattr(compilation, "compile", counting)
        g = grad(loss)
        for _ in range(3):
            g(1.0, 2.0)
            g(np.ones(2), 2.0)
            g(np.ones(3), 2.0)
            g(1.0, x=2.0)
        assert len(compiled) == 3

    def test_later_calls_bind_nothing(self, monkeypatch):
        g = grad(loss)
        g(1.0, x=2.0)

        def no_bind(*_):
            raise AssertionError("the signature was looked at")

        monkeypatch.setattr(g._transform, "bind", no_bind)
        assert g(2.0, x=2.0) == 12.0
        with pytest.raises(AssertionError, match="looked at"):
            g(2.0, 2.0)

    def test_threads(self):
        g = grad(loss)
        answers, errors = [], []

        def work(n):
            try:
                for k in range(20):
                    x = np.full(n, float(k))
                    answers.append(np.array_equal(g(np.ones(n), x), 2 * (x - 1) * x))
                    answers.append(grad(fills)(float(k)) == 4.0 * k)
            except Exception as error:
                errors.append(error)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(1, 5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not errors and all(answers) and len(answers) == 160


class TestVjp:
    def test_scalar(self):
        out, pullback = vjp(lambda x, y: x * y, 2.0, 3)
        assert out == 6.0 and pullback(1.0) == (3.0, 2.0) and pullback(2.0) == (6.0, 4.0)

    def test_arrays(self):
        a = np.arange(6.0).reshape(2, 3)
        out, pullback = vjp(lambda a, x: a @ x, a, np.ones(3))
        da, dx = pullback(np.array([1.0, 2.0]))
        np.testing.assert_array_equal(da, [[1, 1, 1], [2, 2, 2]])
        np.testing.assert_array_equal(dx, a.T @ [1.0, 2.0])
        again = pullback(np.array([1.0, 2.0]))
        np.testing.assert_array_equal(again[0], da)
        assert not np.shares_memory(again[0], da)

    def test_containers_in_and_out(self):
        out, pullback = vjp(lambda p: (p["a"] * 2.0, [p["b"] * p["a"]]), {"a": 3.0, "b": 4.0})
        assert out == (6.0, [12.0])
        assert pullback((1.0, [10.0])) == ({"a": 42.0, "b": 30.0},)
        assert pullback((None, [1.0])) == ({"a": 4.0, "b": 3.0},)

    def test_extra_arguments(self):
        out, pullback = vjp(lambda *xs: xs[0] * xs[2], 2.0, 3.0, 4.0)
        assert out == 8.0 and pullback(1.0) == (4.0, 0.0, 2.0)

    def test_aux(self):
        out, pullback, aux = vjp(lambda x: (x * x, {"x": x}), 3.0, has_aux=True)
        assert out == 9.0 and aux == {"x": 3.0} and pullback(1.0) == (6.0,)

    def test_bound_methods(self):
        out, pullback = vjp(Owner().plain, 3.0)
        assert out == 18.0 and pullback(1.0) == (12.0,)

    def test_of_gradients(self):
        out, pullback = vjp(grad(lambda x: np.sum(x**3)), np.array([1.0, 2.0]))
        np.testing.assert_array_equal(out, [3.0, 12.0])
        np.testing.assert_array_equal(pullback(np.array([1.0, 1.0]))[0], [6.0, 12.0])

    def test_later_changes_of_the_arrays_do_not_matter(self):
        for f in (lambda x: np.exp(x) * x, lambda x: fills(x) * x):
            x = np.ones(2)
            out, pullback = vjp(f, x)
            expected = pullback(np.ones(2))[0]
            x[:] = 0.0
            out[:] = 7.0
            np.testing.assert_array_equal(pullback(np.ones(2))[0], expected)

    def test_complex(self):
        out, pullback = vjp(lambda z: z * z, 1 + 2j)
        assert pullback(1.0) == (np.conj(2 * (1 + 2j)),)

    def test_wrong_cotangents(self):
        _, pullback = vjp(lambda x: (x, x * 2), np.ones(2))
        with pytest.raises(s2sgrad.ArgumentError, match="must have the structure of what <lambda> returned: 2"):
            pullback(np.ones(2))
        with pytest.raises(
            s2sgrad.ArgumentError, match=r"must have the shape of what <lambda> returned: \(2,\), not \(3,\)"
        ):
            pullback((np.ones(2), np.ones(3)))

    def test_no_arguments(self):
        with pytest.raises(s2sgrad.ArgumentError, match="vjp needs arguments"):
            vjp(lambda: 1.0)
        with pytest.raises(TypeError, match="vjp takes a function, not 3"):
            vjp(3, 1.0)


def test_public_names():
    assert all(hasattr(s2sgrad, name) for name in s2sgrad.__all__)
    assert sorted(s2sgrad.__all__) == s2sgrad.__all__
    assert s2sgrad.__version__
