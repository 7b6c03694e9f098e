"""`grad` and its siblings: ways to say what is differentiated, and what comes back."""

import collections
import dataclasses
import functools

import numpy as np
import pytest

import s2sgrad
from s2sgrad import elementwise_grad, grad, stop_gradient, value_and_grad

BOTH = pytest.mark.parametrize("mode", ["auto", "tape"])
Layer = collections.namedtuple("Layer", "w b")


class Length(float):
    pass


class Mass(float):
    pass


class Measured(np.float64):
    pass


class Phase(complex):
    pass


@dataclasses.dataclass
class Params:
    w: np.ndarray
    scale: float = 2.0


@dataclasses.dataclass(frozen=True)
class Frozen:
    inner: Params
    bias: float


WEIGHTS = np.array([1.0, 2.0])


def cube(x):
    """The cube of x."""
    return x**3


def area(width, height, factor=2.0, *, shift=0.0):
    return np.sum(width * height) * factor + shift * shift


def weighted(*xs, **ws):
    total = 0.0
    for x in xs:
        total = total + x * x
    return total * ws["scale"] + ws["offset"] * xs[0]


class TestForms:
    def test_call(self):
        assert grad(cube)(2.0) == 12.0

    def test_bare_decorator(self):
        @grad
        def f(x):
            return x * x

        assert f(3.0) == 6.0
        assert f.primal(3.0) == 9.0

    def test_decorator_with_options(self):
        @grad(argnums="w")
        def f(x, w):
            return x * w * w

        assert f(5.0, 3.0) == 30.0

    def test_decorator_with_nothing_in_its_parentheses(self):
        @value_and_grad()
        def f(x):
            return x * x

        assert f(3.0) == (9.0, 6.0)

    def test_positional_argnums(self):
        assert grad(area, 1)(2.0, 3.0) == 4.0

    @BOTH
    def test_value_and_grad(self, mode):
        value, gradient = value_and_grad(area, mode=mode)(np.array([1.0, 2.0]), 3.0)
        assert value == 18.0
        np.testing.assert_array_equal(gradient, [6.0, 6.0])

    @BOTH
    def test_elementwise_grad(self, mode):
        x = np.array([[0.1, 0.2], [0.3, 0.4]])
        np.testing.assert_allclose(elementwise_grad(np.tanh, mode="tape")(x), 1 - np.tanh(x) ** 2)
        np.testing.assert_allclose(elementwise_grad(lambda x: np.tanh(x), mode=mode)(x), 1 - np.tanh(x) ** 2)
        assert elementwise_grad(lambda x: x * x, mode=mode)(3.0) == 6.0
        g = elementwise_grad(lambda x: x * np.float32(2), mode=mode)(np.ones(2, np.float32))
        assert g.dtype == np.float32

    def test_iterated_elementwise_grad(self):
        second = elementwise_grad(elementwise_grad(lambda x: np.sin(x)))
        x = np.linspace(0, 1, 5)
        np.testing.assert_allclose(second(x), -np.sin(x))

    @pytest.mark.parametrize("modes", [("auto", "auto"), ("tape", "tape"), ("tape", "auto"), ("auto", "tape")])
    def test_gradient_of_gradient(self, modes):
        inner, outer = modes
        assert grad(grad(cube, mode=inner), mode=outer)(2.0) == 12.0
        assert grad(grad(grad(cube, mode=inner)), mode=outer)(2.0) == 6.0

    def test_gradient_within_a_function(self):
        def f(x):
            return x * grad(lambda y: x * y * y)(x)

        assert grad(f)(2.0) == 3 * 2 * 4.0

    def test_not_a_function(self):
        with pytest.raises(TypeError, match="grad takes a function, not 3"):
            grad(3)

    def test_unknown_mode(self):
        with pytest.raises(ValueError, match="mode must be one of 'auto', 'compiled', 'tape', not 'fast'"):
            grad(cube, mode="fast")


