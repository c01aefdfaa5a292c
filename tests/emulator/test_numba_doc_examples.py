"""The kernels of Numba's own CUDA examples run on the emulator and are right, or clearly refused.

Their text is read from the installed Numba package; what their examples define around them
stands here. On a GPU Numba itself tests the same kernels.
"""

import ast
import textwrap
from pathlib import Path

import numba
import numba.cuda.random
import numpy as np
import pytest
from emulator_helpers import codes, launch
from numba.cuda.random import init_xoroshiro128p_states_cpu, xoroshiro128p_dtype
from sampling import few

EXAMPLES = Path(numba.__file__).parent / "cuda" / "tests" / "doc_examples"
if not EXAMPLES.is_dir():
    pytest.skip("this Numba brings no CUDA examples", allow_module_level=True)

HEADER = """\
import math
from math import pi
import numba
import numpy as np
from numba import cuda, float32, int32
from numba.cuda.random import xoroshiro128p_uniform_float32

"""


def example(file: str, kernel: str, *helpers: str, constants: str = "") -> str:
    """A program with the kernel and its helper functions, as the example has them."""
    text = (EXAMPLES / f"test_{file}.py").read_text(encoding="utf-8")
    functions = {
        node.name: _source(text, node)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef) and node.decorator_list
    }
    parts = [functions[name] for name in (*helpers, kernel)]
    body = "\n".join(parts).replace(f"def {kernel}(", "def kernel(")
    return f"{HEADER}{constants}\n\n{body}"


def _source(text: str, node: ast.FunctionDef) -> str:
    first = min(each.lineno for each in node.decorator_list)
    return textwrap.dedent("\n".join(text.splitlines()[first - 1 : node.end_lineno]) + "\n")


def run_right(program: str, grid, block, *arguments) -> None:
    """Run under all schedules; no error may be found, and the results must not differ."""
    results = []
    for schedule in ("lockstep", "warps", "shuffled"):
        arrays = [each.copy() if isinstance(each, np.ndarray) else each for each in arguments]
        profile = launch(program, grid, block, *arrays, schedule=schedule)
        assert not codes(profile), [str(each) for each in profile.findings]
        results.append(arrays)
    for arrays in results[1:]:
        for one, other in zip(arrays, results[0], strict=True):
            np.testing.assert_array_equal(one, other)
    for given, result in zip(arguments, results[0], strict=True):
        if isinstance(given, np.ndarray):
            given[...] = result


def heat(steps: int, data: np.ndarray, k: float) -> np.ndarray:
    """The heat equation with cold walls, in NumPy."""
    for _ in range(steps):
        wide = np.pad(data, 1)
        data = data + k * (wide[:-2] - 2 * data + wide[2:])
    return data


def random_states(count: int, seed: int) -> np.ndarray:
    """Numba's own states for that many threads, made on the CPU."""
    states = np.zeros(count, xoroshiro128p_dtype)
    init_xoroshiro128p_states_cpu(states, np.uint64(seed), 0)
    return states


@pytest.mark.parametrize("dtype", few(["float32", "float64"]))
def test_normal_numbers_are_numbas(dtype: str) -> None:
    draw = getattr(numba.cuda.random, f"xoroshiro128p_normal_{dtype}")
    program = HEADER + textwrap.dedent(f"""
        from numba.cuda.random import xoroshiro128p_normal_{dtype}
        @cuda.jit
        def kernel(states, out):
            i = cuda.grid(1)
            for k in range(3):
                out[i, k] = xoroshiro128p_normal_{dtype}(states, i)
    """)
    states, out = random_states(64, 3), np.zeros((64, 3), dtype)
    before = states.copy()
    run_right(program, 2, 32, states, out)
    expected = [[draw(before, i) for _ in range(3)] for i in range(64)]
    np.testing.assert_allclose(out, expected, rtol=2e-6, atol=1e-6)


def test_grid_synchronisation() -> None:
    rows = np.zeros((9, 64), np.int32)
    run_right(example("cg", "sequential_rows"), 2, 32, rows)
    assert (rows == np.arange(9)[:, None]).all()


def test_laplace() -> None:
    """Its last threads return before the barrier of the grid, which is a warning only."""
    data = np.zeros(101)
    data[50] = 10000
    expected = heat(20, data, 0.25)
    run_right(example("laplace", "solve_heat_equation"), 4, 32, data, np.zeros(101), 20, 0.25)
    np.testing.assert_allclose(data, expected, rtol=1e-12)


def test_sessionize_waits_for_the_grid_in_a_branch() -> None:
    program = example("sessionize", "sessionize", constants="session_timeout = 3600")
    users, times = np.repeat([1, 2], 32), np.arange(64)
    profile = launch(program, 2, 32, users, times, np.zeros(64))
    assert "barrier-divergence" in codes(profile)
    assert "does not reach it" in profile.findings[0].message
