"""Turns a function into its derivative, in reverse mode: IR in, IR out.

`gradient` writes the forward pass and the backward pass into one function. `pair` makes two of them,
for functions that are called: ``forward(...) -> (result, saved)`` and ``backward(saved, cotangent) ->
cotangents``. What comes out is ordinary IR: it can be differentiated again, as long as it has not been
through `optimize.run`, which adds in place.

Examples
--------
>>> import operator
>>> from s2sgrad.transform.show import show
>>> x, y = ir.Value("x", ir.FLOAT), ir.Value("y", ir.FLOAT)
>>> body = ir.Block([ir.Op(y, operator.mul, (x, x))], (y,))
>>> f = ir.Function("square", [ir.Parameter(x)], body, ir.Namespace({}))
>>> print(show(optimize.run(gradient(f, (0,)))))
square_grad(x):
    dx = operator.mul(2, x)
    -> dx
"""

import operator
from dataclasses import dataclass, field

import numpy as np

from s2sgrad.errors import CompileError
from s2sgrad.runtime import arrays
from s2sgrad.transform import ir, optimize, walk
from s2sgrad.transform.analysis import types
from s2sgrad.transform.ir import Constant, Kind, Type, Value
from s2sgrad.transform.reverse import outside
from s2sgrad.transform.reverse.activity import active_values, keys
from s2sgrad.transform.reverse.adjoint import Adjoint
from s2sgrad.transform.reverse.cotangents import cotangent_name, cotangent_type, name_cotangents, slot_name, slot_type
from s2sgrad.transform.reverse.residuals import with_residuals


@dataclass(slots=True)
class Pair:
    """The two halves of the derivative of a function that is called."""

    forward: ir.Callee
    backward: ir.Callee


@dataclass(slots=True)
class Pairs:
    """The pairs of everything that a derivative calls.

    Each is made once for a set of active parameters, and of those that the caller changes after the call: the callee
    keeps what it needs of these as it is.
    """

    outlives: bool = False  # the backward halves run when the caller wants it
    made: dict = field(default_factory=dict)
    names: dict = field(default_factory=dict)

    def get(self, callee: ir.Callee, active: tuple, changing: tuple = ()) -> Pair:
        """The pair of `callee`; `changing` says of each parameter, and of the result, whether it changes later."""
        function = callee.function
        if function is None:
            raise CompileError(f"{callee.name} is not lowered")
        key = id(function), active, any(changing) and changing
        if key not in self.made:
            name = function.name
            self.names[name] = n = self.names.get(name, 0) + 1
            suffix = "" if n == 1 else str(n)
            found = Pair(
                ir.Callee(f"{name}_forward{suffix}", active),
                ir.Callee(f"{name}_backward{suffix}", (True, True)),
            )
            self.made[key] = found
            found.forward.function, found.backward.function = _pair(function, active, changing, found, self)
        return self.made[key]


