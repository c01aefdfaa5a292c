"""Random answers: soup of words, random kernels from a small grammar, and damaged answers."""

import keyword
import random
import re
from pathlib import Path

from stored_answers import right_answers_to, wrong_answers_to

TESTS = Path(__file__).parents[1]
HEAD = (
    "import math\nimport numpy as np\nfrom numba import cuda, float32, float64, int8, int32\n"
    "from course_lib.intrinsics import *\n"
)
PARAMETERS = {
    "mat_add": "A, B, C",
    "matmul_naive": "A, B, C",
    "matmul_tiled": "A, B, C",
    "transpose_tiled": "A, B",
    "block_scan": "x, y",
    "blocks_per_sm": "device, threads, registers, shared_bytes",
    "pick_a_tile": "",
}
WORDS = [
    *keyword.kwlist,
    *"A B C x y s t i k n cuda float32 int32 math np range len min max abs print TILE".split(),
    *"threadIdx blockIdx blockDim grid syncthreads shared local array shape atomic add".split(),
    *"( ) [ ] { } : , . = == < > <= + - * / // % ** @ -> := ; ' \" # \\ ... 0 1 16 1.5".split(),
    *"matmul_naive mat_add def jit device True None f'{x}' '''a''' 0xff 10**9 é \t".split(),
    "\n", "\n    ", "\n        ", "\n", "\n    ",
]  # fmt: skip
WHOLE = ["i", "j", "n", "t"]
REAL = ["a", "b", "c"]
BINARY = {
    "whole": ["+", "-", "*", "//", "%", "<<", ">>", "&", "|", "^"],
    "real": ["+", "-", "*", "/"],
}
COMPARED = ["<", "<=", "==", "!=", ">", ">="]
CALLS = {
    "whole": ["int32", "abs", "int"],
    "real": ["float32", "math.sqrt", "math.exp", "abs", "float64", "math.sin"],
}


def soup(draw: random.Random, words: int) -> str:
    """Words of Python in any order."""
    return " ".join(draw.choice(WORDS) for _ in range(words))


def random_kernel(draw: random.Random, exercise: str) -> str:
    """A function of the exercise's name with a random body; nearly always valid Python."""
    body = Body(draw, PARAMETERS[exercise].split(", "))
    lines = body.block(3, 4 + draw.randrange(8))
    decorator = "" if exercise == "blocks_per_sm" else "@cuda.jit\n"
    head = "TILE = 16\n" if draw.random() < 0.5 else ""
    return "\n".join(
        [HEAD + head, f"{decorator}def {exercise}({PARAMETERS[exercise]}):", *body.start, *lines]
    )


