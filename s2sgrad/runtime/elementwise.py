"""What recording needs to know of an elementwise rule: how calls are pulled back, and what they have to keep for it."""

import dis

import numpy as np

from s2sgrad.rules.table import Rule, lookup
from s2sgrad.runtime.arrays import unbroadcast
from s2sgrad.runtime.fuse import fused
from s2sgrad.runtime.node import Form
from s2sgrad.runtime.tensor import Tensor

_F64 = np.dtype(np.float64)


def parameters_read(function) -> frozenset:
    """The names of the parameters whose values `function` looks at."""
    code = getattr(function, "__code__", None)
    if code is None:
        return frozenset(range(0))
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    read = set()
    for instruction in dis.get_instructions(code):
        if instruction.opname.startswith(("LOAD_FAST", "LOAD_CLOSURE", "LOAD_DEREF")):
            loaded = instruction.argval
            read.update(loaded if isinstance(loaded, tuple) else (loaded,))
    return frozenset(n for n in names if n in read)


def _is_identity(partial) -> bool:
    """Whether a partial gives the change of its argument as it is."""
    code = getattr(partial, "__code__", None)
    return code is not None and code.co_code == (lambda t: t).__code__.co_code


class Elementwise:
    """What recording needs to know of an elementwise rule."""

    def __init__(self, rule: Rule):
        self.rule = rule
        self.name = getattr(rule.function, "__name__", str(rule.function))
        self.partials = rule.partials
        self.uses_out = rule.uses_out
        self.passes = tuple([_is_identity(partial) for partial in rule.partials])
        self.reads = []
        for partial in rule.partials:
            code = getattr(partial, "__code__", None)
            if code is None:
                self.reads.append((True,) * len(rule.partials))
            else:
                names = code.co_varnames[1 : 1 + len(rule.partials)]
                read = parameters_read(partial)
                self.reads.append(tuple(n in read for n in names))
        self._forms = {}

    def fitting(self, active) -> tuple:
        """Form for real values of the result's own shape, and which of (arguments, out) to save."""
        key = ("fit", active)
        if key not in self._forms:
            partials = [self.partials[i] for i in active]
            arity = len(self.partials)
            out = any(self.uses_out[i] for i in active)
            keep = tuple(any(self.reads[i][j] for i in active) for j in range(arity))
            pull = partials[0] if len(active) == 1 else _both(partials, [self.uses_out[i] for i in active], out)

            def make_twin():
                from s2sgrad.runtime.fallback import recording_rule

                if len(active) == 1:
                    return recording_rule(partials[0])
                return _both([recording_rule(p) for p in partials], [self.uses_out[i] for i in active], out)

            passes = len(active) == 1 and self.passes[active[0]]
            form = Form(self.name, pull, active, arity if out else None, make_twin, arity + out, passes=passes)
            self._forms[key] = form, keep, out
        return self._forms[key]

    def exact(self, active, number=None, dtype=_F64) -> Form:
        """The same for arrays of one shape and type, of which the argument `number` may be a boxed number instead."""
        key = ("exact", active, number, dtype)
        if key not in self._forms:
            form, _, out = self.fitting(active)
            partials = [self.partials[i] for i in active]
            pull = None
            if all(getattr(p, "__module__", "").startswith("s2sgrad.rules.") for p in partials):
                names = ["x", "y", "z"][: len(self.partials)]
                numbers = () if number is None else (names[number],)
                pull, over = fused(partials, names, [self.uses_out[i] for i in active], form.pull, numbers, dtype)
            if pull is not None:
                fresh = None if any(self.passes[i] for i in active) else dtype
                form = Form(self.name, pull, active, form.out, form.twin, form.width, over, fresh=fresh)
            self._forms[key] = form
        return self._forms[key]

    def general(self, active) -> tuple:
        """Form for any shapes and types: conjugation, and sums over broadcast axes."""
        key = ("any", active)
        if key not in self._forms:
            arity = len(self.partials)
            out = any(self.uses_out[i] for i in active)

            def make(partials, unbroadcast, conj, iscomplex):
                def pull(g, *saved):
                    args = saved[:arity]
                    cotangents = []
                    for i, partial in zip(active, partials, strict=True):
                        called = saved if self.uses_out[i] else args
                        if iscomplex(g) or any(iscomplex(a) for a in called):
                            c = conj(partial(conj(g), *called))
                        else:
                            c = partial(g, *called)
                        cotangents.append(unbroadcast(c, args[i]))
                    return tuple(cotangents)

                return pull

            def make_twin():
                from s2sgrad.runtime.fallback import recording_rule
                from s2sgrad.runtime.record import recorder

                return make(
                    [recording_rule(self.partials[i]) for i in active],
                    recorder(unbroadcast),
                    recorder(np.conjugate),
                    lambda a: np.iscomplexobj(a.primal if isinstance(a, Tensor) else a),
                )

            pull = make([self.partials[i] for i in active], unbroadcast, np.conjugate, np.iscomplexobj)
            self._forms[key] = Form(self.name, pull, active, arity if out else None, make_twin), out
        return self._forms[key]


def _both(partials, uses_out, out):
    """One pullback of several partials."""
    if len(partials) == 2:
        first, second = partials
        if not out:
            return lambda g, x, y: (first(g, x, y), second(g, x, y))
        if not uses_out[0]:
            return lambda g, *args: (first(g, *args[:-1]), second(g, *args))
        if not uses_out[1]:
            return lambda g, *args: (first(g, *args), second(g, *args[:-1]))
        return lambda g, *args: (first(g, *args), second(g, *args))

    def pull(g, *args):
        inputs = args[:-1] if out else args
        return tuple(p(g, *(args if u else inputs)) for p, u in zip(partials, uses_out, strict=True))

    return pull


_elementwise = {}


def elementwise_of(function):
    """The `Elementwise` of a callable, or None where its rule is of another kind."""
    operation = _elementwise.get(function)
    if operation is None:
        rule = lookup(function)
        if rule is not None and rule.kind == "elementwise":
            operation = _elementwise[function] = Elementwise(rule)
    return operation