def gradient(
    function: ir.Function,
    wrt: tuple,
    *,
    value: bool = False,
    has_aux: bool = False,
    single: bool = True,
    seed: str = "scalar",
) -> ir.Function:
    """The gradient of a function, in one function.

    Parameters
    ----------
    function : Function
    wrt : tuple
        Positions of the parameters to differentiate, or ``(position, key)`` for an item of one
        (of ``*args``, ``**kwargs``).
    value : bool
        Return the value as well: ``(value, gradient)``.
    has_aux : bool
        The function returns ``(scalar, aux)``; `aux` is returned beside the gradient.
    single : bool
        Return the one gradient itself, not a tuple of one.
    seed : {"scalar", "ones"}
        The result has to be a real scalar; or any array, each entry of which depends on the entry of
        the arguments in the same place alone.

    Raises
    ------
    CompileError
        Where a derivative has to flow through something that has no rule.
    """
    places = [(w, ()) if isinstance(w, int) else (w[0], (w[1],)) for w in wrt]
    slots = [(function.parameters[i].value, path) for i, path in places]
    parts: dict = {}
    for v, path in slots:
        if not path:
            parts[v] = None
        elif parts.get(v, ()) is not None:
            parts[v] = (*parts.get(v, ()), path[0])
    adjoint = Adjoint(function, active_values(function, parts), Pairs())
    forward = walk.copied(function.body)
    build = adjoint.build
    build.location = _last_location(forward)
    out = forward.results[0]
    main = build.op(operator.getitem, out, Constant(0)) if has_aux else out
    start = _seed(build, main, seed)
    if has_aux:
        adjoint.add(out, {0: start} if keys(types.type_of(out)) else build.sequence([start, ir.ZERO]))
    else:
        adjoint.add(out, start)
    adjoint.block(forward.statements)
    build.location = function.location
    taken = {v: adjoint.take_at(v, ()) for v in dict.fromkeys(v for v, _ in slots)}
    adjoint.require_spent()
    gradients = []
    for v, path in slots:
        d = taken[v]
        for key in path:
            d = d.get(key) if isinstance(d, dict) else None
        gradients.append(_finish(adjoint, d, (v, path)))
    result = gradients[0] if single else build.sequence(gradients)
    entering = [p.value for p in function.parameters]
    backward = adjoint.settled(forward, ir.Block(build.statements, (result,)), entering)
    build.statements, (result,) = backward.statements, backward.results
    if value or has_aux:
        head = [out] if value else []
        tail = [build.op(operator.getitem, out, Constant(1))] if has_aux and not value else []
        result = build.sequence([*head, result, *tail])
    names = ", ".join(f"`{slot_name(slot)[1:]}`" for slot in slots)
    kind = "value and gradient" if value else "gradient"
    body = ir.Block(forward.statements + build.statements, (result,))
    name_cotangents([body], [], {v.name for v in adjoint.forward})
    return ir.Function(
        f"{function.name}_grad",
        function.parameters,
        body,
        function.namespace,
        function.location,
        f"The {kind} of `{function.name}` with respect to {names}.",
        len(forward.statements),
        _own(function),
    )


def pair(function: ir.Function, active: tuple) -> tuple[ir.Function, ir.Function]:
    """The forward and the backward function of a function.

    Parameters
    ----------
    function : Function
    active : tuple of bool
        Which parameters are differentiated.

    Returns
    -------
    forward, backward : Function
        ``forward(*parameters) -> (result, saved)``; ``backward(saved, cotangent)`` returns the tuple of
        the cotangents of the active parameters, or the one cotangent where one is active.
    """
    callee = ir.Callee(function.name, tuple(active), function)
    found = Pairs(outlives=True).get(callee, tuple(active))
    return found.forward.function, found.backward.function


