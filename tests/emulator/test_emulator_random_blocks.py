"""Random kernels with barriers, shared memory, atomics and warp functions are right and clean.

With some of their barriers taken out, the races found are those that a plain search of every
single access finds. HYPOTHESIS_PROFILE=nightly runs thousands of both.
"""

from collections import defaultdict

import numpy as np
import pytest
from emulator_helpers import as_program, run, run_clean
from how_many import some_or_many
from hypothesis import given, settings
from hypothesis import strategies as st
from random_blocks import BLOCKS, THREADS, BlockKernel, block_kernels, expected, inputs, outputs

SCHEDULES = st.sampled_from(["lockstep", "warps", "shuffled"])


def check(kernel: BlockKernel, seed: int, schedule: str) -> None:
    arrays, results = inputs(seed), outputs()
    run_clean(
        kernel.body, BLOCKS, THREADS, *arrays.values(), *results.values(),
        parameters=kernel.parameters, schedule=schedule, seed=seed,
    )  # fmt: skip
    for name, array in expected(kernel, arrays).items():
        np.testing.assert_array_equal(
            results[name], array, err_msg=f"{name}, {schedule}\n{as_program(kernel.body)}"
        )


@given(block_kernels(), st.integers(0, 1000), SCHEDULES)
def test_random_kernel(kernel: BlockKernel, seed: int, schedule: str) -> None:
    check(kernel, seed, schedule)


@pytest.mark.parametrize("count", some_or_many(100, 1000))
def test_many_random_kernels(count: int) -> None:
    @settings(max_examples=count)
    @given(block_kernels(), st.integers(0, 1000), SCHEDULES)
    def each(kernel: BlockKernel, seed: int, schedule: str) -> None:
        check(kernel, seed, schedule)

    each()


BARRIER = "cuda.syncthreads()"


@st.composite
def kernels_lacking_barriers(draw) -> BlockKernel:
    """A kernel in which each barrier stands with even chances only."""
    kernel = draw(block_kernels())
    first, *rest = kernel.body.split(BARRIER)
    body = first + "".join((BARRIER if draw(st.booleans()) else "pass") + part for part in rest)
    return BlockKernel(body, kernel.run, kernel.parameters)


def races_by_search(trace) -> dict[str, set[tuple[int, int]]]:
    """The arrays on which threads of a block race, with the lines: every two accesses compared."""
    touched = defaultdict(set)
    for access in trace:
        for cell, thread in zip(access.indices.tolist(), access.threads.tolist(), strict=True):
            block = tuple(thread[:3])
            place = (access.array, tuple(cell), block, access.interval)
            touched[place].add((access.kind, access.line, tuple(thread[3:])))
    races = defaultdict(set)
    for (array, *_), accesses in touched.items():
        for kind, line, thread in accesses:
            for other_kind, other_line, other in accesses:
                harmless = kind == other_kind and kind in ("load", "atomic")
                if thread != other and not harmless:
                    races[array].add((min(line, other_line), max(line, other_line)))
    return races


def compare_races(kernel: BlockKernel, schedule: str) -> None:
    profile = run(
        kernel.body, 1, THREADS, *inputs(1).values(), *outputs().values(),
        parameters=kernel.parameters, schedule=schedule, seed=1, trace=True,
    )  # fmt: skip
    found = defaultdict(set)
    for each in profile.findings:
        if each.code.startswith("race-"):
            lines = sorted([each.line, each.other_line])
            found[each.cell.split("[")[0]].add(tuple(lines))
    there = races_by_search(profile.trace)
    text = as_program(kernel.body, kernel.parameters)
    assert set(found) == set(there), f"{schedule}: {set(there)} race, named {set(found)}\n{text}"
    for array, lines in found.items():
        assert lines <= there[array], f"{schedule}: {array}: {lines} of {there[array]}\n{text}"


@settings(max_examples=15)
@given(kernels_lacking_barriers(), SCHEDULES)
def test_races_are_those_that_a_search_finds(kernel: BlockKernel, schedule: str) -> None:
    compare_races(kernel, schedule)


@pytest.mark.parametrize("count", some_or_many(40, 400))
def test_many_races_are_those_that_a_search_finds(count: int) -> None:
    @settings(max_examples=count)
    @given(kernels_lacking_barriers(), SCHEDULES)
    def each(kernel: BlockKernel, schedule: str) -> None:
        compare_races(kernel, schedule)

    each()
