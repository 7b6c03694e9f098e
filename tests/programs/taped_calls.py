"""Calls of functions that the compiler does not take: they run on the tape, for that call only.

It takes no `try` with several handlers that go on.
"""

import contextlib
import functools

import numpy as np

from tests.programs.corpus import program

X = np.array([0.5, -1.5, 2.0])
SCALE = 2.0
LOG = []


def guarded(v, k=3.0, *, shift=1.0):
    try:
        return np.sum(v * v) * k * shift * SCALE
    except FloatingPointError:
        return 0.0
    except OSError:
        return 0.0


def squares(v):
    try:
        return v * v
    except ZeroDivisionError:
        return v + 0.0
    except OSError:
        return v + 0.0


def same(v):
    try:
        return v
    except ZeroDivisionError:
        return v + 0.0
    except OSError:
        return v + 0.0


def pair(v):
    try:
        return v * v, np.sum(v)
    except ZeroDivisionError:
        return v, 0.0
    except OSError:
        return v, 0.0


def first_two(vs):
    try:
        return np.sum(vs[0] * vs[1])
    except ZeroDivisionError:
        return 0.0
    except OSError:
        return 0.0


def by_name(d):
    try:
        return np.sum(d["a"] * d["b"])
    except ZeroDivisionError:
        return 0.0
    except OSError:
        return 0.0


def counted(v):
    try:
        return len(v)
    except TypeError:
        return 1
    except OSError:
        return 1


def halved(v):
    while True:
        try:
            v = v * 0.5
            if abs(v) < 0.1:
                return v
        except ValueError:
            v = v + 0.0
        except OSError:
            v = v + 0.0


def logging(v):
    try:
        LOG.append(1)
        return np.sum(v * v)
    except ValueError:
        return 0.0
    except OSError:
        return 0.0


def writing(v):
    try:
        v[0] = 1.0
        return np.sum(v * v)
    except ValueError:
        return 0.0
    except OSError:
        return 0.0


def perhaps(v):
    try:
        return np.sum(v) if v[0] < 10 else None
    except ValueError:
        return 0.0
    except OSError:
        return 0.0


def repeated(v):
    try:
        return [v[0], v[1]] * 2
    except ValueError:
        return [0.0]
    except OSError:
        return [0.0]


def even(v, n):
    try:
        return v if n == 0 else odd(v * v, n - 1)
    except ValueError:
        return 0.0
    except OSError:
        return 0.0


def odd(v, n):
    return -v if n == 0 else even(v, n - 1)


@functools.lru_cache
def remembered(v):
    return v * v


class Model:
    def __init__(self, weight):
        self.weight = weight

    def energy(self, v):
        try:
            return np.sum(v * v)
        except ValueError:
            return 0.0
        except OSError:
            return 0.0

    def loss(self, v):
        return self.energy(v) * self.weight


MODEL = Model(3.0)


@program(X, engine="compiled", taped=True, smooth=True)
def arguments_in_every_way(x):
    return guarded(x) + guarded(x, 2.0) + guarded(x, shift=np.sum(x)) + guarded(v=x, k=x[0])


@program(X, engine="compiled", taped=True)
def the_same_array_as_result(x):
    y = x * 1.0
    return np.sum(same(y) * y)


@program(X, engine="compiled", taped=True)
def written_to_after_the_call(x):
    y = x * 1.0
    a = guarded(y)
    y[0] = 7.0 * x[1]
    return a * guarded(y)


@program(X, engine="tape")
def the_result_is_another_name(x):
    y = x * 1.0
    a = same(y)
    y[0] = 5.0
    return np.sum(a * y)


@program(X, engine="compiled", taped=True)
def result_is_a_tuple(x):
    a, b = pair(x)
    return np.sum(a) * b * pair(x)[1]


@program([X, 2 * X], engine="compiled", taped=True)
def list_is_passed(xs):
    return first_two(xs) * np.sum(xs[0])


@program({"a": X, "b": 2 * X}, engine="compiled", taped=True)
def dict_is_passed(d):
    return by_name(d) * np.sum(d["a"])


@program(X, engine="compiled", taped=True)
def nothing_flows_out(x):
    return counted(x) * np.sum(x)


@program(X, 4, engine="compiled", taped=True)
def in_a_loop_that_is_left(x, n):
    total = 0.0
    for i in range(n):
        total += guarded(x * i)
        if total > 50:
            break
    return total


@program(X, 0, engine="compiled", taped=True)
def in_a_loop_that_does_not_run(x, n):
    total = np.sum(x)
    for i in range(n):
        total = total + guarded(x * i)
    return total


@program(X, engine="compiled", taped=True)
def method_of_an_object(x):
    return MODEL.energy(x) * np.sum(x) + MODEL.loss(x)


