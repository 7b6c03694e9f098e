"""What the backward half of a function reads of the world outside is read by the forward half, and saved.

The caller of a pullback decides when it runs. By then a global, a closure cell or an attribute may stand
for something else::

    def f_forward(x):
        out = x * K
        saved = K
        return out, saved

    def f_backward(saved, dout):        # not `dout * K`, whatever K is by now
        k = saved
        dx = dout * k
        return dx
"""

import builtins
from types import ModuleType

import gast
import numpy as np

from s2sgrad.errors import CompileError
from s2sgrad.transform import classes, ir, walk
from s2sgrad.transform.analysis import types
from s2sgrad.transform.frontend import resolve
from s2sgrad.transform.frontend.syntax import COMPREHENSIONS, Names
from s2sgrad.transform.ir import Kind

_DATA = (np.ndarray, np.generic, int, float, complex, str, bytes, list, tuple, dict, type(None))


def held(function: ir.Function, backward: ir.Block) -> tuple[list, ir.Block]:
    """Statements that read at the beginning of `function` what `backward` reads from outside, and it without that.

    Examples
    --------
    >>> from s2sgrad.transform.show import show
    >>> code = ir.Code(gast.Name("K", gast.Load(), None, None), {}, ir.FLOAT)
    >>> binds, block = held(ir.Function("f", [], ir.Block(), ir.Namespace({"K": 2.0})), ir.Block([], (code,)))
    >>> binds[0].code.node.id, block.results[0].reads["K"] is binds[0].target
    ('K', True)
    """
    holder = _Holder(function)
    codes = [o for s in walk.statements(backward) for o in _read(s) if isinstance(o, ir.Code)]
    for block in _blocks(backward):
        codes += [o for o in block.results if isinstance(o, ir.Code)]
    mapping = {code: holder.code(code) for code in codes}
    mapping = {old: new for old, new in mapping.items() if new is not old}
    return list(holder.binds.values()), walk.substitute(backward, mapping) if mapping else backward


def _read(s) -> list:
    """The operands of a statement, less the function that an operation is."""
    found = walk.operands(s)
    return [o for o in found if o is not s.spelling] if isinstance(s, ir.Op) else found


def _blocks(block: ir.Block):
    yield block
    for s in walk.statements(block):
        yield from walk.blocks(s)


class _Holder:
    """Gathers the dotted names to read, each once."""

    def __init__(self, function: ir.Function):
        self.namespace = function.namespace
        self.parameters = {p.value for p in function.parameters}
        self.location = function.location
        self.names = Names()
        self.binds: dict = {}

    def code(self, code: ir.Code) -> ir.Code:
        """`code` with values in the place of what it reads from outside."""
        reads = dict(code.reads)
        taken = set(reads) | {n.id for n in gast.walk(code.node) if isinstance(n, gast.Name)}

        def rebuilt(node, bound: frozenset):
            chain = _chain(node)
            if chain is not None:
                length = 0 if chain[0] in bound else self.length(chain, code.reads)
                if not length:
                    return node
                value = self.value(chain[:length], code)
                label = next((name for name, v in reads.items() if v is value), None) or value.name
                while label in taken and reads.get(label) is not value and (length > 1 or label in reads):
                    label += "_"
                reads[label] = value
                new = gast.Name(label, gast.Load(), None, None)
                for attr in chain[length:]:
                    new = gast.Attribute(new, attr, gast.Load())
                return new
            if isinstance(node, COMPREHENSIONS):
                bound = bound | {n.id for g in node.generators for n in gast.walk(g.target) if isinstance(n, gast.Name)}
            elif isinstance(node, gast.Lambda):
                bound = bound | {a.id for a in node.args.args}
            changed = {}
            for name, old in gast.iter_fields(node):
                if isinstance(node, gast.Call) and name == "func":
                    continue
                if isinstance(old, gast.AST):
                    new = rebuilt(old, bound)
                elif isinstance(old, list):
                    new = [rebuilt(item, bound) if isinstance(item, gast.AST) else item for item in old]
                    new = old if all(a is b for a, b in zip(new, old, strict=True)) else new
                else:
                    continue
                if new is not old:
                    changed[name] = new
            if not changed:
                return node
            fields = dict(gast.iter_fields(node)) | changed
            return gast.copy_location(type(node)(*[fields[name] for name in node._fields]), node)

        node = rebuilt(code.node, frozenset())
        return code if node is code.node else ir.Code(node, reads, code.type)

    def length(self, chain: list, reads: dict) -> int:
        """How much of a dotted name is to be read beforehand: all but the attributes of data; 0 for nothing."""
        root = reads.get(chain[0])
        if root is not None:
            if len(chain) == 1 or root.type.kind not in (Kind.OTHER, Kind.CALLABLE, Kind.RECORD):
                return 0
            if root not in self.parameters:
                raise CompileError(f"the pullback would read {'.'.join(chain)} when it runs", self.location)
            return len(chain)
        value = self.root(chain[0])
        trusted = isinstance(value, ModuleType) and value.__name__.partition(".")[0] in classes.TRUSTED
        length = 1
        while not isinstance(value, _DATA) and length < len(chain):
            value = getattr(value, chain[length], resolve.MISSING)
            length += 1
        return 0 if trusted or value is resolve.MISSING or resolve.is_definition(value) else length

    def root(self, name: str):
        """What a name outside stands for."""
        if name in self.namespace.cells:
            return self.namespace.cells[name].cell_contents
        return self.namespace.globals.get(name, getattr(builtins, name, resolve.MISSING))

    def value(self, chain: list, code: ir.Code) -> ir.Value:
        key = tuple(chain)
        if key not in self.binds:
            node = gast.Name(chain[0], gast.Load(), None, None)
            for attr in chain[1:]:
                node = gast.Attribute(node, attr, gast.Load())
            root = code.reads.get(chain[0])
            whole = _chain(code.node) == chain
            t = code.type if whole else types.UNKNOWN if root is not None else self.type_of(chain)
            read = ir.Code(node, {} if root is None else {chain[0]: root}, t)
            self.binds[key] = ir.Bind(ir.Value(chain[-1], t), read, self.location)
        return self.binds[key].target

    def type_of(self, chain: list) -> ir.Type:
        value = self.root(chain[0])
        for attr in chain[1:]:
            value = getattr(value, attr)
        t = types.of(value)
        if t.kind in (Kind.NUMBER, Kind.ARRAY):
            return types.of_any_length(t)
        return ir.Type(t.kind) if t.kind in (Kind.LIST, Kind.TUPLE, Kind.DICT) else ir.OTHER


def _chain(node) -> list | None:
    """``a.b.c`` as its names; None for anything else."""
    names = []
    while isinstance(node, gast.Attribute):
        names.append(node.attr)
        node = node.value
    return [node.id, *names[::-1]] if isinstance(node, gast.Name) and isinstance(node.ctx, gast.Load) else None
