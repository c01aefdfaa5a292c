"""The steps from rung 11 to rung 12 on the emulator; test_step_changes.py holds what each gains."""

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
    profile, C, expected = product(name, 130, 136, 72)
    assert (expected == C).all()
    assert all(finding.severity != "error" for finding in profile.findings)
