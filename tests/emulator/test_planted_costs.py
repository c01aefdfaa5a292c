"""Each of forty planted costs is named at its line; float64 where the compiled kernel has it."""

import linecache
import math
import re
from ast import literal_eval

import numpy as np
import pytest
from counted_work import counted_calls
from emulator_helpers import as_program, launch, line_of, parts_of
from every_case import every_case
from sampling import few

from course_lib.emulator import load_program
from course_lib.host import runtime

pytest.importorskip("numba.cuda")


# Forty kernels as users write them, each right and each with one cost, marked at its line. They
# were written and marked before anything of them ran, by somebody who had not read the code that
# finds costs, and no mark was moved afterwards. A head has the name and the parameters, the grid,
# the block, and what is passed.
PLANTED = parts_of("planted_costs.txt")
# The same cost, told at another line than the marked one; the line's text.
TOLD_ELSEWHERE = {
    "sum_by_one": "if i == 0:",
    "largest_of_a_block": "if t == 0:",
    "scaled_by_one": "def kernel(x, out):",
    "block_for_each_row": "def kernel(A, out):",
    "product_with_turned_tile": "acc += left[ty, j] * right[tx, j]",  # the conflict's other side
}
POINT = np.dtype([("x", "f4"), ("y", "f4"), ("z", "f4"), ("charge", "i4")])
MADE = {
    "real": lambda *shape: np.random.default_rng(3).random(shape),
    "zeros": lambda *shape: np.zeros(shape),
    "points": lambda: np.ones(2048, POINT),
    "by_columns": lambda: np.random.default_rng(4).random((64, 64)).astype("f4", "F"),
    "image": lambda: np.random.default_rng(5).integers(0, 256, (64, 64)).astype("u1"),
    "classes": lambda: np.random.default_rng(6).integers(0, 4, 4096).astype("i4"),
}


def made(text: str) -> object:
    """An argument: what it is, its shape, and its type, where that is not float32; or a number."""
    kind, *given = text.split()
    if kind not in MADE:
        return literal_eval(text)
    array = MADE[kind](*(int(each) for each in given if each.isdecimal()))
    dtypes = [each for each in given if not each.isdecimal()]
    return array.astype(dtypes[0] if dtypes else "f4") if given else array


def test_there_are_forty_of_six_codes() -> None:
    marks = [re.findall(r"# cost: (\S+)", body) for body in PLANTED.values()]
    assert len(marks) == 40 and all(len(found) == 1 for found in marks)
    assert len({code for found in marks for code in found}) == 6


@every_case("head", PLANTED)
def test_a_planted_cost_is_named_at_its_line(head: str) -> None:
    called, grid, block, given = head.split(" / ")
    name, _, parameters = called.removesuffix(")").partition("(")
    program = as_program(PLANTED[head], parameters)
    marked = next(line for line in program.splitlines() if "# cost: " in line)
    code, text = marked.partition("# cost: ")[2], TOLD_ELSEWHERE.get(name, marked.strip())
    kernel = load_program(program).kernel("kernel")
    emulated = runtime.emulate(kernel)[literal_eval(grid), literal_eval(block)]
    profile = emulated(*map(made, given.split(", ")))
    assert not profile.errors
    assert (code, line_of(program, text)) in [(each.code, each.line) for each in profile.findings]


