"""Syntax trees to text: `astunparse`, with minimal parentheses, renamed variables and margin comments.

The last step of emission. The emitter hands over gast trees, among them the user's own expressions;
this module writes them as a person would: parentheses only where precedence asks for them, double
quotes, blank lines between functions, and comments lined up in the margin.

>>> show("((a + b) * (c * d)) - (-(x ** 2))[1:, (0)]")
'(a + b) * (c * d) - (-x ** 2)[1:, 0]'
"""

import ast
import copy
import itertools
import math

import gast
from astunparse import Unparser

# Python's operators, from what binds least to what binds most.
BARE, TEST, OR, AND, NOT, COMPARE, BIT_OR, BIT_XOR, BIT_AND, SHIFT, ARITH, TERM, FACTOR, POWER, AWAIT, ATOM = range(16)

BINARY = {
    "Add": ARITH,
    "Sub": ARITH,
    "Mult": TERM,
    "Div": TERM,
    "FloorDiv": TERM,
    "Mod": TERM,
    "MatMult": TERM,
    "Pow": POWER,
    "LShift": SHIFT,
    "RShift": SHIFT,
    "BitOr": BIT_OR,
    "BitXor": BIT_XOR,
    "BitAnd": BIT_AND,
}

PRECEDENCE = {
    "IfExp": TEST,
    "Lambda": TEST,
    "Yield": BARE,
    "YieldFrom": BARE,
    "NamedExpr": BARE,
    "Compare": COMPARE,
    "Await": AWAIT,
}

MARGIN = 64  # comments are lined up at most here
WIDTH = 112  # a line with its comment is not longer than this


class Renamed:
    """An expression or statement of the user's in which local names are replaced by others."""

    __slots__ = ("names", "node", "origin")

    def __init__(self, node, names: dict[str, str]):
        self.node = node
        self.names = names


class Heading:
    """A line of comment of its own: ``# backward``."""

    __slots__ = ("text",)

    def __init__(self, text: str):
        self.text = text


class Docstring(Heading):
    """The docstring of a generated function."""

    __slots__ = ()


def precedence(node) -> int:
    """How strongly the outermost operator of an expression binds."""
    kind = type(node).__name__
    if kind == "Renamed":
        return precedence(node.node)
    if kind == "BinOp":
        return BINARY[type(node.op).__name__]
    if kind == "UnaryOp":
        return NOT if type(node.op).__name__ == "Not" else FACTOR
    if kind == "BoolOp":
        return OR if type(node.op).__name__ == "Or" else AND
    if kind == "Constant" and isinstance(node.value, complex) and node.value.real:
        return ARITH
    return PRECEDENCE.get(kind, ATOM)


LATER = (gast.GeneratorExp, gast.Lambda, gast.FunctionDef)  # what runs later than where it stands
SCOPES = (gast.ListComp, gast.SetComp, gast.DictComp, *LATER)


def bound_names(node) -> set[str]:
    """The names that a lambda, comprehension or nested function binds for itself."""
    if isinstance(node, (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)):
        return {n.id for g in node.generators for n in gast.walk(g.target) if isinstance(n, gast.Name)}
    arguments = node.args
    names = {a.id for a in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]}
    names.update(a.id for a in (arguments.vararg, arguments.kwarg) if a is not None)
    if isinstance(node, gast.Lambda):
        return names
    outer = {n for s in gast.walk(node) if isinstance(s, (gast.Nonlocal, gast.Global)) for n in s.names}
    stored = {n.id for n in gast.walk(node) if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Store)}
    return names | (stored - outer)


class _Rename(gast.NodeTransformer):
    def __init__(self, names):
        self.names = names

    def visit_Name(self, node):
        node.id = self.names.get(node.id, node.id)
        return node


