"""Random legal programs of the language for environments. Every number is a small integer or a multiple of a small power of two, so that
plain Python and the compiled form compute equal results."""

import random

#: Maximum absolute value of a variable.
_MOST = 50
#: Maximum absolute value of an integer expression. The language's integers have 32 bits.
_LARGEST = 1 << 24
#: Maximum number of significant bits of a float expression, below those of a 32-bit float.
_BITS = 22
_INTS, _FLOATS, _BOOLS = ["self.i0", "self.i1", "i2"], ["self.f0", "self.f1", "f2"], ["self.b0", "b1"]


class Program:
    """Writes one program."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.n = self.rng.randint(2, 5)
        self.lines: list[str] = []
        self.counters: list[str] = []
        self.helper = False

    def text(self) -> str:
        pick = self.rng.randint
        self.add(0, f"n = {self.n}", f"table = {[pick(-9, 9) for _ in range(self.n)]}", "", "", "class World:")
        self.add(1, "actions = 3", f"limit = {pick(5, 40)}", "", "def reset(self):")
        low = pick(-40, 5)
        self.add(2, f"self.i0, self.i1 = randint({low}, {low + pick(1, 12)}), 3")
        self.add(2, "self.f0, self.f1 = floor(uniform(0.0, 1.0) * 8.0) / 4.0, -1.5")
        self.add(2, "self.b0 = self.i0 > 0", "self.ints = [i * 2 - self.i0 for i in range(n)]")
        self.add(2, "self.floats = [0.25] * n", "self.grid = [[0, 1, 2], [3, 4, self.i0]]", "")
        self.add(1, "def mix(self, a, b):")
        self.add(2, "if a > b:", "    return a - b", "self.i1 = clip(self.i1 + a, -50, 50)", "return b % 7", "")
        self.helper = True
        self.add(1, "def step(self, action):")
        self.add(2, "i2, f2, b1 = action, 0.5, False")
        self.block(2, 3, pick(3, 8))
        self.add(2, f"return {self.number(2)}, {self.truth(2)}", "")
        self.add(1, "def observe(self):")
        parts = "[float(x) for x in self.ints] + [float(x) for row in self.grid for x in row]"
        self.add(2, f"return [float(self.i0), float(self.i1), self.f0, self.f1, float(self.b0)] + self.floats + {parts}")
        return "\n".join(self.lines) + "\n"

    def add(self, depth: int, *lines: str) -> None:
        self.lines.extend("    " * depth + line if line else "" for line in lines)

    def block(self, depth: int, levels: int, count: int) -> None:
        for _ in range(count):
            self.statement(depth, levels)

    def statement(self, depth: int, levels: int) -> None:
        simple = [self.set_int, self.set_float, self.set_bool, self.set_element, self.change, self.swap, self.call]
        nested = [self.branch, self.count_loop, self.list_loop, self.while_loop]
        (self.rng.choice(simple + nested) if levels > 0 else self.rng.choice(simple))(depth, levels)

    def set_int(self, depth: int, _: int) -> None:
        self.add(depth, f"{self.rng.choice(_INTS)} = {self.whole_value()}")

    def set_float(self, depth: int, _: int) -> None:
        self.add(depth, f"{self.rng.choice(_FLOATS)} = {self.float_value()}")

    def set_bool(self, depth: int, _: int) -> None:
        self.add(depth, f"{self.rng.choice(_BOOLS)} = {self.truth(3)}")

    def set_element(self, depth: int, _: int) -> None:
        target, value = self.rng.choice(
            [
                (f"self.ints[{self.index()}]", self.whole_value()),
                (f"self.floats[{self.index()}]", self.float_value()),
                (f"self.grid[{self.whole(1)[0]} % 2][{self.whole(1)[0]} % 3]", self.whole_value()),
            ]
        )
        self.add(depth, f"{target} = {value}")

    def change(self, depth: int, _: int) -> None:
        name = self.rng.choice(_INTS)
        self.add(depth, f"{name} {self.rng.choice(['+=', '-='])} {self.whole(2)[0]}", f"{name} = clip({name}, -{_MOST}, {_MOST})")

    def swap(self, depth: int, _: int) -> None:
        a, b = self.rng.sample(self.rng.choice([_INTS, _FLOATS]), 2)
        self.add(depth, f"{a}, {b} = {b}, {a}")

    def call(self, depth: int, _: int) -> None:
        self.add(depth, f"i2 = clip(self.mix({self.whole_value()}, {self.whole_value()}), -{_MOST}, {_MOST})")

    def branch(self, depth: int, levels: int) -> None:
        self.add(depth, f"if {self.truth(3)}:")
        self.block(depth + 1, levels - 1, self.rng.randint(1, 3))
        if self.rng.random() < 0.4:
            self.add(depth, f"elif {self.truth(2)}:")
            self.block(depth + 1, levels - 1, 1)
        if self.rng.random() < 0.5:
            self.add(depth, "else:")
            self.block(depth + 1, levels - 1, self.rng.randint(1, 2))
        elif self.rng.random() < 0.2:
            self.add(depth, f"if {self.truth(2)}:", f"    return {self.number(1)}, {self.truth(1)}")

    def loop(self, depth: int, levels: int, head: str, counter: str) -> None:
        """Writes a loop. Its body may use the counter and may leave the loop early."""
        self.add(depth, head)
        self.counters.append(counter)
        self.block(depth + 1, levels - 1, self.rng.randint(1, 2))
        if self.rng.random() < 0.4:
            self.add(depth + 1, f"if {self.truth(2)}:", f"    {self.rng.choice(['break', 'continue'])}")
            self.block(depth + 1, 0, 1)
        self.counters.pop()

    def count_loop(self, depth: int, levels: int) -> None:
        name = f"k{len(self.counters)}"
        span = self.rng.choice(["n", "1, n", "n - 1, -1, -1", f"{self.whole(1)[0]} % 4"])
        self.loop(depth, levels, f"for {name} in range({span}):", name)

    def list_loop(self, depth: int, levels: int) -> None:
        name = f"k{len(self.counters)}"
        values = self.rng.choice(["self.ints", "table"])
        head = f"for e{name}, {name} in enumerate({values}):" if self.rng.random() < 0.5 else f"for {name} in {values}:"
        self.loop(depth, levels, head, name)

    def while_loop(self, depth: int, levels: int) -> None:
        name = f"k{len(self.counters)}"
        self.add(depth, f"{name} = n")
        self.add(depth, f"while {name} > 0 and {self.truth(1)}:", f"    {name} -= 1")
        self.counters.append(name)
        self.block(depth + 1, levels - 1, 1)
        self.counters.pop()

    def index(self) -> str:
        inside = f"({self.whole(2)[0]}) % n"
        return self.rng.choice([inside, inside, f"-1 - {inside}"])

    def whole_value(self) -> str:
        return f"clip({self.whole(3)[0]}, -{_MOST}, {_MOST})"

    def float_value(self) -> str:
        return f"clip(floor({self.real(3)[0]} * 4.0) / 4.0, -{_MOST}.0, {_MOST}.0)"

    def number(self, depth: int) -> str:
        return self.rng.choice([f"float({self.whole(depth)[0]})", self.real(depth)[0]])

    def whole(self, depth: int) -> tuple[str, int]:
        """Returns an integer expression and the largest absolute value that it can have."""
        rng = self.rng
        if depth == 0 or rng.random() < 0.2:
            number = rng.randint(-9, 9)
            return rng.choice([(str(number), abs(number)), (rng.choice(_INTS + self.counters), _MOST), ("action", 2), ("len(table)", 5)])
        (a, most), (b, other) = self.whole(depth - 1), self.whole(depth - 1)
        divisor = rng.choice([-7, -3, 2, 3, 5])
        real, size, _ = self.real(depth - 1)
        options = [
            (f"({a} + {b})", most + other),
            (f"({a} - {b})", most + other),
            (f"({a} * {b})", most * other),
            (f"({a} // {divisor})", most + 1),
            (f"({a} % {divisor})", abs(divisor)),
            (f"(-{a} if {self.truth(depth - 1)} else {b})" if not a.startswith("-") else a, max(most, other)),
            (f"abs({a})", most),
            (f"min({a}, {b})", max(most, other)),
            (f"max({a}, {b}, 1)", max(most, other, 1)),
            (f"{rng.choice(['int', 'floor', 'ceil', 'round'])}({real})", size + 1),
            (f"self.ints[{self.plain_index()}]", _MOST + 10),
            (f"table[{self.plain_index()}]", 9),
            (f"self.grid[({a}) % 2][({b}) % 3]", _MOST),
            ("sum(self.ints)", 5 * (_MOST + 10)),
            (f"int({self.truth(depth - 1)})", 1),
        ]
        fitting = [option for option in options if option[1] <= _LARGEST]
        return rng.choice(fitting)

    def plain_index(self) -> str:
        return self.rng.choice([f"({self.rng.choice(_INTS)}) % n", "0", "-1"])

    def real(self, depth: int) -> tuple[str, int, int]:
        """Returns a float expression, the largest absolute value that it can have, and the number of its bits after the point."""
        rng = self.rng
        if depth == 0 or rng.random() < 0.2:
            number = rng.randint(-16, 16) / 4
            return rng.choice([(repr(number), 4, 2), (rng.choice(_FLOATS), _MOST, 2), (f"self.floats[{self.plain_index()}]", _MOST, 2)])
        (a, most, bits), (b, other, others) = self.real(depth - 1), self.real(depth - 1)
        whole, size = self.whole(depth - 1)
        options = [
            (f"({a} + {b})", most + other, max(bits, others)),
            (f"({a} - {b})", most + other, max(bits, others)),
            (f"({a} * {b})", most * other, bits + others),
            (f"({a} / {rng.choice([2.0, 4])})", most, bits + 2),
            (f"abs({a})", most, bits),
            (f"min({a}, {b})", max(most, other), max(bits, others)),
            (f"max({a}, {b})", max(most, other), max(bits, others)),
            (f"({a} if {self.truth(depth - 1)} else {b})", max(most, other), max(bits, others)),
            (f"float({whole})", size, 0),
            (f"({a} % 4.0)", 4, bits),
            (f"({a} // 2.0)", most, 0),
        ]
        fitting = [option for option in options if (option[1] + 1) << option[2] < 1 << _BITS]
        return rng.choice(fitting or [("0.5", 1, 1)])

    def truth(self, depth: int) -> str:
        rng = self.rng
        if depth == 0 or rng.random() < 0.2:
            return rng.choice([*_BOOLS, "True", "False"])
        a, b, c = (self.whole(depth - 1)[0] for _ in range(3))
        compare = rng.choice(["<", "<=", ">", ">=", "==", "!="])
        options = [
            f"{a} {compare} {b}",
            f"{self.real(depth - 1)[0]} {compare} {self.real(depth - 1)[0]}",
            f"{a} < {b} <= {c}",
            f"({self.truth(depth - 1)} {rng.choice(['and', 'or'])} {self.truth(depth - 1)})",
            f"not {self.truth(depth - 1)}" if rng.random() < 0.5 else self.truth(depth - 1),
            f"{a} {rng.choice(['in', 'not in'])} self.ints",
        ]
        return f"({rng.choice(options)})"


def program(seed: int) -> str:
    """Returns the text of a random program. Equal seeds give equal programs."""
    return Program(seed).text()
