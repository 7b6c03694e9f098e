"""Runs IR directly, and builds it by hand: the reverse pass is tested without frontend and emitter."""

import dataclasses
import itertools
import operator

import gast
import numpy as np

from s2sgrad.runtime import arrays
from s2sgrad.transform import ir
from s2sgrad.transform.analysis import types
from s2sgrad.transform.ir import Constant, Kind, Value
from s2sgrad.transform.show import code


def run(function: ir.Function, *args):
    """The result of an IR function."""
    env = {p.value: a for p, a in zip(function.parameters, args, strict=True)}
    return _block(function.body, env, function.namespace.globals)[0]


def _get(x, env, names):
    if isinstance(x, Value):
        return env[x]
    if isinstance(x, Constant):
        return x.value
    return eval(code(x.node), names, {name: env[v] for name, v in x.reads.items()})


def _bind(targets, value, env):
    if isinstance(targets, tuple):
        items = list(value)
        assert len(items) == len(targets), (targets, value)
        for t, item in zip(targets, items, strict=True):
            _bind(t, item, env)
    elif targets is not None:
        env[targets] = value


def _block(block, env, names):
    for s in block.statements:
        _statement(s, env, names)
    return [_get(r, env, names) for r in block.results]


def _statement(s, env, names):
    def get(x):
        return _get(x, env, names)

    match s:
        case ir.Op():
            env[s.target] = s.function(*map(get, s.args), **{k: get(v) for k, v in s.kwargs.items()})
        case ir.Bind():
            env[s.target] = get(s.code)
        case ir.Make():
            items, t = list(map(get, s.items)), s.target.type
            if t.kind is Kind.RECORD:
                env[s.target] = t.cls(*items)
            elif t.kind is Kind.DICT:
                env[s.target] = dict(zip(t.keys, items, strict=True))
            else:
                env[s.target] = tuple(items) if t.kind is Kind.TUPLE else items
        case ir.Unpack():
            _bind(s.targets, get(s.source), env)
        case ir.Accumulate():
            env[s.target] = _accumulate(get(s.into), s.index, s.index and get(s.index), get(s.value))
            del env[s.into]  # it must not be read again under its old name
        case ir.Store():
            array = env[s.target] = get(s.into)
            place = array if s.through is None else get(s.through)
            index = ... if s.index is None else get(s.index)
            place[index] = get(s.value) if s.operator is None else s.operator(place[index], get(s.value))
            del env[s.into]
        case ir.Call():
            env[s.target] = run(s.callee.function, *map(get, s.args))
        case ir.If():
            branch = s.then if get(s.test) else s.orelse
            for r, x in zip(s.results, _block(branch, env, names), strict=True):
                env[r] = x
        case ir.For():
            _loop(s, env, names)
        case ir.Exit():
            env[ir.Exit] = True  # whatever the body still hands on
        case _:
            raise TypeError(s)


def _accumulate(into, at, index, value):
    if at is None:
        into += value
    elif isinstance(into, list | dict):
        into[index] = arrays.tree_add(into[index], value)
    else:
        arrays.add_at(into, index, value)
    return into


def _loop(s, env, names):
    def items(source):
        if source.count:
            return iter(range(_get(source.start, env, names), 10**9))
        found = _get(source.iterable, env, names)
        return reversed(found) if source.reverse else iter(found)

    iterators = [items(source) for source in sorted(s.sources, key=lambda one: one.count)]
    sources = sorted(s.sources, key=lambda one: one.count)
    state = [_get(c.initial, env, names) for c in s.carried]
    lists = [[] for _ in s.collected]
    for elements in itertools.repeat(()) if isinstance(s, ir.While) else zip(*iterators, strict=False):
        for source, element in zip(sources, elements, strict=True):
            _bind(source.element, element, env)
        for c, x in zip(s.carried, state, strict=True):
            env[c.parameter] = x
        if isinstance(s, ir.While) and not _get(s.test, env, names):
            break
        results = _block(s.body, env, names)
        state = results[: len(state)]
        for one, x in zip(lists, results[len(state) :], strict=True):
            one.append(x)
        if env.pop(ir.Exit, False):
            break
    for c, x in zip(s.carried, state, strict=True):
        env[c.result] = x
    for v, one in zip(s.collected, lists, strict=True):
        env[v] = one


