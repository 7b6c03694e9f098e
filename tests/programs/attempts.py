"""`try` blocks with a handler that goes on: what is tried may have run in part when the handler begins."""

import math

import numpy as np

from tests.programs.corpus import program

X = np.array([0.5, 1.5, 2.0, 0.7])
A = np.array([[2.0, 0.3], [0.4, 1.5]])
SINGULAR = np.array([[1.0, 2.0], [2.0, 4.0]])
B = np.array([1.0, 2.0])
SEEN = []


def failing(v, fails):
    if fails:
        raise ValueError("it fails")
    return v * v


def both(function):
    """Where what is tried is done, and where it is not."""
    for fails in (False, True):
        program(X, fails, engine="compiled", smooth=True, name=f"{function.__name__}-{fails}")(function)
    return function


@program(A, B, engine="compiled", smooth=True)
@program(A * 0.0 + B, B, engine="compiled", name="solved_otherwise-singular", argnums=1, smooth=True)
def solved_otherwise(a, b):
    try:
        y = np.linalg.solve(a, b)
    except np.linalg.LinAlgError:
        y = np.linalg.pinv(a) @ b
    return np.sum(y**2)


@program(A, engine="compiled", smooth=True)
@program(-A, engine="compiled", name="with_jitter-indefinite", smooth=True)
def with_jitter(a):
    try:
        u = np.linalg.cholesky(a + a.T)
    except np.linalg.LinAlgError:
        u = np.linalg.cholesky(a + a.T + 9.0 * np.eye(2))
    return np.sum(np.log(np.diag(u)) * u[:, 0])


@program(A, B, engine="compiled", smooth=True)
@program(-A, B, engine="compiled", name="likelihood-indefinite", expect=np.zeros((2, 2)))
def likelihood(a, b):
    try:
        u = np.linalg.cholesky(a + a.T)
        z = np.linalg.solve(u, b)
        return -0.5 * np.sum(z**2) - np.sum(np.log(np.diag(u)))
    except np.linalg.LinAlgError:
        return -np.inf


@program(2.0, engine="compiled", smooth=True)
@program(0.0, engine="compiled", name="sinc-zero", expect=0.0)
def sinc(x):
    try:
        return math.sin(x) / x
    except ZeroDivisionError:
        return 1.0


@program(X, engine="compiled", smooth=True)
def around_the_end(x):
    s = 0.0
    for i in range(len(x)):
        try:
            s += x[i] * x[i + 1]
        except IndexError:
            s += x[i] * x[0]
    return s


@program(X, engine="compiled", smooth=True)
def left_out(x):
    s = 0.0
    for i in range(6):
        try:
            v = x[i] ** 2
        except IndexError:
            continue
        s += v * x[0]
        if s > 100:
            break
    return s


@program(X, engine="compiled", smooth=True)
def left_by_the_handler(x):
    s = 0.0
    i = 0
    while True:
        try:
            v = x[i] * s
        except IndexError:
            break
        s = s + np.sin(v) + x[i]
        i += 1
    return s


@program(X, engine="compiled", smooth=True)
def returned_in_a_loop(x):
    y = 0.0
    for i in range(9):
        try:
            y = x[i] * x[i + 1]
        except IndexError:
            return y * i
    return 0.0


@both
def bound_before(x, fails):
    y = x * 2
    try:
        y = y + failing(x, fails)
    except ValueError:
        pass
    return np.sum(y**2)


@both
def old_value_in_the_handler(x, fails):
    s = np.sum(x)
    try:
        s = s * failing(s, fails)
    except ValueError:
        t = s * 3
        s = t * s + t
    return s * s


@both
def new_names_beside_old_ones(x, fails):
    y = np.sin(x)
    t = x[0] * 2
    try:
        a = t * x[1]
        t = a * np.sum(failing(y, fails))
    except ValueError:
        t = t * np.sum(y)
    return np.sum(y * t)


@both
def other_names_of_the_same(x, fails):
    y = x * 2
    z = y
    try:
        y = y * x
        y = y + failing(y, fails)
    except ValueError:
        y = np.cos(z)
    return np.sum(y * z)


@both
def lists_that_become_longer(x, fails):
    ys = [x[0], x[1]]
    zs = ys
    try:
        ys = ys + [x[2] * 2]
        y = sum(ys) * np.sum(failing(x, fails))
    except ValueError:
        y = sum(zs)
    return y * len(zs)


@both
def else_of_a_try(x, fails):
    try:
        y = failing(x, fails)
    except ValueError as error:
        SEEN.append(str(error))
        z = np.sum(x)
    else:
        z = np.sum(y) * x[0]
    finally:
        SEEN.append(fails)
    return z * x[1]


@both
def early_and_late(x, fails):
    try:
        y = np.sum(failing(x, fails))
        if y > 100:
            return y
    except ValueError:
        return x[0] ** 3
    for v in x:
        y = y * v
    return y