class TestArgnums:
    @pytest.mark.parametrize("which", [0, "width", -3, np.int64(0)])
    def test_one(self, which):
        assert grad(area, which)(2.0, 3.0) == 6.0

    @pytest.mark.parametrize("which", [(0, 1), [0, 1], ("width", "height"), (0, "height"), (-3, -2)])
    def test_several(self, which):
        assert grad(area, which)(2.0, 3.0) == (6.0, 4.0)

    def test_a_tuple_of_one_gives_a_tuple_of_one(self):
        assert grad(area, (1,))(2.0, 3.0) == (4.0,)

    def test_order_is_that_of_argnums(self):
        assert grad(area, (1, 0))(2.0, 3.0) == (4.0, 6.0)

    @BOTH
    def test_default(self, mode):
        g = grad(area, "factor", mode=mode)
        assert g(2.0, 3.0) == 6.0
        assert g(2.0, 3.0, 5.0) == 6.0
        assert g(2.0, 3.0, factor=5) == 6.0
        assert grad(area, -1, mode=mode)(2.0, 3.0) == 6.0

    def test_array_default(self):
        def f(x, weight=WEIGHTS):
            return np.sum(weight * x)

        np.testing.assert_array_equal(grad(f)(np.ones(2)), WEIGHTS)
        np.testing.assert_array_equal(grad(f, "weight")(np.ones(2)), np.ones(2))
        assert grad(f, "weight").source.startswith("def f_grad")

    def test_integer_default_is_promoted(self):
        def f(x, n=3):
            return x * n

        gradient = grad(f, "n")(2.0)
        assert gradient == 2.0 and type(gradient) is float

    @BOTH
    def test_keyword_only(self, mode):
        assert grad(area, "shift", mode=mode)(2.0, 3.0, shift=1.5) == 3.0
        assert grad(area, "shift", mode=mode)(2.0, 3.0) == 0.0

    @BOTH
    def test_keywords_in_any_order(self, mode):
        g = grad(area, ("height", "width"), mode=mode)
        assert g(height=3.0, width=2.0) == g(width=2.0, height=3.0) == (4.0, 6.0)
        assert g(2.0, height=3.0) == (4.0, 6.0)

    @BOTH
    def test_extra_positional_arguments(self, mode):
        assert grad(weighted, mode=mode)(2.0, 3.0, scale=2.0, offset=1.0) == 9.0
        assert grad(weighted, 1, mode=mode)(2.0, 3.0, scale=2.0, offset=1.0) == 12.0
        assert grad(weighted, -1, mode=mode)(2.0, 3.0, scale=2.0, offset=1.0) == 12.0
        assert grad(weighted, (0, 1), mode=mode)(2.0, 3, scale=2.0, offset=1.0) == (9.0, 12.0)

    @BOTH
    def test_extra_keyword_arguments(self, mode):
        assert grad(weighted, "scale", mode=mode)(2.0, 3.0, scale=2.0, offset=1.0) == 13.0
        assert grad(weighted, ("offset", 0), mode=mode)(2.0, 3.0, scale=2, offset=1) == (2.0, 9.0)

    @BOTH
    def test_all_extra_arguments_at_once(self, mode):
        assert grad(weighted, "xs", mode=mode)(2.0, 3.0, scale=2.0, offset=1.0) == (9.0, 12.0)
        assert grad(weighted, "ws", mode=mode)(2.0, 3.0, scale=2.0, offset=1.0) == {"scale": 13.0, "offset": 2.0}

    def test_unknown_name(self):
        with pytest.raises(s2sgrad.ArgumentError, match="argnums='z': area has no parameter of that name"):
            grad(area, "z")
        with pytest.raises(TypeError, match=r"its parameters are width, height, factor, shift"):
            grad(area, ("width", "z"))

    def test_name_that_a_call_does_not_pass(self):
        with pytest.raises(s2sgrad.ArgumentError, match="this call of weighted passes no argument of that name"):
            grad(weighted, "z")(1.0, scale=1.0, offset=1.0)

    def test_out_of_range(self):
        with pytest.raises(s2sgrad.ArgumentError, match="argnums=3 is out of range: area takes 3 positional arguments"):
            grad(area, 3)
        with pytest.raises(
            s2sgrad.ArgumentError, match="argnums=-4 is out of range.*keyword-only arguments by their name"
        ):
            grad(area, -4)
        with pytest.raises(s2sgrad.ArgumentError, match="argnums=1 is out of range: cube takes 1 positional argument;"):
            grad(cube, (0, 1))
        with pytest.raises(s2sgrad.ArgumentError, match="argnums=2 is out of range: weighted was called with 2"):
            grad(weighted, 2)(1.0, 2.0, scale=1.0, offset=1.0)

    def test_twice(self):
        with pytest.raises(s2sgrad.ArgumentError, match=r"argnums=\(0, 'width'\) names argument 'width' of area twice"):
            grad(area, (0, "width"))

    @pytest.mark.parametrize("nonsense", [1.0, None, True, (0, 1.5), {0}, ((0,),)])
    def test_nonsense(self, nonsense):
        with pytest.raises(s2sgrad.ArgumentError, match="argnums must be a position, a name, or a tuple of them"):
            grad(cube, nonsense)

    def test_nothing(self):
        with pytest.raises(s2sgrad.ArgumentError, match="names no argument"):
            grad(cube, ())

    def test_wrong_calls_are_told_by_the_functions_name(self):
        with pytest.raises(TypeError, match=r"area\(\) missing a required argument: 'height'"):
            grad(area)(1.0)
        with pytest.raises(TypeError, match=r"cube\(\) too many positional arguments"):
            grad(cube)(1.0, 2.0)


