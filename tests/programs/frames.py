"""Functions that call a program of the corpus from within other code: loops, branches, closures, views."""

import itertools
import linecache

import numpy as np

FRAMES = {
    "twice": "return F({all}) + 2 * F({all})",
    "loop": "s = 0.0\nfor i in range(3):\n    s += F({all}) * (1 + 0.5 * i)\nreturn s",
    "attempt": "try:\n    r = F({all})\nexcept ValueError:\n    r = 0.0\nreturn r * 2",
    "closure": "h = lambda: F({all})\nr = h()\nreturn r * h()",
    "branch": "if {x} is not None:\n    r = F({all})\nelse:\n    r = 0.0\nreturn r * 3",
    "starred": "xs = [{all}]\nr = F(*xs)\nreturn r * r",
    "comprehension": "return sum([F({all}) * k for k in (1.0, 2.0)])",
    "dict": 'd = {{}}\nfor k in "ab":\n    d[k] = F({all})\nreturn d["a"] * d["b"]',
    "while": "k = 0\ns = 0.0\nwhile True:\n    s = s + F({all})\n    k += 1\n    if k > 2:\n        break\nreturn s",
    "early": "r = F({all})\nfor i in range(4):\n    if i == 2:\n        return r * i\n    r = r * 1.5\nreturn r",
    "scaled": "y = {x} * 1.1\nreturn F({with_y}) * 2",
}
ARRAYS = {  # in these the first argument in question is an array
    "changed": "r = F({all})\n{x} *= 1.5\nreturn r * F({all})",
    "copied": "y = {x}.copy()\nr = F({with_y})\nreturn r + np.sum(y * {x})",
    "part": "big = np.concatenate(({x}, {x}))\ny = big[: len({x})]\nr = F({with_y})\nreturn r + np.sum(big**2)",
    "strided": "big = np.stack(({x}, {x}), axis=-1)\ny = big[..., 0]\nr = F({with_y})\nreturn r * np.sum(big**2)",
}
_numbers = itertools.count()


def frames_of(program) -> list:
    """The names of the frames that a program can stand in."""
    places = program.argnums if isinstance(program.argnums, tuple) else (program.argnums,)
    if program.kwargs or not all(isinstance(n, int) and 0 <= n < len(program.args) for n in places):
        return []
    x = program.args[places[0]]
    if not isinstance(x, (float, np.floating, np.ndarray)) or np.asarray(x).dtype.kind != "f":
        return [name for name in FRAMES if name != "scaled"]
    return [*FRAMES, *ARRAYS] if np.ndim(x) else list(FRAMES)


def framed(program, name):
    """The function of the frame `name` around that of a program, as if it stood in a file."""
    names = [f"p{i}" for i in range(len(program.args))]
    place = program.argnums[0] if isinstance(program.argnums, tuple) else program.argnums
    x = names[place]
    fields = {
        "x": x,
        "all": ", ".join(names),
        "with_y": ", ".join("y" if n == x else n for n in names),
    }
    body = (FRAMES | ARRAYS)[name].format(**fields)
    text = f"def f({fields['all']}):\n    " + body.replace("\n", "\n    ") + "\n"
    file = f"<frame {next(_numbers)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    scope = {"np": np, "F": program.function, "__name__": "frame"}
    exec(compile(text, file, "exec"), scope)
    return scope["f"]