class Printer(Unparser):
    """Writes gast trees.

    `lines` holds what was written; `comments` the margin comment and `origins` the user's line of a line, by its
    index.
    """

    def __init__(self):
        self.lines: list[str] = []
        self.comments: dict[int, str] = {}
        self.origins: dict = {}
        self.names: dict[str, str] = {}
        self.outside: dict[str, str] = {}  # the names around the innermost scope
        self.handed: dict[str, str] = {}  # what the function to be written is handed by defaults
        self._indent = 0
        self.future_imports = []

    # ---- plumbing

    def fill(self, text=""):
        self.lines.append("    " * self._indent + text)

    def write(self, text):
        if not self.lines:
            self.lines.append("")
        self.lines[-1] += text

    def dispatch(self, tree):
        if isinstance(tree, list):
            for node in tree:
                self.dispatch(node)
            return
        method = getattr(self, "_" + type(tree).__name__, None)
        if method is None:
            return self._by_standard_library(tree)
        start = len(self.lines)
        method(tree)
        comment = getattr(tree, "comment", None)
        if comment:
            self.comments[start] = comment
        origin = getattr(tree, "origin", None)
        if origin is not None:
            self.origins[start] = origin

    def at(self, level: int, node) -> None:
        """Write an expression, in parentheses where it binds less than `level`."""
        if isinstance(node, gast.NamedExpr) or precedence(node) >= level:
            self.dispatch(node)
        else:
            self.write("(")
            self.dispatch(node)
            self.write(")")

    def bare(self, node) -> None:
        """Write an expression where a tuple needs no parentheses."""
        inner = node.node if isinstance(node, Renamed) else node
        if isinstance(inner, gast.Tuple) and len(inner.elts) > 1:
            outer, self.names = self.names, node.names if isinstance(node, Renamed) else self.names
            self.separated(inner.elts)
            self.names = outer
        else:
            self.dispatch(node)

    def separated(self, nodes) -> None:
        for i, node in enumerate(nodes):
            if i:
                self.write(", ")
            self.dispatch(node)

    def _by_standard_library(self, tree):
        """Statements newer than astunparse (``match``, ``except*``)."""
        renamed = _Rename(self.names).visit(copy.deepcopy(tree))
        text = ast.unparse(ast.fix_missing_locations(gast.gast_to_ast(renamed)))
        for line in text.splitlines():
            self.fill(line)

    def _Renamed(self, t):
        outer, self.names = self.names, t.names
        self.dispatch(t.node)
        self.names = outer

    def _Heading(self, t):
        self.fill("# " + t.text)

    def _Docstring(self, t):
        lines = t.text.strip().replace("\\", "\\\\").replace('"""', '\\"\\"\\"').splitlines()
        self.fill('"""' + lines[0])
        for line in lines[1:]:
            self.fill(line.strip())
        if len(lines) > 1:
            self.fill()
        self.write('"""')

    def _scoped(self, node, write):
        outer, further = self.names, self.outside
        if outer:
            bound = bound_names(node)
            self.names = {old: new for old, new in outer.items() if old not in bound}
            self.names |= self._apart(node, bound)
        self.outside = outer
        write()
        self.names, self.outside, self.handed = outer, further, {}

    def _apart(self, node, bound: set) -> dict:
        """Other names where what a scope binds for itself would hide what it reads from outside.

        Those of a comprehension are its own affair. A function may be called by its names: it is handed what it reads
        as a default.
        """
        inside = {n.id for n in gast.walk(node) if isinstance(n, gast.Name)}
        read = {n: self.names.get(n, n) for n in inside - bound}
        taken, apart = bound | set(read.values()), {}
        called = isinstance(node, (gast.Lambda, gast.FunctionDef))
        for old in sorted(n for n in read if read[n] in bound) if called else sorted(bound & set(read.values())):
            names = itertools.chain([old], (f"{old}_{i}" for i in itertools.count(1)))
            apart[old] = next(n for n in names if n not in taken)
            taken.add(apart[old])
        self.handed = {apart[n]: read[n] for n in apart} if called else {}
        return apart

    def _evaluated_outside(self, node, write):
        """Defaults, and what a comprehension first iterates over, belong to the scope around."""
        inner, self.names = self.names, self.outside
        write(node)
        self.names = inner

    # ---- statements

    def _Assign(self, t):
        self.fill()
        for target in t.targets:
            self.bare(target)
            self.write(" = ")
        self.bare(t.value)

    def _Return(self, t):
        self.fill("return")
        if t.value is not None:
            self.write(" ")
            self.bare(t.value)

    def _Delete(self, t):
        self.fill("del ")
        self.separated(t.targets)

    def _ExceptHandler(self, t):
        self.fill("except")
        if t.type:
            self.write(" ")
            self.dispatch(t.type)
        if t.name:
            self.write(" as ")
            self.dispatch(t.name)
        self.enter()
        self.dispatch(t.body)
        self.leave()

    def _Import(self, t):
        for alias in t.names:
            bound = alias.asname or alias.name.partition(".")[0]
            called = self.names.get(bound, bound)
            if alias.asname is None and "." in alias.name and called != bound:
                self.fill(f'{called} = __import__("{alias.name}")')  # what `import a.b` binds is `a`
            else:
                bare = alias.asname is None and called == bound
                self.fill(f"import {alias.name}" if bare else f"import {alias.name} as {called}")

    def _alias(self, t):
        bound = t.asname or t.name
        called = self.names.get(bound, bound)
        self.write(t.name if called == t.name else f"{t.name} as {called}")

    def _Nonlocal(self, t):
        self.fill("nonlocal " + ", ".join(self.names.get(n, n) for n in t.names))

    def _For(self, t, head="for "):
        self.fill(head)
        self.bare(t.target)
        self.write(" in ")
        self.bare(t.iter)
        self.enter()
        self.dispatch(t.body)
        self.leave()
        if t.orelse:
            self.fill("else")
            self.enter()
            self.dispatch(t.orelse)
            self.leave()

    def _If(self, t):
        self.fill("if ")
        while True:
            self.dispatch(t.test)
            self.enter()
            self.dispatch(t.body)
            self.leave()
            if len(t.orelse) != 1 or not isinstance(t.orelse[0], gast.If):
                break
            t = t.orelse[0]
            self.fill("elif ")
        if t.orelse:
            self.fill("else")
            self.enter()
            self.dispatch(t.orelse)
            self.leave()

    def _AsyncFor(self, t):
        self._For(t, "async for ")

    def _FunctionDef(self, t, head="def "):
        for decorator in t.decorator_list:
            self.fill("@")
            self.dispatch(decorator)
        self.fill(head + self.names.get(t.name, t.name) + "(")
        self._scoped(t, lambda: self._signature_and_body(t))

    def _AsyncFunctionDef(self, t):
        self._FunctionDef(t, "async def ")

    def _signature_and_body(self, t):
        self.dispatch(t.args)
        self.write(")")
        if t.returns:
            self.write(" -> ")
            self.dispatch(t.returns)
        self.enter()
        self.dispatch(t.body)
        self.leave()

    def _arguments(self, t):
        positional = [*t.posonlyargs, *t.args]
        defaults = [None] * (len(positional) - len(t.defaults)) + t.defaults
        parts = [("", argument, default) for argument, default in zip(positional, defaults, strict=True)]
        if t.posonlyargs:
            parts.insert(len(t.posonlyargs), ("/", None, None))
        if t.vararg:
            parts.append(("*", t.vararg, None))
        elif t.kwonlyargs or self.handed:
            parts.append(("*", None, None))
        parts += [("", argument, default) for argument, default in zip(t.kwonlyargs, t.kw_defaults, strict=True)]
        handed, self.handed = self.handed, {}
        parts += [
            ("", gast.Name(n, gast.Param(), None, None), Renamed(gast.Name(o, gast.Load(), None, None), {}))
            for n, o in handed.items()
        ]
        if t.kwarg:
            parts.append(("**", t.kwarg, None))
        for i, (stars, argument, default) in enumerate(parts):
            self.write((", " if i else "") + stars)
            if argument is None:
                continue
            self.write(self.names.get(argument.id, argument.id))
            if argument.annotation:
                self.write(": ")
                self.dispatch(argument.annotation)
            if default is not None:
                self.write(" = " if argument.annotation else "=")
                self._evaluated_outside(default, self.dispatch)

    # ---- expressions

    def _Name(self, t):
        self.write(self.names.get(t.id, t.id))

    def _Constant(self, t):
        self.write(literal(t.value))

    def _Tuple(self, t):
        self.write("(")
        self.separated(t.elts)
        self.write(",)" if len(t.elts) == 1 else ")")

    def _Starred(self, t):
        self.write("*")
        self.at(BIT_OR, t.value)

    def _UnaryOp(self, t):
        if type(t.op).__name__ == "Not":
            self.write("not ")
            self.at(NOT, t.operand)
        else:
            self.write(self.unop[type(t.op).__name__])
            self.at(FACTOR, t.operand)

    def _BinOp(self, t):
        kind = type(t.op).__name__
        level = BINARY[kind]
        if kind == "Pow":  # binds to the right, and a sign on the left of it needs parentheses
            self.at(AWAIT, t.left)
            self.write(" ** ")
            self.at(FACTOR, t.right)
        else:
            self.at(level, t.left)
            self.write(f" {self.binop[kind]} ")
            self.at(level + 1, t.right)

    def _Compare(self, t):
        self.at(BIT_OR, t.left)
        for operator, right in zip(t.ops, t.comparators, strict=True):
            self.write(f" {self.cmpops[type(operator).__name__]} ")
            self.at(BIT_OR, right)

    def _BoolOp(self, t):
        word, level = (" or ", OR) if type(t.op).__name__ == "Or" else (" and ", AND)
        for i, value in enumerate(t.values):
            if i:
                self.write(word)
            self.at(level + 1, value)

    def _IfExp(self, t):
        self.at(OR, t.body)
        self.write(" if ")
        self.at(OR, t.test)
        self.write(" else ")
        self.at(TEST, t.orelse)

    def _Lambda(self, t):
        def write():
            start = len(self.lines[-1]) if self.lines else 0
            self.write("lambda ")
            self.dispatch(t.args)
            if self.lines[-1][start:] == "lambda ":
                self.lines[-1] = self.lines[-1][:-1]
            self.write(": ")
            self.at(TEST, t.body)

        self._scoped(t, write)

    def _Await(self, t):
        self.write("await ")
        self.at(ATOM, t.value)

    def _Attribute(self, t):
        if isinstance(t.value, gast.Constant) and isinstance(t.value.value, (int, float)):
            self.write("(")
            self.dispatch(t.value)
            self.write(")")
        else:
            self.at(ATOM, t.value)
        self.write("." + t.attr)

    def _Call(self, t):
        self.at(ATOM, t.func)
        if len(t.args) == 1 and not t.keywords and isinstance(t.args[0], gast.GeneratorExp):
            self.dispatch(t.args[0])
            return
        self.write("(")
        self.separated([*t.args, *t.keywords])
        self.write(")")

    def _Subscript(self, t):
        self.at(ATOM, t.value)
        self.write("[")
        self.index(t.slice)
        self.write("]")

    def index(self, node):
        inner = node.node if isinstance(node, Renamed) else node
        if isinstance(inner, gast.Tuple) and any(isinstance(e, gast.Starred) for e in inner.elts):
            self.dispatch(node)
        else:
            self.bare(node)

    def _Slice(self, t):
        for i, part in enumerate((t.lower, t.upper, t.step)):
            if i == 1 or (i == 2 and part is not None):
                self.write(":")
            if part is not None:
                self.at(TEST, part)

    def _comprehension_of(self, t, opening, closing, write):
        def inside():
            self.write(opening)
            write()
            for i, generator in enumerate(t.generators):
                self.generator(generator, first=i == 0)
            self.write(closing)

        self._scoped(t, inside)

    def _ListComp(self, t):
        self._comprehension_of(t, "[", "]", lambda: self.dispatch(t.elt))

    def _SetComp(self, t):
        self._comprehension_of(t, "{", "}", lambda: self.dispatch(t.elt))

    def _GeneratorExp(self, t):
        self._comprehension_of(t, "(", ")", lambda: self.dispatch(t.elt))

    def _DictComp(self, t):
        def write():
            self.dispatch(t.key)
            self.write(": ")
            self.dispatch(t.value)

        self._comprehension_of(t, "{", "}", write)

    def generator(self, t, first: bool):
        self.write(" async for " if t.is_async else " for ")
        self.bare(t.target)
        self.write(" in ")
        if first:
            self._evaluated_outside(t.iter, lambda node: self.at(OR, node))
        else:
            self.at(OR, t.iter)
        for test in t.ifs:
            self.write(" if ")
            self.at(OR, test)

    def _JoinedStr(self, t):
        text = self._joined(t)
        for quote in ('"', "'", '"""', "'''"):
            if quote not in text and not text.endswith(quote[0]):
                break
        self.write(f"f{quote}{text}{quote}")

    def _joined(self, t) -> str:
        parts = []
        for value in t.values:
            if isinstance(value, gast.Constant):
                text = value.value.replace("\\", "\\\\").replace("{", "{{").replace("}", "}}")
                parts.append(text.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t"))
                continue
            inner = self._inner(value.value)
            conversion = f"!{chr(value.conversion)}" if value.conversion != -1 else ""
            spec = ":" + self._joined(value.format_spec) if value.format_spec else ""
            parts.append("{" + (" " if inner.startswith("{") else "") + inner + conversion + spec + "}")
        return "".join(parts)

    def _inner(self, node) -> str:
        printer = type(self)()
        printer.names = self.names
        printer.at(OR, node)
        return printer.lines[-1]

    def _FormattedValue(self, t):
        self._JoinedStr(gast.JoinedStr([t]))

    # ---- the margin

    def text(self) -> str:
        """What was written, with the comments lined up."""
        widths = [len(self.lines[i]) for i in self.comments]
        column = min(max(widths, default=0) + 2, MARGIN)
        lines = list(self.lines)
        for i, comment in self.comments.items():
            line = lines[i].ljust(column - 2) + "  # "
            if len(line) + len(comment) > WIDTH:
                comment = comment.split(":")[0]
            lines[i] = line + comment
        return "\n".join(line.rstrip() for line in lines)


def literal(value) -> str:
    """A constant as it stands in source."""
    if isinstance(value, str):
        text = repr(value)
        return f'"{text[1:-1]}"' if text[0] == "'" and '"' not in text else text
    if value is Ellipsis:
        return "..."
    if isinstance(value, float) and math.isinf(value):
        return "1e309" if value > 0 else "-1e309"
    return repr(value)


def unparse(node, names: dict[str, str] | None = None) -> str:
    """The text of one gast tree, with local names replaced."""
    printer = Printer()
    printer.dispatch(Renamed(node, names) if names else node)
    return "\n".join(printer.lines)


def show(expression: str) -> str:
    """An expression as this module writes it (for the example above)."""
    return unparse(gast.parse(expression, mode="eval").body)
