"""Prints the intermediate language, for people and for the examples in the docstrings of the passes."""

import ast
import operator
import warnings

import gast
import numpy as np

from s2sgrad.transform import ir


def show(function: ir.Function) -> str:
    """`function` as text; `*` marks the values that a derivative flows through.

    Examples
    --------
    >>> import operator
    >>> x = ir.Value("x", active=True)
    >>> y = ir.Value("y", active=True)
    >>> double = ir.Op(y, operator.mul, (ir.Constant(2), x))
    >>> body = ir.Block([double], (y,))
    >>> print(show(ir.Function("f", [ir.Parameter(x)], body, ir.Namespace({}))))
    f(x*):
        y* = operator.mul(2, x*)
        -> y*
    """
    printer = _Printer()
    heads = []
    for p in function.parameters:
        head = p.spelling + printer.value(p.value)
        heads.append(head if p.default is None else f"{head}={printer.operand(p.default)}")
    lines = [f"{function.name}({', '.join(heads)}):"]
    printer.block(function.body, lines, 1)
    return "\n".join(lines)


def called(function) -> str:
    """The name of a callable as people know it: ``np.sin``, ``operator.mul``, ``arrays.over``."""
    module = (getattr(function, "__module__", "") or "").replace("numpy", "np", 1)
    module = {"_operator": "operator", "builtins": "", "np._core._multiarray_umath": "np"}.get(module, module)
    if module.startswith("np._core"):
        module = "np"
    name = getattr(function, "__name__", None) or repr(function)
    if type(function).__name__ == "ufunc":
        module = "np"
    module = module.rpartition(".")[2] if module.startswith("s2sgrad") else module
    return f"{module}.{name}" if module else name


