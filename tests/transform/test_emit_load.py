"""Loaded functions live where the user's functions live."""

import inspect
import linecache
import operator as o
import time
import traceback
import types

import numpy as np
import pytest

from s2sgrad.transform import ir
from s2sgrad.transform.emit import emit
from s2sgrad.transform.emit.load import load
from s2sgrad.transform.ir import Bind, Block, For, Make, Op, Source

from .builders import code, const, function, value, values


def scaled():
    x, r = values("x t")
    return function("scaled", [x], [Op(r, o.mul, (x, code("scale")))], r, names={"scale": 2.0})


def test_globals_are_the_users_and_live():
    f = scaled()
    g = load(emit([f]))
    assert g(3.0) == 6.0
    f.namespace.globals["scale"] = 5.0
    assert g(3.0) == 15.0
    assert g.__globals__ is f.namespace.globals
    assert g.__module__ == "user"


def test_closure_cells_are_the_users_and_live():
    f = scaled()
    cell = types.CellType(7.0)
    f.namespace.cells["scale"] = cell
    g = load(emit([f]))
    assert g(1.0) == 7.0
    cell.cell_contents = 8.0
    assert g(1.0) == 8.0


def test_nothing_is_written_into_the_users_module():
    x, r = values("x t")
    f = function("f", [x], [Op(r, np.sin, (x,))], r)
    f.namespace.globals.pop("np")
    before = dict(f.namespace.globals)
    assert load(emit([f]))(0.0) == 0.0
    assert f.namespace.globals == before


def test_defaults_are_the_users_own_objects():
    array = np.ones(2)

    def user(x, w=array, *, k=array):
        return x

    x, w, k, r = values("x w k t")
    r.type = ir.Type(ir.Kind.TUPLE)
    parameters = [
        ir.Parameter(x),
        ir.Parameter(w, default=code("unknown_name()")),
        ir.Parameter(k, keyword_only=True, default=code("unknown_name()")),
    ]
    g = load(emit([function("g", parameters, [Make(r, (w, k))], r)]), like=user)
    first, second = g(1.0)
    assert first is array and second is array


def test_the_source_is_shown_by_inspect_and_by_tracebacks():
    x, y, r = values("x y t")
    statements = [Bind(y, code("x.missing", x=x)), Op(r, o.mul, (y, const(2)))]
    g = load(emit([function("f", [x], statements, r)]))
    assert inspect.getsource(g) == "def f(x):\n    y = x.missing\n    return y * 2\n"
    assert g.__code__.co_filename.startswith("<s2sgrad f ")
    with pytest.raises(AttributeError) as caught:
        g(1.0)
    shown = "".join(traceback.format_tb(caught.value.__traceback__))
    assert "line 2, in f\n    y = x.missing" in shown


def test_the_source_is_forgotten_with_the_function():
    g = load(emit([scaled()]))
    filename = g.__code__.co_filename
    assert filename in linecache.cache
    del g
    assert filename not in linecache.cache


def test_functions_of_several_modules_keep_their_globals():
    u, t = values("u t")
    helper = function("helper", [u], [Op(t, o.mul, (u, code("scale")))], t, names={"scale": 10.0})
    x, y, r = values("x y t")
    call = ir.Call(y, ir.Callee("helper", (True,), helper), (x,))
    f = function("f", [x], [call, Op(r, o.add, (y, code("scale")))], r, names={"scale": 1.0})
    assert load(emit([f]))(2.0) == 21.0


def test_emission_is_fast():
    """Fifty lines in a few milliseconds: well below the thirty that the first call may spend on it."""
    x = value("x")
    statements, last = [], x
    for i in range(50):
        t, u, y = values(f"t t y{i % 7}")
        statements += [Op(t, np.sin, (last,)), Op(u, o.mul, (t, x)), Op(y, o.add, (u, last))]
        last = y
    f = function("f", [x], statements, last)
    load(emit([f]))
    taken = []
    for _ in range(5):
        start = time.process_time()
        load(emit([f]))
        taken.append(time.process_time() - start)
    assert min(taken) < 0.03


def test_a_loop_that_does_nothing_still_runs_its_iterator():
    x, r = values("x t")
    f = function("f", [x], [For([Source(value("i"), x)], [], Block([], ()))], x)
    assert emit([f]).source == "def f(x):\n    for i in x:\n        pass\n    return x\n"
    assert r.name == "t"
