"""The rungs compiled by Numba and by numba-cuda-mlir: what must be the same in both is the same.

Registers and index arithmetic belong to a compiler. How often a warp multiplies, and what it loads
and stores by which width, belong to the kernel. Counts as compiled follow the machine code to its
results, which are held against the source's: code that computes something else is not counted.
"""

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import course_lib
from course_lib.host import runtime
from course_lib.machine_code import CompileFailed, compile_report

WITHOUT_NUMBA = str(Path(__file__).resolve().parents[1] / "without_numba" / "run.py")
BOTH = find_spec("numba_cuda") is not None and find_spec("numba_cuda_mlir") is not None

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not BOTH and Path(sys.prefix).name != ".venv-upstream",
        reason="numba-cuda and numba-cuda-mlir are needed"),
]  # fmt: skip

NAMES = (
    "naive", "naive_while", "coalesced", "coalesced_while", "tiled", "tiled_while", "register_1d",
    "register_2d", "vectorised", "warp_tiled", "double_buffered", "cp_async", "tensor_core_f16",
)  # fmt: skip
MORE = ("tensor_core_tf32", "tensor_core_bf16", "wgmma", "tma", "tma_bf16")
ON_A_GPU_ONLY = MORE[2:]  # they have no emulated run, so none that could be counted
COUNTS = (
    "global_load_requests", "global_load_sectors", "global_store_requests", "global_store_sectors",
    "shared_load_requests", "shared_load_wavefronts", "shared_store_requests",
    "shared_store_wavefronts", "flops",
)  # fmt: skip


def looked_at(name: str) -> dict[str, Any]:
    """What must not depend on the compiler: in the hot loop, and of a whole launch."""
    # Imported late: where Numba is missing, `start` comes first.
    from course_lib.kernels import RUNG_KERNELS

    rung = RUNG_KERNELS[name]
    report = compile_report(rung.kernel, rung.signature, cc="9.0")
    mix = report.mix
    assert mix is not None
    found: dict[str, Any] = {
        "multiply-adds": mix.ffma,
        "tensor cores": mix.hmma,
        "loads of global memory": {str(bits): n for bits, n in sorted(mix.ldg.items())},
        "loads of shared memory": {str(bits): n for bits, n in sorted(mix.lds.items())},
        "stores to shared memory": mix.sts,
        "asynchronous copies": mix.ldgsts,
        "spills": report.spill_store_bytes,
    }
    if name not in ON_A_GPU_ONLY:
        counted = launched(rung).as_compiled("9.0")
        found |= {count: int(getattr(counted, count)) for count in COUNTS}
    return found


def launched(rung: Any) -> Any:
    """The profile of a launch on matrices of a few tiles."""
    rows, columns, _ = rung.tile
    M, N, K = max(rows, 64), max(columns, 64), 64
    random = np.random.default_rng(0)
    A, B = random.random((M, K), np.float32), random.random((K, N), np.float32)
    if rung.dtype == "uint16":  # the bits of bfloat16
        A, B = ((each.view(np.uint32) >> 16).astype(np.uint16) for each in (A, B))
    inputs = [each.astype(rung.dtype) for each in (A, B)]
    emulated = course_lib.emulate(
        rung.kernel, steps=runtime.PATIENT_STEPS, max_dynamic_shared=1 << 18
    )
    grid, block = rung.grid_and_block(M, N, K)
    return emulated[grid, block, 0, rung.dynamic_shared](*inputs, np.zeros((M, N), rung.result))


def by_the_successor(*names: str) -> dict[str, dict[str, Any]]:
    """The same in a process that has no Numba."""
    command = [sys.executable, WITHOUT_NUMBA, __file__, *names]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    banner, _, found = done.stdout.partition("\n")
    assert "numba-cuda-mlir" in banner
    return json.loads(found)


@pytest.fixture(scope="module")
def successors() -> dict[str, dict[str, Any]]:
    return by_the_successor(*NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_rung_is_the_same_by_both(successors: Any, name: str) -> None:
    assert successors[name] == looked_at(name)


@pytest.mark.long
@pytest.mark.parametrize("name", MORE)
def test_a_later_rung_is_the_same_by_both(name: str) -> None:
    assert by_the_successor(name)[name] == looked_at(name)


def test_its_kernel_beside_numba() -> None:
    from numba import float32
    from numba_cuda_mlir import cuda, types

    from course_lib.intrinsics import load4

    @cuda.jit
    def add_one(A, B):
        i = cuda.grid(1)
        if i < B.size:
            B[i] = A[i] + types.float32(1)

    @cuda.jit
    def wide(A, B):
        B[0], _, _, _ = load4(A, 0)

    A = np.zeros(64, np.float32)
    assert "numba-cuda-mlir" in compile_report(add_one, (A, A), cc="7.5").versions
    profile = course_lib.emulate(add_one)[2, 32](A, A.copy())
    assert profile.as_compiled("9.0").global_load_requests == 2
    with pytest.raises(CompileFailed, match="knows no type for"):
        compile_report(add_one, (float32[::1], float32[::1]))
    with pytest.raises(CompileFailed, match="wide calls load4, which needs numba-cuda"):
        compile_report(wide, (A, A))


if __name__ == "__main__":
    course_lib.start()
    print(json.dumps({name: looked_at(name) for name in sys.argv[1:]}))