@program(1.5, engine="compiled", taped=True)
def cached(x):
    return remembered(x) * x


@program(0.7, engine="compiled", taped=True)
def loop_of_its_own(x):
    return halved(x) * x


@program(X, engine="compiled")
def for_a_test_only(x):
    return np.sum(x) if guarded(x) > 3 else np.sum(x * x)


@program(X, engine="compiled", taped=True)
def elementwise_result(x):
    return np.sum(squares(x) * squares(2 * x))


@program(0.7, engine="tape")
def that_call_each_other(x):
    return even(x, 3) * odd(x, 2)


@program(X, engine="tape")
def that_changes_a_list_outside(x):
    return logging(x) * np.sum(x)


@program(X, engine="tape")
def that_writes_into_its_argument(x):
    return writing(x.copy()) * np.sum(x)


@program(X, engine="tape")
def that_may_give_none(x):
    return perhaps(x) * np.sum(x)


@program(X, engine="tape")
def that_gives_a_list_of_unknown_length(x):
    return sum(repeated(x)) * 2


# ------------------------------------------------------------------- what a new container holds need not be new


class Holder:
    def __init__(self, v):
        self.v = v
        self.v *= 2.0


def changed_in_a_list(v):
    xs = [0.0] * 2
    xs[1] = v
    xs[1] *= 1.2
    return np.sum(v * v)


def changed_in_a_list_that_grows(v):
    xs = []
    xs.append(v)
    xs[0][1:] = 0.5
    return np.sum(v * v)


def changed_in_a_dict(v):
    d = {"a": v}
    d["a"].fill(0.7)
    return np.sum(v * v)


def changed_in_a_copied_list(v):
    xs = [v, 2.0].copy()
    xs[0] -= 0.5 * v
    return np.sum(v * v)


def changed_in_an_object(v):
    Holder(v)
    return np.sum(v * v)


def changed_through_an_array_that_shares(v):
    w = np.array(v, copy=False)
    w *= 2.0
    return np.sum(w * w)


def changed_in_an_annotated_name(v):
    w = np.zeros(3)
    w: np.ndarray = v
    w *= 2.0
    return np.sum(w * w)


def changed_in_a_name_of_with(v):
    try:
        w = np.zeros(3)
        w += 1.0
        with contextlib.nullcontext(v) as w:
            w *= 2.0
        return np.sum(w * w)
    except ZeroDivisionError:
        return 0.0
    except OSError:
        return 0.0


def changed_in_a_name_of_match(v):
    try:
        w = np.zeros(3)
        match [v, 2.0]:
            case [w, factor]:
                w *= factor
        return np.sum(w * w)
    except ZeroDivisionError:
        return 0.0
    except OSError:
        return 0.0


def changed_in_a_name_of_walrus(v):
    try:
        w = np.zeros(3)
        if len(w := v) == 3:
            w *= 2.0
        return np.sum(w * w)
    except ZeroDivisionError:
        return 0.0
    except OSError:
        return 0.0


def changed_in_a_name_of_for(v):
    try:
        w = np.zeros(3)
        for w in [v]:
            w *= 2.0
        return np.sum(w * w)
    except ZeroDivisionError:
        return 0.0
    except OSError:
        return 0.0


def copy(v):
    return v


def changed_in_what_is_called_a_copy(v):
    try:
        w = copy(v)
        w *= 2.0
        return np.sum(w * w)
    except ZeroDivisionError:
        return 0.0
    except OSError:
        return 0.0


CHANGES = {
    changed_in_a_list: "tape",
    changed_in_a_list_that_grows: "compiled",
    changed_in_a_dict: "compiled",
    changed_in_a_copied_list: "tape",
    changed_in_an_object: "tape",
    changed_through_an_array_that_shares: "tape",
    changed_in_an_annotated_name: "compiled",
    changed_in_a_name_of_with: "tape",
    changed_in_a_name_of_match: "tape",
    changed_in_a_name_of_walrus: "tape",
    changed_in_a_name_of_for: "tape",
    changed_in_what_is_called_a_copy: "tape",
}


def registered(change, engine):
    @program(X, engine=engine, name=change.__name__)
    def whole(x):
        s = change(x)
        return s * np.sum(x * x)

    return whole


for one, engine in CHANGES.items():
    registered(one, engine)


def filled_by_itself(v):
    y = np.zeros(3)
    y[0] = v[0]
    y[1:] += v[:2]
    y[1] *= 2.0
    try:
        return np.sum(y * v)
    except ValueError:
        return 0.0
    except OSError:
        return 0.0


@program(X, engine="compiled", taped=True)
def arrays_of_the_callee_are_its_own(x):
    return filled_by_itself(x) * np.sum(x * x)