# Statements for which Numba's PTX has no instruction of float64, and those for which it has one.
NARROWED = [
    "y[i] = x[i] * 2", "y[i] = 0.5 * x[i]", "y[i] = x[i] + 1", "y[i] = 1 - x[i]",
    "y[i] = x[i] / 3", "y[i] = 1.0 / x[i]", "y[i] = -(x[i] * 2)", "y[i] = (x[i] + x[i + 1]) / 2",
    "y[i] = x[i] * (1 / 4)", "y[i] = x[i] * HALF", "y[i] = float64(x[i]) * float64(y[i])",
    "y[i] = float32(x[i] * 2) * y[i]", "y[i] *= 0.5", "y[i] += 1", "a = x[i] * 2\ny[i] = a",
    "a = x[i] * 2\ny[i] = a\nx[i] = a", "h = 0.5\ny[i] = x[i] * h",
    "a = 0.0\nif i > 3:\n    a = x[i] * 2\ny[i] = a",
    "a = float32(1)\nfor j in range(9):\n    a = float32(a * 2)\ny[i] = a",
    "cuda.atomic.add(y, 0, x[i] * 2)",
    "s = cuda.local.array(4, float32)\ns[0] = x[i] * 2\ny[i] = s[0] + 1",
    "s = 0.0\ns += x[i]\ny[i] = s", "s = 0.0\ns = s + x[i]\nt = s\ny[i] = t",
    "s = x[i]\ns *= 2\ny[i] = s", "s = 0.0\nif i > 3:\n    s += x[i]\ny[i] = s",
    "for j in range(n):\n    s = 0.0\n    s += x[j]\n    x[i] = s",
    "h = float32(0.5) * 2\ny[i] = x[i] * h", "h = float32(0.5) * 2\nh2 = -h * 4\ny[i] = x[i] + h2",
    "y[i] = float32(0.1) * 3", "h = 1 / math.sqrt(64)\ny[i] = x[i] * h",
    "h = 2 * math.pi\ny[i] = x[i] * float32(h)",
]  # fmt: skip
WIDE = [
    "y[i] = x[i] * 0.1", "y[i] = x[i] / 0.1", "y[i] = x[i] + 16777217", "y[i] = x[i] + 1e40",
    "y[i] = x[i] * (1 / 3)", "y[i] = x[i] * TENTH", "y[i] = x[i] * 2 + y[i]",
    "y[i] = (x[i] + 1) * 2", "y[i] = 2 * x[i] * y[i]", "y[i] = x[i] * i", "y[i] = x[i] * n",
    "y[i] = x[i] // 2", "y[i] = x[i] % 2", "y[i] = math.sqrt(float64(x[i]))",
    "y[i] = math.sqrt(x[i] * 2)", "y[i] = math.exp(x[i] * 2)",
    "y[i] = x[i] * 2 if i > 3 else x[i] * 4", "y[i] += 2 * x[i]",
    "a = x[i] * 2\ny[i] = a\nx[i] = a + 1", "a = x[i] * 2\nb = a + 1\ny[i] = b",
    "if x[i] * 2 > y[i]:\n    y[i] = 1", "s = 0.0\nfor j in range(n):\n    s += x[j]\ny[i] = s",
    "a = float32(1)\nfor j in range(n):\n    a = float32(a * 2 + 1)\ny[i] = a",
    "s = 0.0\ns += x[i]\ns += y[i]\ny[i] = s", "s = 0.0\ns += x[i] * 2\ny[i] = s",
    "s = 0.0\ns += x[i]\nif i > 3:\n    s += y[i]\ny[i] = s", "s = 0.1\ns += x[i]\ny[i] = s",
    "h = float32(0.1) * 3\ny[i] = x[i] * h", "h = 1 / math.sqrt(2)\ny[i] = x[i] * h",
    "h = math.exp(2.0)\ny[i] = x[i] * float32(h)",
]  # fmt: skip
STATEMENTS = dict.fromkeys(NARROWED, False) | dict.fromkeys(WIDE, True)
CONSTANTS = "HALF = 0.5\nTENTH = 0.1"


def program_of(statement: str) -> str:
    body = "i = cuda.grid(1)\nif i + 1 < x.size:\n    " + statement.replace("\n", "\n    ")
    return as_program(body, "x, y, n", CONSTANTS)


@every_case("costs", [True, False])
@every_case("statement", STATEMENTS)
def test_float64_is_told_where_the_machine_code_has_it(statement: str, costs: bool) -> None:
    arrays = np.ones(32, np.float32), np.ones(32, np.float32)
    profile = launch(program_of(statement), 1, 32, *arrays, 8, costs=costs)
    told = "float64-arithmetic" in [finding.code for finding in profile.findings]
    assert told == STATEMENTS[statement]


@pytest.mark.parametrize("step", few(["k = k * k", "j = k\nk = j + j - j", "k = k", "k *= 1"]))
def test_a_long_chain_of_variables_costs_no_more_than_its_length(step: str) -> None:
    text = "k = 1.0\n" + 400 * f"{step}\n" + "y[i] = x[i] * k"
    with counted_calls(3_000_000):  # 1.4 million at most, in November 2026
        arrays = np.ones(32, np.float32), np.ones(32, np.float32)
        assert launch(program_of(text), 1, 32, *arrays, 8).finished


@pytest.mark.slow
@pytest.mark.parametrize("statement", STATEMENTS)
def test_the_machine_code_has_it_there(statement: str) -> None:
    from numba import cuda, float32, int64

    from course_lib.machine_code import compiler

    if reason := compiler.missing():
        pytest.skip(reason)
    text = program_of(statement).replace("@cuda.jit\n", "")
    linecache.cache[statement] = (len(text), None, text.splitlines(True), statement)
    names: dict[str, object] = {"math": math}
    exec(compile(text, statement, "exec"), names)
    ptx, _ = cuda.compile_ptx(names["kernel"], (float32[::1], float32[::1], int64), cc=(8, 0))
    assert (".f64" in ptx) == STATEMENTS[statement]
