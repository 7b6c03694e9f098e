"""`jacobian` and `hessian`: shapes, trees, engines, refusals."""

import dataclasses

import numpy as np
import pytest

from s2sgrad import ArgumentError, hessian, jacobian, vjp

A = np.array([[1.0, 2.0, 0.5], [0.0, -1.0, 3.0]])


def linear(x):
    return A @ x


def mixed(x, y):
    return np.sum(x * x) * y, {"outer": np.outer(x, y * x)}


def network(params, x):
    return np.sum(np.tanh(params["w"] @ x + params["b"]) ** 2)


def loop(x):
    s = 0.0
    for i in range(len(x)):
        s = s + x[i] ** 3 * x[0]
    return s


def store(x):
    out = np.zeros(3)
    for i in range(3):
        out[i] = x[i] * x[0]
    return out


def differences(f, x, h=1e-6):
    columns = []
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = h
        columns.append((np.asarray(f(x + step)) - np.asarray(f(x - step))) / (2 * h))
    return np.moveaxis(np.reshape(columns, x.shape + np.shape(columns[0])), range(x.ndim), range(-x.ndim, 0))


def test_linear_map_is_its_own_jacobian():
    J = jacobian(linear)
    assert np.array_equal(J(np.ones(3)), A)
    assert J.engine == "compiled"


@pytest.mark.parametrize("mode", ["compiled", "tape"])
def test_hessian_against_differences_of_the_gradient(mode):
    x = np.array([0.3, -0.7, 1.2])
    H = hessian(loop, mode=mode)
    gradient = jacobian(loop)
    assert np.allclose(H(x), differences(gradient, x), rtol=1e-7, atol=1e-7)
    assert H.engine == mode


def test_trees_in_and_out():
    x, y = np.array([1.0, 2.0]), 3.0
    (sx, sy), block = jacobian(mixed, argnums=(0, "y"))(x, y)
    assert np.allclose(sx, 2 * x * y) and np.allclose(sy, 5.0)
    outer_x, outer_y = block["outer"]
    assert outer_x.shape == (2, 2, 2) and np.allclose(outer_x, differences(lambda x: np.outer(x, y * x), x))
    assert np.allclose(outer_y, np.outer(x, x))


def test_hessian_of_a_dict():
    params = {"w": np.array([[0.1, 0.2], [0.3, -0.4]]), "b": np.array([0.5, -0.1])}
    x = np.array([1.0, -2.0])
    H = hessian(network)(params, x)
    assert {k: {m: v.shape for m, v in row.items()} for k, row in H.items()} == {
        "w": {"w": (2, 2, 2, 2), "b": (2, 2, 2)},
        "b": {"w": (2, 2, 2), "b": (2, 2)},
    }
    by_b = differences(lambda b: jacobian(network)({"w": params["w"], "b": b}, x)["b"], params["b"])
    assert np.allclose(H["b"]["b"], by_b, atol=1e-7)
    assert np.allclose(H["w"]["b"], np.moveaxis(H["b"]["w"], 0, -1))


def test_scalars_and_empty_results():
    assert jacobian(lambda x: x**3)(2.0) == 12.0
    assert hessian(lambda x: x**3)(2.0) == 12.0
    assert jacobian(lambda x: x[:0] * 2.0)(np.ones(3)).shape == (0, 3)


def test_stores_run_all_the_same():
    x = np.array([2.0, 3.0, 4.0])
    assert np.allclose(jacobian(store)(x), [[4, 0, 0], [3, 2, 0], [4, 0, 2]])


def test_methods():
    class Model:
        k = 2.0

        def f(self, x):
            return self.k * x * x

    assert np.allclose(jacobian(Model().f)(np.array([1.0, 2.0])), np.diag([4.0, 8.0]))


def test_complex_is_refused():
    with pytest.raises(ArgumentError, match="returned no floats: return floats, or arrays of them"):
        jacobian(lambda x: x.argmax())(np.ones(3))
    with pytest.raises(ArgumentError, match="complex numbers: jacobian takes real functions; use vjp"):
        jacobian(lambda x: x * 1j)(np.ones(2))
    with pytest.raises(ArgumentError, match="complex argument"):
        jacobian(lambda z: np.real(z))(np.ones(2) * 1j)


def half_squared_norm(x):
    n = np.linalg.norm(x)
    return 0.5 * n * n


def squared_norm(x):
    return np.linalg.norm(x) ** 2


def cubed_norm(x):
    return np.linalg.norm(x) ** 3


def norm_times_norm(x):
    return np.linalg.norm(x) * np.linalg.norm(x)


def squared_moduli(x):
    z = x * (1 + 2j)
    return np.sum(np.abs(z) ** 2) + np.sum(abs(z) * abs(z))


@pytest.mark.parametrize(
    "f, scale",
    [
        (half_squared_norm, 1.0),
        (squared_norm, 2.0),
        (cubed_norm, 0.0),
        (norm_times_norm, 2.0),
        (squared_moduli, 20.0),
    ],
)
def test_powers_of_a_norm_at_the_origin(f, scale):
    H = hessian(f)
    assert np.array_equal(H(np.zeros(2)), scale * np.eye(2))
    assert H.engine == "compiled"


def test_they_say_what_they_are():
    def energy(x):
        return np.sum(x**2)

    assert repr(jacobian(energy)) == "<jacobian of energy>" and repr(hessian(energy)) == "<hessian of energy>"


# ---------------------------------------------------------------- results of classes of their own


@dataclasses.dataclass(frozen=True)
class State:
    position: object
    name: str = "start"


@dataclasses.dataclass(slots=True)
class Path:
    states: list
    length: object


class Plain:
    def __init__(self, held):
        self.held = held


def path(x):
    states = [State(x * x), State(np.sin(x), "end")]
    return Path(states, np.sum(x))


@pytest.mark.parametrize("mode", ["compiled", "tape"])
def test_the_jacobian_of_a_dataclass_is_one(mode):
    x = np.array([1.0, 2.0])

    def positions(x):
        first = State(x * x)
        return [first.position, Path([np.sin(x)], np.sum(x))]

    squares, found = jacobian(positions, mode=mode)(x)
    np.testing.assert_allclose(squares, np.diag(2 * x))
    assert type(found) is Path and found.length.tolist() == [1.0, 1.0]
    np.testing.assert_allclose(found.states[0], np.diag(np.cos(x)))


@pytest.mark.parametrize("states", [1.0, None])
def test_the_cotangent_of_a_dataclass_is_one(states):
    x = np.array([1.0, 2.0])
    out, pullback = vjp(path, x)
    assert out.states[1].name == "end"
    g = states and np.full(2, states)
    (d,) = pullback(Path([State(g), State(np.ones(2), "end")], 3.0))
    np.testing.assert_allclose(d, np.cos(x) + 3 + (2 * x if states else 0))


@pytest.mark.parametrize("mode", ["auto", "tape"])
def test_no_cotangent_is_given_for_an_object(mode):
    x = np.array([1.0, 2.0])
    with pytest.raises(ArgumentError, match="an object of class Plain"):
        jacobian(lambda x: Plain(x * x), mode=mode)(x)
    with pytest.raises(ArgumentError, match="no floats"):
        jacobian(lambda x: State(x * x), mode=mode)(x)
    with pytest.raises(ArgumentError, match="an object of class Plain"):
        vjp(lambda x: (x, [Plain(x * x)]), x)
