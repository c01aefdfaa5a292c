"""Random kernels, and what each thread of them computes: a reference that knows one thread only.

An expression is a text together with a function that works out its value for one thread from
the values of its variables, in the exact types of Numba. Values are Python ints for integers
(wrapped to their width by us) and NumPy scalars for floats. The emulator, in contrast, runs all
threads at once on arrays; the two share no code.
"""

import operator
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

Environment = dict[str, Any]
Draw = Callable[[st.SearchStrategy], Any]

INTEGERS = ("int64", "int32", "uint32")
# Variables that statements may change, and ones that they only read.
CHANGING = {"u": "int64", "v": "int64", "f": "float32", "g": "float32", "d": "float64"}
FIXED = {"tid": "int64", "p": "int32", "q": "uint32", "a": "float32"}


@dataclass(frozen=True)
class Expression:
    """A text, its type in Numba, and its value for one thread."""

    text: str
    type: str
    value: Callable[[Environment], Any]


@dataclass(frozen=True)
class Statement:
    """Lines of text, and what they do to the variables of one thread."""

    lines: list[str]
    run: Callable[[Environment], None]


class Leave(Exception):
    """A thread leaves a loop, a turn of it, or the kernel; the argument says which."""


def convert(value: Any, kind: str) -> Any:
    """`value` as Numba converts it to `kind`."""
    if kind == "bool":
        return bool(value)
    if kind in INTEGERS or kind == "uint64":
        bits = 32 if kind.endswith("32") else 64
        value = int(value) % 2**bits
        return value - 2**bits if kind.startswith("int") and value >= 2 ** (bits - 1) else value
    if isinstance(value, int):
        value = np.int64(value)  # so that float32 is reached in one rounding
    return getattr(np, kind)(value)


ARITHMETIC = {"+": operator.add, "-": operator.sub, "*": operator.mul}
BITWISE = {"&": operator.and_, "|": operator.or_, "^": operator.xor}
COMPARISONS = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip


