"""The emulator beside Numba's simulator, its documentation's examples, and its successor."""

import ast
import importlib.util
import os
import subprocess
import sys
import textwrap
import venv
from pathlib import Path

import numba
import numba.cuda.random
import numpy as np
import pytest
from emulator_helpers import codes, launch, on_numbas_simulator
from numba.cuda.random import init_xoroshiro128p_states_cpu, xoroshiro128p_dtype
from sampling import few
from simulator_programs import INTRINSICS, LACKING, SMALL, answers, cases

from course_lib.emulator import emulate, load_program
from course_lib.host.arguments import HostArguments

SHUFFLES = {"attention shuffles", "block_scan warp_shuffles"}


Simulated = tuple[str, dict[str, np.ndarray]]


@pytest.fixture(scope="module", params=[
    pytest.param("some", marks=pytest.mark.slow),
    pytest.param("every", marks=pytest.mark.long),
])  # fmt: skip
def simulated(request):
    """Which programs, and the simulator's outputs."""
    launches = {
        # It has no barrier of a warp. A block's does more; all threads here come to it.
        each.name: (each.text.replace("cuda.syncwarp()", "cuda.syncthreads()"), *each[2:6])
        for each in cases(request.param)
    }
    left = on_numbas_simulator([*launches.values()])
    return request.param, dict(zip(launches, (each[-1] for each in left), strict=True))


def test_same_results(simulated: Simulated) -> None:
    which, outputs = simulated
    different = []
    for case in cases(which):
        kernel = load_program(case.text).kernel(case.kernel)
        arguments = HostArguments(case.arguments)
        profile = emulate(kernel)[case.grid, case.block](*arguments.values)
        arguments.write_back()
        errors = [each for each in profile.findings if each.severity == "error"]
        found, expected = case.arguments[-1], outputs[case.name]
        # Written so that not-a-number is a difference.
        same = bool((np.abs(found - expected) <= case.apart).all())
        if errors or not same:
            different.append((case.name, errors, float(np.abs(found - expected).max())))
    assert not different


def test_everything_was_simulated(simulated: Simulated) -> None:
    """All programs, but for the few that use what the simulator lacks."""
    which, outputs = simulated
    ours = {
        f"{exercise} {name}" for exercise, name, text in answers(which) if INTRINSICS not in text
    }
    left_out = (ours | SMALL.keys()) - outputs.keys()
    assert left_out == SHUFFLES if which == "every" else left_out <= SHUFFLES


def test_the_simulator_has_no_shuffles() -> None:
    """The reason why some answers are left out; should this fail, they can be compared."""
    simulator = pytest.importorskip("numba.cuda.simulator.kernelapi").FakeCUDAModule
    assert hasattr(simulator, "syncthreads")
    assert not [name for name in (*LACKING, "syncwarp") if hasattr(simulator, name)]


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


ROOT = Path(__file__).parents[2]
PACKAGES = ["numba-cuda-mlir", "numba", "matplotlib", "ipython"]

PROGRAM = """\
import numpy as np
from numba_cuda_mlir import cuda, types

import course_lib

TILE = 16


@cuda.jit
def add(a, b, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = a[i] + b[i]


@cuda.jit
def matmul_tiled(A, B, C):
    sA = cuda.shared.array((TILE, TILE), types.float32)
    sB = cuda.shared.array((TILE, TILE), dtype=np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x, y = cuda.grid(2)
    acc = types.float32(0)
    for t in range((A.shape[1] + TILE - 1) // TILE):
        sA[ty, tx] = A[y, t * TILE + tx] if y < A.shape[0] and t * TILE + tx < A.shape[1] else 0
        sB[ty, tx] = B[t * TILE + ty, x] if t * TILE + ty < B.shape[0] and x < B.shape[1] else 0
        cuda.syncthreads()
        for k in range(TILE):
            acc += sA[ty, k] * sB[k, tx]
        cuda.syncthreads()
    if y < C.shape[0] and x < C.shape[1]:
        C[y, x] = acc


a = np.arange(40, dtype=np.float32)
out = np.zeros_like(a)
profile = course_lib.emulate(add)[2, 32](a, a, out)
assert np.array_equal(out, 2 * a) and not profile.findings, profile.findings
assert profile.global_load_requests == 4, profile.global_load_requests
report = course_lib.examine("matmul_tiled", matmul_tiled)
assert report.passed, report.findings
text = open(__file__).read().split("a = np.arange")[0]
text = text.replace("        cuda.syncthreads()\\n", "", 1)
report = course_lib.examine_source("matmul_tiled", text)
assert [each.code for each in report.findings][:1] == ["race-read-after-write"], report.findings
with course_lib.emulated() as launches:
    assert cuda.is_available() and len(cuda.gpus) == 1
    on_device = cuda.to_device(np.zeros(40, np.float32))
    add[2, 32, cuda.stream()](a, a, on_device)
    assert np.array_equal(on_device.copy_to_host(), 2 * a)

    @cuda.jit("void(float32[:])")
    def declared(x):
        x[cuda.grid(1)] = 1

    try:
        declared[2, 32](on_device)
    except course_lib.LaunchFailed as failed:
        assert "in declared: thread 8 of block 1 writes x at index 40" in str(failed), failed
    else:
        raise AssertionError("an access outside an array was not told")
assert launches.count == 2
print("numba-cuda-mlir: emulated and examined")
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A Python that can import numba_cuda_mlir."""
    given = os.environ.get("MATMUL_LADDER_MLIR_PYTHON")
    if given:
        return given
    if importlib.util.find_spec("numba_cuda_mlir"):  # as in `course.py test --upstream`
        return sys.executable
    folder = tmp_path_factory.mktemp("mlir")
    venv.create(folder, with_pip=True)
    made = str(folder / ("Scripts" if os.name == "nt" else "bin") / "python")
    done = _run([made, "-m", "pip", "install", "-q", *PACKAGES])
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:]
        pytest.skip(f"numba-cuda-mlir cannot be installed here: {last}")
    done = _run([made, "-c", "from numba_cuda_mlir import cuda"])
    if done.returncode:
        pytest.skip(f"numba-cuda-mlir cannot be imported here: {done.stderr.splitlines()[-1:]}")
    return made


def _run(command: list[str], **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=600, **options)


@pytest.mark.long
def test_its_kernels_are_emulated_and_examined(python: str, tmp_path: Path) -> None:
    program = tmp_path / "with_mlir.py"
    program.write_text(PROGRAM, encoding="utf-8")
    done = _run([python, str(program)], env=os.environ | {"PYTHONPATH": str(ROOT)}, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "emulated and examined" in done.stdout
