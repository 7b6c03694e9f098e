"""Makes a failing program small: takes away what it still fails without."""

import ast
import warnings

from .judge import Fault, judge
from .limits import Endless, limited
from .programs import Program


def reduced(program: Program, kind: str, second=False) -> Program:
    """The smallest program that is found to fail in the same way."""
    tree = ast.parse(program.text)
    smaller = True
    while smaller:
        smaller = False
        for change in list(changes(tree)):
            undo = change()
            if undo is None:
                continue
            text = _text(tree)
            if text is not None and fails(Program(text, program.argnums), kind, second):
                smaller = True
            else:
                undo()
    return Program(_text(tree) or program.text, program.argnums)


def fails(program, kind, second) -> bool:
    try:
        with limited(2):
            judge(program, second)
    except Fault as fault:
        return fault.kind == kind
    except (Exception, Endless):
        return False
    return False


def _text(tree):
    try:
        text = ast.unparse(ast.fix_missing_locations(tree))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "<reduced>", "exec")
    except (SyntaxError, ValueError):
        return None
    return text + "\n"


def changes(tree):
    """Functions that change the tree, and return what undoes it; None where there is no longer anything to change."""
    for node in ast.walk(tree):
        for _, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                for statement in list(value):
                    yield lambda value=value, s=statement: _replace(value, s, [])
                    for inner in ("body", "orelse"):
                        if isinstance(getattr(statement, inner, None), list) and getattr(statement, inner):
                            yield lambda value=value, s=statement, i=inner: _replace(value, s, list(getattr(s, i)))
    for node in ast.walk(tree):
        for field, value in ast.iter_fields(node):
            if isinstance(value, ast.expr) and not isinstance(getattr(value, "ctx", None), (ast.Store, ast.Del)):
                for child in ast.walk(value):
                    if isinstance(child, ast.expr) and child is not value:
                        yield lambda node=node, f=field, v=value, c=child: _set(node, f, v, c)
                if not isinstance(value, (ast.Constant, ast.Slice)) and not isinstance(node, ast.Call):
                    yield lambda node=node, f=field, v=value: _set(node, f, v, ast.Constant(0.5))


def _replace(body: list, statement, others: list):
    if statement not in body:
        return None
    at = body.index(statement)
    before = list(body)
    body[at : at + 1] = others
    if not body:
        body.append(ast.Pass())
        if isinstance(statement, ast.Pass):
            body[:] = before
            return None

    def undo():
        body[:] = before

    return undo


def _set(node, field, value, child):
    if getattr(node, field) is not value:
        return None
    setattr(node, field, child)
    return lambda: setattr(node, field, value)
