"""Objects of plain classes of the caller's: read, and changed by the function or by their methods."""

from abc import ABC, abstractmethod
from types import SimpleNamespace

import numpy as np

from tests.programs.corpus import program

X = np.array([0.5, 1.5, 2.0])


class Pendulum:
    def __init__(self, angle, speed, dt=0.1):
        self.angle, self.speed, self.dt = angle, speed, dt
        self.t = 0.0
        self.seen = 0

    def step(self, force):
        self.speed = self.speed + self.dt * (force - np.sin(self.angle))
        self.angle = self.angle + self.dt * self.speed
        self.t += self.dt
        self.seen += 1
        return self.angle

    def run(self, force):
        for _ in range(3):
            self.step(force)
        return np.sum(self.angle**2) * self.t / self.seen

    def energy(self, k=0.5):
        return k * np.sum(self.speed**2)

    def within(self, force):
        return np.sum(self.step(force) * self.step(2 * force)) + self.energy()

    def left(self, force):
        for i in range(6):
            self.dt = self.dt * (1 + force[0])
            if self.dt > 0.3:
                return self.energy() * self.dt
            self.step(force * i)
        return np.sum(self.angle)


class Layer:
    def __init__(self, W, b):
        self.W, self.b = W, b
        self.out = None
        self.act = np.tanh
        self.history = []

    def forward(self, x):
        self.out = np.tanh(self.W @ x + self.b)
        return self.out


class Net:
    def __init__(self, *layers):
        self.layers = list(layers)
        self.options = {"decay": 0.1, "scale": 2.0}
        self.parent = None
        self.name = "net"

    def forward(self, x):
        for layer in self.layers:
            x = layer.forward(x)
        return x

    def loss(self, x):
        y = np.sum(self.forward(x) ** 2)
        self.options["scale"] = self.options["scale"] * y
        return y + sum(np.sum(layer.out * x) for layer in self.layers) * self.options["decay"]

    def trained(self, x):
        y = self.forward(x)
        for i, layer in enumerate(self.layers):
            layer.W = layer.W - self.options["decay"] * np.outer(y, x) * (i + 1)
            layer.b = layer.b - 0.1 * layer.out
        return np.sum(self.forward(x))


class Private:
    def __init__(self, w):
        self.__w = w
        self.__t = 0.0

    def __square(self, v):
        return v * v

    def run(self, x):
        for _ in range(2):
            self.__w = self.__w * x
            self.__t += 0.5
        return np.sum(self.__square(self.__w)) * self.__t


class Force(ABC):
    def __init__(self, k):
        self.k = k
        self.last = 0.0

    @abstractmethod
    def at(self, x): ...


class Spring(Force):
    def at(self, x):
        self.last = np.sum(x)
        return -self.k * x * self.last


class System:
    """Objects in a list, in an object."""

    def __init__(self, *bodies):
        self.bodies = list(bodies)
        self.k = 2.0

    def pull(self):
        a, b = self.bodies
        return self.k * (b.angle - a.angle)

    def run(self, x):
        for _ in range(3):
            f = self.pull()
            first, second = self.bodies
            first.step(f)
            second.step(-f)
            for body in self.bodies:
                body.speed = body.speed * x
            self.k = self.k * x[0]
        return sum(b.energy() for b in self.bodies)


P = Pendulum(X + 1, X - 1)
NET = Net(Layer(np.outer(X, X) / 9, X * 2), Layer(np.eye(3), X - 1))

program(P, X, engine="compiled", argnums=1, name="run")(Pendulum.run)
program(P, X, engine="compiled", argnums=1, name="method_within_an_expression")(Pendulum.within)
program(P, X, engine="compiled", argnums=1, name="left_and_read_again")(Pendulum.left)
program(NET, X / 4, engine="compiled", argnums=1, name="network")(Net.loss)
program(NET, X / 4, engine="compiled", argnums=1, name="trained")(Net.trained)
program(Private(X + 1), X, engine="compiled", argnums=1, name="private_attributes")(Private.run)
program(System(P, Pendulum(X * 2, X)), X, engine="compiled", argnums=1, name="objects_in_a_list")(System.run)


@program(X, Spring(2.0), engine="compiled")
def abstract(x, f):
    return np.sum(f.at(x)) * f.last


@program(X, P, engine="compiled")
def attributes_assigned(x, p):
    for _ in range(3):
        p.angle = p.angle + p.dt * x
        p.t = p.t + x[0]
        p.seen += 1
    return np.sum(p.angle * x) * p.t * p.seen


@program(X, P, engine="compiled")
def new_attributes(x, p):
    p.extra = x * p.angle
    if p.t < 1:
        p.extra = p.extra * x[1]
    p.speed = p.extra + p.speed
    return np.sum(p.speed * p.extra)


@program(X, SimpleNamespace(u=X + 1, n=3), engine="compiled")
def namespace(x, s):
    for _ in range(s.n):
        s.u = s.u * x
    s.total = np.sum(s.u)
    return s.total * x[2]


