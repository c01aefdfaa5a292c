"""What a race on a cell loses is told as what the line does to the cell."""

import numpy as np
import pytest
from emulator_helpers import as_program, launch, rejection_codes
from every_case import every_case

from course_lib.emulator import KernelRejected

ADDS, WRITES, SWAPS = "adds can be lost", "writes can be lost", "swap"

# A line, what its finding says, and the atomic operation that its hint names, if there is one.
CHANGES = {
    "x[0] += 1": (ADDS, "cuda.atomic.add"), "x[0] = x[0] + 1": (ADDS, "cuda.atomic.add"),
    "x[0] = 1 + x[0]": (ADDS, "cuda.atomic.add"), "x[0] -= 1": (WRITES, "cuda.atomic.sub"),
    "x[0] = max(x[0], t)": (WRITES, "cuda.atomic.max"),
    "x[0] = min(t, x[0])": (WRITES, "cuda.atomic.min"),
    "x[0] |= 1 << t": (WRITES, "cuda.atomic.or_"), "x[0] *= 2": (WRITES, ""),
    "x[0] = t - x[0]": (WRITES, ""), "x[0] = x[0] // 2 + t": (WRITES, ""),
    "x[t], x[63 - t] = x[63 - t], x[t]": (SWAPS, ""),
    "(x[63 - t], x[t]) = (x[t], x[63 - t])": (SWAPS, ""),
}  # fmt: skip


@every_case(("grid", "line"), [(grid, line) for grid in (1, 2) for line in CHANGES])
def test_a_change_of_a_cell_is_told_as_what_it_is(grid: int, line: str) -> None:
    said, operation = CHANGES[line]
    program = as_program(f"t = cuda.grid(1)\n{line}", "x")
    findings = launch(program, grid, 64 // grid, np.arange(64)).findings
    updates = [each for each in findings if "both" in each.message]
    assert updates
    for found in updates:
        assert said in found.message
        assert ("cuda.atomic" in found.hint) == bool(operation)
        assert operation in found.hint


ATOMICS = {"add": 1, "max": 1, "exch": 1, "cas": 2, "inc": 1}


@every_case("name", ATOMICS)
def test_an_atomic_operation_says_for_which_types_it_is(name: str) -> None:
    values = ", 1" * ATOMICS[name]
    program = as_program(f"cuda.atomic.{name}(x, 0{values})", "x")
    for dtype in (np.uint8, np.float16, np.complex64):
        array = np.zeros(4, dtype)
        assert rejection_codes(program, array) == ["compile-error"]
        with pytest.raises(KernelRejected) as refused:
            launch(program, 1, 1, array)
        (found,) = refused.value.findings
        assert str(array.dtype) in found.message
        assert "uint32" in found.hint and "uint8" not in found.hint


# Which state a thread uses, and whether others use it, too.
STATES = {
    "cuda.grid(1)": False,
    "cuda.threadIdx.x": True,  # of several blocks
    "0": True,
    "cuda.grid(1) // 2": True,  # of neighbours in a warp
    "cuda.grid(1) % 32": True,  # of several warps
}
DRAWS = {
    "a call": "out[i] = xoroshiro128p_uniform_float32(states, {state})",
    "a normal number": "out[i] = xoroshiro128p_normal_float64(states, {state})",
    "a loop": "for k in range(3):\n    out[i] += xoroshiro128p_uniform_float64(states, {state})",
    "a device function": "out[i] = drawn(states, {state})",
}
RANDOM = """
from numba.cuda.random import xoroshiro128p_uniform_float32, xoroshiro128p_normal_float64
from numba.cuda.random import xoroshiro128p_uniform_float64
@cuda.jit(device=True)
def drawn(states, k):
    return xoroshiro128p_uniform_float32(states, k)
"""


@every_case(("draw", "state"), [(draw, state) for draw in DRAWS for state in STATES])
def test_threads_that_share_a_random_state_race(draw: str, state: str) -> None:
    random = pytest.importorskip("numba.cuda.random")
    seeded = np.zeros(128, random.xoroshiro128p_dtype)
    seeded["s0"] = np.arange(1, 129)
    body = "i = cuda.grid(1)\n" + DRAWS[draw].format(state=state)
    program = as_program(body, "states, out", before=RANDOM)
    for schedule in ("lockstep", "warps"):
        profile = launch(program, 2, 64, seeded, np.zeros(128), schedule=schedule)
        races = [each for each in profile.findings if each.code.startswith("race-")]
        assert bool(races) == STATES[state]
        for found in races:
            assert "draw a random number from the state states[" in found.message
            assert "its own state" in found.hint


# Exchanges by way of a variable, and whether two threads exchange the same pair. Where a barrier
# is missing between turns, each pair is one thread's, and the barrier is what is told.
EXCHANGES = {
    "t = x[i]\nx[i] = x[63 - i]\nx[63 - i] = t": True,
    "if i < 64:\n    j = 63 - i\n    t = x[j]\n    x[j] = x[i]\n    x[i] = t": True,
    "for k in range(1):\n    t = x[i]\n    x[i] = x[63 - i]\n    x[63 - i] = t": True,
    "d = 1\nwhile d < 64:\n    j = i ^ d\n    if i < j:\n        t = x[i]\n        x[i] = x[j]\n"
    "        x[j] = t\n    d *= 2": False,
    "d = 1\nwhile d < 64:\n    j = i ^ d\n    if i < j:\n        x[i], x[j] = x[j], x[i]\n"
    "    d *= 2": False,
    "if i > 63:\n    x[i] = 0\nelse:\n    t = x[i]\n    x[i] = x[63 - i]\n    x[63 - i] = t": True,
    "x[63 - i] = x[i] if i < 64 else 0": False,
    "f = lambda j: x[j]\nx[63 - i] = f(i)": False,
}


@every_case("body", EXCHANGES)
def test_an_exchange_is_told_where_two_threads_exchange_a_pair(body: str) -> None:
    for schedule in ("lockstep", "warps"):
        program = as_program(f"i = cuda.threadIdx.x\n{body}", "x")
        findings = launch(program, 1, 64, np.arange(64), schedule=schedule).findings
        assert findings
        assert {SWAPS in each.message for each in findings} == {EXCHANGES[body]}, schedule
