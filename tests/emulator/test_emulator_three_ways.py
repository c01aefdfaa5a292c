"""Random kernels give the same on the emulator, on Numba's simulator, and in the reference.

Numba's simulator knows no types, no warps and no shuffles, so it is right only for kernels whose
numbers are all int64 and never overflow; such kernels are drawn here. `--long` tries ten times as
many.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import random_blocks
import random_kernels
from emulator_helpers import as_program, launch, on_numbas_simulator, some_or_many
from hypothesis import given, settings
from hypothesis import strategies as st
from random_blocks import BINS, BLOCKS, THREADS, Block, BlockKernel, BlockMaker
from random_kernels import Draw, Expression

PARAMETERS = "in_u, out_u, out_v, out_bins, out_top"
START = f"""\
s_int64 = cuda.shared.array({THREADS}, int64)
tally = cuda.shared.array({BINS}, int64)
tid = cuda.grid(1)
i = cuda.threadIdx.x
s_int64[i] = i
cuda.syncthreads()
u = in_u[tid]
v = tid * 3
"""


class TooLarge(Exception):
    """A number left the range in which Numba's simulator computes as Numba does."""


class PlainMaker(BlockMaker):
    """Draws kernels of int64 only, without what the simulator lacks."""

    OTHERS = frozenset("int32 uint32 float32 float64 f g d shuffle ballot".split())

    def pick(self, items: Any) -> Any:
        return super().pick([each for each in items if each not in self.OTHERS])

    def cast(self, kind: str, inner: Expression) -> Expression:
        return inner


@st.composite
def plain_kernels(draw: Draw) -> BlockKernel:
    """Kernels of two to four phases."""
    maker = PlainMaker(draw)
    phases = [maker.phase(1) for _ in range(draw(st.integers(2, 4)))]
    lines = [line for phase in phases for line in phase.lines]
    body = START + "\n".join([*lines, "out_u[tid] = u", "out_v[tid] = v"])

    def run(block: Block) -> None:
        for phase in phases:
            phase.run(block)

    return BlockKernel(body, run, PARAMETERS)


def exactly(value: Any, kind: str) -> Any:
    """In place of `convert`: the same number, or an exception where Numba would wrap around."""
    if kind == "bool":
        return bool(value)
    if not -(2**31) < value < 2**31:
        raise TooLarge
    return int(value)


@contextmanager
def no_overflow() -> Iterator[None]:
    """The reference computes with `exactly` in place of `convert`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(random_kernels, "convert", exactly)
        patch.setattr(random_blocks, "convert", exactly)
        yield


def arrays_for(kernel: BlockKernel) -> list[np.ndarray]:
    size = THREADS * BLOCKS
    start = np.random.default_rng(len(kernel.body)).integers(-20, 20, size)
    return [start, *(np.zeros(length, np.int64) for length in (size, size, BINS, 1))]


def reference(kernel: BlockKernel) -> list[list[int]]:
    """What the kernel should leave in its arrays."""
    start, *_ = arrays_for(kernel)
    bins, top, u, v = [0] * BINS, [0], [], []
    for first in range(0, THREADS * BLOCKS, THREADS):
        threads: list[dict[str, Any]] = [
            {"tid": tid, "u": int(start[tid]), "v": 3 * tid}
            for tid in range(first, first + THREADS)
        ]
        kernel.run(Block(threads, {"int64": list(range(THREADS))}, [], bins, top))
        u += [env["u"] for env in threads]
        v += [env["v"] for env in threads]
    return [start.tolist(), u, v, bins, top]


def on_the_emulator(kernel: BlockKernel) -> list[list[int]]:
    arrays = arrays_for(kernel)
    profile = launch(as_program(kernel.body, PARAMETERS), BLOCKS, THREADS, *arrays)
    errors = [str(each) for each in profile.findings if each.severity == "error"]
    assert not errors, (errors, kernel.body)
    return [each.tolist() for each in arrays]


def kernels_without_overflow(count: int) -> list[tuple[BlockKernel, list[list[int]]]]:
    """Kernels with what their references say."""
    kept: dict[str, tuple[BlockKernel, list[list[int]]]] = {}

    @settings(max_examples=count)
    @given(plain_kernels())
    def collect(kernel: BlockKernel) -> None:
        with no_overflow():
            try:
                kept[kernel.body] = kernel, reference(kernel)
            except TooLarge:
                return

    collect()
    return list(kept.values())


@pytest.mark.parametrize("count", some_or_many(24, 240))
def test_three_ways_agree(count: int) -> None:
    drawn = kernels_without_overflow(count)
    assert len(drawn) >= 0.6 * count, "too few kernels stay within the range"
    simulated = on_numbas_simulator([
        (as_program(kernel.body, PARAMETERS), "kernel", BLOCKS, THREADS, arrays_for(kernel))
        for kernel, _ in drawn
    ])  # fmt: skip
    for (kernel, expected), arrays in zip(drawn, simulated, strict=True):
        ours, theirs = on_the_emulator(kernel), [each.tolist() for each in arrays]
        text = as_program(kernel.body, PARAMETERS)
        assert ours == expected, f"the emulator differs from the reference:\n{text}"
        assert theirs == expected, f"Numba's simulator differs from the reference:\n{text}"
