"""Compares what the engines say of one program with each other, with the plain call, and with finite differences."""

import sys
import warnings
from dataclasses import dataclass

import numpy as np

from s2sgrad import grad, value_and_grad
from s2sgrad.errors import S2SGradError
from tests.programs import differences

from .programs import Program

STEPS = 1e-4, 4e-5
LARGE = 1e7


class Fault(AssertionError):
    """A program that is wrong, and how."""

    def __init__(self, kind: str, message: str):
        super().__init__(f"{kind}: {message}")
        self.kind = kind


@dataclass
class Verdict:
    """What came of a program that is not wrong.

    Attributes
    ----------
    outcome : {"right", "kink", "large", "raises", "refused"}
        ``"kink"``: too near a point where the function has no derivative for differences to be of use. ``"large"``:
        not finite, or huge. ``"raises"``: the function does, and so did its derivative. ``"refused"``: with an error
        of s2sgrad's own, on either engine.
    engine : {"compiled", "tape", None}
    reason : str
        Why it was not compiled.
    second : bool
        Whether the second order was compared, too.
    """

    outcome: str
    engine: str | None = None
    reason: str = ""
    second: bool = False


def judge(program: Program, second=False) -> Verdict:
    """Differentiate a program in every way.

    Raises
    ------
    Fault
    """
    with np.errstate(all="ignore"), warnings.catch_warnings(), program.load() as module:
        warnings.simplefilter("ignore")
        return _judge(program, module, second)


def _judge(program, module, second) -> Verdict:
    after = module.arguments()
    try:
        value = module.f(*after)
    except Exception as error:
        return _raises(program, module, error)
    auto = value_and_grad(module.f, program.argnums)
    tape = value_and_grad(module.f, program.argnums, mode="tape")
    compiled, refused = _run(auto, "auto", module, value, after)
    reason = "" if auto.engine == "compiled" or refused else auto.explain().rows[0].reason
    if reason.startswith("internal error"):
        raise Fault(reason, "the tape has to do it")
    taped, refused_too = _run(tape, "tape", module, value, after)
    if refused and not refused_too:
        raise Fault("refused", f"mode='auto' refuses what the tape can do: {refused}")
    if refused:
        return Verdict("refused", None, str(refused))
    again, _ = _run(auto, "auto, again", module, value, after)
    if again is not None and not identical(compiled, again):
        raise Fault("state", f"the second call gives another gradient: {compiled} and then {again}")
    if not np.isfinite(value) or not all(np.all(np.abs(g) < LARGE) for g in differences.flatten(compiled)[0]):
        return Verdict("large", auto.engine, reason)
    try:
        if not refused_too:
            tolerance = 2e-4 if program.is_single else 1e-8
            _close("gradient", f"{auto.engine} against tape", compiled, taped, tolerance, abs(float(value)))
        with program.load(double=True) as twin:
            outcome = _differences(program, twin, value, compiled)
    except Fault:
        if greatest(module) < LARGE:
            raise
        return Verdict("large", auto.engine, reason)  # what cancels there leaves rounding errors
    if outcome == "right" and second and not program.is_single:
        second = _second(program, module)
    return Verdict(outcome, auto.engine, reason, bool(second))


def _run(derivative, mode, module, value, after):
    """The gradient, or the error by which it is refused; the value and the arguments have to be the plain call's."""
    args = module.arguments()
    try:
        got, gradient = derivative(*args)
    except S2SGradError as error:
        return None, error
    except Exception as error:
        message = f"raises {type(error).__name__}: {error}"
        raise Fault(f"crash, {message}", f"in {mode} ({derivative.engine})") from error
    if not identical(got, value):
        raise Fault("value", f"{mode} ({derivative.engine}) gives {got!r}, the plain call {value!r}")
    if not identical(args, after):
        raise Fault("effects", f"{mode} ({derivative.engine}) leaves the arguments {args}, the plain call {after}")
    return gradient, None


def _raises(program, module, error) -> Verdict:
    for mode in ("auto", "tape"):
        derivative = value_and_grad(module.f, program.argnums, mode=mode)
        try:
            derivative(*module.arguments())
        except S2SGradError as refusal:
            return Verdict("refused", None, str(refusal))
        except Exception as own:
            if type(own) is type(error):
                continue
            raise Fault(
                "another exception", f"{mode} raises {type(own).__name__}: {own}, a plain call {error!r}"
            ) from own
        if not is_overflow(error):
            raise Fault("no exception", f"{mode} raises nothing, a plain call {error!r}")
    return Verdict("raises", derivative.engine)


def is_overflow(error) -> bool:
    """Does it tell that Python's own numbers grew too large? What nobody reads need not raise that (`safety`)."""
    return isinstance(error, OverflowError) or str(error) == "math domain error"


