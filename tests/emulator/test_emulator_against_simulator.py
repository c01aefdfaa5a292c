"""The emulator and Numba's own simulator give the same results, bit for bit."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from simulator_programs import INEXACT, cases

from course_lib.emulator import emulate, load_program

pytestmark = pytest.mark.slow
SCRIPT = Path(__file__).parent / "simulator_programs.py"


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> dict[str, np.ndarray]:
    """The simulator's outputs; one process for all, because it starts slowly."""
    results = tmp_path_factory.mktemp("simulator") / "results.npz"
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}
    finished = subprocess.run(
        [sys.executable, str(SCRIPT), str(results)],
        env=environment, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    if "No module named 'numba.cuda" in finished.stderr:
        pytest.skip("this Numba has no simulator")
    assert finished.returncode == 0, finished.stderr[-2000:]
    with np.load(results) as outputs:
        return dict(outputs)


def test_same_results(simulated: dict[str, np.ndarray]) -> None:
    different = []
    for case in cases():
        kernel = load_program(case.text).kernel(case.kernel)
        profile = emulate(kernel)[case.grid, case.block](*case.arguments)
        errors = [each for each in profile.findings if each.severity == "error"]
        found, expected = case.arguments[-1], simulated[case.name]
        if case.name.split()[-1] in INEXACT:
            same = np.allclose(found, expected, rtol=1e-6)
        else:
            same = np.array_equal(found, expected)
        if errors or not same:
            different.append((case.name, errors, float(np.abs(found - expected).max())))
    assert not different


def test_everything_was_simulated(simulated: dict[str, np.ndarray]) -> None:
    assert len(simulated) == len(list(cases())) > 60
