"""The emulator and Numba's own simulator give the same results, bit for bit."""

import numpy as np
import pytest
from emulator_helpers import on_numbas_simulator
from simulator_programs import INTRINSICS, LACKING, SMALL, answers, cases

from course_lib.emulator import emulate, load_program
from course_lib.host.arguments import HostArguments

SHUFFLES = {"attention shuffles", "block_scan warp_shuffles"}


Simulated = tuple[str, dict[str, np.ndarray]]


@pytest.fixture(scope="module", params=[
    pytest.param("some", marks=pytest.mark.slow),
    pytest.param("every", marks=pytest.mark.long),
])  # fmt: skip
def simulated(request, tmp_path_factory):
    """Which programs, and the simulator's outputs; one process, because it starts slowly."""
    results = tmp_path_factory.mktemp("simulator") / "results.npz"
    on_numbas_simulator("simulator_programs.py", str(results), request.param)
    with np.load(results) as outputs:
        return request.param, dict(outputs)


def test_same_results(simulated: Simulated) -> None:
    which, outputs = simulated
    different = []
    for case in cases(which):
        kernel = load_program(case.text).kernel(case.kernel)
        arguments = HostArguments(case.arguments)
        profile = emulate(kernel)[case.grid, case.block](*arguments.values)
        arguments.write_back()
        errors = [each for each in profile.findings if each.severity == "error"]
        found, expected = case.arguments[-1], outputs[case.name]
        # Written so that not-a-number is a difference.
        same = bool((np.abs(found - expected) <= case.apart).all())
        if errors or not same:
            different.append((case.name, errors, float(np.abs(found - expected).max())))
    assert not different


def test_everything_was_simulated(simulated: Simulated) -> None:
    """All programs, but for the few that use what the simulator lacks."""
    which, outputs = simulated
    ours = {
        f"{exercise} {name}" for exercise, name, text in answers(which) if INTRINSICS not in text
    }
    left_out = (ours | SMALL.keys()) - outputs.keys()
    assert left_out == SHUFFLES if which == "every" else left_out <= SHUFFLES


def test_the_simulator_has_no_shuffles() -> None:
    """The reason why some answers are left out; should this fail, they can be compared."""
    simulator = pytest.importorskip("numba.cuda.simulator.kernelapi").FakeCUDAModule
    assert hasattr(simulator, "syncthreads")
    assert not [name for name in (*LACKING, "syncwarp") if hasattr(simulator, name)]
