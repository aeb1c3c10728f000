"""Random programs about lists: lists that are replaced while they are in use, rows, parameters that are lists, copies, and the order of
evaluation. All integers stay small. The compiler may refuse a program, with one of the messages in `REFUSALS`."""

import random

#: Parts of the messages about lists whose changes the compiled form cannot follow.
REFUSALS = [
    "while it is in use here",
    "while a row of it is in use here",
    "may have changed after",
    "gets a new list before this element is assigned",
    "is read from other lists",
    "is a copy of a row",
    "a loop gives",
]
_N = 3
#: Part that all programs have in common.
START = f"""n = {_N}
table = [4, 1, 7]
board = [[1, 2, 3], [4, 5, 6]]


def total(values):
    result = 1
    for value in values:
        result = (result * 3 + value) % 101
    return result


def pick(values, k):
    return values[k % n]


def bump(values, k):
    values[k % n] = (values[k % n] + k) % 101
    return values[0]


def through(values, k):
    return bump(values, k) + pick(values, k + 1)


def fresh(values, k):
    values = values[:]
    values[k % n] += 10
    return total(values)


def maybe(values, k):
    if k % 2 == 0:
        values = [value + k for value in values]
    return total(values)


def both(first, second, k):
    first[k % n] = (second[0] + k) % 101
    return total(second)


def halve(values, k):
    values[k % n] = values[(k + 1) % n] // 1 / 2
    return int(values[0])


class World:
    actions = 3
    limit = 30
    moves = [2, 0, 1]

    def reset(self):
        self.i, self.j = randint(0, 9), 1
        self.v = [self.i, 2, 3]
        self.w = [k * 2 for k in range(n)]
        self.f = [0.5, 1.0, 1.5]
        self.g = [[0, 1, self.i], [3, 4, 5]]

    def renew(self, k):
        if k % 3 > 0:
            self.v = [k % 101, self.v[0], self.v[2]]
        return k

    def always(self, k):
        self.v = [k % 101 + x % 50 for x in self.v]
        return self.v[1]

    def touch(self, k):
        self.v[k % n] = (self.v[0] + k) % 101
        return self.i

    def rows(self, k):
        self.g[k % 2][k % n] = (self.g[0][0] + k) % 101
        return k

    def given(self, values, k):
        self.v = [9, k % 101, 8]
        return values[k % n] + self.v[0]

    def count(self, k):
        self.i = (self.i + k) % 101
        return self.i
"""


