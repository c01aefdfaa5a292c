"""The steps from rung 11 to rung 12 on the emulator: each right, and each with its own gain."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from course_lib.emulator import Profile
from course_lib.kernels.accuracy import bits_of_bf16, from_bf16
from course_lib.kernels.tma_steps import STEPS


def product(name: str, M: int, N: int, K: int) -> tuple[Profile, np.ndarray, np.ndarray]:
    """A step's run with small whole numbers, so that all sums are exact; C, and the true one."""
    step, generator = STEPS[name], np.random.default_rng(0)
    A, B = (generator.integers(-3, 4, shape).astype(np.float32) for shape in ((M, K), (K, N)))
    C: Any = np.zeros((M, N), step.result)
    profile = step.emulate(bits_of_bf16(A), bits_of_bf16(B), C)
    expected = A @ B
    if step.result == "uint16":
        return profile, from_bf16(C), from_bf16(bits_of_bf16(expected))
    return profile, C, expected


@pytest.mark.slow
@pytest.mark.parametrize("name", STEPS)
def test_each_step_is_right_and_clean(name: str) -> None:
    profile, C, expected = product(name, 130, 264, 136)
    assert (expected == C).all()
    assert all(finding.severity != "error" for finding in profile.findings)


def test_steps_differ_in_what_they_gain() -> None:
    profiles = {name: product(name, 256, 256, 64)[0] for name in STEPS if name != "overlap"}
    assert len({profiles[name].flops for name in ("tma", "tma_store", "bf16", "clusters")}) == 1
    assert profiles["bf16"].global_store_bytes == profiles["tma_store"].global_store_bytes / 2
    # A pair asks for 256 rows of A and twice 128 columns of B; two blocks alone for A and all of B.
    saved = profiles["bf16"].global_load_bytes - profiles["clusters"].global_load_bytes
    assert saved == 256 * 64 * 2
    assert profiles["last_turn"].grid > profiles["bf16"].grid