class Maker:
    """Draws expressions and statements."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.loops = 0

    def pick(self, items: Any) -> Any:
        return self.draw(st.sampled_from(list(items)))

    def expression(self, kind: str, depth: int) -> Expression:
        """An expression of exactly this type."""
        if kind == "bool":
            return self.condition(depth)
        if depth <= 0 or self.draw(st.integers(0, 4)) == 0:
            return self.leaf(kind)
        if self.draw(st.integers(0, 6)) == 0:
            return self.ternary(kind, depth)
        return getattr(self, kind)(depth)

    def leaf(self, kind: str) -> Expression:
        names = [name for name, each in {**CHANGING, **FIXED}.items() if each == kind]
        if kind == "int64":
            names += [f"turn{number}" for number in range(self.loops)]
        choice = self.pick([*names, "number"])
        if choice != "number":
            return Expression(choice, kind, lambda env: env[choice])
        number = self.draw(st.integers(-9, 9))
        if kind == "int64":
            return Expression(f"({number})", kind, lambda env: number)
        value = convert(number / 4 if kind.startswith("float") else number, kind)
        text = f"({number / 4})" if kind == "float64" else f"{kind}({number})"
        if kind == "float32":
            text = f"float32({number / 4})"
        return Expression(text, kind, lambda env: value)

    def ternary(self, kind: str, depth: int) -> Expression:
        test = self.condition(depth - 1)
        yes, no = self.expression(kind, depth - 1), self.expression(kind, depth - 1)
        return Expression(
            f"({yes.text} if {test.text} else {no.text})",
            kind,
            lambda env: yes.value(env) if test.value(env) else no.value(env),
        )

    def binary(
        self, symbol: str, function: Any, left: Expression, right: Expression, kind: str
    ) -> Expression:
        """An operator whose operands are first converted to the type of its result."""
        return Expression(
            f"({left.text} {symbol} {right.text})",
            kind,
            lambda env: convert(
                function(convert(left.value(env), kind), convert(right.value(env), kind)), kind
            ),
        )

    def int64(self, depth: int) -> Expression:
        form = self.pick(["arithmetic", "bitwise", "divide", "shift", "unary", "extreme", "count"])
        if form == "count":
            test = self.condition(depth - 1)
            return Expression(f"({test.text} + 1)", "int64", lambda env: int(test.value(env)) + 1)
        if form == "extreme":
            name, function = self.pick([("min", min), ("max", max)])
            left, right = self.expression("int64", depth - 1), self.expression("int64", depth - 1)
            return Expression(
                f"{name}({left.text}, {right.text})",
                "int64",
                lambda env: function(left.value(env), right.value(env)),
            )
        if form == "unary":
            symbol, function = self.pick([("-", operator.neg), ("~", operator.invert)])
            inner = self.expression("int64", depth - 1)
            return Expression(
                f"({symbol}{inner.text})",
                "int64",
                lambda env: convert(function(inner.value(env)), "int64"),
            )
        left = self.expression(self.pick(INTEGERS), depth - 1)
        if form in ("divide", "shift"):
            left = self.expression(self.pick(["int64", "int32"]), depth - 1)
            number = (
                self.pick([1, 2, 3, 7, -1, -2, -5]) if form == "divide" else self.pick([0, 1, 5])
            )
            right = Expression(f"({number})", "int64", lambda env: number)
            signs = {"//": operator.floordiv, "%": operator.mod}
            if form == "shift":
                signs = {"<<": operator.lshift, ">>": operator.rshift}
        else:
            # Two unsigned operands would give uint64, which is not drawn here.
            kinds = ("int64", "int32") if left.type == "uint32" else INTEGERS
            right = self.expression(self.pick(kinds), depth - 1)
            signs = ARITHMETIC if form == "arithmetic" else BITWISE
        symbol = self.pick(signs)
        return self.binary(symbol, signs[symbol], left, right, "int64")

    def cast(self, kind: str, inner: Expression) -> Expression:
        return Expression(
            f"{kind}({inner.text})", kind, lambda env: convert(inner.value(env), kind)
        )

    def int32(self, depth: int) -> Expression:
        return self.cast("int32", self.expression(self.pick(["int64", "uint32"]), depth - 1))

    def uint32(self, depth: int) -> Expression:
        if self.draw(st.booleans()):
            return self.cast("uint32", self.expression(self.pick(["int64", "int32"]), depth - 1))
        symbol = self.pick(ARITHMETIC)
        left, right = self.expression("uint32", depth - 1), self.expression("uint32", depth - 1)
        wide = self.binary(symbol, ARITHMETIC[symbol], left, right, "uint64")
        return self.cast("uint32", wide)

    def float32(self, depth: int) -> Expression:
        if self.draw(st.integers(0, 2)) == 0:
            return self.cast("float32", self.expression(self.pick(["int64", "float64"]), depth - 1))
        symbol = self.pick(ARITHMETIC)
        left, right = self.expression("float32", depth - 1), self.expression("float32", depth - 1)
        return self.binary(symbol, ARITHMETIC[symbol], left, right, "float32")

    def float64(self, depth: int) -> Expression:
        if self.draw(st.integers(0, 3)) == 0:
            left = self.expression(self.pick(["int64", "int32"]), depth - 1)
            number = self.pick([2, 3, -7])
            right = Expression(f"({number})", "int64", lambda env: number)
            return self.binary("/", operator.truediv, left, right, "float64")
        symbol = self.pick(ARITHMETIC)
        one = self.expression(self.pick(["float64", "float32"]), depth - 1)
        other = self.expression("int64" if one.type == "float32" else "float64", depth - 1)
        return self.binary(symbol, ARITHMETIC[symbol], one, other, "float64")

    def condition(self, depth: int) -> Expression:
        form = self.pick(["compare", "chain", "and", "or", "not"]) if depth > 0 else "compare"
        if form in ("and", "or"):
            left, right = self.condition(depth - 1), self.condition(depth - 1)
            value = {
                "and": lambda env: left.value(env) and right.value(env),
                "or": lambda env: left.value(env) or right.value(env),
            }[form]
            return Expression(f"({left.text} {form} {right.text})", "bool", value)
        if form == "not":
            inner = self.condition(depth - 1)
            return Expression(f"(not {inner.text})", "bool", lambda env: not inner.value(env))
        kind = self.pick(["int64", "int32", "uint32", "float32", "float64"])
        terms = [self.expression(kind, depth - 1) for _ in range(3 if form == "chain" else 2)]
        signs = [self.pick(COMPARISONS) for _ in terms[1:]]
        text = terms[0].text + "".join(
            f" {sign} {term.text}" for sign, term in zip(signs, terms[1:], strict=True)
        )

        def value(env: Environment) -> bool:
            numbers = [term.value(env) for term in terms]
            pairs = zip(numbers, signs, numbers[1:], strict=False)
            return all(bool(COMPARISONS[sign](one, other)) for one, sign, other in pairs)

        return Expression(f"({text})", "bool", value)

    def block(self, depth: int) -> Statement:
        parts = [self.statement(depth) for _ in range(self.draw(st.integers(1, 3)))]

        def run(env: Environment) -> None:
            for part in parts:
                part.run(env)

        return Statement([line for part in parts for line in part.lines], run)

    def statement(self, depth: int) -> Statement:
        forms = ["assign", "augment"]
        if depth > 0:
            forms += ["if", "if", "for", "while"]
        if self.loops:
            forms += ["leave"]
        return getattr(self, f"{self.pick(forms)}_")(depth)

    def assign_(self, depth: int) -> Statement:
        name = self.pick(CHANGING)
        value = self.expression(CHANGING[name], 3)
        return Statement(
            [f"{name} = {value.text}"], lambda env: env.__setitem__(name, value.value(env))
        )

    def augment_(self, depth: int) -> Statement:
        name = self.pick(CHANGING)
        kind = CHANGING[name]
        symbol = self.pick(ARITHMETIC)
        value = self.expression(kind, 2)

        def run(env: Environment) -> None:
            env[name] = convert(ARITHMETIC[symbol](env[name], value.value(env)), kind)

        return Statement([f"{name} {symbol}= {value.text}"], run)

    def if_(self, depth: int) -> Statement:
        tests = [self.condition(2) for _ in range(self.draw(st.integers(1, 2)))]
        bodies = [self.block(depth - 1) for _ in tests]
        other = self.block(depth - 1) if self.draw(st.booleans()) else None
        lines = []
        for word, test, body in zip(("if", "elif"), tests, bodies, strict=False):
            lines += [f"{word} {test.text}:", *_indented(body.lines)]
        if other:
            lines += ["else:", *_indented(other.lines)]

        def run(env: Environment) -> None:
            for test, body in zip(tests, bodies, strict=True):
                if test.value(env):
                    return body.run(env)
            return other.run(env) if other else None

        return Statement(lines, run)

    def for_(self, depth: int) -> Statement:
        bounds = self.pick(
            [("3", 0, 3, 1), ("1, 4", 1, 4, 1), ("5, 0, -2", 5, 0, -2), ("tid % 4", 0, None, 1)]
        )
        text, start, stop, step = bounds
        name = f"turn{self.loops}"
        self.loops += 1
        body = self.block(depth - 1)
        self.loops -= 1

        def run(env: Environment) -> None:
            for number in range(start, env["tid"] % 4 if stop is None else stop, step):
                env[name] = number
                if _turn(body, env):
                    break

        return Statement([f"for {name} in range({text}):", *_indented(body.lines)], run)

    def while_(self, depth: int) -> Statement:
        name = f"turn{self.loops}"
        test = self.condition(1)
        self.loops += 1
        body = self.block(depth - 1)
        self.loops -= 1

        def run(env: Environment) -> None:
            env[name] = 0
            while env[name] < 4 and test.value(env):
                env[name] += 1
                if _turn(body, env):
                    break

        head = [f"{name} = 0", f"while {name} < 4 and {test.text}:"]
        return Statement([*head, *_indented([f"{name} += 1", *body.lines])], run)

    def leave_(self, depth: int) -> Statement:
        how = self.pick(["break", "continue", "return"])
        test = self.condition(1)
        lines = [*STORES, "return"] if how == "return" else [how]

        def run(env: Environment) -> None:
            if test.value(env):
                raise Leave(how)

        return Statement([f"if {test.text}:", *_indented(lines)], run)


STORES = [f"out_{name}[tid] = {name}" for name in CHANGING]


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def _turn(body: Statement, env: Environment) -> bool:
    """Run one turn of a loop; whether the loop is left."""
    try:
        body.run(env)
    except Leave as leaving:
        if leaving.args[0] == "return":
            raise
        return leaving.args[0] == "break"
    return False


@dataclass(frozen=True)
class RandomKernel:
    """The text of a kernel, and its reference for one thread."""

    body: str
    parameters: str
    run: Callable[[Environment], None]


@st.composite
def random_kernels(draw: Draw, depth: int = 2) -> RandomKernel:
    """Kernels that read p, q and a, compute, and store their variables."""
    maker = Maker(draw)
    block = maker.block(depth)
    lines = [
        "tid = cuda.grid(1)", "if tid >= out_u.size:", "    return", "p = in_p[tid]",
        "q = in_q[tid]", "a = in_a[tid]", "u = int64(p)", "v = tid * 3", "f = a",
        "g = float32(0.5)", "d = 0.25", *block.lines, *STORES,
    ]  # fmt: skip
    parameters = ", ".join(["in_p", "in_q", "in_a", *(f"out_{name}" for name in CHANGING)])

    def run(env: Environment) -> None:
        env |= {"u": env["p"], "v": env["tid"] * 3, "f": env["a"]}
        env |= {"g": np.float32(0.5), "d": np.float64(0.25)}
        with suppress(Leave):
            block.run(env)

    return RandomKernel("\n".join(lines), parameters, run)