def code(node) -> str:
    """A gast tree as source text."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.unparse(ast.fix_missing_locations(gast.gast_to_ast(node)))


class _Printer:
    """Values that wish for the same name are told apart by ticks, then by numbers."""

    def __init__(self):
        self.names: dict = {}
        self.taken: set = set()

    def value(self, value: ir.Value) -> str:
        if id(value) not in self.names:
            name, n = value.name, 1
            while name in self.taken:
                n += 1
                name = value.name + ("'" * (n - 1) if n < 5 else str(n))
            self.taken.add(name)
            self.names[id(value)] = name, value  # the value is kept: an id must not be used twice
        return self.names[id(value)][0] + "*" * value.active

    def operand(self, operand) -> str:
        if isinstance(operand, ir.Value):
            return self.value(operand)
        if isinstance(operand, ir.Constant):
            return repr(operand.value)
        if isinstance(operand, ir.Code):
            return self.code(operand.node, operand.reads)
        return repr(operand)

    def code(self, node, reads, writes=None) -> str:
        text = code(node)
        notes = [f"{n} is {self.value(v)}" for n, v in reads.items() if self.value(v).rstrip("*") != n]
        if writes:
            notes += [f"{n} becomes {self.value(v)}" for n, v in writes.items()]
        return f"Code({text})" if not notes else f"Code({text}; {', '.join(notes)})"

    def targets(self, targets) -> str:
        if targets is None:
            return "_"
        if isinstance(targets, tuple):
            return f"({', '.join(self.targets(t) for t in targets)})"
        return self.value(targets)

    def block(self, block: ir.Block, lines: list, depth: int, results: bool = True) -> None:
        for statement in block.statements:
            name = type(statement).__name__.lower()
            getattr(self, name if hasattr(self, name) else f"{name}_")(statement, lines, depth)
        if results and block.results:
            lines.append("    " * depth + f"-> {', '.join(map(self.operand, block.results))}")

    def line(self, lines, depth, target, text) -> None:
        lines.append("    " * depth + f"{self.targets(target)} = {text}")

    def op(self, s, lines, depth):
        args = [self.operand(a) for a in s.args] + [f"{k}={self.operand(v)}" for k, v in s.kwargs.items()]
        name = called(s.function)
        if s.function in vars(operator).values() and not name.startswith("operator."):
            name = f"operator.{name}"
        if isinstance(s.spelling, str):
            name = f"{name}[.{s.spelling}]"
        self.line(lines, depth, s.target, f"{name}({', '.join(args)})")

    def bind(self, s, lines, depth):
        self.line(lines, depth, s.target, self.operand(s.code))

    def verbatim(self, s, lines, depth):
        first, *rest = self.code(s.node, s.reads, s.writes).split("\n")
        lines.append("    " * depth + first.replace("Code(", "Verbatim(", 1))
        lines.extend("    " * depth + line for line in rest)

    def make(self, s, lines, depth):
        kind = s.target.type.kind.value
        self.line(lines, depth, s.target, f"{kind}({', '.join(map(self.operand, s.items))})")

    def unpack(self, s, lines, depth):
        self.line(lines, depth, s.targets, self.operand(s.source))

    def accumulate(self, s, lines, depth):
        place = self.value(s.into) + ("" if s.index is None else f"[{self.operand(s.index)}]")
        self.line(lines, depth, s.target, f"{place} += {self.operand(s.value)}")

    def store(self, s, lines, depth):
        place = self.value(s.through or s.into) + ("" if s.index is None else f"[{self.operand(s.index)}]")
        sign = {None: "", operator.add: "+", operator.sub: "-", np.add: "+at", np.subtract: "-at"}[s.operator]
        self.line(lines, depth, s.target, f"{place} {sign}= {self.operand(s.value)}")

    def push(self, s, lines, depth):
        self.line(lines, depth, s.target, f"{self.value(s.into)} with {self.operand(s.item)} at its end")

    def pop(self, s, lines, depth):
        self.line(lines, depth, (s.target, s.item), f"{self.value(s.into)} without its end, its end")

    def call(self, s, lines, depth):
        head = "" if not isinstance(s, ir.PlainCall) else "plain " if s.recorded is None else "recorded "
        self.line(lines, depth, s.target, f"{head}{s.callee.name}({', '.join(map(self.operand, s.args))})")

    def source(self, source: ir.Source) -> str:
        text = f"count({self.operand(source.start)})" if source.count else self.operand(source.iterable)
        return f"{self.targets(source.element)} in {'reversed ' * source.reverse}{text}"

    def list_results(self, results, lines, depth):
        if results:
            lines.append("    " * depth + f"=> {', '.join(map(self.value, results))}")

    def with_(self, s, lines, depth):
        self.if_(s, lines, depth)

    def try_(self, s, lines, depth):
        self.if_(s, lines, depth)

    def attempt(self, s, lines, depth):
        self.if_(s, lines, depth)

    def same(self, s, lines, depth):
        self.if_(s, lines, depth)

    def if_(self, s, lines, depth):
        word = "with" if isinstance(s, ir.With) else "if"
        head = {ir.Try: "try", ir.Attempt: "attempt"}.get(type(s)) or f"{word} {self.operand(s.test)}"
        lines.append("    " * depth + f"{head}:")
        self.block(s.then, lines, depth + 1)
        if isinstance(s, ir.With):
            pass
        elif s.orelse.statements or s.orelse.results:
            lines.append("    " * depth + "else:")
            self.block(s.orelse, lines, depth + 1)
        self.list_results(s.results, lines, depth)

    def while_(self, s, lines, depth):
        self.for_(s, lines, depth)

    def exit(self, s, lines, depth):
        lines.append("    " * depth + "break")

    def for_(self, s, lines, depth):
        test = f"while {self.operand(s.test)}" if isinstance(s, ir.While) else ""
        head = test or f"for {', '.join(self.source(source) for source in s.sources)}"
        carried = [f"{self.value(c.parameter)} = {self.operand(c.initial)}" for c in s.carried]
        lines.append("    " * depth + head + (f" carrying {', '.join(carried)}" if carried else "") + ":")
        self.block(s.body, lines, depth + 1)
        self.list_results([c.result for c in s.carried] + s.collected, lines, depth)
