"""Kernels with complex numbers, records, vector types and the like, for Numba's simulator as well.

Run as a script under NUMBA_ENABLE_CUDASIM=1 it writes the simulator's results into a file. The
simulator computes with Python's and NumPy's types, so programs stand here whose values agree.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

BEFORE = """\
import cmath
import math
import numpy as np
from numba import cuda, float32, float64, int32, int64, complex64, complex128

"""


@dataclass(frozen=True)
class Program:
    """A kernel's body, how it is launched, and its arguments by name; `out` is compared."""

    body: str
    grid: int
    block: int
    arguments: Callable[[], dict[str, Any]]
    before: str = ""

    @property
    def text(self) -> str:
        names = ", ".join(self.arguments())
        lines = "\n".join(f"    {line}" for line in self.body.strip("\n").splitlines())
        return f"{BEFORE}{self.before}\n@cuda.jit\ndef kernel({names}):\n{lines}\n"


def _some_complex(count: int, kind: type = np.complex128) -> np.ndarray:
    rng = np.random.default_rng(1)
    return (rng.normal(size=count) + 1j * rng.normal(size=count)).astype(kind)


PROGRAMS: dict[str, Program] = {}


def add(name: str, body: str, arguments: Callable[[], dict[str, Any]], **rest: Any) -> None:
    PROGRAMS[name] = Program(body, rest.pop("grid", 2), rest.pop("block", 48), arguments, **rest)


add(
    "mandelbrot",
    """
height, width = out.shape
i = cuda.grid(1)
if i < height * width:
    c = complex(-2.0 + 3.0 * (i % width) / width, -1.0 + 2.0 * (i // width) / height)
    z = 0.0j
    steps = 0
    for k in range(30):
        z = z * z + c
        if z.real * z.real + z.imag * z.imag >= 4:
            break
        steps += 1
    out[i // width, i % width] = steps
""",
    lambda: {"out": np.zeros((9, 10), np.int32)},
)
add(
    "arithmetic",
    """
i = cuda.grid(1)
if i < a.size:
    z = a[i]
    if abs(z) > 1:
        z = z.conjugate() / b[i]
    elif z.real > 0 and z != b[i]:
        z = z ** 2 - 2 * b[i]
    else:
        z += 1j
    out[i] = z * b[i] + z.imag - (1 + 2j)
""",
    lambda: {
        "a": _some_complex(70), "b": _some_complex(71)[1:].copy(),
        "out": np.zeros(70, np.complex128),
    },
)
add(
    "functions",
    """
i = cuda.grid(1)
if i < a.size:
    z = a[i]
    length, angle = cmath.polar(z)
    out[i, 0] = cmath.exp(z) + cmath.log(z)
    out[i, 1] = cmath.sqrt(z) * cmath.sin(z)
    out[i, 2] = cmath.rect(length, angle)
    out[i, 3] = complex(cmath.phase(z), abs(z))
    out[i, 4] = cmath.tanh(z) + cmath.pi
    out[i, 5] = cmath.cosh(z) if cmath.isfinite(z) else complex(0)
""",
    lambda: {"a": _some_complex(70), "out": np.zeros((70, 6), np.complex128)},
)
add(
    "shared complex",
    """
s = cuda.shared.array(48, complex64)
t = cuda.threadIdx.x
s[t] = a[cuda.grid(1)]
cuda.syncthreads()
l = cuda.local.array(2, np.complex128)
l[0] = s[47 - t]
l[1] = 1
out[cuda.grid(1)] = l[0] * l[1]
""",
    lambda: {"a": _some_complex(96, np.complex64), "out": np.zeros(96, np.complex64)},
)
add(
    "ufuncs",
    """
i = cuda.grid(1)
if i < a.size:
    x = a[i]
    out[i, 0] = np.sin(x) + np.arctan2(x, 2.0)
    out[i, 1] = np.minimum(x, 0.5) + np.hypot(x, 1.0)
    out[i, 2] = np.log(np.maximum(x, 0.25))
    out[i, 3] = np.logical_and(x > 0, i > 4) + np.true_divide(x, 3.0)
""",
    lambda: {"a": np.linspace(-2, 2, 60), "out": np.zeros((60, 4))},
)
add(
    "no axes",
    """
i = cuda.grid(1)
if i < out.size:
    out[i] = a[()] * i
if i == 0:
    total[()] += 2
    out[0] = total[()] + total.ndim
""",
    lambda: {"a": np.array(2.5), "total": np.array(1.0), "out": np.zeros(70)},
)

add(
    "vector types",
    """
i = cuda.grid(1)
v = cuda.float32x4(i, 1, 2, 3)
if i % 3 == 1:
    v = cuda.float4(cuda.float32x2(i, 9), 5, 6)
w = v if i > 5 else turned(v)
if i < out.shape[0]:
    out[i, 0] = w.x
    out[i, 1] = w.y + cuda.float64x2(1.5, 2).y
    out[i, 2] = w.z
    out[i, 3] = w.w
""",
    lambda: {"out": np.zeros((70, 4), np.float32)},
    before="""
@cuda.jit(device=True)
def turned(v):
    return cuda.float32x4(v.w, v.x, v.y, v.z)
""",
)
add(
    "compare and swap",
    """
i = cuda.grid(1)
old = cuda.atomic.compare_and_swap(lock, 0, 7)
if old == 0:
    out[0] += 1
if i < 70:
    out[i + 1] = cuda.atomic.cas(many, i, i % 9, -5)
""",
    lambda: {
        "lock": np.zeros(3, np.int32), "many": np.arange(70) % 7,
        "out": np.zeros(71, np.int32),
    },
)


def simulate(path: str) -> None:
    """Write what the simulator makes of every program."""
    results = {}
    for name, program in PROGRAMS.items():
        names: dict[str, Any] = {}
        exec(compile(program.text, name, "exec"), names)
        arguments = program.arguments()
        names["kernel"][program.grid, program.block](*arguments.values())
        results[name] = {key: value for key, value in arguments.items()}
    Path(path).write_bytes(pickle.dumps(results))


if __name__ == "__main__":
    simulate(sys.argv[1])