class Program:
    """Builds a function of the IR: ``p.op(np.sin, x)`` adds an operation and gives its value."""

    def __init__(self, **arguments):
        self.statements: list = []
        self.parameters = []
        for (name, _), t in zip(arguments.items(), types.of_all(arguments.values()), strict=True):
            value = Value(name, t, active=True)
            self.parameters.append(value)
            setattr(self, name, value)

    def op(self, function, *args, name="t", **kwargs):
        args = tuple(_operand(a) for a in args)
        kwargs = {k: _operand(v) for k, v in kwargs.items()}
        target = Value(name, types.infer(function, args, kwargs))
        self.statements.append(ir.Op(target, function, args, kwargs))
        return target

    def make(self, *items, kind=Kind.TUPLE, name="t", keys=None):
        items = tuple(map(_operand, items))
        t = types.sequence(kind, list(map(types.type_of, items))) if keys is None else None
        t = t or ir.Type(kind, items=tuple(map(types.type_of, items)), keys=keys)
        target = Value(name, t)
        self.statements.append(ir.Make(target, items))
        return target

    def unpack(self, source, *names):
        t = source.type
        each = t.items or (t.element or ir.UNKNOWN,) * len(names)
        if t.kind is Kind.ARRAY:
            each = [types.infer(operator.getitem, (source, Constant(i))) for i in range(len(names))]
        targets = tuple(Value(n, e) for n, e in zip(names, each, strict=True))
        self.statements.append(ir.Unpack(targets, source))
        return targets

    def code(self, text, type=ir.UNKNOWN, **reads):  # noqa: A002
        return ir.Code(gast.parse(text, mode="eval").body, reads, type)

    def call(self, function, *args, type=ir.UNKNOWN, callee=None):  # noqa: A002
        callee = callee or ir.Callee(function.name, (True,) * len(args), function)
        target = Value("y", type)
        self.statements.append(ir.Call(target, callee, tuple(map(_operand, args))))
        return target

    def branch(self, test, then, orelse, *names, type=None):  # noqa: A002
        """`then` and `orelse` add to the program and give a tuple of results."""
        blocks = []
        before = self.statements
        for build in (then, orelse):
            self.statements = []
            found = tuple(map(_operand, build()))
            blocks.append(ir.Block(self.statements, found))
        self.statements = before
        results = tuple(
            Value(n, type or types.join(types.type_of(a), types.type_of(b)))
            for n, a, b in zip(names, blocks[0].results, blocks[1].results, strict=True)
        )
        self.statements.append(ir.If(test, *blocks, results))
        return results

    def loop(self, sources, carried, body, collect=0, reverse=False):
        """`sources`: (element value or pattern, iterable or None for a count); `carried`: {name: initial}.

        ``body(*parameters)`` gives the next values, then what is collected.
        """
        each = [
            ir.Source(e, None, count=True) if it is None else ir.Source(e, _operand(it), reverse=reverse)
            for e, it in sources
        ]
        initial = {n: _operand(v) for n, v in carried.items()}
        kinds = [types.type_of(v) for v in initial.values()]
        before = self.statements
        for _ in range(3):  # until the types of what is carried are stable
            parameters = [Value(n, t) for n, t in zip(initial, kinds, strict=True)]
            self.statements = []
            found = tuple(map(_operand, body(*parameters)))
            following = [types.join(t, types.type_of(r)) for t, r in zip(kinds, found, strict=False)]
            if following == kinds:
                break
            kinds = following
        results = [Value(n, t) for n, t in zip(initial, kinds, strict=True)]
        entries = [ir.Carried(p, i, r) for p, i, r in zip(parameters, initial.values(), results, strict=True)]
        n = len(entries)
        lists = [Value("ys", ir.Type(Kind.LIST, element=types.type_of(x))) for x in found[n:]]
        loop = ir.For(each, entries, ir.Block(self.statements, found), lists)
        self.statements = [*before, loop]
        return (*results, *lists)

    def function(self, result, name="f", **names):
        body = ir.Block(self.statements, (_operand(result),))
        parameters = [ir.Parameter(v) for v in self.parameters]
        return ir.Function(name, parameters, body, ir.Namespace({"np": np, **names}))


def _operand(x):
    return x if isinstance(x, Value | Constant | ir.Code) else Constant(x)


def leaves(x) -> list:
    """The numbers and arrays in nested containers."""
    if isinstance(x, dict):
        x = list(x.values())
    if dataclasses.is_dataclass(x):
        x = [getattr(x, f.name) for f in dataclasses.fields(x)]
    if isinstance(x, list | tuple):
        return [leaf for item in x for leaf in leaves(item)]
    return [x]


def replace_leaf(x, number, value):
    """`x` with its leaf of that number replaced."""
    count = -1

    def walk(x):
        nonlocal count
        if isinstance(x, dict):
            return {k: walk(v) for k, v in x.items()}
        if isinstance(x, tuple) and hasattr(x, "_fields"):
            return type(x)(*map(walk, x))
        if isinstance(x, list | tuple):
            return type(x)(map(walk, x))
        if dataclasses.is_dataclass(x):
            return type(x)(**{f.name: walk(getattr(x, f.name)) for f in dataclasses.fields(x)})
        count += 1
        return value if count == number else x

    return walk(x)


def differences(function, args, i, step=1e-6):
    """The gradient of a scalar function with respect to its argument `i`, by central differences."""
    found = []
    for number, leaf in enumerate(leaves(args[i])):
        if not isinstance(leaf, float | np.ndarray | np.floating):
            found.append(None)
            continue
        base = np.array(leaf, dtype=complex if np.iscomplexobj(leaf) else float)
        slope = np.zeros_like(base)
        for place in np.ndindex(base.shape):
            for unit in (1.0, 1j) if np.iscomplexobj(leaf) else (1.0,):
                ends = []
                for sign in (1, -1):
                    moved = base.copy()
                    moved[place] += sign * step * unit
                    moved = moved if isinstance(leaf, np.ndarray) else float(moved)
                    changed = list(args)
                    changed[i] = replace_leaf(args[i], number, moved)
                    ends.append(function(*changed))
                slope[place] += (ends[0] - ends[1]) / (2 * step) * unit
        found.append(slope)
    return found