@program(X, P, Pendulum(X, X), engine="compiled")
def of_two_one_is_changed(x, p, q):
    p.angle = x * q.angle
    q, p = p, q
    return np.sum(p.angle * q.angle * x)


@program(X, P, engine="compiled")
def exchanged(x, p):
    p.angle, p.speed = p.speed, p.angle * x
    return np.sum(p.angle * x + p.speed**2)


@program(X, P, engine="tape")
def attribute_deleted(x, p):
    p.angle = x * 2
    y = np.sum(p.angle)
    del p.angle
    return y


@program(X, P, engine="tape")
def attributes_by_name(x, p):
    setattr(p, "angle", x * 2)
    return np.sum(getattr(p, "angle") * x) * vars(p)["dt"]


class Scaled:
    """Reading and assigning an attribute runs code."""

    def __init__(self, w):
        self.w = w

    @property
    def weight(self):
        return self.w * 2

    @weight.setter
    def weight(self, value):
        self.w = value / 3


class Slotted:
    __slots__ = ("w",)

    def __init__(self, w):
        self.w = w


class Doubling:
    def __init__(self, w):
        self.w = w

    def __setattr__(self, name, value):
        object.__setattr__(self, name, 2 * value)


@program(X, Scaled(X + 1), engine="tape")
def property_assigned(x, s):
    s.weight = x * 3
    return np.sum(s.weight * s.w * x)


@program(X, Scaled(X + 1), engine="compiled", smooth=True)
def property_of_an_object_that_stays(x, s):
    return np.sum(s.weight * s.w * x**2)


@program(X, Slotted(X + 1), engine="tape")
def slot_assigned(x, s):
    s.w = x * 3
    return np.sum(s.w * x)


@program(X, Doubling(X + 1), engine="tape")
def attribute_that_is_not_stored_as_it_is(x, s):
    s.w = x * 3
    return np.sum(s.w * x)


class Named:
    """Its methods are called like those of arrays and dicts, and change things."""

    def __init__(self, w):
        self.w = w

    def get(self):
        self.w[:] = 1.0
        return 0.0

    def copy(self):
        self.w = self.w + 1.0
        return self


def got(n):
    return n.get()


@program(X, Named(X + 1), engine="tape")
def method_with_the_name_of_one_of_dicts(x, n):
    y = np.sin(x * n.w)
    n.get()
    return np.sum(y * n.w)


@program(X, Named(X + 1), engine="tape")
def such_a_method_in_a_function(x, n):
    y = np.sin(x * n.w)
    got(n)
    return np.sum(y * n.w)


@program(X, [Named(X + 1)], engine="tape")
def such_a_method_of_an_object_in_a_list(x, ns):
    y = np.sin(x * ns[0].w)
    ns[0].get()
    return np.sum(y)


@program(X, [P, Pendulum(X, X + 2)], engine="compiled", smooth=True)
def methods_in_a_comprehension(x, ps):
    return sum(p.energy(x[0]) for p in ps) * sum([w.sum() for w in (x, x * 2)])


class Filter:
    def __init__(self, x):
        self.x, self.loss = x, 0.0

    def predict(self):
        self.x = 0.9 * self.x

    def update(self, z):
        self.loss += (z - self.x) ** 2
        self.x = self.x + 0.5 * (z - self.x)


@program(np.array([1.0, 1.2, 0.9, 1.4]), engine="compiled", smooth=True)
def method_with_the_name_of_one_that_changes_dicts(zs):
    k = Filter(0.0)
    for z in zs[1:]:
        k.predict()
        k.update(z)
    return k.loss + k.x**2


class Orbit:
    def __init__(self, q, p):
        self.q, self.p = q, p

    @property
    def energy(self):
        return 0.5 * self.p @ self.p - 1 / self.radius

    @property
    def radius(self):
        return np.sqrt(self.q @ self.q)

    def step(self, h):
        self.p = self.p - h * self.q / self.radius**3
        self.q = self.q + h * self.p


@program(np.array([1.0, 0.2, -0.1, 0.9]), engine="compiled", smooth=True)
def properties_of_an_object_that_changes(x):
    orbit = Orbit(x[:2], x[2:])
    energies = []
    for _ in range(3):
        orbit.step(0.1)
        energies.append(orbit.energy)
    return sum(energies) * orbit.radius


@program(X, Pendulum(X + 1.0, X - 0.3), engine="compiled", smooth=True)
def a_method_that_no_derivative_flows_through_gives_a_number(x, o):
    y = x * 1.0
    y[1] *= o.energy()
    y *= o.energy(k=0.3)
    return np.sum(y * y)


@program(X.astype(np.float32), Pendulum(X + 1.0, np.float32(0.7)), engine="compiled")
def a_method_that_no_derivative_flows_through_gives_a_single(x, o):
    y = x * o.energy(np.float32(2.0))
    y[1] *= o.energy()
    return np.sum(y * x)