class Body:
    """Writes the statements of one function; an expression is whole or real."""

    def __init__(self, draw: random.Random, parameters: list[str]) -> None:
        self.draw = draw
        self.parameters = parameters
        self.plain = "device" in parameters
        self.start = [
            "    t = cuda.threadIdx.x",
            "    i = cuda.grid(1)",
            f"    j = n = {draw.choice(['0', '3', 'cuda.blockIdx.x', '-1'])}",
            "    a = b = c = float32(0)",
            "    s = cuda.shared.array((16, 17), float32)",
            "    q = cuda.local.array(8, float32)",
        ]
        if self.plain:
            self.start = ["    i = j = n = t = 1", "    a = b = c = 1.5"]

    def block(self, depth: int, count: int, indent: str = "    ") -> list[str]:
        return [line for _ in range(count) for line in self.statement(depth, indent)]

    def statement(self, depth: int, indent: str) -> list[str]:
        kinds = ["assign", "store", "store", "update", "call"]
        kinds += ["if", "if", "for", "for", "while", "return", "break"] if depth else []
        kind = self.draw.choice(kinds)
        if kind == "if":
            head = f"{indent}if {self.test(2)}:"
        elif kind == "for":
            head = f"{indent}for {self.draw.choice(WHOLE)} in range({self.bounds()}):"
        elif kind == "while":
            head = f"{indent}while {self.test(2)}:"
        else:
            return [indent + self.simple(kind)]
        return [head, *self.block(depth - 1, self.draw.randint(1, 3), indent + "    ")]

    def bounds(self) -> str:
        few = self.draw.choice(["3", "8", "16", f"{self.parameters[0]}.shape[0]"])
        several = (self.whole(1) for _ in range(self.draw.randint(1, 3)))
        return "4" if self.plain else self.draw.choice([few, few, ", ".join(several)])

    def simple(self, kind: str) -> str:
        if kind in ("return", "break"):
            return f"if {self.test(1)}: {'return' if kind == 'return' else 'pass'}"
        if kind == "call" or (kind == "store" and self.plain):
            call = self.draw.choice(["cuda.syncthreads()", "cuda.syncwarp()", "print(t)"])
            return "i = 3" if self.plain else call
        if kind == "store":
            return f"{self.element()} {self.draw.choice(['=', '=', '+='])} {self.real(3)}"
        sign = "=" if kind == "assign" else self.draw.choice(["+=", "-=", "*="])
        if self.draw.random() < 0.4:
            return f"{self.draw.choice(WHOLE)} {sign} {self.whole(3)}"
        return f"{self.draw.choice(REAL)} {sign} {self.real(3)}"

    def element(self) -> str:
        array = self.draw.choice([*self.parameters, "s", "q"])
        axes = {"q": 1, "x": 1, "y": 1}.get(array, 2)
        if self.draw.random() < 0.01:
            axes = 3 - axes
        return f"{array}[{', '.join(self.index(array) for _ in range(axes))}]"

    def index(self, array: str) -> str:
        size = {"s": "16", "q": "8"}.get(array, f"min({array}.shape[0], {array}.size)")
        inside = f"abs({self.whole(1)}) % {size}"
        return self.draw.choice(["0", "t", "i", inside, inside, inside])

    def test(self, depth: int) -> str:
        kind = self.draw.choice([self.whole, self.real])
        test = f"{kind(depth)} {self.draw.choice(COMPARED)} {kind(depth)}"
        return self.draw.choice([test, test, f"not ({test})", f"{test} and t < 5"])

    def whole(self, depth: int) -> str:
        return self.expression("whole", depth)

    def real(self, depth: int) -> str:
        return self.expression("real", depth)

    def expression(self, kind: str, depth: int) -> str:
        which = self.draw.randrange(7 if depth else 3)
        if which == 0:
            return self.draw.choice(WHOLE if kind == "whole" else REAL)
        if which == 1:
            numbers = ["0", "1", "7", "-3", "2**40"], ["1.5", "float32(2)", "1e30", "-0.1"]
            return self.draw.choice(numbers[kind == "real"])
        if which == 2:
            if kind == "real" and not self.plain:
                return self.element()
            sizes = ["cuda.grid(1)", "cuda.threadIdx.y", self.parameters[-1] + ".size"]
            return "threads" if self.plain else self.draw.choice(sizes)
        left, right = (self.expression(kind, depth - 1) for _ in range(2))
        if which == 3:
            return f"({left} if {self.test(0)} else {right})"
        if which == 4 and not self.plain:
            return f"{self.draw.choice(CALLS[kind])}({left})"
        return f"({left} {self.draw.choice(BINARY[kind])} {right})"


def damaged(draw: random.Random, exercise: str) -> str:
    """An answer of tests/mutants or tests/styles, changed here and there."""
    if draw.choice([True, False]):
        wrong = wrong_answers_to(exercise)
        text = wrong[draw.choice(sorted(wrong))]
    else:
        text = draw.choice(list(right_answers_to(exercise).values()))
    for _ in range(draw.randint(1, 4)):
        text = draw.choice(CHANGES)(draw, text)
    return text


def _without_a_line(draw: random.Random, text: str) -> str:
    lines = text.split("\n")
    del lines[draw.randrange(len(lines))]
    return "\n".join(lines)


def _with_a_line_twice(draw: random.Random, text: str) -> str:
    lines = text.split("\n")
    place = draw.randrange(len(lines))
    lines.insert(draw.randrange(len(lines)), lines[place])
    return "\n".join(lines)


def _with_another_token(draw: random.Random, text: str) -> str:
    tokens = list(re.finditer(r"\w+|[^\w\s]", text))
    if not tokens:
        return text
    one, other = draw.choice(tokens), draw.choice(tokens)
    return text[: one.start()] + other.group() + text[one.end() :]


def _with_another_number(draw: random.Random, text: str) -> str:
    numbers = list(re.finditer(r"\b\d+\b", text))
    if not numbers:
        return text
    one = draw.choice(numbers)
    new = draw.choice(["0", "1", "2", "15", "17", "33", "-1", "10**9", "1.5", "2**63"])
    return text[: one.start()] + new + text[one.end() :]


def _indented_otherwise(draw: random.Random, text: str) -> str:
    lines = text.split("\n")
    place = draw.randrange(len(lines))
    lines[place] = draw.choice([lines[place][4:], "    " + lines[place]])
    return "\n".join(lines)


CHANGES = (
    _without_a_line, _with_a_line_twice, _with_another_token, _with_another_token,
    _with_another_number, _indented_otherwise,
)  # fmt: skip
