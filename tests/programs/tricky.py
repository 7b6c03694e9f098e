"""Programs that invite a silently wrong gradient: state outside, conversions, in-place functions, built-ins.

An engine may refuse one of these with an error of ours; what it returns must be right.
"""

import functools
from dataclasses import dataclass

import numpy as np

from tests.programs.corpus import program

X = np.array([0.5, -1.5, 2.0])
CACHE = {}
COUNTER = 0
SCRATCH = np.empty(3)


@dataclass
class Params:
    weight: object
    bias: float


class Holder:
    pass


HOLDER = Holder()


@program(X, engine="tape")
def through_an_attribute(x):
    HOLDER.last = x * 2
    return np.sum(HOLDER.last * x)


@program(X, engine="tape")
def through_a_global_dict(x):
    CACHE["y"] = np.sin(x)
    return np.sum(CACHE["y"] * x)


@program(X, engine="compiled", smooth=True)
def through_a_local_object(x):
    box = Holder()
    box.value = x
    for _ in range(2):
        box.value = box.value * x
    return np.sum(box.value)


@program(X, engine="compiled")
def through_scratch_memory(x):
    SCRATCH[:] = x
    y = SCRATCH * 3
    return y[0] * x[1] + np.sum(y)


@program(X, engine="tape")
def through_setattr(x):
    box = Holder()
    setattr(box, "value", x * x)
    return np.sum(getattr(box, "value"))


@program(X, engine="tape")
def global_statement(x):
    global COUNTER
    COUNTER += 1
    return np.sum(x * x)


@program(X, engine="compiled")
def float_conversion(x):
    return float(x[0]) * x[1]


@program(X, engine="compiled")
def item(x):
    return x[0].item() * x[1]


@program(X, engine="tape")
def to_a_list(x):
    return sum(v * v for v in x.tolist())


@program(X, engine="compiled")
def list_of_an_array(x):
    a, b, c = list(x)
    return a * b + c


@program(X, engine="compiled")
def entries_unpacked(x):
    a, b, c = x
    return a * b * c + a


@program(X, engine="tape")
def built_in_sum(x):
    return sum(x) * sum([x[0], x[1] * 2], 1.0)


@program(X, engine="compiled")
def built_in_max_and_min(x):
    return max(x[0], x[1]) * min(x[1], x[2]) + max(x)


@program(X, engine="compiled")
def built_in_pow_abs_divmod(x):
    q, r = divmod(x[2], 0.7)
    return pow(x[0], 3) + abs(x[1]) + r * x[0] + q


@program(1.7, engine="compiled")
def boolean_operators_give_values(x):
    return (x > 1 and x * 2) or x * 3


@program(0.7, engine="compiled")
def value_or_default(x):
    return (x or 1.0) * x


@program(X, engine="tape")
def bound_method_kept(x):
    total = x.sum
    return total() * (x * 2).mean()


@program(X, engine="tape")
def attribute_by_name(x):
    return np.sum(getattr(x, "T") * getattr(np, "sin")(x))


@program(X, engine="compiled")
def partial_application(x):
    power = functools.partial(np.power, x)
    return np.sum(power(2.0))


@program(X, engine="compiled")
def reduce_and_map(x):
    total = functools.reduce(lambda a, b: a * b + 0.5, x)
    return total + sum(map(lambda v: v**2, x))


@program(X, engine="tape")
def late_binding_closures(x):
    functions = [lambda v: v * k for k in range(3)]
    return sum(f(x[0]) for f in functions) + functions[0](x[1])


@program(X, engine="tape")
def deleted_name(x):
    y = x * 2
    z = y * x
    del y
    return np.sum(z)


@program(X, engine="compiled")
def add_at(x):
    y = np.zeros(2)
    np.add.at(y, [0, 1, 1], x * x)
    return y[0] * y[1]


@program(X, engine="compiled")
def copyto(x):
    y = np.zeros(3)
    np.copyto(y, x * x)
    return np.sum(y * x)


@program(X, engine="compiled")
def put_and_fill_diagonal(x):
    y = np.zeros((3, 3))
    np.fill_diagonal(y, x)
    np.put(y, [1], x[0])
    return np.sum(y**2)


