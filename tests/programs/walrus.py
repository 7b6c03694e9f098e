"""Assignments inside of tests."""

import numpy as np

from tests.programs.corpus import program

X = np.array([0.5, -1.5, 2.0])


@program(X, engine="compiled", smooth=True)
def in_an_if(x):
    if (s := np.sum(x)) > 0:
        return s * s
    return s


@program(X, engine="compiled")
def in_an_elif(x):
    if x[0] > 1:
        return x[0]
    elif (s := np.sum(x)) > 0:
        return s * s
    return x[1]


@program(1.5, engine="compiled")
def in_a_while(x):
    while (y := x * x) > 0.1:
        x = x / 2
    return y * x


@program(1.5, 7, engine="compiled")
def in_a_while_with_continue_and_break(x, n):
    total = 0.0
    while (n := n - 1) > 0:
        if n == 5:
            continue
        if n == 2:
            break
        total = total + x * n
    return total * n


@program(1.5, engine="compiled")
def two_in_one_test(x):
    if (a := x * x) > 1 and a < 10:
        return a * x
    return a


@program(1.5, engine="tape")
def not_always_evaluated(x):
    if x > 1 and (a := x * x) > 1:
        return a * x
    return x


@program(1.5, engine="compiled")
def a_name_is_read_before(x):
    if x > (x := x * x * 0.1):
        return x * x
    return x


@program(0.5, engine="compiled")
def in_a_while_that_does_not_run(x):
    while 1.0 < (y := x * x):
        x = x / 2
    return y * x


@program(X, engine="compiled")
def in_a_conditional_expression(x):
    if (s := np.sum(x)) if x[0] > 0 else x[1]:
        return np.sum(x * x)
    return x[0]


@program(X, engine="compiled", smooth=True)
def of_what_no_derivative_flows_through(x):
    s = (n := len(x) + 1) * np.sum(x) * n
    return (scale := 1.7) * s + scale * x[0]


@program(X, engine="compiled")
def in_the_branch_of_a_conditional_expression(x):
    s = x[0] if x[1] > 3 else (t := x[1]) * t
    x[1] += (t := s * x[0]) * t
    return x[0] > 0.1 and (u := x[1] * t) * u


@program(X, engine="compiled", smooth=True)
def in_a_comprehension(x):
    squares = [(t := v * 2) * t for v in x]
    first, second = (s := squares[0]), s * x[1]
    return sum((last := v) * last for v in squares) * last * first * t * second


@program(X, engine="compiled", smooth=True)
def between_two_reads_of_its_name(x):
    t = x[0]
    return t * (t := x[1] * t) * t