def greatest(module) -> float:
    """The largest number that a name of the program's functions holds while it runs."""
    found = 0.0

    def look(frame, event, arg):
        nonlocal found
        if frame.f_code.co_filename != module.file:
            return None
        for leaf in differences.flatten(list(frame.f_locals.values()))[0]:
            if (
                isinstance(leaf, (float, np.ndarray, np.floating))
                and np.size(leaf)
                and np.asarray(leaf).dtype.kind == "f"
            ):
                found = max(found, float(np.nanmax(np.abs(leaf))))
        return look

    args = module.arguments()
    before = sys.gettrace()
    sys.settrace(look)
    try:
        module.f(*args)
    finally:
        sys.settrace(before)
    return found


# ------------------------------------------------------------------------------------------ comparison


def identical(a, b) -> bool:
    """Whether two trees are the same bit by bit; a float and a `np.float64` are, and any two NaNs."""
    if isinstance(b, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(identical, a, b))
    if isinstance(b, dict):
        return type(a) is dict and list(a) == list(b) and all(identical(a[k], b[k]) for k in b)
    if isinstance(b, (np.ndarray, float, np.generic)):
        if isinstance(a, np.ndarray) is not isinstance(b, np.ndarray):
            return False
        one, two = np.asarray(a), np.asarray(b)
        return one.dtype == two.dtype and one.shape == two.shape and _bits(one) == _bits(two)
    if hasattr(b, "__dict__"):
        return type(a) is type(b) and identical(vars(a), vars(b))
    return type(a) is type(b) and a == b


def _bits(a):
    parts = a.view(a.real.dtype) if a.dtype.kind == "c" and a.ndim else a
    return np.where(np.isnan(parts), np.nan, parts).tobytes() if a.dtype.kind in "fc" else a.tobytes()


def _close(kind, what, got, expected, tolerance, value=0.0) -> None:
    """Require two gradients to be equal but for rounding: of themselves, or of the value that is differentiated."""
    got, expected = differences.flatten(got)[0], differences.flatten(expected)[0]
    scale = max([1.0, value, *(np.max(np.abs(e)) for e in expected if np.size(e))])
    for a, b in zip(got, expected, strict=True):
        if np.shape(a) != np.shape(b) or np.asarray(a).dtype != np.asarray(b).dtype:
            raise Fault(kind, f"{what}: {a!r} is of another kind than {b!r}")
        if np.any(np.abs(np.subtract(a, b)) > tolerance * scale) or np.any(np.isnan(a) != np.isnan(b)):
            raise Fault(kind, f"{what}: {got} is not {expected}")


# --------------------------------------------------------------------------------- finite differences


def owner(x):
    return x if x.base is None else x.base


def moved(args, direction, step):
    """The arguments moved in the memory where they are, so that arrays that share it still do; numbers are new ones."""

    def leaf(x, d):
        if isinstance(x, list):
            x[:] = [leaf(a, b) for a, b in zip(x, d, strict=True)]
        elif isinstance(x, dict):
            x.update({k: leaf(x[k], d[k]) for k in x})
        elif isinstance(x, np.ndarray) and x.dtype.kind == "f":
            memory = owner(x)
            if id(memory) not in done:
                done[id(memory)] = memory
                memory += step * owner(d)
        elif isinstance(x, (float, np.floating)):
            return x + step * d
        return x

    done: dict = {}
    return [leaf(x, d) for x, d in zip(args, direction, strict=True)]


def random_direction(args, argnums, seed):
    """The arguments, filled with random numbers; with zeros where they are not differentiated."""
    numbers = np.random.default_rng(seed)
    known: dict = {}

    def leaf(x, on):
        if isinstance(x, list):
            return [leaf(item, on) for item in x]
        if isinstance(x, dict):
            return {k: leaf(item, on) for k, item in x.items()}
        if isinstance(x, np.ndarray):
            memory = owner(x)
            if id(memory) not in known:
                known[id(memory)] = memory
                memory[...] = numbers.uniform(-1, 1, memory.shape) * on
            return x
        return float(numbers.uniform(-1, 1)) * on

    return [leaf(x, i in argnums) for i, x in enumerate(args)]


def inner(gradients, direction, argnums) -> float:
    total = 0.0
    for gradient, which in zip(gradients, argnums, strict=True):
        pairs = zip(differences.flatten(gradient)[0], differences.flatten(direction[which])[0], strict=True)
        total += sum(float(np.sum(np.multiply(g, d, dtype=float))) for g, d in pairs)
    return total