class TestWrappers:
    """A wrapper shows the signature of what it wraps, and has one of its own."""

    @staticmethod
    def doubled(f):
        @functools.wraps(f)
        def wrapper(*args, **kwargs):
            return 2.0 * f(*args, **kwargs)

        return wrapper

    @pytest.mark.parametrize("which", [0, "width", -3])
    @BOTH
    def test_positions_and_names(self, which, mode):
        g = grad(self.doubled(area), which, mode=mode)
        assert g(2.0, 3.0) == 12.0
        assert g(2.0, height=3.0) == 12.0
        assert g(height=3, width=2) == 12.0
        np.testing.assert_array_equal(g(np.ones(2), np.ones(2)), [4.0, 4.0])

    @BOTH
    def test_defaults(self, mode):
        g = grad(self.doubled(area), ("factor", "shift"), mode=mode)
        assert g(2.0, 3.0) == (12.0, 0.0)
        assert g(2.0, 3.0, shift=3) == (12.0, 12.0)
        assert grad(self.doubled(area), mode=mode)(2.0, 3.0) == 12.0

    @BOTH
    def test_methods(self, mode):
        doubled = self.doubled

        class Model:
            k = 2.0

            @grad(mode=mode)
            @doubled
            def loss(self, w):
                return self.k * w * w

        assert Model().loss(3.0) == 24.0

    @BOTH
    def test_partial(self, mode):
        assert grad(functools.partial(area, 2.0), mode=mode)(3.0) == 4.0
        assert grad(functools.partial(area, height=3.0), mode=mode)(2.0) == 6.0

    @BOTH
    def test_callable_objects(self, mode):
        class Scaled:
            k = 3.0

            def __call__(self, x):
                return self.k * x * x

        assert grad(Scaled(), mode=mode)(2.0) == 12.0


