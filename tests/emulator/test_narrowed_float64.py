"""float64 is told of where the compiled kernel has it: not where the compiler narrows it away."""

from __future__ import annotations

import linecache
import math

import numpy as np
import pytest
from counted_work import counted_calls
from emulator_helpers import as_program, launch
from every_case import every_case

# Statements, and whether Numba's PTX for them has an instruction of float64.
STATEMENTS = {
    "y[i] = x[i] * 2": False,
    "y[i] = 0.5 * x[i]": False,
    "y[i] = x[i] + 1": False,
    "y[i] = 1 - x[i]": False,
    "y[i] = x[i] / 3": False,
    "y[i] = 1.0 / x[i]": False,
    "y[i] = -(x[i] * 2)": False,
    "y[i] = (x[i] + x[i + 1]) / 2": False,
    "y[i] = x[i] * (1 / 4)": False,
    "y[i] = x[i] * HALF": False,
    "y[i] = float64(x[i]) * float64(y[i])": False,
    "y[i] = float32(x[i] * 2) * y[i]": False,
    "y[i] *= 0.5": False,
    "y[i] += 1": False,
    "a = x[i] * 2\ny[i] = a": False,
    "a = x[i] * 2\ny[i] = a\nx[i] = a": False,
    "h = 0.5\ny[i] = x[i] * h": False,
    "a = 0.0\nif i > 3:\n    a = x[i] * 2\ny[i] = a": False,
    "a = float32(1)\nfor j in range(9):\n    a = float32(a * 2)\ny[i] = a": False,
    "cuda.atomic.add(y, 0, x[i] * 2)": False,
    "s = cuda.local.array(4, float32)\ns[0] = x[i] * 2\ny[i] = s[0] + 1": False,
    "s = 0.0\ns += x[i]\ny[i] = s": False,
    "s = 0.0\ns = s + x[i]\nt = s\ny[i] = t": False,
    "s = x[i]\ns *= 2\ny[i] = s": False,
    "s = 0.0\nif i > 3:\n    s += x[i]\ny[i] = s": False,
    "for j in range(n):\n    s = 0.0\n    s += x[j]\n    x[i] = s": False,
    "h = float32(0.5) * 2\ny[i] = x[i] * h": False,
    "h = float32(0.5) * 2\nh2 = -h * 4\ny[i] = x[i] + h2": False,
    "y[i] = float32(0.1) * 3": False,
    "h = 1 / math.sqrt(64)\ny[i] = x[i] * h": False,
    "h = 2 * math.pi\ny[i] = x[i] * float32(h)": False,
    "y[i] = x[i] * 0.1": True,
    "y[i] = x[i] / 0.1": True,
    "y[i] = x[i] + 16777217": True,
    "y[i] = x[i] + 1e40": True,
    "y[i] = x[i] * (1 / 3)": True,
    "y[i] = x[i] * TENTH": True,
    "y[i] = x[i] * 2 + y[i]": True,
    "y[i] = (x[i] + 1) * 2": True,
    "y[i] = 2 * x[i] * y[i]": True,
    "y[i] = x[i] * i": True,
    "y[i] = x[i] * n": True,
    "y[i] = x[i] // 2": True,
    "y[i] = x[i] % 2": True,
    "y[i] = math.sqrt(float64(x[i]))": True,
    "y[i] = math.sqrt(x[i] * 2)": True,
    "y[i] = math.exp(x[i] * 2)": True,
    "y[i] = x[i] * 2 if i > 3 else x[i] * 4": True,
    "y[i] += 2 * x[i]": True,
    "a = x[i] * 2\ny[i] = a\nx[i] = a + 1": True,
    "a = x[i] * 2\nb = a + 1\ny[i] = b": True,
    "if x[i] * 2 > y[i]:\n    y[i] = 1": True,
    "s = 0.0\nfor j in range(n):\n    s += x[j]\ny[i] = s": True,
    "a = float32(1)\nfor j in range(n):\n    a = float32(a * 2 + 1)\ny[i] = a": True,
    "s = 0.0\ns += x[i]\ns += y[i]\ny[i] = s": True,
    "s = 0.0\ns += x[i] * 2\ny[i] = s": True,
    "s = 0.0\ns += x[i]\nif i > 3:\n    s += y[i]\ny[i] = s": True,
    "s = 0.1\ns += x[i]\ny[i] = s": True,
    "h = float32(0.1) * 3\ny[i] = x[i] * h": True,
    "h = 1 / math.sqrt(2)\ny[i] = x[i] * h": True,
    "h = math.exp(2.0)\ny[i] = x[i] * float32(h)": True,
}
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


@pytest.mark.parametrize("step", ["k = k * k", "k = k", "k *= 1", "j = k\nk = j + j - j"])
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
