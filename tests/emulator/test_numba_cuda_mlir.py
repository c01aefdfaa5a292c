"""A kernel of Numba's successor, numba-cuda-mlir, is emulated and examined like any other.

It needs a venv of its own, where the test makes one out of a package index; without a network the
test is skipped. `MATMUL_LADDER_MLIR_PYTHON` names a Python that has the package already.
"""

import importlib.util
import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

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
