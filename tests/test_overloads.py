"""`kernel.overloads`: what a kernel was compiled for, as a program without a driver may ask."""

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("numba.cuda")
from numba import cuda, float32, int64, void

import course_lib
from course_lib.host import runtime
from course_lib.wording.errors import LaunchRefused, NoGpuHere

OF_ONE, OF_BOTH = (float32[::1],), (float32[::1], int64)


@pytest.fixture(autouse=True)
def _numba_as_it_comes():
    runtime.stop()


def doubled(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2


def staged(x, n):
    tile = cuda.shared.array(8192, float32)
    tile[cuda.threadIdx.x] = n
    x[cuda.grid(1)] = tile[cuda.threadIdx.x]


def test_a_declared_kernel_has_what_it_was_declared_with() -> None:
    with course_lib.emulated():
        kernel = cuda.jit([OF_ONE])(doubled)
        assert list(kernel.overloads) == [OF_ONE]
        kernel[1, 32](np.ones(32, np.float32))
        assert list(kernel.overloads) == [OF_ONE]
        again = cuda.jit(doubled)
        assert again.compile(OF_ONE) is again.overloads[OF_ONE]


# Kernel, block, bytes of dynamic shared memory, and how many blocks an A100 holds at least: with
# 255 registers a thread, or as many as a block of this size may have.
GRIDS = [
    (doubled, OF_ONE, 32, 0, 108 * 8),
    (doubled, OF_ONE, (16, 16), 0, 108),
    (doubled, OF_ONE, 1024, 0, 108),
    (doubled, OF_ONE, 32, 40 << 10, 108 * 4),
    (staged, OF_BOTH, 32, 0, 108 * 4),  # 163 KiB of 164, and its own 32 and 1
]


@pytest.mark.parametrize("before_a_launch", [True, False])
@pytest.mark.parametrize(("function", "types", "block", "dynamic", "blocks"), GRIDS)
def test_so_many_blocks_may_wait_for_each_other(
    function, types, block, dynamic, blocks, before_a_launch
):
    with course_lib.emulated():
        kernel = cuda.jit(function)
        if before_a_launch:
            kernel.compile(types)
        else:
            kernel[1, 32](*(np.ones(32, np.float32), 1)[: len(types)])
        compiled = kernel.overloads[types]
        assert compiled.max_cooperative_grid_blocks(block, dynamic) == blocks


def test_a_lesson_is_told_no_number_of_a_gpu_that_is_not_there() -> None:
    kernel = cuda.jit(doubled)
    course_lib.start()
    try:
        kernel[1, 32](np.ones(32, np.float32))
        with pytest.raises(NoGpuHere, match=r"max_cooperative_grid_blocks\(\) needs a GPU"):
            kernel.overloads[OF_ONE].max_cooperative_grid_blocks(32)
    finally:
        runtime.stop()


@pytest.mark.parametrize("name", ["regs_per_thread", "local_mem_per_thread", "inspect_asm"])
def test_what_only_machine_code_knows_is_refused(name: str) -> None:
    kernel = cuda.jit(doubled)
    with course_lib.emulated():
        kernel[1, 32](np.ones(32, np.float32))
        with pytest.raises(NoGpuHere, match=f"^kernel.overloads.*{name} needs a GPU"):
            getattr(kernel.overloads[OF_ONE], name)


def test_what_a_gpu_has_compiled_before_is_there_and_tells_what_it_knows() -> None:
    kernel = cuda.jit(doubled)
    compiled = SimpleNamespace(
        signature=void(*OF_ONE), objectmode=False, regs_per_thread=12, argument_types=OF_ONE
    )
    vars(kernel)["overloads"] = {OF_ONE: compiled}  # as Numba does, with a driver
    kernel.disable_compile()
    with course_lib.emulated():
        (only,) = kernel.overloads.values()
        assert only.regs_per_thread == 12
        assert only.max_cooperative_grid_blocks(32) == 108 * 8
        with pytest.raises(LaunchRefused, match="declared"):
            kernel[1, 32](np.ones(32, np.int8))
    assert kernel.overloads == {OF_ONE: compiled}
