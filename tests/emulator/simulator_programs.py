"""Programs that both the emulator and Numba's own simulator run, and their arguments.

Run as a script under NUMBA_ENABLE_CUDASIM=1 it writes the simulator's results into a file; the
test compares them with the emulator's. The simulator knows no types (a Python int is a Python
int there), so only programs whose values agree in both worlds stand here.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

STYLES = Path(__file__).parents[1] / "styles" / "answers"
SHAPE = (9, 21, 11)  # M, K, N: no multiple of anything
# A fused multiply-add is rounded twice in the simulator.
INEXACT = {"fused_multiply_add"}

SMALL = {
    "reduce": """
        s = cuda.shared.array(64, int64)
        i = cuda.threadIdx.x
        s[i] = data[cuda.grid(1)]
        cuda.syncthreads()
        step = 32
        while step > 0:
            if i < step:
                s[i] += s[i + step]
            cuda.syncthreads()
            step //= 2
        if i == 0:
            out[cuda.blockIdx.x] = s[0]
    """,
    "scan": """
        s = cuda.shared.array(64, int64)
        i = cuda.threadIdx.x
        s[i] = data[cuda.grid(1)]
        cuda.syncthreads()
        step = 1
        while step < 64:
            x = s[i - step] if i >= step else 0
            cuda.syncthreads()
            s[i] += x
            cuda.syncthreads()
            step *= 2
        out[cuda.grid(1)] = s[i]
    """,
    "reverse": """
        s = cuda.shared.array(64, int64)
        s[cuda.threadIdx.x] = data[cuda.grid(1)]
        cuda.syncthreads()
        out[cuda.grid(1)] = s[63 - cuda.threadIdx.x]
    """,
    "histogram": """
        i = cuda.grid(1)
        cuda.atomic.add(out, data[i] % 10, 1)
        cuda.atomic.max(out, 11, data[i])
        cuda.atomic.min(out, 12, data[i])
    """,
    "votes": """
        i = cuda.grid(1)
        out[i] = cuda.syncthreads_count(data[i] > 3)
        out[i] += 100 * (cuda.syncthreads_or(data[i] == 5) != 0)
        out[i] += 200 * (cuda.syncthreads_and(data[i] > -100) != 0)
    """,
    "paths": """
        i = cuda.grid(1)
        total = 0
        for k in range(data[i] % 7):
            if k == 3:
                continue
            j = 0
            while True:
                j += 1
                if j > k or j == data[i] % 5:
                    break
            total += j if k % 2 else -j
        else:
            total += 1000
        if total < 5:
            return
        out[i] = total
    """,
    "local": """
        mine = cuda.local.array(8, int64)
        i = cuda.grid(1)
        for k in range(8):
            mine[k] = (data[i] + k * 5) % 11
        for a in range(8):
            for b in range(7 - a):
                if mine[b] > mine[b + 1]:
                    mine[b], mine[b + 1] = mine[b + 1], mine[b]
        out[i] = mine[0] * 100 + mine[7]
    """,
    "integers": """
        i = cuda.grid(1)
        x = int(data[i])
        out[i] = (x // 3) * 1000 + (x % 3) * 100 + (x ^ 5) + (x << 2) + (x >> 1) + abs(x) + ~x
        out[i] += min(x, 2) * max(x, -2) + (x & 6) * (x | 1) + x ** 2 - (-7 < x <= 9)
    """,
    "grid of a stride": """
        for i in range(cuda.grid(1), data.size, cuda.gridsize(1)):
            out[i] = data[i] * 2 + cuda.blockDim.x + cuda.gridDim.x
    """,
}


@dataclass(frozen=True)
class Case:
    """A program, the name of its kernel, its launch, its arguments and which one is the output."""

    name: str
    text: str
    kernel: str
    grid: Any
    block: Any
    arguments: tuple[np.ndarray, ...]


def cases() -> Iterator[Case]:
    """Every program, with fresh arguments."""
    for path in sorted(STYLES.glob("*/*.py")):
        yield _exercise(path)
    for name, body in SMALL.items():
        data = np.random.default_rng(len(name)).integers(-40, 40, 128)
        text = "from numba import cuda, int64\n\n@cuda.jit\ndef kernel(data, out):" + body
        yield Case(name, text, "kernel", 2, 64, (data, np.zeros(128, np.int64)))


def _exercise(path: Path) -> Case:
    text = path.read_text(encoding="utf-8")
    random = np.random.default_rng(1)
    M, K, N = SHAPE
    left, right = ((M, N), (M, N)) if path.parent.name == "mat_add" else ((M, K), (K, N))
    arguments = (*(random.random(shape, np.float32) for shape in (left, right)),)
    constants: dict[str, Any] = {}
    for line in text.splitlines():
        if line.startswith(("TILE = ", "BLOCK = ")):
            exec(line, constants)
    tile = constants.get("TILE", 16)
    block = constants.get("BLOCK", (tile, tile) if path.parent.name == "matmul_tiled" else (16, 16))
    covers = (tile, tile) if path.parent.name == "matmul_tiled" else block
    grid = (-(-N // covers[0]), -(-M // covers[1]))
    out = np.full((M, N), -1, np.float32)
    name = f"{path.parent.name} {path.stem}"
    return Case(name, text, path.parent.name, grid, block, (*arguments, out))


def run_in_simulator(results: Path) -> None:
    """Run everything on Numba's simulator, and save the outputs."""
    outputs = {}
    for case in cases():
        namespace: dict[str, Any] = {}
        exec(compile(case.text, case.name, "exec"), namespace)
        namespace[case.kernel][case.grid, case.block](*case.arguments)
        outputs[case.name] = case.arguments[-1]
    np.savez(results, **outputs)


if __name__ == "__main__":
    run_in_simulator(Path(sys.argv[1]))
