"""Writes tests/golden/script_programs.txt: random programs of the language of user environments with their results in plain Python.

Usage, with gymnasium and numpy installed: python3 tests/golden/script_programs.py [COUNT]

A program has no errors by construction: integers stay small, indices are in range, and divisors are not zero. Floats of two kinds occur.
Eighths (e) are small multiples of 1/8, whose sums and products are exact in f32 and f64, and conditions may depend on them. Other floats
(f) are only compared within a bound. The output has the text of each program after a line `= NUMBER`, then a line for each environment
and step: `ENV STEP ACTION | reward over | state | observation`, with the observation at step 0 only.
"""

import pathlib
import random
import sys

from script_worlds import ROOT, flat, line, load, state, text

SEED, ENVS, STEPS, KEPT = 7, 2, 3, 200
LARGEST = 200_000
LONGEST = 2000
#: A positive number below this bound has few right digits in f32, and its square root has an error above the tests' bound.
LEAST_ROOT = 1e-6

#: Parts that all programs have. The output has them once, and a program has the name of a part in a line of its own.
PARTS = {
    "#constants": """table = [3, 1, 4, 1, 5, 9, 2, 6]
board = [[1, 0, 2], [0, 3, 1]]""",
    "#reset": """ actions = 3
 limit = 9
 def reset(self):
  self.i, self.j = randint(-9, 10), 2
  self.b = self.i > self.j
  self.e = randint(-20, 20) / 8
  self.f = uniform(-1.0, 1.0)
  self.cells = [randint(0, 50) for k in range(4)]
  self.grid = [[x * y for x in range(3)] for y in range(2)]""",
    "#observe": """ def observe(self):
  cells = [float(c) for c in self.cells] + [self.grid[1][k] / 4 for k in range(3)]
  return cells + [self.f, self.e, float(self.b), self.i % 5]""",
}


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []
        self.names = 0
        self.scope = {"i": [], "b": [], "e": [], "f": [], "list": [], "grid": []}
        self.loops = 0
        self.in_loop = False
        self.helpers = []
        self.draws = False
        self.room = 0

    def pick(self, *choices):
        return self.random.choice(choices)

    def below(self, count):
        return self.random.randrange(count)

    def fresh(self, prefix):
        self.names += 1
        return f"{prefix}{self.names}"

    # Expressions. An integer is a pair of its text and a bound of its absolute value.

    def int(self, depth):
        value, bound = self.any_int(depth)
        return (value, bound) if bound <= LARGEST else (f"({value}) % 97", 97)

    def any_int(self, depth):
        scope, kind = self.scope, self.below(17)
        if depth <= 0 or kind < 3:
            if scope["i"] and self.below(3):
                return self.pick(*scope["i"]), 100
            number = self.pick(0, 1, 2, 3, 5, 7, 12, -1, -4)
            return str(number) if number >= 0 else f"({number})", abs(number)
        a, x = self.int(depth - 1)
        b, y = self.int(depth - 1)
        match kind:
            case 3:
                return f"({a} + {b})", x + y
            case 4:
                return f"({a} - {b})", x + y
            case 5:
                return f"(({a}) * ({b}))", x * y
            case 6:
                return f"(({a}) // (abs({b}) + 1))", x + 1
            case 7:
                return f"(({a}) % {self.pick(2, 3, 7, 8, -5, 13)})", 13
            case 8:
                return f"(({a}) // {self.pick(2, 3, 4, -3, 10)})", x + 1
            case 9:
                return f"{self.pick('min', 'max')}({a}, {b})", max(x, y)
            case 10:
                return f"clip({a}, -9, {self.pick(5, 9, 20)})", 20
            case 11:
                return f"({a} if {self.bool(depth - 1)} else {b})", max(x, y)
            case 12:
                return f"{self.pick('floor', 'ceil', 'round', 'int')}({self.eighth(depth - 1)})", 2000
            case 13:
                return f"int({self.bool(depth - 1)})", 1
            case 14 if scope["list"]:
                name, length = self.pick(*scope["list"])
                if self.below(3) == 0:
                    return self.pick(f"min({name})", f"max({name})", f"len({name})"), 100
                return f"{name}[{self.index(length, depth - 1)}]", 100
            case 15 if scope["grid"]:
                name, rows, columns = self.pick(*scope["grid"])
                return f"{name}[{self.index(rows, depth - 1)}][{self.index(columns, depth - 1)}]", 100
            case 16 if self.helpers:
                return self.pick(*self.helpers)(self, depth), 100
        return f"abs({a})", x

    def index(self, length, depth):
        if self.below(3) == 0:
            return str(self.random.randrange(-length, length))
        return f"({self.int(depth)[0]}) % {length}" + (f" - {length}" if self.below(4) == 0 else "")

    def bool(self, depth):
        kind = self.below(13)
        if depth <= 0 or kind < 2:
            return self.pick(*self.scope["b"], "True", "False") if self.scope["b"] else self.pick("True", "False")
        a, b = self.int(depth - 1)[0], self.int(depth - 1)[0]
        sign = self.pick("<", "<=", ">", ">=", "==", "!=")
        match kind:
            case 2 | 3 | 4:
                return f"({a} {sign} {b})"
            case 5:
                return f"({self.eighth(depth - 1)} {sign} {self.eighth(depth - 1)})"
            case 6:
                return f"({a} <= {b} {sign} {self.int(depth - 1)[0]})"
            case 7:
                return f"({self.bool(depth - 1)} and {self.bool(depth - 1)})"
            case 8:
                return f"({self.bool(depth - 1)} or {self.bool(depth - 1)})"
            case 9:
                return f"(not {self.bool(depth - 1)})"
            case 10:
                # The right side is an error where the left side is false.
                return f"(({b}) != 0 and ({a}) % ({b}) {sign} 2)"
            case 11 if self.scope["list"]:
                name, _ = self.pick(*self.scope["list"])
                return self.pick(f"({a} in {name})", f"any({name})", f"all({name})", f"({a} not in [1, {b}, 3])")
        return f"(({a}) % 2 == {self.below(2)})"

    def eighth(self, depth):
        """Returns an expression for a multiple of 1/8 within ±1000."""
        kind = self.below(8)
        if depth <= 0 or kind < 3:
            names = self.scope["e"]
            return self.pick(*names) if names and self.below(2) else str(self.random.randrange(-40, 41) / 8)
        a, b = self.eighth(depth - 1), self.eighth(depth - 1)
        match kind:
            case 3:
                return f"clip({a} + {b}, -50.0, 50.0)"
            case 4:
                return f"clip({a} - {b}, -50.0, 50.0)"
            case 5:
                return f"{self.pick('min', 'max')}({a}, {b})"
            case 6:
                return f"abs({a})"
        return f"({a} if {self.bool(depth - 1)} else {b})"

    def float(self, depth):
        """Returns an expression for a float within ±10."""
        kind = self.below(13)
        if depth <= 0 or kind < 3:
            names = self.scope["f"]
            return self.pick(*names) if names and self.below(3) else self.pick("0.3", "1.7", "-2.5", "0.01", "pi")
        a, b = self.float(depth - 1), self.float(depth - 1)
        match kind:
            case 3:
                return f"clip({a} + {b}, -9.0, 9.0)"
            case 4:
                return f"clip(({a}) * ({b}), -9.0, 9.0)"
            case 5:
                return f"sin({a})"
            case 6:
                return f"cos({a} - {b})"
            case 7:
                return f"tanh({a})"
            case 8:
                return f"sqrt(abs({a}))" if self.below(2) else f"min(exp({a}), 9.0)"
            case 9:
                return f"log(1.0 + abs({a}))"
            case 10:
                return f"(({a}) / (1.5 + abs({b})))"
            case 11:
                return f"atan2({a}, 2.0 + abs({b}))"
        return f"({a} if {self.bool(depth - 1)} else {self.eighth(depth - 1)} / 8)"

    # Statements.

    def put(self, depth, code):
        self.lines.append(" " * depth + code)

    def block(self, depth, size):
        before = {kind: list(names) for kind, names in self.scope.items()}
        start = len(self.lines)
        for _ in range(size):
            self.statement(depth)
        if len(self.lines) == start:
            self.put(depth, "pass")
        self.scope = before

    def statement(self, depth):
        self.room -= 1
        kind = self.below(18)
        if self.room <= 0 or depth > 5:
            kind %= 6
        match kind:
            case 0 | 1:
                self.assign(depth)
            case 2:
                self.assign_eighth(depth)
            case 3:
                if self.scope["f"]:
                    self.put(depth, f"{self.pick(*self.scope['f'])} = {self.float(3)}")
            case 4:
                self.element(depth)
            case 5:
                if self.scope["b"]:
                    self.put(depth, f"{self.pick(*self.scope['b'])} = {self.bool(3)}")
            case 6 | 7 | 8:
                self.put(depth, f"if {self.bool(3)}:")
                self.block(depth + 1, self.pick(1, 2))
                if self.below(2):
                    self.put(depth, f"elif {self.bool(2)}:")
                    self.block(depth + 1, 1)
                if self.below(2):
                    self.put(depth, "else:")
                    self.block(depth + 1, self.pick(1, 2))
            case 9 | 10 | 11 | 12:
                self.loop(depth)
            case 13 | 14 if self.in_loop:
                self.put(depth, f"if {self.bool(3)}:")
                self.put(depth + 1, self.pick("break", "continue"))
            case 15:
                if len(self.scope["i"]) > 1:
                    a, b = self.pick(*self.scope["i"]), self.pick(*self.scope["i"])
                    self.put(depth, f"{a}, {b} = {b}, ({a} + 1) % 97")
            case 16:
                self.comprehension(depth)
            case _:
                if self.draws and self.scope["i"]:
                    low = self.below(9) - 4
                    self.put(depth, f"{self.pick(*self.scope['i'])} = randint({low}, {low + self.pick(1, 2, 7, 40)})")
                elif self.draws and self.scope["f"]:
                    self.put(depth, f"{self.pick(*self.scope['f'])} = {self.pick('uniform(-1.5, 2.0)', 'normal(0.5, 0.8)')}")

    def assign(self, depth):
        if not self.scope["i"]:
            return
        name = self.pick(*self.scope["i"])
        value = self.int(4)[0]
        if self.below(4) == 0:
            self.put(depth, f"{name} += {value}")
            self.put(depth, f"{name} %= 97")
        else:
            self.put(depth, f"{name} = ({value}) % {self.pick(97, 10, 50)}")

    def assign_eighth(self, depth):
        if self.scope["e"]:
            value = self.pick(f"{self.eighth(3)}", f"(({self.int(2)[0]}) % 31) / 8", f"({self.eighth(2)}) * 0.5 // 0.125 / 8")
            self.put(depth, f"{self.pick(*self.scope['e'])} = {value}")

    def element(self, depth):
        if self.scope["list"] and self.below(2):
            name, length = self.pick(*self.scope["list"])
            self.put(depth, f"{name}[{self.index(length, 2)}] = ({self.int(3)[0]}) % 97")
        elif self.scope["grid"]:
            name, rows, columns = self.pick(*self.scope["grid"])
            self.put(depth, f"{name}[{self.index(rows, 2)}][{self.index(columns, 2)}] = ({self.int(3)[0]}) % 50")

    def loop(self, depth):
        if self.loops >= 2:
            return
        self.loops += 1
        inside, self.in_loop = self.in_loop, True
        kind, name = self.below(5), self.fresh("k")
        names = [name]
        if kind == 0:
            self.put(depth, f"for {name} in range({self.pick(2, 3, 5, 9)}):")
        elif kind == 1:
            self.put(depth, f"for {name} in range(({self.int(2)[0]}) % 6, {self.pick(4, 7)}, {self.pick(1, 2)}):")
        elif kind == 2:
            self.put(depth, f"for {name} in range({self.pick(40, 90)}, {self.pick(0, 30)}, -{self.pick(7, 11)}):")
        elif kind == 3 and self.scope["list"]:
            of, _ = self.pick(*self.scope["list"])
            names = [name, self.fresh("v")]
            self.put(depth, f"for {name}, {names[1]} in enumerate({of}):")
        else:
            self.put(depth, f"{name} = 0")
            self.put(depth, f"while {name} < {self.pick(3, 5)} and {self.bool(2)}:")
            self.put(depth + 1, f"{name} += 1")
            names = []
        before = list(self.scope["i"])
        # A loop may change its own variable, which stays small.
        self.scope["i"] = before + names
        self.block(depth + 1, self.pick(1, 2, 3))
        self.scope["i"] = before
        self.loops -= 1
        self.in_loop = inside

    def comprehension(self, depth):
        name, k = self.fresh("c"), self.fresh("j")
        before = list(self.scope["i"])
        self.scope["i"] = before + [k]
        length = self.pick(3, 4, 6)
        value = self.int(2)[0]
        self.scope["i"] = before
        self.put(depth, f"{name} = [({value}) % 97 for {k} in range({length})]")
        if self.scope["list"] and self.below(2):
            other, more = self.pick(*self.scope["list"])
            joined = self.fresh("c")
            self.put(depth, f"{joined} = {name} + {other}[:]")
            self.scope["list"].append((joined, length + more))
        self.scope["list"].append((name, length))

    def locals(self, depth):
        for kind, value in (("i", lambda: f"({self.int(2)[0]}) % 97"), ("b", lambda: self.bool(2)), ("e", lambda: self.eighth(2)), ("f", lambda: self.float(2))):
            for _ in range(self.pick(1, 2)):
                name = self.fresh(kind)
                self.put(depth, f"{name} = {value()}")
                self.scope[kind].append(name)
        name = self.fresh("a")
        length = self.pick(2, 3, 5)
        if self.below(2):
            self.put(depth, f"{name} = [0] * {length}")
        else:
            self.put(depth, f"{name} = [" + ", ".join(f"({self.int(1)[0]}) % 97" for _ in range(length)) + "]")
        self.scope["list"].append((name, length))

    def helper(self, depth, number):
        """Writes a function with early returns, whose last argument is a list that the function changes."""
        name = f"help{number}"
        method = self.below(2) == 1
        outer, self.scope = self.scope, {"i": ["p", "q"], "b": [], "e": [], "f": [], "list": [("cells", 4)], "grid": []}
        self.put(depth, f"def {name}({'self, ' if method else ''}p, q, cells):")
        self.room = 6
        self.locals(depth + 1)
        self.block(depth + 1, 3)
        self.put(depth + 1, f"if {self.bool(2)}:")
        self.put(depth + 2, f"return ({self.int(2)[0]}) % 97")
        self.loops += 1
        self.put(depth + 1, f"for z in range({self.pick(3, 6)}):")
        self.scope["i"].append("z")
        self.put(depth + 2, f"if {self.bool(2)}:")
        self.put(depth + 3, f"return ({self.int(2)[0]}) % 97")
        self.put(depth + 2, f"cells[{self.index(4, 1)}] += 1")
        self.put(depth + 2, f"cells[{self.index(4, 1)}] %= 97")
        self.loops -= 1
        self.scope["i"].pop()
        self.put(depth + 1, f"return ({self.int(2)[0]}) % 97")
        self.scope = outer
        call = f"self.{name}" if method else name
        return method, lambda of, depth: f"{call}({of.small(depth)}, {of.small(depth)}, {of.four()})"

    def small(self, depth):
        helpers, self.helpers = self.helpers, []
        value = f"({self.int(min(depth - 1, 2))[0]}) % 97"
        self.helpers = helpers
        return value

    def four(self):
        return self.pick("self.cells", "[1, 2, 3, 4]")

    def program(self):
        self.lines.append("#constants")
        helpers = []
        at = len(self.lines)
        for number in range(self.pick(0, 1, 2)):
            start = len(self.lines)
            method, call = self.helper(1, number)
            text = self.lines[start:]
            del self.lines[start:]
            helpers.append((method, text, call))
        for method, text, _ in helpers:
            if not method:
                self.lines[at:at] = [code[1:] for code in text]
        self.put(0, "class World:")
        for method, text, _ in helpers:
            if method:
                self.lines += text
        self.lines.append("#reset")
        self.put(1, "def step(self, action):")
        self.scope = {
            "i": ["self.i", "self.j", "action"], "b": ["self.b"], "e": ["self.e"], "f": ["self.f"],
            "list": [("self.cells", 4), ("table", 8)], "grid": [("self.grid", 2, 3), ("board", 2, 3)],
        }
        self.draws = True
        self.helpers = [call for _, _, call in helpers]
        self.locals(2)
        # Constants and the action do not change.
        self.room = self.pick(8, 14, 20)
        while self.room > 0:
            self.body(2)
        self.put(2, f"if {self.bool(2)}:")
        self.put(3, f"return {self.eighth(2)}, {self.bool(2)}")
        self.put(2, f"return {self.pick('self.e', self.float(2))}, self.i + 0 * action > 90")
        self.draws, self.helpers = False, []
        self.lines.append("#observe")
        return "\n".join(self.lines) + "\n"

    def body(self, depth):
        """Writes a statement. Removes the statement if it assigns a constant list or the action."""
        start = len(self.lines)
        self.statement(depth)
        bad = ("table[", "board[", "action =", "action +=", "action %=", "action,")
        wrong = [code for code in self.lines[start:] if code.strip().startswith(bad) and "=" in code or ", action = " in code]
        if wrong:
            del self.lines[start:]


