"""Writes random expressions with the syntax trees of Python's `ast` to script_expressions.json beside this file, for
crates/worlds/tests/worlds/script_parser.rs.

python3 script_expressions.py

An expression is a random sequence of operands and operators, mostly without brackets. A tree is written with one pair of
brackets for each node. Python's unary plus is left out, because the language's parser leaves it out.
"""

import ast
import json
import pathlib
import random

COUNT = 600
BINARY = ["+", "-", "*", "/", "//", "%", "**", "<", "<=", ">", ">=", "==", "!=", "in", "not in", "and", "or"]
OPERANDS = ["a", "b", "c", "self.x", "p[i]", "f(a, b)", "q[i][j]", "12", "0.5", "2.5e2", "True", "s", "p[:]", "[a, b]", "(a, b)"]
SIGNS = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.In: "in",
    ast.NotIn: "not-in",
    ast.And: "and",
    ast.Or: "or",
    ast.Not: "not",
    ast.USub: "-",
}
draw = random.Random(33)


def expression(depth):
    parts = []
    for k in range(draw.randint(1, 6)):
        if k:
            parts.append(draw.choice(BINARY))
        parts.extend(draw.choice(["", "", "", "-", "+", "not"]) for _ in range(draw.randint(0, 2)))
        parts.append(operand(depth))
    if draw.random() < 0.2:
        parts += ["if", expression(depth + 1), "else", expression(depth + 1)]
    return " ".join(part for part in parts if part)


def operand(depth):
    if depth > 2 or draw.random() < 0.8:
        return draw.choice(OPERANDS)
    inner = expression(depth + 1)
    other = expression(depth + 1)
    return draw.choice([f"({inner})", f"f({inner}, {other})", f"p[{inner}]", f"[{inner} for i, v in b for c in {operand(3)}]"])


def tree(node):
    match node:
        case ast.Constant(value=value):
            return repr(value)
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=name):
            return f"(. {tree(value)} {name})"
        case ast.Subscript(value=value, slice=ast.Slice()):
            return f"(copy {tree(value)})"
        case ast.Subscript(value=value, slice=index):
            return f"(at {tree(value)} {tree(index)})"
        case ast.Call(func=function, args=arguments):
            return several("call", [function, *arguments])
        case ast.UnaryOp(op=ast.UAdd(), operand=value):
            return tree(value)
        case ast.UnaryOp(op=op, operand=value):
            return several(SIGNS[type(op)], [value])
        case ast.BinOp(left=left, op=op, right=right):
            return several(SIGNS[type(op)], [left, right])
        case ast.BoolOp(op=op, values=values):
            return several(SIGNS[type(op)], values)
        case ast.Compare(left=left, ops=ops, comparators=rest):
            pairs = " ".join(f"{SIGNS[type(op)]} {tree(value)}" for op, value in zip(ops, rest))
            return f"(compare {tree(left)} {pairs})"
        case ast.IfExp(test=test, body=body, orelse=other):
            return several("if", [test, body, other])
        case ast.List(elts=all):
            return several("list", all)
        case ast.Tuple(elts=all):
            return several("tuple", all)
        case ast.ListComp(elt=value, generators=loops):
            pairs = " ".join(f"for {tree(loop.target)} {tree(loop.iter)}" for loop in loops)
            return f"(each {tree(value)} {pairs})"
    raise ValueError(ast.dump(node))


def several(name, nodes):
    return f"({' '.join([name, *map(tree, nodes)])})"


def parsed():
    while True:
        text = expression(0)
        if len(text) > 160:
            continue
        try:
            yield [text, tree(ast.parse(text, mode="eval").body)]
        except SyntaxError:
            pass  # such as `a + not b`


expressions = parsed()
golden = [next(expressions) for _ in range(COUNT)]
lines = ",\n".join(json.dumps(pair) for pair in golden)
pathlib.Path(__file__).with_suffix(".json").write_text(f"[\n{lines}\n]\n")