class TestTrees:
    @BOTH
    def test_list_of_pairs(self, mode):
        def f(layers):
            total = 0.0
            for w, b in layers:
                total = total + np.sum(w * b)
            return total

        w, b = np.array([1.0, 2.0]), np.array([3.0, 4.0])
        gradient = grad(f, mode=mode)([(w, b), (b, w)])
        assert type(gradient) is list and type(gradient[0]) is tuple
        np.testing.assert_array_equal(gradient[0][0], b)
        np.testing.assert_array_equal(gradient[1][1], b)
        leaves = [leaf for pair in gradient for leaf in pair]
        assert not any(np.shares_memory(x, y) for i, x in enumerate(leaves) for y in [w, b, *leaves[:i]])

    @BOTH
    def test_dict(self, mode):
        gradient = grad(lambda p: p["b"] * np.sum(p["a"][0]), mode=mode)({"b": 2.0, "a": [np.ones(2), 1.0]})
        assert list(gradient) == ["b", "a"]
        assert gradient["b"] == 2.0 and gradient["a"][1] == 0.0
        np.testing.assert_array_equal(gradient["a"][0], [2.0, 2.0])

    @BOTH
    @pytest.mark.parametrize("make", [collections.OrderedDict, lambda **d: collections.defaultdict(float, d)])
    def test_dicts_of_other_classes(self, make, mode):
        f = grad(lambda d: 3.0 * d["a"] ** 2 + d["b"], mode=mode)
        given = make(a=2.0, b=1.0)
        found = f(given)
        assert type(found) is type(given) and found == {"a": 12.0, "b": 1.0} and f.engine == "tape"
        assert f({"a": 2.0, "b": 1.0}) == {"a": 12.0, "b": 1.0}

    @BOTH
    def test_numbers_of_other_classes(self, mode):
        square = grad(lambda x: abs(x) ** 2, mode=mode)
        for cls, base in ((Length, float), (Measured, np.float64), (Phase, complex)):
            assert square(cls(2.0)) == 4.0 == square(base(2.0))
        total = lambda *xs, **named: xs[0] * xs[1] * named["k"] ** 2  # noqa: E731
        for argnums, slope in ((0, 27.0), (1, 18.0), ("k", 36.0), ((0, "k"), (27.0, 36.0))):
            assert grad(total, argnums, mode=mode)(Length(2.0), 3.0, k=Length(3.0)) == slope
        many = [(Length if i % 2 else Mass)(i) for i in range(40)], [None if i % 2 else Length(i) for i in range(40)]
        for numbers in many:
            squares = grad(lambda ns: sum(n * n for n in ns if n is not None), mode=mode)
            assert squares(numbers) == [None if n is None else 2.0 * n for n in numbers]
        held = grad(lambda d: d["a"][0] * d["b"].scale, mode=mode)
        found = held({"a": [Length(2.0)], "b": Params(1.0, Length(3.0))})
        assert found["a"] == [3.0] and found["b"].scale == 2.0

    @BOTH
    def test_namedtuple(self, mode):
        gradient = grad(lambda layer: np.sum(layer.w) * layer.b, mode=mode)(Layer(np.ones(2), 3.0))
        assert type(gradient) is Layer and gradient.b == 2.0
        np.testing.assert_array_equal(gradient.w, [3.0, 3.0])

    @BOTH
    def test_dataclass(self, mode):
        gradient = grad(lambda p: np.sum(p.w) * p.scale, mode=mode)(Params(np.ones(2), 3.0))
        assert type(gradient) is Params and gradient.scale == 2.0
        np.testing.assert_array_equal(gradient.w, [3.0, 3.0])

    @BOTH
    def test_dataclasses_in_containers(self, mode):
        def f(models):
            return np.sum(models[0].inner.w) * models[0].bias * models[1].scale

        gradient = grad(f, mode=mode)([Frozen(Params(np.ones(2)), 3.0), Params(np.ones(1), 5)])
        assert type(gradient[0]) is Frozen and gradient[0].bias == 10.0 and gradient[1].scale == 6.0
        np.testing.assert_array_equal(gradient[0].inner.w, [15.0, 15.0])
        assert gradient[0].inner.scale == 0.0

    @BOTH
    def test_absent_parts_stay_absent(self, mode):
        gradient = grad(lambda p: np.sum(p[0]), mode=mode)([np.ones(2), None])
        assert gradient[1] is None

    @BOTH
    def test_structures_are_told_apart(self, mode):
        g = grad(lambda p: sum(x * x for x in p), mode=mode)
        assert g([1.0, 2.0]) == [2.0, 4.0]
        assert g((1.0, 2.0)) == (2.0, 4.0)
        assert g([1.0]) == [2.0]
        assert g([float(i) for i in range(40)])[39] == 78.0


