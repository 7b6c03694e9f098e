"""Optional arguments that are left to None, and None in containers and attributes: one way is never gone."""

import numpy as np

from tests.programs.corpus import program

X = np.array([0.5, -1.5, 2.0])
W = np.array([1.0, 3.0, 2.0])


class Layer:
    def __init__(self, w, bias=None, act=None):
        self.w, self.bias, self.act = w, bias, act

    def __call__(self, x):
        y = self.w * x
        if self.bias is not None:
            y = y + self.bias
        return y if self.act is None else self.act(y)

    def set(self, bias):
        self.bias = bias


def weighted(x, w=None):
    return x if w is None else x * w


def given_by(o):
    o.bias = 2.0
    return 1.0


@program(X, engine="compiled", smooth=True)
def in_an_expression(x, w=None):
    y = x if w is None else x * w
    return np.sum(y**2)


@program(X, W, engine="compiled", name="given")
@program(X, engine="compiled", name="left")
def in_a_branch(x, w=None):
    y = np.sin(x)
    if w is not None:
        y = y * w
    return np.sum(y**2)


@program(X, engine="compiled")
def keyword_only(x, *, w=None, scale=2.0):
    if w is None:
        return np.sum(x**2) * scale
    return np.sum(x**2 * w)


@program(X, engine="compiled")
def with_more_in_the_test(x, w=None):
    if w is not None and w.ndim == 1:
        x = x * w
    if w is None or np.all(w > 0):
        x = x * 2
    return np.sum(x**2)


@program(X, engine="compiled")
def negated(x, w=None):
    y = x * 2
    if not (w is None):  # noqa: E714
        y = y + w
    return np.sum(y**2)


@program(X, engine="compiled")
def passed_on(x, w=None):
    return np.sum(weighted(x, w) ** 2)


@program(X, engine="compiled")
def as_truth(x, callback=None):
    t = 0.0
    for v in x:
        t += v * v
        if callback:
            callback(t)
    return t


@program(X, engine="compiled")
def by_match(x, w=None):
    match w:
        case None:
            return np.sum(x**2)
        case _:
            return np.sum(x * w)


@program(X, engine="compiled")
def a_number_from_the_second_turn_on(x, before=None):
    t = 0.0
    for v in x:
        if before is not None:
            t += (v - before) ** 2
        before = v
    return t


@program(X, engine="compiled")
def read_by_a_nested_function(x, w=None):
    def inner(y):
        return y if w is None else y[w]

    return np.sum(inner(x) ** 2)


@program(X, (None, 2.0), engine="compiled")
def in_a_tuple(x, pair):
    w, k = pair
    y = x * k
    if w is not None:
        y = y * w
    return np.sum(y**2)


@program(X, Layer(W), engine="compiled")
def in_an_object(x, layer):
    return np.sum(layer(x) ** 2)


@program(X, engine="compiled")
def in_an_object_of_its_own(x):
    layer = Layer(2 * x)
    return np.sum(layer(x) ** 2)


@program(X, Layer(W), engine="tape")
def set_by_name(x, layer):
    y = x * 1.0
    for _ in range(3):
        y = y * x if layer.bias is None else y * layer.bias
        setattr(layer, "bias", 1.5)  # noqa: B010
    return np.sum(y**2)


@program(X, Layer(W), engine="compiled")
def set_by_a_method(x, layer):
    y = x * 1.0
    for _ in range(3):
        y = y * x if layer.bias is None else y * layer.bias
        layer.set(1.5)
    return np.sum(y**2)


@program(X, Layer(W), engine="tape")
def set_by_what_is_mapped(x, layer):
    list(map(given_by, [layer]))
    y = x * x if layer.bias is None else x * layer.bias
    return np.sum(y**2)


@program(X, Layer(W), engine="tape")
def set_by_what_sorts(x, layer):
    sorted([layer], key=given_by)
    y = x * x if layer.bias is None else x * layer.bias
    return np.sum(y**2)


@program(X, Layer(W, 2.0), engine="tape")
def an_array_by_name(x, layer):
    setattr(layer, "bias", np.ones((2, 3)))  # noqa: B010
    return np.sum(x * layer.bias)


@program(X, [1.0, None], engine="tape")
def set_in_a_list(x, pair):
    y = x * 1.0
    for _ in range(3):
        y = y * x if pair[1] is None else y * pair[1]
        pair[1] = 1.5
    return np.sum(y**2)
