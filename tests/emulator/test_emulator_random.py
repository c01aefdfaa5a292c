"""Random kernels give, thread for thread, what a reference for single threads gives."""

import numpy as np
import pytest
from emulator_helpers import as_program, run_clean
from how_many import some_or_many
from hypothesis import given, settings
from hypothesis import strategies as st
from random_kernels import CHANGING, RandomKernel, random_kernels

THREADS = 70  # two blocks and a bit, of 33 threads each: no multiple of a warp


def check(kernel: RandomKernel, seed: int, schedule: str = "lockstep") -> None:
    random = np.random.default_rng(seed)
    inputs = {
        "p": random.integers(-20, 20, THREADS).astype(np.int32),
        "q": random.integers(0, 2**32, THREADS, dtype=np.uint32),
        "a": (random.integers(-40, 40, THREADS) / 8).astype(np.float32),
    }
    outputs = {name: np.zeros(THREADS, getattr(np, kind)) for name, kind in CHANGING.items()}
    run_clean(
        kernel.body, 3, 33, *inputs.values(), *outputs.values(),
        parameters=kernel.parameters, schedule=schedule,
    )  # fmt: skip
    expected = {name: np.zeros_like(array) for name, array in outputs.items()}
    with np.errstate(all="ignore"):
        for tid in range(THREADS):
            env = {name: array[tid] for name, array in inputs.items()}
            env |= {"tid": tid, "p": int(env["p"]), "q": int(env["q"])}
            kernel.run(env)
            for name, array in expected.items():
                array[tid] = env[name]
    for name, array in outputs.items():
        np.testing.assert_array_equal(
            array, expected[name], err_msg=f"{name} of\n{as_program(kernel.body)}"
        )


@pytest.mark.parametrize("count", some_or_many(60, 600))
def test_many_random_kernels(count: int) -> None:
    @settings(max_examples=count)
    @given(random_kernels(depth=3), st.integers(0, 2**32 - 1))
    def each(kernel: RandomKernel, seed: int) -> None:
        check(kernel, seed)

    each()


@pytest.mark.slow
@settings(max_examples=30)
@given(random_kernels(), st.sampled_from(["warps", "shuffled"]))
def test_the_schedule_does_not_matter(kernel: RandomKernel, schedule: str) -> None:
    check(kernel, 1, schedule)
