"""Iterators of Python's own over differentiated values: sorted, filtered, mapped, paired, reduced."""

import functools
import itertools
import math
import operator

import numpy as np

from tests.programs.corpus import program

X = np.array([0.5, -1.5, 2.0])
A = np.arange(6.0).reshape(2, 3) - 2.5


def neg(v):
    return -v


@program(X, engine="compiled")
def sum_where(x):
    return sum(v * v for v in x if v > 0)


@program(X, engine="compiled")
def where_of_enumerated_pairs(x):
    return sum(v * w * i for i, (v, w) in enumerate(zip(x, x[1:])) if v * w < 0)


@program(A, engine="compiled")
def nested_over_rows(x):
    return sum(v * v for row in x for v in row if v > 0)


@program(A, engine="compiled")
def nested_with_conditions(x):
    return sum(v * row[0] for row in x if row[0] > -3 for v in row if v > 0)


@program(X, engine="compiled")
def nested_over_a_range(x):
    return sum(v * i for i in range(3) for v in x if v + 0.1 > i)


@program(X, engine="compiled")
def nested_ranges(x):
    return sum(x[i] * x[j] for i in range(3) for j in range(i))


@program(X, engine="compiled")
def nested_ranges_where(x):
    return sum(x[i] * x[j] for i in range(3) for j in range(i) if x[i] > x[j])


@program(X, engine="compiled")
def variable_named_like_what_it_runs_over(x):
    x = [x for x in x if x > 0]
    return sum(x)


@program(X, engine="compiled")
def loop_over_sorted_by_key(x):
    t = 0.0
    for v in sorted(x, key=abs, reverse=True):
        t = t * 2 + v
    return t


@program(X, engine="compiled")
def enumerate_sorted_by_function(x):
    t = 0.0
    for k, v in enumerate(sorted(x, key=neg)):
        t = t * 2 + v * k
    return t


@program(X, engine="compiled")
def loop_over_filter_that_is_left(x):
    t = 0.0
    for v in filter(lambda v: v > 0, x):
        t = t * 2 + v
        if t > 100:
            break
    return t + v


@program(X, engine="compiled")
def zip_of_sorted(x):
    t = 0.0
    for a, b in zip(sorted(x), x):
        t = t * 2 + a * b
    return t


@program(X, engine="compiled")
def loop_over_combinations(x):
    t = 0.0
    for a, b in itertools.combinations(x, 2):
        t += a * b
    return t


@program(X, engine="compiled")
def loop_over_product(x):
    t = 0.0
    for a, b in itertools.product(x, x[1:]):
        t += a * b * b
    return t


@program(X, engine="compiled")
def loop_over_neighbours(x):
    t = 0.0
    for a, b in itertools.pairwise(x):
        t += (a - b) ** 2
    return t


@program(X, engine="compiled")
def map_of_two(x):
    return sum(map(lambda a, b: a * b, x, x[::-1]))


@program(0.7, [1.0, 2.0], engine="compiled")
def list_of_map_of_constants(x, ys):
    scaled = lambda y: y * x  # noqa: E731
    products = list(map(scaled, ys))
    return products[0] * products[-1]


@program(0.7, engine="tape")  # a function that is passed on in a comprehension with a condition
def chosen_of_map_of_constants(x):
    scaled = lambda n: n * x  # noqa: E731
    return sum([v * x for v in map(scaled, list(range(0, 3))) if v > 0.9])


@program(X, engine="compiled")
def loop_over_map(x):
    t = 0.0
    for v in map(math.exp, x):
        t = t * 0.5 + v
    return t


@program(X, engine="compiled")
def min_by_key_and_max(x):
    return min(x, key=lambda v: v * v) + max(x[1:]) * max(v * v for v in x)


@program(X, engine="compiled")
def max_of_map(x):
    return max(map(abs, x))


@program([X, 2 * X], engine="compiled")
def list_of_arrays_min_by_key(xs):
    return np.sum(min(xs, key=lambda v: np.sum(v)))


@program([X, 2 * X], engine="compiled")
def list_of_arrays_sorted_by_key(xs):
    return sum(np.sum(v) * i for i, v in enumerate(sorted(xs, key=lambda v: -np.sum(v))))


@program(X, engine="compiled")
def of_an_array_that_was_written_to(x):
    y = x * 2
    y[0] = x[1] ** 2
    return sum(v * v for v in y if v > 0) + max(y)


@program(X, engine="tape")
def loop_over_sorted_writes_into_it(x):
    y = x * 2
    t = 0.0
    for v in sorted(y):
        y[0] = 0.0
        t = t * 2 + v
    return t