def _differences(program, twin, value, gradients) -> str:
    tolerance = 2e-3 if program.is_single else 1e-6
    sizes = [np.max(np.abs(g)) for g in differences.flatten(gradients)[0] if np.size(g)]
    scale = max([1.0, abs(float(value)), *map(float, sizes)])
    if program.is_single:  # the twin may take other branches
        own = float(twin.f(*twin.arguments()))
        if abs(own - float(value)) > 1e-4 * scale:
            return "kink"

    for seed in range(2):
        direction = random_direction(twin.arguments(), program.argnums, seed)

        def at(step, direction=direction):
            return float(twin.f(*moved(twin.arguments(), direction, step)))

        found = slopes(at)
        if found is None or abs(found[0] - found[1]) > 0.1 * tolerance * scale:
            return "kink"
        expected = inner(gradients, direction, program.argnums)
        error = abs(found[1] - expected)
        if error > tolerance * scale:
            if jump(at) > 1.5 * error:
                return "kink"
            if any(abs((at(h) - at(-h)) / (2 * h) - expected) < 0.01 * error for h in (1e-8, 1e-9)):
                return "large"  # it turns too quickly for longer steps
            if abs(inner(_beside(program, twin), direction, program.argnums) - found[1]) < 0.1 * error:
                return "kink"  # what is shared where entries tie need not add up: `np.min(np.maximum(x, 1))` at 1
            if jump(at) > tolerance * scale and _is_right_beside(program, twin, direction, 1e-3 * scale):
                return "kink"  # slopes of several kinks at once: `np.clip(x, 0, 1) + np.maximum(x, 1)` at 1
            raise Fault("gradient", f"along a direction it is {expected}, by differences {found[1]} ({gradients})")
    return "right"


def beside(program, twin, distance) -> list:
    """Arguments right beside the program's, where nothing ties."""
    return moved(twin.arguments(), random_direction(twin.arguments(), program.argnums, 9), distance)


def _beside(program, twin):
    """The gradients at a point right beside the arguments."""
    return grad(twin.f, program.argnums)(*beside(program, twin, 1e-7))


def _is_right_beside(program, twin, direction, tolerance) -> bool:
    """Are the gradients right at points beside the arguments?"""
    for distance in (1e-4, -1e-4):
        expected = inner(grad(twin.f, program.argnums)(*beside(program, twin, distance)), direction, program.argnums)
        ends = [float(twin.f(*moved(beside(program, twin, distance), direction, h))) for h in (1e-7, -1e-7)]
        if not abs((ends[0] - ends[1]) / 2e-7 - expected) < tolerance:
            return False
    return True


def slopes(at):
    """Central differences of fourth order with two steps; None where the function fails next to the point."""
    found = []
    for h in STEPS:
        try:
            found.append((8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h))
        except Exception:
            return None
    return found if np.all(np.isfinite(found)) else None


def jump(at) -> float:
    """By how much the slopes to both sides differ: at a kink any slope from one to the other may be the derivative."""
    h = 1e-6
    here = at(0.0)
    return abs((at(h) - here) / h + (at(-h) - here) / h)


# -------------------------------------------------------------------------------------- second order

ALONG = """
def along(*args):
    total = 0.0
    for g, v in zip(slope(*args), V):
        total = total + np.sum(g * v)
    return total
"""


def _second(program, module) -> bool:
    """The gradient of a directional derivative against differences of it."""
    args = module.arguments()
    if any(isinstance(args[i], (list, dict)) for i in program.argnums):
        return False
    text = program.text + ALONG
    with Program(text, program.argnums).load() as whole:
        first = whole.names["slope"] = grad(whole.f, program.argnums)
        direction = random_direction(whole.arguments(), program.argnums, 5)
        whole.names["V"] = [direction[i] for i in program.argnums]
        try:
            expected = [random_direction(whole.arguments(), program.argnums, s) for s in (6,)][0]
            got = grad(whole.along, program.argnums)(*whole.arguments())
        except S2SGradError:
            return False
        except Exception as error:
            raise Fault(f"second order raises {type(error).__name__}: {error}", "") from error

        def at(step):
            return inner(first(*moved(whole.arguments(), expected, step)), direction, program.argnums)

        sizes = [np.max(np.abs(g)) for g in differences.flatten(got)[0] if np.size(g)]
        scale = max([1.0, *map(float, sizes)])
        if not scale < 1e5:
            return False
        found = slopes(at)
        if found is None or abs(found[0] - found[1]) > 1e-6 * scale:
            return False
        slope = inner(got, expected, program.argnums)
        error = abs(slope - found[1])
        if error > 1e-5 * scale and not jump(at) > 1.5 * error:
            raise Fault("second order", f"along a direction it is {slope}, by differences {found[1]} ({got})")
    return True
