"""Barriers in the midst of expressions, under every schedule.

That the results are right is seen where Numba's simulator runs the same programs
(test_emulator_against_simulator.py), and in the sums of this file.
"""

import threading

import numpy as np
import pytest
from emulator_helpers import run_clean
from simulator_programs import WAITING, cases

from course_lib.emulator import emulate, load_program

SCHEDULES = ({"schedule": "warps"}, *({"schedule": "shuffled", "seed": n} for n in range(3)))
PROGRAMS = [pytest.param(case, id=case.name) for case in cases("some") if case.name in WAITING]


@pytest.mark.parametrize("case", PROGRAMS)
def test_every_schedule_gives_what_lockstep_gives(case) -> None:
    results = []
    for options in ({}, *SCHEDULES):
        *given, out = (each.copy() for each in case.arguments)
        kernel = load_program(case.text).kernel(case.kernel)
        profile = emulate(kernel, **options)[case.grid, case.block](*given, out)
        assert not profile.findings
        results.append(out)
    assert results[0].any()
    assert all(np.array_equal(results[0], each) for each in results)


def test_what_is_added_to_is_read_before_the_barrier() -> None:
    (case,) = (each for each in cases("some") if each.name == "a barrier within +=")
    emulate(load_program(case.text).kernel(case.kernel))[case.grid, case.block](*case.arguments)
    assert np.array_equal(case.arguments[-1], np.tile(np.arange(64) + 7, 2))


def test_no_schedule_starts_a_thread(monkeypatch) -> None:
    def refuse(self) -> None:
        raise AssertionError("a thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    out = np.zeros(64, np.int64)
    run_clean("out[cuda.grid(1)] = cuda.syncthreads_count(True)", 1, 64, out, schedule="warps")
    assert (out == 64).all()