@both
def handler_falls_through(x, fails):
    try:
        return np.sum(failing(x, fails) * x)
    except ValueError:
        SEEN.append("failed")
    u = x * x[0]
    return np.sum(u**2)


@both
def handler_raises_perhaps(x, fails):
    try:
        y = failing(x, fails)
    except ValueError:
        if x[0] > 3:
            raise
        y = np.exp(x)
    except TypeError as error:
        raise RuntimeError("no such type") from error
    return np.sum(y)


@both
def raised_in_the_block(x, fails):
    try:
        if fails:
            raise KeyError("k")
        y = np.exp(x)
    except (KeyError, IndexError):
        y = 2 * x
    return np.sum(y * x)


@both
def loops_in_it(x, fails):
    total = x[0]
    try:
        t = total
        for i in range(4):
            t = t * x[i]
            if i > 1:
                t = t + failing(x[i], fails)
        total = t
    except ValueError:
        for v in x:
            total = total + v * total
    return total * total


@both
def one_in_another(x, fails):
    try:
        try:
            y = failing(x, fails)
        except ValueError:
            y = failing(x * 2, x[0] > 1)
    except ValueError:
        y = x**3
    return np.sum(y)


@both
def in_a_branch(x, fails):
    if x[0] > 0:
        try:
            y = failing(x, fails)
        except ValueError:
            y = x**3
    else:
        y = x
    return np.sum(y)


@both
def in_a_helper(x, fails):
    def safe(v):
        try:
            return failing(v, fails)
        except ValueError:
            return np.sin(v)

    s = 0.0
    for v in x:
        s += safe(v) * v
    return s


@both
def said(x, fails):
    try:
        y = np.sum(failing(x, fails))
    except ValueError as e:
        print(f"{e}: goes on")
        y = x[0]
    return y * x[1]


@program(np.array([0.5, 2.0]), engine="compiled", smooth=True)
@program(np.array([0.5, 0.0]), engine="compiled", name="floating_point_errors-zero", expect=np.array([3.0, 3.0]))
def floating_point_errors(x):
    try:
        with np.errstate(all="raise"):
            unread = 1.0 / x
            y = x * 2
    except FloatingPointError:
        y = x * 3
    return np.sum(y)


@program(X, "2", engine="compiled", smooth=True)
@program(X, "two", engine="compiled", name="of_what_nothing_flows_through-two", smooth=True)
def of_what_nothing_flows_through(x, text):
    s = np.sum(x)
    try:
        k = float(text)
    except ValueError:
        return s * s
    s = s * k
    return s * x[0]


@program(X, {"a": 1}, engine="compiled", smooth=True)
@program(X, {"b": 1}, engine="compiled", name="not_needed-b", smooth=True)
def not_needed(x, table):
    try:
        k = table["a"]
        y = x * 2
    except KeyError:
        k, y = 5.0, x * 3
    return np.sum(y) + k


@program(X, engine="compiled", smooth=True)
def newton_with_bisection(x):
    y, low, high = 1.0, 0.0, 4.0
    for _ in range(6):
        slope = 2 * y if y > 0.6 else 0.0
        try:
            y = y - (y * y - x[1] * x[2]) / slope
        except ZeroDivisionError:
            y = (low + high) / 2
    return y


# ------------------------------------------------------------------------------------------ on the tape


@both
def half_bound(x, fails):
    y = x
    try:
        y = x * 2
        z = y * failing(x, fails)
    except ValueError:
        z = y * 3
    return np.sum(z)


@both
def half_written(x, fails):
    y = x * 1.0
    try:
        y[0] = x[1] * 2
        z = y * failing(x, fails)
    except ValueError:
        z = y * 3
    return np.sum(z)


@both
def half_appended(x, fails):
    ys = [x[0]]
    try:
        ys.append(x[1])
        ys.append(np.sum(failing(x, fails)))
    except ValueError:
        ys.append(x[2])
    return sum(v * v for v in ys)


@both
def half_changed(x, fails):
    state = {"a": x[0]}
    try:
        state["a"] = state["a"] * x[1]
        z = np.sum(failing(x, fails))
    except ValueError:
        z = x[3]
    return z * state["a"]


@program(X, False, engine="tape", smooth=True)
@program(X, True, engine="tape", name="half_done_by_a_function-True", smooth=True)
def half_done_by_a_function(x, fails):
    count = 1.0

    def step():
        nonlocal count
        count = count * x[0]
        return failing(x, fails)

    try:
        y = np.sum(step())
    except ValueError:
        y = x[1]
    return y * count


@program(X, False, engine="tape", smooth=True)
@program(X, True, engine="tape", name="read_with_the_error-True", smooth=True)
def read_with_the_error(x, fails):
    try:
        y = failing(x, fails)
    except ValueError as error:
        y = x * len(str(error))
    return np.sum(y)