@program(X, engine="compiled")
def list_where_then_appended(x):
    ys = [v * v for v in x if v > 0]
    ys.append(x[0])
    return sum(ys) * len(ys)


@program(X, engine="compiled")
def reduce_of_a_list_with_start(x):
    return functools.reduce(lambda a, b: a * b + b, [v * v for v in x], 2.0)


@program(X, engine="compiled")
def reduce_by_ufunc(x):
    return functools.reduce(np.multiply, x)


@program([X, X * 3, X - 1], engine="compiled")
def reduce_of_arrays(xs):
    return np.sum(functools.reduce(lambda a, b: a * b, xs))


@program(X, engine="compiled")
def reduce_of_nothing(x):
    return functools.reduce(lambda a, b: a * b + b, x[:0], 1.0) + x[0]


@program(X, engine="compiled")
def nothing_is_chosen(x):
    return sum(v for v in x if v > 100) + x[0]


@program(X, engine="compiled")
def max_of_a_part_of_sorted(x):
    return max(sorted(x)[1:])


@program(X, engine="compiled")
def sorted_by_key(x):
    s = sorted(x, key=lambda v: (v - 0.75) ** 2)
    return s[0] * 1 + s[1] * 10 + s[-1] * 100


@program(X, engine="compiled")
def sorted_unpacked(x):
    a, b, c = sorted(x)
    return a + 10 * b + 100 * c


@program(X, engine="compiled")
def array_of_chosen(x):
    return np.sum(np.array([v * v for v in x if v > 0]) * 2)


@program(X, engine="compiled")
def list_of_an_array(x):
    return sum(list(x)) + sum(list(map(np.sin, x)))


@program(X, engine="compiled")
def first_of_zip(x):
    return sum(v * w for v, w in itertools.islice(zip(x, x), 2))


@program(X, engine="compiled")
def all_but_the_first(x):
    return sum(v for v in itertools.islice(x, 1, None))


@program(X, engine="compiled")
def reversed_sorted_where(x):
    return sum(v for v in reversed(sorted(x)) if v > 0)


@program(X, engine="compiled")
def condition_reads_what_was_assigned_twice(x):
    k = 3
    k = 2
    return sum(v for v in x if v < k + 0.1)


@program(X, engine="compiled")
def condition_reads_a_loop_variable(x):
    t = 0.0
    for k in range(3):
        t += sum(v * k for v in x if v < k + 0.1)
    return t


@program(X, engine="compiled")
def min_of_tuples(x):
    return min((v, i) for i, v in enumerate(x))[0]


@program(X, engine="compiled")
def where_not_the_same_object(x):
    return sum([v * w for v in x for w in x if v is not w])


@program(X, engine="compiled")
def over_a_name_assigned_twice(x):
    y = x
    y = x * 2
    return sum(v for v in y if v > 0)


@program(X, engine="compiled")
def enumerate_from_one_where(x):
    return sum(i * v for i, v in enumerate(x, 1) if v > 0)


@program(X, engine="compiled")
def filter_by_truth(x):
    return sum(v for v in filter(None, x))


@program([0.5, 0.2, 3.0], engine="compiled")
def list_of_numbers(xs):
    return max(xs) + sum(v for v in xs if v < 1) + sorted(xs)[0]


@program(X, engine="compiled")
def any_and_all(x):
    if any(v > 1 for v in x) and all(v < 10 for v in x):
        return np.sum(x * x)
    return np.sum(x)


@program(X, engine="compiled")
def plain_comprehension_of_its_own_name(x):
    x = [x * x for x in x]
    return sum(x)


@program(np.array([1.0, 1.0, 0.5]), engine="compiled", expect=np.array([0.0, 1.0, 0.0]))
def the_last_of_equal_ones(x):
    return sorted(x)[2]


@program(np.array([1.0, 1.0, 0.5]), engine="compiled", expect=np.array([1.0, 0.0, 0.0]))
def the_first_of_equal_ones(x):
    return max(x)


@program(X, engine="compiled")
def choice_by_a_function_with_a_name_of_ours(x):
    items, i, values, item = 1.0, 2.0, 3.0, 4.0
    return sum(v * items * i for v in x if v < values) * item


@program(X, engine="compiled", smooth=True)
def running_sums(x):
    return sum(itertools.accumulate(x)) ** 2


@program(X, engine="compiled", smooth=True)
def accumulated_by_a_lambda(x):
    c = list(itertools.accumulate(x, lambda a, b: a * 0.5 + b * x[0]))
    return c[-1] * c[1]


@program(X, engine="compiled", smooth=True)
def accumulated_in_a_loop(x):
    s = 0.0
    for v in itertools.accumulate(x, operator.mul):
        s += v * v
    return s


