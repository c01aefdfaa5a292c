"""Where one barrier is missing, one finding says so and names all lines that need it."""

import re

import numpy as np
from emulator_helpers import as_program, launch
from every_case import every_case

SHARED = """
s = cuda.shared.array(64, float32)
u = cuda.shared.array(64, float32)
t = cuda.threadIdx.x
"""
# The text of a kernel, and of each finding its own two lines and those that it names besides, as
# the comments in the text call them.
MISSING = {
    "three reads": (
        "s[t] = x[t]  # a\na = s[63 - t]  # b\nb = s[(t + 40) % 64]  # c\n"
        "y[t] = a + b + s[(t + 1) % 64]  # d",
        ["ab+cd"],
    ),
    "two arrays filled, one line reads": (
        "s[t] = x[t]  # a\nu[t] = y[t]  # b\nx[t] = s[63 - t] * u[63 - t]  # c",
        ["ac+b"],
    ),
    "two barriers": (
        "s[t] = x[t]  # a\nu[t] = s[63 - t]  # b\ny[t] = u[(t + 40) % 64]  # c",
        ["ab", "bc"],
    ),
    "at the end of a loop": (
        "a = float32(0)\nfor k in range(4):\n    s[t] = x[t] * k  # a\n    u[t] = y[t]  # b\n"
        "    cuda.syncthreads()\n    a += s[63 - t]  # c\n    a += u[63 - t]  # d\ny[t] = a",
        ["ca+bd"],
    ),
    "before a loop, and in it": (
        "s[t] = x[t]  # a\nfor k in range(3):\n    a = s[63 - t]  # b\n    cuda.syncthreads()\n"
        "    s[t] = a + 1  # c\ny[t] = s[t]",
        ["ab", "cb"],
    ),
    "read and written by one line": (
        "s[t] = x[t]  # a\nh = 32\nwhile h > 0:\n    cuda.syncthreads()\n"
        "    a = s[(t + h) % 64]  # b\n    s[t] += a  # c\n    h //= 2\ny[t] = s[t]",
        ["bc"],
    ),
    "in turns, in two arms": (
        "s[t] = x[t]\ncuda.syncthreads()\nfor k in range(4):\n    if k % 2:\n"
        "        s[t] = u[63 - t]  # a\n    else:\n        u[t] = s[63 - t]  # b\n"
        "cuda.syncthreads()\ny[t] = s[t]",
        ["ba"],
    ),
    "two loops, each without one": (
        "for k in range(3):\n    s[t] = k  # a\n    cuda.syncthreads()\n"
        "    y[t] += s[63 - t]  # b\ncuda.syncthreads()\n"
        "for k in range(3):\n    s[t] = k  # c\n    cuda.syncthreads()\n"
        "    y[t] += s[63 - t]  # d",
        ["ba", "dc"],
    ),
}


@every_case(("body", "wanted"), MISSING.values(), ids=MISSING)
def test_one_finding_for_each_barrier(body: str, wanted: list[str]) -> None:
    program = as_program(SHARED + body, "x, y")
    name = {n: line[-1] for n, line in enumerate(program.splitlines(), 1) if "# " in line}
    x, y = np.ones(64, np.float32), np.ones(64, np.float32)
    told = []
    for found in launch(program, 1, 64, x, y).errors:
        numbers = list(dict.fromkeys(map(int, re.findall(r"line (\d+)", found.message))))
        own = name[found.other_line] + name[found.line]
        others = "".join(sorted({name[n] for n in numbers} - {*own}))
        told.append(f"{own}+{others}" if others else own)
    assert sorted(told) == sorted(wanted)