class Program:
    """Writes one program."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.lines: list[str] = []
        self.counters: list[str] = []
        self.rows: list[str] = []
        self.loops = 0

    def text(self) -> str:
        self.add(1, "def step(self, action):")
        self.add(2, "a = [action, self.i, 3]", "b = [self.j] * n", "c = [5, action, 7]", "k = action")
        self.block(2, 3, self.rng.randint(3, 7))
        self.add(2, "self.j = (total(a) + total(b) + k) % 101", f"return float({self.whole(1)}), {self.truth(1)}", "")
        self.add(1, "def observe(self):")
        self.add(2, "parts = [float(x) for x in self.v + self.w] + [float(x) for row in self.g for x in row]")
        self.add(2, "return [float(self.i), float(self.j)] + self.f + parts")
        return START + "\n" + "\n".join(self.lines) + "\n"

    def add(self, depth: int, *lines: str) -> None:
        self.lines.extend("    " * depth + line if line else "" for line in lines)

    def pick(self, *options: str) -> str:
        return self.rng.choice(options)

    def block(self, depth: int, levels: int, count: int) -> None:
        rows = list(self.rows)
        for _ in range(count):
            self.statement(depth, levels)
        self.rows = rows

    def statement(self, depth: int, levels: int) -> None:
        simple = [self.set_number, self.set_list, self.set_element, self.several, self.row, self.call, self.grid]
        nested = [self.branch, self.loop, self.loop]
        self.rng.choice(simple + nested if levels > 0 else simple)(depth, levels)

    def set_number(self, depth: int, _: int) -> None:
        self.add(depth, f"{self.pick('self.i', 'self.j', 'k')} {self.pick('=', '=', '+=')} ({self.whole(3)}) % 101")

    def set_list(self, depth: int, _: int) -> None:
        self.add(depth, f"{self.pick('self.v', 'self.v', 'self.w', 'a', 'b')} = {self.new_list(2)}")

    def set_element(self, depth: int, _: int) -> None:
        target = self.pick(f"self.v[{self.index(2)}]", f"self.w[{self.index(1)}]", f"a[{self.index(2)}]", f"b[{self.index(1)}]")
        self.add(depth, self.pick(f"{target} = ({self.whole(3)}) % 101", f"{target} += ({self.whole(2)}) % 11"))

    def several(self, depth: int, _: int) -> None:
        a, b = self.whole(2), self.whole(2)
        line = self.pick(
            f"self.i, self.v[self.i % n] = ({a}) % 101, ({b}) % 101",
            f"self.v[self.i % n], self.i = ({a}) % 101, ({b}) % 101",
            f"k, a[k % n], self.w[a[k % n] % n] = ({a}) % 101, ({b}) % 101, k",
            f"self.i = self.v[self.i % n] = ({a}) % 101",
            f"a[{self.index(1)}], a[{self.index(1)}] = a[{self.index(1)}], a[{self.index(1)}]",
            f"self.i, k, self.j = {self.pick('self.v', 'a', 'self.g[0]', 'self.w[:]')}",
        )
        self.add(depth, line)

    def row(self, depth: int, _: int) -> None:
        name = f"r{len(self.lines)}"
        self.add(depth, f"{name} = {self.pick('self.g', 'self.g', 'board')}[{self.whole(1)} % 2]{self.pick('', '[:]')}")
        self.rows.append(name)

    def grid(self, depth: int, _: int) -> None:
        line = self.pick(
            f"self.g[{self.whole(1)} % 2][{self.index(1)}] = ({self.whole(2)}) % 101",
            f"self.g[{self.whole(1)} % 2][{self.index(1)}] += 1",
            "self.g = [row[:] for row in self.g]",
            f"self.g = [{self.new_list(1)}, self.g[{self.whole(1)} % 2][:]]",
            f"self.g = [[x + {self.pick('0', '1')} for x in row] for row in board]",
        )
        self.add(depth, line, "self.g = [[x % 101 for x in row] for row in self.g]" if self.rng.random() < 0.2 else "self.j += 0")

    def call(self, depth: int, _: int) -> None:
        self.add(depth, f"k = ({self.changing(2)}) % 101")

    def branch(self, depth: int, levels: int) -> None:
        self.add(depth, f"if {self.truth(2)}:")
        self.block(depth + 1, levels - 1, self.rng.randint(1, 2))
        if self.rng.random() < 0.5:
            self.add(depth, "else:")
            self.block(depth + 1, levels - 1, 1)

    def loop(self, depth: int, levels: int) -> None:
        name = f"x{self.loops}"
        self.loops += 1
        listed = self.list(1)
        head = self.rng.choice(
            [
                f"for {name} in {listed}:",
                f"for {name} in {listed}:",
                f"for e{name}, {name} in enumerate({listed}):",
                f"for {name} in range(self.i % 4):",
                f"for {name} in range(n):",
                f"for row{name} in {self.pick('self.g', 'self.g', 'board', 'self.g[:]')}:",
                f"while {name} > 0:",
            ]
        )
        if head.startswith("while"):
            self.add(depth, f"{name} = self.i % 4")
        self.add(depth, head)
        if head.startswith("while"):
            self.add(depth + 1, f"{name} -= 1")
        if head.startswith("for row"):
            self.rows.append(f"row{name}")
        else:
            self.counters.append(name)
        self.block(depth + 1, levels - 1, self.rng.randint(1, 2))
        if self.rng.random() < 0.3:
            self.add(depth + 1, f"if {self.truth(1)}:", f"    {self.pick('break', 'continue')}")
            self.block(depth + 1, 0, 1)
        if head.startswith("for row"):
            self.rows.pop()
        else:
            self.counters.pop()

    def index(self, depth: int) -> str:
        return self.pick(f"({self.whole(depth)}) % n", f"({self.whole(depth)}) % n - n", "0", "-1", "2")

    def name(self) -> str:
        """Returns the name of a list that can be changed."""
        return self.pick("self.v", "self.v", "self.w", "a", "b")

    def list(self, depth: int) -> str:
        """Returns a list of three integers."""
        simple = [self.name(), self.name(), "table", "self.moves", "c", *self.rows]
        if depth <= 0 or self.rng.random() < 0.4:
            return self.rng.choice(simple)
        return self.rng.choice(
            [
                f"self.g[{self.whole(depth - 1)} % 2]",
                f"board[{self.whole(depth - 1)} % 2]",
                f"({self.list(depth - 1)} if {self.truth(depth - 1)} else {self.list(depth - 1)})",
                self.new_list(depth - 1),
            ]
        )

    def new_list(self, depth: int) -> str:
        of = self.list(depth - 1)
        return self.rng.choice(
            [
                f"[({self.whole(depth - 1)}) % 101, ({self.whole(depth - 1)}) % 101, {self.rng.randint(0, 9)}]",
                f"[(x + {self.whole(depth - 1)}) % 101 for x in {of}]",
                f"([({self.whole(depth - 1)}) % 101] * n)",
                f"{self.name()}[:]",
                f"([{self.rng.randint(0, 9)}] + [({self.whole(depth - 1)}) % 101, ({self.whole(depth - 1)}) % 101])",
            ]
        )

    def changing(self, depth: int) -> str:
        """Returns a call that changes lists."""
        k = self.whole(depth - 1)
        return self.rng.choice(
            [
                f"self.renew({k})",
                f"self.renew({k})",
                f"self.always({k})",
                f"self.touch({k})",
                f"self.rows({k})",
                f"self.count({k})",
                f"self.given({self.list(depth - 1)}, {k})",
                f"bump({self.name()}, {k})",
                f"through({self.name()}, {k})",
                f"fresh({self.list(depth - 1)}, {k})",
                f"maybe({self.list(depth - 1)}, {k})",
                f"both({self.name()}, {self.name()}, {k})",
                f"halve(self.f, {k})",
            ]
        )

    def whole(self, depth: int) -> str:
        """Returns a small integer."""
        rng = self.rng
        if depth <= 0 or rng.random() < 0.15:
            return rng.choice([str(rng.randint(0, 9)), "self.i", "k", "action", *self.counters])
        a, b, of = self.whole(depth - 1), self.whole(depth - 1), self.list(depth - 1)
        return rng.choice(
            [
                f"({a} + {b})",
                f"({a} * {b}) % 101",
                f"{of}[{self.index(depth - 1)}]",
                f"self.v[{self.index(depth - 1)}]",
                f"self.g[{a} % 2][{self.index(depth - 1)}]",
                f"total({of})",
                f"pick({of}, {a})",
                f"{rng.choice(['sum', 'min', 'max', 'len'])}({of})",
                f"total({of} + [{a}])",
                f"int({of} == [{a}, {b}, 3])",
                f"int({a} in {of})",
                f"sum([y * {a} % 7 for y in {of}])",
                f"({a} if {self.truth(depth - 1)} else {b})",
                self.changing(depth - 1),
                self.changing(depth - 1),
            ]
        )

    def truth(self, depth: int) -> str:
        a, b = self.whole(depth - 1), self.whole(depth - 1)
        return self.pick(
            f"({a} {self.pick('<', '>=', '==')} {b})",
            f"({a} < {b} <= {self.whole(depth - 1)})",
            f"({self.list(depth - 1)} != {self.list(depth - 1)})",
            f"({a} % 2 == 0 and {b} > 3)",
        )


def program(seed: int) -> str:
    """Returns the text of a random program. Equal seeds give equal programs."""
    return Program(seed).text()