@program(X, engine="compiled", smooth=True)
def accumulated_from_a_beginning(x):
    c = list(itertools.accumulate(x, operator.add, initial=1.0))
    return c[-1] * c[0] * c[2]


@program(X, engine="compiled", smooth=True)
def largest_so_far(x):
    return np.sum(np.array(list(itertools.accumulate(x, max))) ** 2)


@program(X, engine="tape", smooth=True)
def accumulated_until(x):
    s = 0.0
    for v in itertools.accumulate(x, operator.mul):
        if v < -0.7:
            break
        s += v * v
    return s


@program(X, engine="tape", smooth=True)
def accumulated_in_parts(x):
    it = itertools.accumulate(x)
    s = 0.0
    for v in it:
        s += v
        if v < 0:
            break
    for v in it:
        s += v * v
    return s


@program(X, engine="compiled", smooth=True)
def arrays_in_a_chain(x):
    s = 1.0
    for v in itertools.chain(x[:2], x[2:] * 3):
        s = s * 0.5 + v * v
    return s


@program(X, engine="compiled", smooth=True)
def lists_in_a_chain(x):
    a = [v * 2 for v in x if v > 0]
    b = [v * v for v in x]
    return sum(v * v for v in itertools.chain(a, b, [1.0]))


@program(X, engine="compiled", smooth=True)
def the_same_several_times(x):
    s = 1.0
    for v in itertools.repeat(x[0] * 2, 3):
        s = s * v + x[1]
    return s


@program(X, engine="compiled", smooth=True)
def called_with_pairs(x):
    return sum(itertools.starmap(operator.mul, zip(x, x[1:])))


@program(X, engine="compiled", smooth=True)
def lists_put_together(x):
    xs, ys = [], [x[0]]
    for v in x:
        if v > 0:
            xs.append(v * v)
        else:
            ys.append(v)
    zs = xs + ys
    ws = ys + [1.0, 2.0] + xs
    return sum(zs) * zs[0] + ws[-1] * zs[2] + (xs + [1])[0]


@program(X, engine="compiled", smooth=True)
def put_together_and_changed(x):
    xs = []
    for v in x:
        if v > 0:
            xs.append(v * v)
    ys = xs + [x[1], 2.0]
    zs = [0.0] * 2
    for i in range(2):
        zs[i] = ys[i] * ys[i + 1]
    both = zs + ys
    zs[0] = zs[1] * x[0]
    xs.append(zs[0])
    return sum(both) * sum(xs) + sum(zs) ** 2


@program(X, engine="tape")
def chain_of_what_changes(x):
    y = x * 1.0
    s = 0.0
    for i, v in enumerate(itertools.chain(y, y)):
        s += v * v
        if i < 2:
            y[i + 1] = v * 2
    return s


@program(X, engine="tape", smooth=True)
def accumulated_by_what_the_loop_changes(x):
    k, t = 1.0, 0.0
    for s in itertools.accumulate(x, lambda a, b: a * k + b):
        t += s
        k = k * x[0]
    return t


@program(X, engine="compiled", smooth=True)
def product_and_exact_sum(x):
    p = math.prod(1 + v for v in x)
    q = math.prod((x[i] for i in range(2)), start=2.0)
    return p * q + math.sqrt(math.fsum((a - b) ** 2 for a, b in zip(x, x[1:]) if a < 10))


@program(-1.0, 4.0, engine="compiled", argnums=(0, 1))
def product_of_python_numbers_whose_root_is_complex(a, b):
    return abs(math.prod([a, b]) ** 0.5)


@program([1.5, 2.5], engine="compiled")
def product_that_divides_by_zero_as_python_does(xs):
    p = math.prod(xs)
    try:
        return 1.0 / (p - p)
    except ZeroDivisionError:
        return p * 3


@program(1.5, 2.0, engine="compiled", smooth=True)
def product_of_a_list_that_grows_afterwards(a, b):
    xs = [a, b * a]
    p = math.prod(xs) * math.prod((a, 2, b), start=0.5)
    xs.append(3.0 * b)
    return p * sum(xs)


@program(1.5, 2.0, engine="tape", argnums=(0, 1))
def product_of_a_list_that_changes_in_turns(a, b):
    xs = [a, b]
    p = 0.0
    for i in range(3):
        xs[i % 2] = xs[i % 2] * (i + 1.5)
        p = p + math.prod(xs)
    return p


@program(X, 2.0 * X, engine="compiled", smooth=True)
def product_of_arrays(x, y):
    return np.sum(math.prod([x, y, x]) * math.prod([x[0], 2, y[1]]))


@program(X, engine="compiled", smooth=True)
def exact_sum_of_mapped(x):
    return math.fsum(map(lambda a, b: a * b, x, x[1:])) ** 2