@program(X, 0, engine="tape", smooth=True)
@program(X, 1, engine="tape", name="several_handlers-1", smooth=True)
def several_handlers(x, way):
    try:
        y = failing(x, way == 0)
        y = y * x[way + 4]
    except ValueError:
        y = x * 2
    except IndexError:
        y = x * 3
    return np.sum(y)


def on_the_tape(v):
    try:
        return np.sum(v * v)
    except ValueError:
        return 0.0
    except OSError:
        return 1.0


@program(X, engine="tape", smooth=True)
def around_what_runs_on_the_tape(x):
    try:
        y = on_the_tape(x)
    except Exception:  # it would take what the tape refuses for what the function raises
        y = 0.0 * x[0]
    return y


def all_ways(function):
    """Where nothing fails, and where it does after each of three steps."""
    for way in range(4):
        program(X, way, engine="compiled", smooth=True, name=f"{function.__name__}-{way}")(function)
    return function


def fail(now):
    if now:
        raise ValueError("it fails")


@all_ways
def names_and_arrays_in_steps(x, way):
    y = x * 1.0
    try:
        fail(way == 1)
        x = x * x
        fail(way == 2)
        y[1:] *= x[0]
        z = y * x
        fail(way == 3)
        y += z
    except ValueError:
        z = np.sin(y) * x
    return np.sum(z * y * x)


@all_ways
def steps_in_branches(x, way):
    y = x * 1.0
    s = x[0]
    try:
        if way > 1:
            y[0] = x[1] * x[2]
            fail(way == 2)
            s = s * y[0]
        else:
            fail(way == 1)
            s = s + x[3]
            y[1:] = s * y[1:]
        fail(way == 3)
        y = y * y
    except ValueError:
        return s * np.sum(y)
    return np.sum(y) + s


@all_ways
def steps_in_a_loop(x, way):
    s, u = x[0], x * 1.0
    for i in range(3):
        try:
            u[i] = u[i + 1] * s
            fail(way == i + 1)
            s = s * u[0]
            w = u[(way + i) % 4]
            u = u * w
        except ValueError:
            u[0] = s * s
            continue
        except IndexError:
            raise
        s = s + w
    return np.sum(u) * s


@all_ways
def what_one_step_binds_alone(x, way):
    try:
        fail(way == 1)
        y = x * x
        fail(way == 2)
        z = np.sum(y)
        x = x * z
    except ValueError:
        return np.sum(x**3)
    else:
        x = x + y
    return np.sum(x) * z


@program(X, engine="compiled", smooth=True)
@program(X, True, engine="compiled", smooth=True, name="left_in_steps-True")
def left_in_steps(x, fails=False):
    s = 1.0
    for v in x:
        try:
            s = s * v
            if s > 1.2:
                return s * s
            fail(fails)
            s = s + v * v
        except Exception:
            s = s * x[3]
            if s > 0.3:
                break
    return s * x[0]


class Level:
    def __init__(self, u):
        self.u = u
        self.count = 0


@program(X, False, engine="compiled", smooth=True)
@program(X, True, engine="compiled", smooth=True, name="fields_in_steps-True")
def fields_in_steps(x, fails):
    level = Level(x * 2.0)
    try:
        level.count += 1
        level.u = level.u * x
        fail(fails)
        level.u[0] = level.count * x[1]
    except ValueError:
        level.count = 5
    return np.sum(level.u) * level.count


@all_ways
def loops_in_steps(x, way):
    y = x * 1.0
    s = x[0]
    try:
        y = y * y
        for i in range(len(x) - 1):
            fail(way == i)
            y[i] = y[i + 1] * s
            s = s * y[i]
        y *= s
    except ValueError:
        y = y * s * x
    return np.sum(y) * s


@program(X, engine="compiled", smooth=True)
@program(X, 1.5, engine="compiled", smooth=True, name="turns_that_cannot_be_counted-float")
def turns_that_cannot_be_counted(x, n=2):
    y = x * 1.0
    try:
        y = y * x
        for i in range(n):
            y[i] *= x[0]
    except TypeError:
        y = y * x[1]
    return np.sum(y)


@program(X, engine="tape", smooth=True)
def raised_by_what_is_run_through(x):
    y = x * 1.0
    try:
        for i in (k // (2 - k) for k in range(4)):
            y[i] *= x[0]
    except ZeroDivisionError:
        y = y * x[1]
    return np.sum(y)


@both
def what_fails_in_a_handler(x, fails):
    y = x * 1.0
    s = x[1]
    try:
        y *= x[0]
        fail(fails)
        y += x
    except ValueError:
        try:
            s = s * y[0]
            raise ValueError("again")
        except ValueError:
            s = s * s
    return np.sum(y) * s
