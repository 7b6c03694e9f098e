"""Branches and loops, nested in any way, left by `break`, `continue` and `return`."""

import re

import numpy as np

from .containers import Containers, homogeneous, is_dict
from .scope import is_array, is_number, kind

DEEPEST = 3


class Flow(Containers):
    loops = 0  # around what is written now
    result = None  # writes the expression that the function returns early

    def more_statements(self) -> list:
        forms = super().more_statements()
        if self.depth < DEEPEST:
            forms += [(5, self.branch), (8, self.loop), (3, self.while_loop), (1, self.errstate), (1, self.tried)]
            forms += [(1, self.attempt), (1, self.matched), (1, self.search)]
        if self.depth and self.loops:
            forms += [(2, self.leave)]
        elif self.depth and self.result:
            forms += [(1, self.leave)]
        return forms

    def body(self) -> None:
        self.statement()
        while self.happens(65 - 15 * self.depth):
            self.statement()

    # ---------------------------------------------------------------------------------------- branches

    def branch(self) -> None:
        test = self.test()
        if self.happens(10):
            name = self.fresh("s")
            test = f"({name} := {self.number(1)}) {self.pick(['>', '<'])} {self.literal()}"
            self.examples[name] = np.float64(0.5)
        self.write(f"if {test}:")
        arms = [self.block(self.body)]
        if self.happens(20):
            self.write(f"elif {self.test()}:")
            arms.append(self.block(self.body))
        if self.happens(55):
            self.write("else:")
            arms.append(self.block(lambda: self.otherwise(arms[0])))
            for name, example in arms[-1].items():  # what all ways bind is there afterwards
                if all(name in arm and kind(arm[name]) == kind(example) for arm in arms):
                    self.examples[name] = example

    def otherwise(self, first: dict) -> None:
        """The last arm of a branch, which likes to bind what the first one has bound."""
        for name, example in first.items():
            if (is_number(example) or is_array(example)) and self.happens(50):
                self.execute(f"{name} = {self.like(example, 1)}")
        self.body()

    def errstate(self) -> None:
        self.write('with np.errstate(all="ignore"):')
        self.examples |= self.block(self.body)

    def tried(self) -> None:
        """A `try` block whose handler raises, or that has something to do finally, or both."""
        self.write("try:")
        inside = self.block(self.body)
        kinds = self.one_of([(2, lambda: "except"), (1, lambda: "finally"), (1, lambda: "except finally")])()
        if "except" in kinds:
            self.write("except (ZeroDivisionError, FloatingPointError) as error:")
            self.block(lambda: self.write("raise ValueError('divided') from error"))
        if "finally" in kinds:
            self.write("finally:")
            self.block(self.one_of([(4, lambda: self.write("str(0)")), (1, self.augment)]))
        self.examples |= inside

    def attempt(self) -> None:
        """A `try` block whose handler goes on."""

        def raising():
            step = self.statement if self.happens(20) else self.assign  # which changes nothing
            if self.happens(70):
                step()
            if self.happens(70):
                self.write(f"if {self.test()}:")
                self.write("    raise ValueError('here')")
            step()

        self.write("try:")
        arms = [self.block(raising)]
        self.write(self.pick(["except ValueError:", "except (ValueError, ZeroDivisionError):", "except Exception:"]))
        if self.happens(80):
            arms.append(self.block(lambda: self.otherwise(arms[0])))
        else:
            arms.append(self.block(lambda: self.write("pass")))
        if self.happens(15):
            self.write("else:")
            self.block(self.body)
        for name, example in arms[0].items():
            if name in arms[1] and kind(arms[1][name]) == kind(example):
                self.examples[name] = example

    def matched(self) -> None:
        """A `match` on a number that is counted, on a text, or on a pair."""
        i = self.pick([*self.bounds, f"int({self.test()})"])
        subject, patterns = self.one_of(
            [
                (12, (f"{i} % 3", ["0", "1 | 2", "2"])),
                (6, (f'"abc"[{i} % 3]', ['"a"', '"b" | "c"'])),
                (1, (f"({i}, {i} % 2)", ["(0, _)", "(k, 1) if k > 1", "(k, 0)"])),
            ]
        )
        self.write(f"match {subject}:")
        self.indent += 1
        for pattern in [*patterns[: self.below(len(patterns)) + 1], "_"]:
            self.write(f"case {pattern}:")
            self.block(self.body)
        self.indent -= 1

    def search(self) -> None:
        """Two loops that look for something, and leave when they have found it."""
        i, j, found = self.fresh("i"), self.fresh("i"), self.fresh("s")
        self.execute(f"{found} = {self.number(1)}")
        if found not in self.examples:
            return
        self.write(f"for {i} in range({self.below(3) + 1}):")

        def inner():
            self.statement()
            self.write(f"if {self.test()}:")
            leave = f"return {self.result()}" if self.result and self.happens(40) else "break"
            self.block(lambda: [self.execute(f"{found} = {self.number(1)}"), self.write(leave)])

        def outer():
            self.write(f"for {j} in range({i} + {self.below(3)}):")
            self.turns({j: 0}, {j: 3}, inner)
            if self.happens(60):
                self.write("else:")
                self.block(lambda: [self.statement(), self.write("continue")])
                self.write("break")

        self.turns({i: 0}, {i: 3}, outer)

    # ------------------------------------------------------------------------------------------- loops

    def loop(self) -> None:
        forms = [(6, self.over_range), (1, self.over_numbers)]
        if self.names(homogeneous):
            forms.append((3, self.over_list))
        if self.names(is_dict):
            forms.append((1, self.over_dict))
        if self.arrays():
            forms += [(2, self.over_array), (1, self.over_pairs)]
        header, bound, bounds = self.one_of(forms)()
        self.write(f"for {header}:")
        gone_through = [example for name, example in self.examples.items() if re.search(rf"\b{name}\b", header)]
        self.gone_through += gone_through
        self.turns(bound, bounds)
        del self.gone_through[len(self.gone_through) - len(gone_through) :]
        if self.happens(6):
            self.write("else:")
            self.block(self.body)

    def turns(self, bound: dict, bounds: dict, fill=None) -> None:
        """The body of a loop, in which these names are bound."""

        def turn():
            self.bounds.update(bounds)
            self.fixed |= set(bound)
            self.loops += 1
            (fill or self.body)()
            self.loops -= 1

        self.block(turn, **bound)

    def over_range(self):
        i = self.fresh("i")
        counts = [2, 3, 1, 4, 0]
        lengths = [f"len({a})" for a in [*self.arrays(), *self.lists()]]
        given = [(n, e) for n, e in self.examples.items() if type(e) is int and n in self.bounds and e < 5]
        stop = self.pick(counts[: self.pick([2, 4, 4, 5])])
        text = str(stop)
        if lengths and self.happens(30):
            text = self.pick(lengths)
            stop = self.evaluate(text)
        elif given and self.happens(30):
            text, _ = self.pick(given)
            stop = self.bounds[text]
        forms = [f"range({text})"] * 4 + [f"range(1, {text})", f"reversed(range({text}))", f"range({text} - 1, -1, -1)"]
        forms += [f"range(0, {text}, 2)"]
        return f"{i} in {self.pick(forms)}", {i: 0}, {i: max(stop, 1)}

    def lists(self) -> list:
        return [name for name in self.names(homogeneous) if name not in self.varying]

    def over_numbers(self):
        v = self.fresh("c")
        literals = ", ".join(self.literal() for _ in range(self.below(3) + 1))
        return f"{v} in [{literals}]", {v: 0.5}, {}

    def over_array(self):
        name = self.pick(self.arrays())
        element = self.element(self.examples[name])
        v, i = self.fresh("r" if is_array(element) else "v"), self.fresh("i")
        if self.happens(40):
            count = max(len(self.examples[name]), 1)
            return f"{i}, {v} in enumerate({name})", {i: 0, v: element}, {i: count}
        return f"{v} in {name}", {v: element}, {}

    def element(self, example):
        return example[0] if len(example) else np.ones(example.shape[1:])[()]

    def over_pairs(self):
        one, two = self.pick(self.arrays()), self.pick(self.arrays())
        v, w = self.fresh("v"), self.fresh("v")
        bound = {v: self.element(self.examples[one]), w: self.element(self.examples[two])}
        return f"{v}, {w} in zip({one}, {two})", bound, {}

    def over_list(self):
        name = self.pick(self.names(homogeneous))
        v = self.fresh("e")
        element = self.examples[name][0]
        if self.happens(30):
            i = self.fresh("i")
            bounds = {} if name in self.varying else {i: len(self.examples[name])}
            return f"{i}, {v} in enumerate({name})", {i: 0, v: element}, bounds
        return f"{v} in {self.pick([name, name, f'reversed({name})', f'{name}[:2]'])}", {v: element}, {}

    def over_dict(self):
        name = self.pick(self.names(is_dict))
        items = list(self.examples[name].values())
        k, v = self.fresh("k"), self.fresh("v")
        if all(kind(item) == kind(items[0]) for item in items):
            if self.happens(50):
                return f"{v} in {name}.values()", {v: items[0]}, {}
            return f"{k}, {v} in {name}.items()", {k: "a", v: items[0]}, {}
        return f"{k} in {name}", {k: "a"}, {}

    def while_loop(self) -> None:
        k = self.fresh("k")
        most = self.below(4) + 1
        self.write(f"{k} = 0")
        forms = [f"{k} < {most}", f"{k} < {most} and {self.comparison(1)}", f"{self.comparison(1)} and {k} < {most}"]
        endless = self.happens(20)
        test = "True" if endless else self.pick(forms)
        leave = f"if {k} > {most} or {self.comparison(1)}:"
        self.write(f"while {test}:")
        self.examples[k] = 0
        self.fixed.add(k)

        def fill():
            self.write(f"{k} += 1")
            if endless:
                self.write(leave)
                self.write("    break")
            self.bounds[k] = most + 2
            self.loops += 1
            self.body()
            self.loops -= 1

        self.block(fill)
        if self.happens(8):
            self.write("else:")
            self.block(self.body)

    def leave(self) -> None:
        """`break`, `continue` or `return`, mostly under a condition."""
        forms = [(3, "break"), (3, "continue")] if self.loops else []
        if self.result:
            forms.append((1, None))
        form = self.one_of(forms)
        how = form or f"return {self.result()}"
        self.write(f"if {self.test()}:")
        self.write(f"    {how}")