def results(world, source):
    """Returns the lines of results, or `None` if the program is not suitable."""
    for name, part in PARTS.items():
        source = source.replace(name, part)
    env = world.load(source)
    names = type(env.world).step.__globals__
    root, roots = names["sqrt"], []
    names["sqrt"] = lambda x: roots.append(x) or root(x)
    out, over = [], True
    choose = random.Random(source)
    for number in range(ENVS):
        env.reset(seed=SEED, options={"env": number, "episode": 0})
        for step in range(STEPS):
            action = choose.randrange(3)
            _, reward, over, _, _ = env.step(action)
            attributes = [value for _, value in sorted(vars(env.world).items())]
            if any(type(value) is int and abs(value) > 2**30 for value in flat(attributes)):
                return None
            shown = line(float(value) for value in env._closed("observe"))
            after = state(env) + (f" | {shown}" if step == 0 else "")
            out.append(f"{number} {step} {action} | {text(float(reward))} {int(over)} | {after}")
            if over:
                break
    return None if any(0 < x < LEAST_ROOT for x in roots) else out


def main():
    sys.path.insert(0, str(pathlib.Path(__file__).parent))
    world = load()
    count = int(sys.argv[1]) if len(sys.argv) > 1 else KEPT
    out = [line for part in PARTS.items() for line in part]
    seed = 0
    kept = 0
    while kept < count:
        seed += 1
        source = Generator(seed).program()
        found = results(world, source)
        if found is None or len(source) > LONGEST:
            continue
        out += [f"= {seed}", source.rstrip("\n"), *found]
        kept += 1
    name = "script_programs.txt" if count == KEPT else f"script_programs_{count}.txt"
    (ROOT / "tests/golden" / name).write_text("\n".join(out) + "\n")


if __name__ == "__main__":
    main()
