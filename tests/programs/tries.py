"""`try` blocks around what a derivative flows through: handlers that raise, and what is done finally."""

import numpy as np

from tests.programs.corpus import program

X = np.array([0.5, 1.5, 2.0, 0.7])
SEEN = []


class State:
    def __init__(self):
        self.busy = False


STATE = State()


@program(X, engine="compiled", smooth=True)
def raised_anew(x):
    try:
        y = np.linalg.solve(np.diag(x), x * 2)
    except np.linalg.LinAlgError as error:
        raise ValueError("singular") from error
    return np.sum(y * x**2)


@program(X, 2.0, engine="compiled", smooth=True)
@program(X, 0.5, engine="compiled", smooth=True, name="not_left")
def left_in_the_middle(x, k):
    try:
        y = np.sum(x**2) * k
        if k > 1:
            return y * x[0]
        y = y + 1
    except (ValueError, KeyError) as error:
        raise RuntimeError(f"no {k}") from error
    else:
        y = y * x[1]
    finally:
        SEEN.append(k)
    return y * 2


@program(X, engine="compiled", smooth=True)
def in_a_loop(x):
    s = 0.0
    for i in range(4):
        try:
            if i == 1:
                continue
            s = s + x[i] ** 2
            if s > 4:
                break
        finally:
            SEEN.append(i)
    return s


@program(X, engine="compiled", smooth=True)
def around_writes(x):
    u = x * 1.0
    try:
        for i in range(3):
            u[i] = u[i] * u[i + 1]
            v = u[i]
    except IndexError:
        print("too short")
        raise
    return np.sum(u) * v


@program(X, engine="compiled", smooth=True)
def state_of_an_object_is_set_back(x):
    STATE.busy = True
    try:
        y = np.sum(x * 2) ** 2
    finally:
        STATE.busy = False
    return y


@program(X, engine="compiled", smooth=True)
def one_in_another(x):
    try:
        try:
            y = x * 2
            z = y[0]
        except ValueError as error:
            raise TypeError("x") from error
    except TypeError:
        raise
    return np.sum(y) * z


@program(X, 3, engine="compiled", smooth=True)
def names_bound_anew(x, n):
    try:
        y = x
        for _ in range(n):
            y = y * x
    except Exception as error:
        raise ValueError(f"{n} {x}") from error
    t = 3.0
    n = t * 2
    return np.sum(y) * n


@program(X, engine="compiled", smooth=True)
def in_a_function_of_its_own(x):
    def solved(b):
        for _ in range(2):
            try:
                b = b / x[0]
            except ZeroDivisionError as error:
                raise ValueError("zero") from error
        return b

    return np.sum(solved(x**2)) * np.sum(solved(x))


@program(X, engine="compiled", smooth=True)
def what_is_done_finally_binds_a_name(x):
    try:
        y = np.sum(x**2)
    finally:
        z = 2.0
    return y * z


@program(X, engine="tape", smooth=True)
def handler_reads_what_is_tried(x):
    try:
        y = np.sum(x)
        z = y * x[0]
    except ValueError as error:
        raise ValueError(y) from error
    return z * y


def early_or_late(x):
    x[1] -= 0.5
    try:
        if x[0] > 0:
            return np.tanh(x)
    finally:
        pass
    return x + 0.5


@program(np.array([1.43, 1.14]), engine="tape")
def part_of_an_early_result_read_in_a_loop(x):
    y = early_or_late(x)
    for _, _ in zip(y, y):
        x *= y[1]
    return np.sum(x)


@program(X, 1.5, 0, engine="compiled", smooth=True)
@program(X, 1.5, 2, engine="compiled", smooth=True, name="changed_finally-returns")
def changed_finally(x, k, way):
    u = x * k
    try:
        y = u * x
        if way == 2:
            return np.sum(u) * k
    finally:
        u += x
        k *= 2.0
    return np.sum(y) * k + np.sum(u * u)


@program(X, 4, engine="compiled", smooth=True)
@program(X, 1, engine="compiled", smooth=True, name="changed_finally_in_a_loop-left")
def changed_finally_in_a_loop(x, last):
    s = 0.0
    u = x * 1.0
    for i in range(len(x)):
        try:
            y = u[i] / (i + 1)
            if i == last:
                break
        except ZeroDivisionError as error:
            raise ValueError("zero") from error
        finally:
            u += u[0] * x
        s += y
    return s * np.sum(u)


@program(X, engine="tape", smooth=True)
def changed_and_changed_finally(x):
    y = x * 1.0
    try:
        y[0] = x[1]
        y[1] = y[0] * x[2]
    finally:
        y *= x
    return np.sum(y)


@program(X, engine="compiled", smooth=True)
def errors_of_one_name(x):
    s = 0.0
    places = [None] * 3
    for i in reversed(range(3)):
        try:
            try:
                n = len(x) // (i + 1)
            except ZeroDivisionError as error:
                raise ValueError("no places") from error
            finally:
                str(i)
        finally:
            s = s + x[i] ** 2
        places[i] = s * n
    return places[0] * places[2] + places[1]


@program(X, 0.3, engine="compiled", smooth=True)
@program(X, 30.0, engine="compiled", smooth=True, name="first_step_that_counts")
def first_step_that_does_not_count(x, k):
    u = x * k
    try:
        v = np.cumsum(np.sort(x), axis=-1)
        if np.any(u < v[-1]):
            raise ValueError("too small")
        k = np.sin(k)
    except ValueError:
        v = u * 2
    return np.sum(v) * k


@program(X, 1.6, engine="compiled", argnums=(0, 1))
def left_from_within_a_manager(x, k):
    def chosen(a):
        with np.errstate(all="ignore"):
            if a > 5.0:
                return x[0]
            s = 0.5
            for i in range(2):
                for j in range(i + 2):
                    s = np.where(a > 3.0, 1.8, x[j])
                    if a > 1.0:
                        return s * 0.5
        x[2] = x[0] = s
        return np.sum(x)

    return chosen(k) * k
