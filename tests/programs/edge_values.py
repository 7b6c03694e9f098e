"""Ties, kinks, singular points, NaN and infinity: what the gradient is by convention."""

import numpy as np

from tests.programs.corpus import program

ZERO = np.zeros(3)
TIES = np.array([2.0, 2.0, 1.0])


@program(np.array([-1.0, 0.0, 4.0]), engine="compiled", expect=np.array([0.0, 0.0, 0.25]))
def masked_square_root(x):
    return np.sum(np.where(x > 0, np.sqrt(x), 0.0))


@program(np.array([-1.0, 0.0, 2.0]), engine="compiled", expect=np.array([0.0, 0.0, 0.5]))
def masked_logarithm(x):
    return np.sum(np.where(x > 0, np.log(x), 0.0))


@program(np.array([0.0, 2.0]), engine="compiled", expect=np.array([0.0, -0.25]))
def masked_quotient(x):
    return np.sum(np.where(x != 0, 1.0 / x, 0.0))


@program(np.array([0.0, 4.0]), engine="compiled", expect=np.array([0.0, 0.75]))
def masked_power(x):
    return np.sum(np.where(x > 0, x**0.5 * 3, 1.0))


@program(np.array([0.0, 4.0]), engine="compiled", expect=np.array([0.0, 0.25]))
def root_times_zero(x):
    return np.sum(np.sqrt(x) * np.array([0.0, 1.0]))


@program(np.array([4.0, 0.0]), engine="compiled", expect=np.array([0.25, 0.0]))
def entry_next_to_a_singular_one(x):
    return np.sqrt(x)[0]


@program(np.array([-1.0, 0.0, 1.0]), engine="compiled", expect=np.array([-1.0, 0.0, 1.0]))
def absolute_value_at_zero(x):
    return np.sum(np.abs(x))


@program(0.0, engine="compiled", expect=0.0)
def absolute_value_of_a_number_at_zero(x):
    return abs(x)


@program(TIES, engine="compiled", expect=np.array([0.5, 0.5, 0.0]))
def maximum_over_ties(x):
    return np.max(x)


@program(np.stack([TIES, TIES[::-1]]), engine="compiled", expect=np.array([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]]))
def maximum_over_an_axis_with_ties(x):
    return np.sum(np.max(x, axis=1))


@program(
    TIES, TIES[::-1].copy(), engine="compiled", argnums=(0, 1), expect=(np.array([1, 0.5, 0]), np.array([0, 0.5, 1]))
)
def elementwise_maximum_with_ties(x, y):
    return np.sum(np.maximum(x, y))


@program(1.0, engine="compiled", expect=1.0)
def maximum_of_a_value_with_itself(x):
    return np.maximum(x, x)


@program(np.array([0.0, 1.0]), engine="compiled", expect=np.array([0.5, 1.0]))
def rectifier_at_zero(x):
    return np.sum(np.maximum(x, 0.0))


@program(ZERO, engine="compiled", expect=ZERO)
def norm_at_zero(x):
    return np.linalg.norm(x)


@program(np.array([2.0, 0.0, 3.0]), engine="compiled", expect=np.array([0.0, 6.0, 0.0]))
def product_with_a_zero(x):
    return np.prod(x)


@program(np.array([0.0, 0.0, 3.0]), engine="compiled", expect=ZERO)
def product_with_two_zeros(x):
    return np.prod(x)


@program(np.array([0.0, 2.0]), engine="compiled", expect=np.array([0.0, 4.0]))
def square_at_zero(x):
    return np.sum(x**2)


@program(np.array([0.0, 2.0]), engine="compiled", expect=np.array([1.0, 1.0]))
def first_power_at_zero(x):
    return np.sum(x**1)


@program(np.array([0.0, 2.0]), engine="compiled", expect=np.array([0.0, 0.0]))
def zeroth_power_at_zero(x):
    return np.sum(x**0)


@program(np.array([-2.0, 3.0]), engine="compiled", expect=np.array([12.0, 27.0]))
def integer_power_of_a_negative(x):
    return np.sum(x**3)


@program(
    np.array([1.0, 2.0]), engine="compiled", expect=np.array([0.0, 4 * np.log(2)]), name="exponent_over_zero_and_two"
)
def exponent_over_zero(b):
    return np.sum(np.array([0.0, 2.0]) ** b)


@program(np.array([-1e3, 0.0, 1e3]), engine="compiled", expect=np.array([0.0, 1.0, 0.0]))
def saturated(x):
    return np.sum(np.tanh(x))


@program(np.array([-1.0, 1000.0]), engine="compiled", expect=np.array([np.exp(-1.0), 0.0]))
def overflow_behind_a_minimum(x):
    return np.sum(np.minimum(np.exp(x), 1.0))


@program(np.array([10.0, 0.3, -7.0]), engine="compiled", expect=np.array([0.0, -1 / np.sqrt(1 - 0.09), 0.0]))
def clipped_before_arccos(x):
    return np.sum(np.arccos(np.clip(x, -1.0, 1.0)))


@program(np.array([np.nan, 1.0]), engine="compiled", expect=np.array([0.0, 1.0]))
def nan_masked_out(x):
    return np.sum(np.where(np.isnan(x), 0.0, np.log(x)))


@program(np.array([np.nan, 1.0]), engine="compiled", expect=np.array([np.nan, 2.0]))
def nan_stays_nan(x):
    return np.sum(x**2)


@program(np.array([np.inf, 2.0]), engine="compiled", expect=np.array([0.0, -0.25]))
def infinity_inverted(x):
    return np.sum(1.0 / x)


@program(np.array([0.0, 1.0]), engine="compiled", expect=np.array([0.0, 0.0]))
def sign_and_round_are_flat(x):
    return np.sum(np.sign(x) + np.floor(x) + np.round(x))


@program(np.array([1.0, 1.0]), engine="compiled", expect=np.array([0.0, 0.0]))
def deviation_of_equal_entries(x):
    return np.std(x)


@program(
    np.array([-0.5, 0.0, 0.5, 1.0]), engine="compiled", expect=np.array([0.0, 1.0, 1.0, 1.0]), name="clip_at_its_bounds"
)
def clip_bounds(x):
    return np.sum(np.clip(x, 0.0, 1.0))


@program(0.0, engine="compiled", smooth=True)
def bell_at_its_top(x):
    return np.exp(-(x**2))


@program(np.zeros(2), engine="compiled", expect=np.zeros(2))
def angle_at_the_origin_masked(x):
    return np.sum(np.where(x == 0, 0.0, np.arctan2(x, x)))
