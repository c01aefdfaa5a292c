"""A film knows the values of a run: what was read and written, and what the variables held."""

import numpy as np
import pytest

from course_lib.emulator import KernelRejected, load_program
from course_lib.emulator.film import Arrival, Film, MemoryOperation, Passing, StartedStatement, film

HALVES = """
from numba import cuda, float32
@cuda.jit
def turn_around(x, y):
    shared = cuda.shared.array(64, float32)
    i = cuda.threadIdx.x
    shared[i] = x[i]
    cuda.syncthreads()
    value = shared[63 - i] * float32(2)
    y[i] = value
"""


def run(schedule: str = "lockstep", seed: int = 0) -> tuple[Film, np.ndarray]:
    x, y = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    kernel = load_program(HALVES).kernel("turn_around")
    return film(kernel, 1, 64, (x, y), schedule=schedule, seed=seed), y


def touches(shown: Film, kind: str, array: str) -> list[MemoryOperation]:
    every = [each for each in shown.moments if isinstance(each, MemoryOperation)]
    return [each for each in every if (each.kind, each.array) == (kind, array)]


def test_every_access_carries_its_values() -> None:
    shown, y = run()
    (written,) = touches(shown, "store", "shared")
    (read,) = touches(shown, "load", "shared")
    assert written.values.tolist() == list(range(64))
    assert read.values[0] == 63 and read.indices[0] == (63,)
    assert y[0] == 126  # the film does not change the run


def test_variables_are_known_before_every_statement_and_at_the_end() -> None:
    shown, _ = run()
    store = [each for each in shown.moments if isinstance(each, StartedStatement)][-1]
    held = shown.value(store.variables, "value")
    assert held is not None and held[1] == 124
    assert shown.value(shown.final, "value")[2] == 122  # type: ignore[index]
    assert shown.value(shown.final, "shared") is None


def test_warps_run_one_after_the_other_and_wait() -> None:
    shown, _ = run("warps")
    names = {Arrival: "arrives", Passing: "goes on"}
    told = [
        (names[type(each)], shown.warp(int(each.lanes[0])))
        for each in shown.moments
        if isinstance(each, Arrival | Passing)
    ]
    assert told == [("arrives", 0), ("arrives", 1), ("goes on", 0), ("goes on", 1)]
    assert len(touches(shown, "load", "shared")) == 2


def test_lanes_of_a_block_are_numbered_block_after_block() -> None:
    text = HALVES.replace("cuda.threadIdx.x", "cuda.grid(1) % 64")
    kernel = load_program(text).kernel("turn_around")
    arrays = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    shown = film(kernel, (2, 3), (8, 4), arrays)
    lanes = shown.lanes_of((1, 2))
    assert shown.place(int(lanes[9])) == ((1, 2, 0), (1, 1, 0))


def test_a_film_is_for_small_launches() -> None:
    arrays = np.zeros(64, np.float32), np.zeros(64, np.float32)
    with pytest.raises(KernelRejected, match="small"):
        film(load_program(HALVES).kernel("turn_around"), 1000, 64, arrays)
