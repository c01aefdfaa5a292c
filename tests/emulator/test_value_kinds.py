"""Complex numbers, records, vector types, NumPy's functions: the values that Numba's simulator has.

Under every schedule, with counters and races on; and counted with the true size of an element.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from value_kinds_programs import PROGRAMS

from course_lib.emulator import emulate, load_program
from course_lib.emulator.launch import SCHEDULES

SCRIPT = Path(__file__).parent / "value_kinds_programs.py"
ROOT = SCRIPT.parents[2]


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What the arguments hold after Numba's simulator has run; one process, it starts slowly."""
    results = tmp_path_factory.mktemp("simulator") / "results.pickle"
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1", "PYTHONPATH": str(ROOT)}
    finished = subprocess.run(
        [sys.executable, str(SCRIPT), str(results)],
        env=environment, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    if "No module named 'numba.cuda" in finished.stderr:
        pytest.skip("this Numba has no simulator")
    assert finished.returncode == 0, finished.stderr[-2000:]
    found: dict[str, dict[str, Any]] = pickle.loads(results.read_bytes())
    return found


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_same_as_the_simulator(simulated: dict[str, dict[str, Any]], schedule: str) -> None:
    for name, program in PROGRAMS.items():
        arguments = program.arguments()
        kernel = load_program(program.text).kernel("kernel")
        profile = emulate(kernel, schedule=schedule)[program.grid, program.block](
            *arguments.values()
        )
        assert not [each for each in profile.findings if each.severity == "error"], name
        for key, expected in simulated[name].items():
            assert close(arguments[key], expected), (name, key, arguments[key], expected)


def close(found: Any, expected: Any) -> bool:
    """Nearly equal: exponentials differ in last digits; of records, field by field."""
    found, expected = np.asarray(found), np.asarray(expected)
    if found.dtype.names:
        return all(close(found[name], expected[name]) for name in found.dtype.names)
    return bool(np.allclose(found, expected, rtol=1e-5, atol=1e-7, equal_nan=True))