class TestPromotion:
    @BOTH
    def test_integer(self, mode):
        seen = []

        def f(x):
            seen.append(type(x))
            return x * x / 2

        assert grad(f, mode="auto")(3) == 3.0
        gradient = grad(lambda x: x**2 / 2, mode=mode)(3)
        assert gradient == 3.0 and type(gradient) is float

    def test_the_function_sees_the_float(self):
        types = []

        def f(x):
            types.append(np.asarray(x).dtype)
            return np.sum(x) * 1.0

        grad(f)(3)
        grad(f)(np.arange(3))
        assert all(t == np.float64 for t in types) and len(types) == 2

    @BOTH
    def test_integer_array(self, mode):
        x = np.arange(3)
        gradient = grad(lambda x: np.sum(x**2), mode=mode)(x)
        assert gradient.dtype == np.float64
        np.testing.assert_array_equal(gradient, [0.0, 2.0, 4.0])
        assert x.dtype.kind == "i"

    def test_integers_in_containers(self):
        assert grad(lambda p: p["a"] ** -1 * p["b"][0])({"a": 2, "b": (3,)}) == {"a": -0.75, "b": (0.5,)}

    def test_others_stay_integers(self):
        kinds = []

        def f(x, n):
            kinds.append(type(n))
            return x**n

        assert grad(f)(2, 3) == 12.0 and kinds == [int]

    @pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
    @BOTH
    def test_dtypes_are_kept(self, dtype, mode):
        x = np.ones(3, dtype)
        gradient = grad(lambda x: np.sum(np.abs(x) ** 2), mode=mode)(x)
        assert gradient.dtype == x.dtype
        np.testing.assert_allclose(gradient, 2 * x)

    @BOTH
    def test_byte_order_is_kept(self, mode):
        g = grad(lambda x: np.sum(x * x), mode=mode)
        for dtype in (np.dtype("f8"), np.dtype("f8").newbyteorder()):
            gradient = g(np.ones(2, dtype))
            assert gradient.dtype == dtype
            np.testing.assert_array_equal(gradient, [2.0, 2.0])

    @BOTH
    def test_numbers(self, mode):
        g = grad(lambda x: (x * np.conj(x)).real, mode=mode)
        assert type(g(2.0)) is float
        assert type(g(np.float64(2.0))) is np.float64
        assert type(g(np.float32(2.0))) is np.float32
        assert type(g(2 + 1j)) is complex and g(2 + 1j) == 4 + 2j
        zero_d = g(np.array(2.0))
        assert isinstance(zero_d, np.ndarray) and zero_d.shape == () and zero_d == 4.0

    def test_memory_maps(self, tmp_path):
        x = np.memmap(tmp_path / "x", float, "w+", shape=3)
        x[:] = [1.0, 2.0, 3.0]
        gradient = grad(lambda x: np.sum(x * x))(x)
        assert type(gradient) is np.ndarray
        np.testing.assert_array_equal(gradient, [2.0, 4.0, 6.0])


class TestAux:
    @BOTH
    def test_grad(self, mode):
        gradient, aux = grad(lambda x: (x * x, {"twice": 2 * x}), has_aux=True, mode=mode)(3.0)
        assert gradient == 6.0 and aux == {"twice": 6.0}

    @BOTH
    def test_value_and_grad(self, mode):
        (value, aux), gradient = value_and_grad(lambda x: (x * x, "text"), has_aux=True, mode=mode)(3.0)
        assert (value, aux, gradient) == (9.0, "text", 6.0)

    @BOTH
    def test_several(self, mode):
        gradients, aux = grad(lambda x, y: (x * y, x), (0, 1), has_aux=True, mode=mode)(3.0, 2.0)
        assert gradients == (2.0, 3.0) and aux == 3.0

    @BOTH
    def test_no_pair(self, mode):
        with pytest.raises(s2sgrad.NonScalarError, match="must return a pair .value, aux., but .* returned a number"):
            grad(lambda x: x * x, has_aux=True, mode=mode)(3.0)