@program(X, engine="tape")
def matrix_product_in_place(x):
    y = np.outer(x, x)
    y @= np.diag([1.0, 2.0, 3.0])
    return np.sum(y)


@program(X, engine="compiled")
def iterators(x):
    s = 0.0
    for a, b in zip(x, x[1:]):
        s = s + a * b
    for i, v in enumerate(x, start=1):
        s = s + i * v**2
    for v in reversed(x):
        s = s * 0.5 + v
    return s


@program({"a": X, "b": 2.0}, engine="compiled")
def items_of_a_dict(p):
    s = 1.0
    for key, value in p.items():
        s = s * np.sum(value) + len(key)
    for key in p:
        s = s + np.sum(p[key] ** 2)
    return s


@program(Params(X, 0.5), engine="compiled")
def dataclass_argument(p):
    return np.sum(np.tanh(p.weight * 2 + p.bias))


@program(X, engine="tape")
def apply_along_axis(x):
    return np.sum(np.apply_along_axis(lambda row: row * row[0], 1, np.outer(x, x)))


@program(X, engine="tape")
def vectorized(x):
    return np.sum(np.vectorize(lambda v: v * v if v > 0 else -v)(x))


@program(X, engine="compiled")
def sorted_in_place(x):
    y = x * 2
    y.sort()
    return np.sum(y * np.arange(3.0))


@program(X, engine="compiled")
def python_sorted(x):
    return sum(i * v for i, v in enumerate(sorted(x)))


@program(X, engine="tape")
def real_part_written(x):
    z = np.zeros(3, dtype=complex)
    z.real = x
    z.imag = x * 2
    return np.sum(np.abs(z) ** 2)


@program(X, engine="compiled")
def flat_written(x):
    y = np.zeros((1, 3))
    y.flat[1] = x[0] * x[1]
    return np.sum(y)


@program(X, engine="compiled")
def sum_where(x):
    return np.sum(x**2, where=np.array([True, False, True])) + np.sum(x, initial=3.0) * np.max(x, initial=0.0)


@program(X, engine="compiled")
def ufunc_where_and_out(x):
    y = np.multiply(x, x, out=np.ones(3), where=x > 0)
    return np.sum(y)


@program(X, engine="compiled")
def ufunc_methods(x):
    return np.add.reduce(x * x) + np.multiply.reduce(x) + np.sum(np.multiply.outer(x, x)) + np.add.accumulate(x)[1]


@program(X, engine="compiled")
def like_functions(x):
    return np.sum(np.full_like(x, x[0]) * x) + np.sum(np.full(2, x[1])) + np.sum(np.zeros_like(x) + np.ones_like(x) * x)


@program(X, engine="compiled")
def rounded_to_string_and_back(x):
    return np.sum(x * len(f"{x[0]:.3f}"))


@program(X, engine=None)
def object_array(x):
    y = np.array([x[0], x[1] * 2, 3.0], dtype=object)
    return y[0] * y[1] + y[2]


@program(X, engine="tape")
def from_iter(x):
    return np.sum(np.fromiter((v * v for v in x), dtype=float))


@program(X, engine=None)
def buffer(x):
    return np.sum(np.frombuffer((x * 2).tobytes()) * x)


@program(0.3, engine=None)
def hexadecimal_float(x):
    return float.fromhex(float(x).hex()) * x


@program(X, engine="compiled")
def polynomial(x):
    return np.polyval(x, 0.7) + np.interp(0.3, [0.0, 1.0], x[:2])


@program(X, engine="tape")
def exec_in_the_function(x):
    names = {"x": x}
    exec("y = x * x", names)
    return np.sum(names["y"])


@program(X, engine="tape")
def eval_in_the_function(x):
    return np.sum(eval("x * x"))


@program(X, engine="tape")
def locals_in_the_function(x):
    y = x * 2
    return np.sum(locals()["y"] * x)


@program(X, engine="tape")
def class_in_the_function(x):
    class Model:
        scale = x[0]

        def __call__(self, v):
            return self.scale * v

    return np.sum(Model()(x))


@program(X, engine="compiled")
def import_in_the_function(x):
    import math

    from numpy import tanh as squash

    return np.sum(squash(x)) * math.exp(x[0])