def _pair(function: ir.Function, active: tuple, changing: tuple, callees: Pair, pairs: Pairs):
    parameters = [p.value for p, on in zip(function.parameters, active, strict=True) if on]
    seen = [*(p.value for p in function.parameters), function.body.results[0]]
    later = [v for v, changes in zip(seen, changing, strict=False) if changes]
    adjoint = Adjoint(function, active_values(function, dict.fromkeys(parameters)), pairs, is_half=True, later=later)
    forward = walk.copied(function.body)
    build = adjoint.build
    build.location = _last_location(forward)
    out = forward.results[0]
    cotangent = Value(cotangent_name("out") if not isinstance(out, Value) else slot_name((out, ())))
    if isinstance(out, Value):
        cotangent.type = cotangent_type(out.type)
    adjoint.add(out, cotangent)
    adjoint.block(forward.statements)
    build.location = function.location
    results = [adjoint.operand(adjoint.take(v), v) for v in parameters]
    adjoint.require_spent()
    result = results[0] if len(results) == 1 else build.sequence(results)
    backward = optimize.tidy(forward.statements, ir.Block(build.statements, (result,)))
    entering = [p.value for p in function.parameters]
    backward = with_residuals(backward, forward, entering, (), adjoint.memory.is_volatile)
    backward = adjoint.settled(forward, backward, entering)
    if pairs.outlives:
        before, backward = outside.held(function, backward)
        forward = ir.Block([*before, *forward.statements], forward.results)
    own = {p.value: None for p in function.parameters}
    for s in walk.statements(forward):
        own.update(dict.fromkeys([*walk.defines(s), *walk.enters(s)]))
    wanted = set(walk.free(backward))
    needed = [v for v in own if v in wanted]
    copies = {v: Value(v.name, v.type, maybe=adjoint.is_perhaps_unbound(v)) for v in needed}
    kept = Value("saved", types.sequence(Kind.TUPLE, [v.type for v in needed]))
    both = Value("result", Type(Kind.TUPLE, items=(types.type_of(out), kept.type)))
    ends = [ir.Make(kept, tuple(needed)), ir.Make(both, (out, kept))]
    first = ir.Function(
        callees.forward.name,
        function.parameters,
        ir.Block(forward.statements + ends, (both,)),
        function.namespace,
        function.location,
        f"The result of `{function.name}`, and what its backward pass needs.",
        own=_own(function),
    )
    saved = Value("saved", kept.type)
    name_cotangents([forward, backward], [cotangent], {v.name for v in adjoint.forward})
    start = [ir.Unpack(tuple(copies.values()), saved)] if needed else []
    body = walk.substitute(backward, copies)
    second = ir.Function(
        callees.backward.name,
        [ir.Parameter(saved), ir.Parameter(cotangent)],
        ir.Block(start + body.statements, body.results),
        function.namespace,
        function.location,
        f"The cotangents of the arguments of `{function.name}` from the one of its result.",
        0,
    )
    return first, second


def _own(function: ir.Function) -> int | None:
    """How many of its statements are the user's, where not all are."""
    return function.backward_at if function.own is None else function.own


def _last_location(block: ir.Block):
    return block.statements[-1].location if block.statements else None


def _seed(build, out, seed: str):
    """The cotangent of the result."""
    t = types.type_of(out)
    if seed == "ones":
        if t.kind is Kind.NUMBER and t.is_real:
            return Constant(1.0)
        return build.op(np.ones_like, out)
    if t.kind is Kind.NUMBER and t.is_real and (t.dtype in types.VAGUE or t.dtype.startswith(("float", "int", "bool"))):
        return Constant(1.0)
    real = ir.FLOAT if t.dtype == types.EITHER else Type(Kind.NUMBER, types.REAL, 0, ())
    return build.plain(Value("seed", real), arrays.scalar_seed, (out,), {})


def _taken_apart(build, d: dict):
    """The list of which all elements, and nothing else, are the parts of a cotangent."""
    parts = list(d.values())
    lists = (s for s in build.statements if isinstance(s, ir.Unpack))
    return next((s.source for s in lists if list(s.targets) == parts and list(d) == list(range(len(parts)))), None)


def _finish(adjoint: Adjoint, d, slot):
    """A gradient, from the cotangent: of the argument's structure, shapes and dtypes."""
    t = slot_type(slot)
    known = keys(t)
    build = adjoint.build
    value, path = slot
    if isinstance(d, dict) and t.kind is Kind.LIST and all(x.kind is Kind.NUMBER for x in t.items):
        d = _taken_apart(build, d) or d
    if known is not None and isinstance(d, dict | None) and (t.kind is not Kind.RECORD or adjoint.is_taken_apart(slot)):
        items = [_finish(adjoint, (d or {}).get(k), (value, (*path, k))) for k in known]
        made = Type(t.kind, items=tuple(map(types.type_of, items)), keys=t.keys, cls=t.cls)
        return build.make(made, items, slot_name(slot) if not path else "t")
    if known is not None and d is not None:
        d = adjoint.operand(d, slot[0], slot[1], full=False)
    if d is None:
        d = ir.ZERO
    return build.op(arrays.as_gradient, d, adjoint.read(slot))