class TestStopGradient:
    @BOTH
    def test_number_and_array(self, mode):
        assert grad(lambda x: x * stop_gradient(x), mode=mode)(3.0) == 3.0
        np.testing.assert_array_equal(
            grad(lambda x: np.sum(x * s2sgrad.stop_gradient(x * x)), mode=mode)(np.array([2.0, 3.0])), [4.0, 9.0]
        )

    @BOTH
    def test_containers(self, mode):
        def f(p):
            q = stop_gradient(p)
            return p[0] * q[1]

        assert grad(f, mode=mode)([2.0, 3.0]) == [3.0, 0.0]

    def test_outside(self):
        x = np.ones(2)
        assert stop_gradient(x) is x


class TestPromises:
    @BOTH
    def test_side_effects_happen_once(self, mode):
        log = []

        def f(x):
            log.append("called")
            return x * x

        g = grad(f, mode=mode)
        g(1.0)
        g(2.0)
        assert log == ["called", "called"]

    @BOTH
    def test_no_aliases(self, mode):
        x, y = np.ones(3), np.ones(3)
        dx, dy = grad(lambda x, y: np.sum(x + y), (0, 1), mode=mode)(x, y)
        assert not np.shares_memory(dx, dy) and not np.shares_memory(dx, x) and not np.shares_memory(dy, y)
        dx[:] = 7.0
        np.testing.assert_array_equal(dy, 1.0)

    @BOTH
    def test_gradient_of_the_identity_and_of_a_constant(self, mode):
        assert grad(lambda x: x, mode=mode)(3.0) == 1.0
        assert grad(lambda x: 5.0, mode=mode)(3.0) == 0.0
        np.testing.assert_array_equal(grad(lambda x: 5.0, mode=mode)(np.ones(2)), np.zeros(2))

    @BOTH
    def test_globals_are_read_at_call_time(self, mode):
        scale = {"k": 2.0}
        factor = 2.0

        def f(x):
            return x * factor * scale["k"]

        g = grad(f, mode=mode)
        assert g(1.0) == 4.0
        factor = 3.0
        scale["k"] = 5.0
        assert g(1.0) == 15.0

    @BOTH
    def test_a_rebound_helper_is_seen(self, mode):
        def helper(x):
            return x * x

        def f(x):
            return helper(x)

        g = grad(f, mode=mode)
        assert g(3.0) == 6.0

        def helper(x):  # noqa: F811 - rebound on purpose
            return 5.0 * x

        assert g(3.0) == 5.0

    @BOTH
    def test_the_functions_errors_pass(self, mode):
        def f(x):
            raise KeyError("mine")

        with pytest.raises(KeyError, match="mine"):
            grad(f, mode=mode)(1.0)


@pytest.mark.parametrize("mode", ["compiled", "tape"])
def test_containers_with_integers_are_changed_as_by_a_plain_call(mode):
    @dataclasses.dataclass
    class State:
        u: np.ndarray
        n: int
        m: int = 2

    def f(state, d, xs):
        state.u = state.u * d["k"]
        state.n += 1
        d["u"] = state.u
        xs[0].append(xs[1] * d["u"][0])
        return np.sum(state.u) * state.n + xs[0][1]

    def given():
        return State(np.ones(2), 1), {"k": 3}, [[1], 2]

    plain, other = given(), given()
    f(*plain)
    gradient = grad(f, argnums=(0, 1, 2), mode=mode)
    ds, dd, dx = gradient(*other)
    assert gradient.engine == mode
    state, d, xs = other
    assert (state.n, state.m, xs) == (2, 2, plain[2]) and type(state.m) is type(d["k"]) is int
    assert d["u"] is state.u and np.array_equal(state.u, plain[0].u)
    assert np.array_equal(ds.u, [12.0, 6.0]) and ds.n == 6 and dd == {"k": 6.0} and dx == [[0.0], 3.0]
