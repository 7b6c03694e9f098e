"""Lists, dicts and tuples of numbers and arrays: made, changed, read, unpacked and gone through."""

import numpy as np

from .dtypes import Types
from .scope import is_array, is_number


def homogeneous(example) -> bool:
    """A list of numbers, or of arrays of one shape."""
    if type(example) is not list or not example:
        return False
    first = example[0]
    if is_number(first):
        return all(is_number(item) for item in example)
    return is_array(first) and all(is_array(item) and item.shape == first.shape for item in example)


def is_dict(example) -> bool:
    return type(example) is dict and example != {} and all(is_number(v) or is_array(v) for v in example.values())


def quoted(key) -> str:
    return f'"{key}"' if isinstance(key, str) else str(key)


def at(name, key) -> str:
    return f"{name}[{quoted(key)}]"


class Containers(Types):
    def more_statements(self) -> list:
        forms = super().more_statements()
        forms += [(2, self.make_list), (1, self.make_dict), (1, self.make_tuple)]
        if self.names(homogeneous):
            forms += [(4, self.change_list), (1, self.unpack_list)]
        if self.names(is_dict):
            forms.append((3, self.change_dict))
        return forms

    def more_numbers(self) -> list:
        forms = super().more_numbers()
        if self.names(homogeneous):
            forms.append((3, self.number_of_list))
        if self.names(is_dict):
            forms.append((2, self.number_of_dict))
        return forms

    def more_arrays(self, shape) -> list:
        forms = super().more_arrays(shape)
        found = []
        for name, example in self.examples.items():
            if homogeneous(example) and np.shape(example[0]) == shape and name not in self.varying:
                found += [f"{name}[{self.index(len(example))}]"]
            if is_dict(example):
                found += [at(name, key) for key, item in example.items() if np.shape(item) == shape]
        if found:
            forms.append((6, lambda depth: self.pick(found)))
        return forms

    # -------------------------------------------------------------------------------------------- made

    def make_list(self) -> None:
        name = self.fresh("xs")
        if self.happens(25):
            row, over = self.fresh("v"), self.pick(self.arrays() or ["None"])
            if over == "None" or self.examples[over].ndim != 1:
                return
            text = self.within(row, np.float64(0.5), lambda: self.number(1))
            self.execute(f"{name} = [{text} for {row} in {over}]")
        elif self.happens(25):
            i = self.fresh("i")
            self.bounds[i] = count = self.below(3) + 1
            text = self.within(i, 0, lambda: self.value(1)[0])
            del self.bounds[i]
            self.execute(f"{name} = [{text} for {i} in range({count})]")
        else:
            shape = self.some_shape() if self.happens(35) else None
            items = [self.number(1) if shape is None else self.array(shape, 1) for _ in range(self.below(3) + 1)]
            self.execute(f"{name} = [{', '.join(items)}]")

    def make_dict(self) -> None:
        items = [f'"{key}": {self.value(1)[0]}' for key in "abc"[: self.below(3) + 1]]
        self.execute(f"{self.fresh('d')} = {{{', '.join(items)}}}")

    def make_tuple(self) -> None:
        (one, first), (two, second) = self.value(1), self.value(1)
        pair = self.fresh("p")
        self.execute(f"{pair} = ({one}, {two})")
        if self.happens(60):
            self.execute(f"{self.fresh(first)}, {self.fresh(second)} = {pair}")

    # ----------------------------------------------------------------------------------------- changed

    def change_list(self) -> None:
        name = self.pick(self.names(homogeneous))
        first = self.examples[name][0]
        item = self.like(first, 1)
        fixed = name in self.varying
        grows = [f"{name}.append({item})"] * 4 + [f"{name}.extend([{item}, {self.like(first, 0)}])"]
        grows += [f"{name}.insert(0, {item})", f"{name} += [{item}]"]
        if any(self.examples[name] is example for example in self.gone_through):
            grows = []
        forms = grows[:1] if fixed else list(grows)
        if not fixed:
            i = self.index(len(self.examples[name]))
            forms += [f"{name}[{i}] = {item}", f"{name}[{i}] = {item}", f"{name}[{i}] *= {self.number(1)}"]
            forms += [f"{name}.reverse()", f"{self.fresh('xs')} = {name}[:{self.below(3) + 1}]"]
            forms += [f"{self.fresh('xs')} = {name} + [{item}]", f"{self.fresh('xs')} = {name} * 2"]
            forms += [f"{self.fresh('xs')} = {name}"]
            if len(self.examples[name]) > 1 and not self.depth:
                taken = self.fresh("u" if is_array(first) else "s")
                forms += [
                    f"{taken} = {name}.pop()",
                    f"{taken} = {name}.pop({i})",
                    f"del {name}[{i}]",
                    f"del {name}[1:]",
                ]
                forms.append(f"{name}[1:] = [{item}, {item}]")
                forms += [f"{name}[:1] = {name}[1:]"] if grows else []
            if self.happens(20):
                forms = [f"{name}[:1] = [{item}]", f"{name}[:] = {name}[::-1]", f"{name}[-1:] = [{item}]"]
            if grows:
                forms += [f"{name}.append({item})\ndel {name}[0]", f"{name}.insert(0, {name}.pop())"]
            if is_array(first) and first.size:
                forms += [f"{name}[{i}][{self.below(len(first))}] = {self.number(1)}"] * 2
        text = self.pick(forms or ["pass"])
        if self.depth and text in grows:
            self.varying.add(name)
            self.write(text)  # the example keeps its length
        else:
            self.execute(text)

    def change_dict(self) -> None:
        name = self.pick(self.names(is_dict))
        example = self.examples[name]
        key = self.pick(list(example))
        item = self.like(example[key], 1)
        place = at(name, key)
        forms = [f"{place} = {item}"] * 3 + [f"{place} += {item}", f"{name}.update({{{quoted(key)}: {item}}})"]
        if self.happens(10):
            forms = [f"{self.fresh('u' if is_array(example[key]) else 's')} = {name}.setdefault({quoted(key)}, {item})"]
        if not self.depth:
            forms += [f'{name}["e"] = {self.value(1)[0]}', f"{self.fresh('d')} = dict({name})"]
            forms += [f"{self.fresh('d')} = {{k: v * {self.literal()} for k, v in {name}.items()}}"]
            if len(example) > 1 and not any(example is e for e in self.gone_through):
                taken = self.fresh("u" if is_array(example[key]) else "s")
                forms += [f"{taken} = {name}.pop({quoted(key)})", f"del {place}"]
        if is_array(example[key]) and example[key].size:
            forms += [f"{place}[{self.below(len(example[key]))}] = {self.number(1)}"]
        self.execute(self.pick(forms))

    def unpack_list(self) -> None:
        name = self.pick(self.names(homogeneous))
        if name in self.varying:
            return
        example = self.examples[name]
        stem = "u" if is_array(example[0]) else "s"
        if self.happens(30):
            self.execute(f"{self.fresh(stem)}, *{self.fresh('xs')} = {name}")
        else:
            targets = ", ".join(self.fresh(stem) for _ in example)
            self.execute(f"{targets}{',' if len(example) == 1 else ''} = {name}")

    # -------------------------------------------------------------------------------------------- read

    def number_of_list(self, depth) -> str:
        name = self.pick(self.names(homogeneous))
        first = self.examples[name][0]
        if is_array(first):
            return self.pick([f"np.sum({name})", f"np.sum(np.array({name}))", f"np.sum(sum({name}))", f"len({name})"])
        forms = [f"sum({name})", f"np.sum(np.array({name}))", f"len({name})", f"max({name})", f"{name}[-1]"]
        v = self.fresh("v")
        forms += [f"sum({self.within(v, np.float64(0.5), lambda: self.number(1))} for {v} in {name})"]
        if name not in self.varying:
            forms += [f"{name}[{self.index(len(self.examples[name]))}]"] * 3
        return self.pick(forms)

    def number_of_dict(self, depth) -> str:
        name = self.pick(self.names(is_dict))
        key = self.pick(list(self.examples[name]))
        item = at(name, key)
        if is_array(self.examples[name][key]):
            return self.pick([f"np.sum({item})", f"np.sum({item} ** 2)"])
        forms = [item, item, item, f"{name}.get({quoted(key)}, 0.0)", f"{name}.get('none', {self.number(0)})"]
        if all(is_number(value) for value in self.examples[name].values()):
            forms += [f"sum({name}.values())", f"sum(v * len({name}) for k, v in {name}.items() if k != {quoted(key)})"]
        return self.pick(forms)

    def terms_of(self, name, example) -> list:
        if homogeneous(example):
            return [f"sum(np.sum(v) for v in {name})" if is_array(example[0]) else f"sum({name})"]
        if is_dict(example):
            key = self.pick(list(example))
            return [f"np.sum({at(name, key)})"] if is_array(example[key]) else [at(name, key)]
        return super().terms_of(name, example)
