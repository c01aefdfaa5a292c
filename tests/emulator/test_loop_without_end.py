"""A launch that uses up its steps names the loop that took them, and how often that turned."""

from __future__ import annotations

import numpy as np
import pytest
from emulator_helpers import as_program, launch, line_of
from every_case import every_case

from course_lib.emulator import INTERACTIVE, Budget
from course_lib.emulator.budget import CELLS_PER_ACCESS
from course_lib.wording.sentences import facts_of

# Each body marks the loop to be named.
WITHOUT_END = {
    "nothing else": "while True:  # this\n    pass",
    "a condition that nothing changes": "k = 0\nwhile k < 5:  # this\n    out[0] = k",
    "around loops that end": (
        "k = 0\nwhile k < 9:  # this\n    for i in range(90):\n        out[0] = i"
    ),
    "around loops that grow": (
        "k = 0\nwhile k >= 0:  # this\n    k += 1\n    for i in range(k):\n        out[0] = i"
    ),
    "around a loop with while": (
        "k = 0\nwhile k < 9:  # this\n    i = 0\n    while i < 16:\n        i += 1"
    ),
    "within a loop that ends": (
        "for k in range(4):\n    i = 0\n    while i < 16:  # this\n        out[0] = i"
    ),
    "within, and only the third time": (
        "for k in range(4):\n    i = 0\n    while i != 2 * k - 3 * (k == 3):  # this\n"
        "        i += 1 + (k == 3)"
    ),
    "for a few lanes": (
        "i = cuda.threadIdx.x\nwhile i != 7:  # this\n    i += 0 if i % 9 == 0 else 7 - i"
    ),
    "with a barrier": "while True:  # this\n    cuda.syncthreads()",
    "a for of one": "for k in range(10**12):  # this\n    out[0] = k",
    "bounds of each lane": "for k in range(cuda.grid(1), 10**12):  # this\n    out[0] = k",
}


@every_case("schedule", ["lockstep", "warps"])
@every_case("body", WITHOUT_END.values(), ids=WITHOUT_END)
def test_the_loop_is_named(body: str, schedule: str) -> None:
    program = as_program(body)
    budget = Budget(steps=2_000)
    profile = launch(program, 1, 64, np.zeros(1, np.float32), budget=budget, schedule=schedule)
    found, loop = profile.findings[0], profile.stopped_in
    assert (found.code, found.line) == ("timeout", line_of(program, "# this"))
    assert loop is not None and loop.line == found.line
    assert loop.ends == ("while" not in body)
    facts = facts_of(found.message)
    assert (facts["turns"], facts["steps"]) == (f"{loop.turns:,}", "2,000")
    assert not profile.finished
    assert profile.steps == budget.steps


REPEATED = (
    "nothing else",
    "a condition that nothing changes",
    "around loops that end",
    "within a loop that ends",
    "for a few lanes",
)


@every_case("body", [WITHOUT_END[name] for name in REPEATED], ids=REPEATED)
def test_a_loop_whose_state_comes_again_is_named_before_its_steps_are_used_up(body: str) -> None:
    profile = launch(as_program(body), 1, 64, np.zeros(1, np.float32))
    assert profile.stopped_in is not None and profile.stopped_in.in_vain
    assert (profile.findings[0].code, profile.findings[0].line) == (
        "timeout",
        line_of(as_program(body), "# this"),
    )
    assert profile.steps < 0.1 * Budget().steps


ENDING = {  # after more turns than it takes until somebody looks for a repetition
    "what it stores it reads": "while out[0] < 1500:\n    out[0] += 1",
    "by an atomic": "while cuda.atomic.add(out, 0, 1) < 1500:\n    pass",
    "in a local array": (
        "a = cuda.local.array(1, float32)\na[0] = 0\nwhile a[0] < 1500:\n    a[0] += 1"
    ),
    "a variable": "k = 0\nwhile k < 1500:\n    k += 1",
    "a variable of every tenth turn": (
        "k, j = 0, 0\nwhile k < 150:\n    j = (j + 1) % 10\n    k += j == 0"
    ),
}


@every_case("body", ENDING.values(), ids=ENDING)
def test_a_long_loop_ends(body: str) -> None:
    assert launch(as_program(body), 1, 1, np.zeros(1, np.float32)).finished


def test_the_loop_of_a_device_function_is_named() -> None:
    before = """
    @cuda.jit(device=True)
    def root(x):
        guess = x
        while guess * guess != x:  # this
            guess = (guess + x / guess) / 2
        return guess
    """
    program = as_program("for k in range(1, 4):\n    out[0] = root(k * 1.0)", before=before)
    profile = launch(program, 1, 1, np.zeros(1, np.float64), budget=Budget(steps=3000))
    assert profile.findings[0].line == line_of(program, "# this")


def test_a_launch_that_is_long_without_a_loop() -> None:
    program = as_program("\n".join(f"out[0] = {n}" for n in range(99)))
    profile = launch(program, 1, 1, np.zeros(1, np.float32), budget=Budget(steps=50))
    assert profile.stopped_in is None
    assert (profile.findings[0].code, profile.steps) == ("timeout", 50)


@pytest.mark.parametrize(
    "body", ["out[0] = 1", "cuda.atomic.add(out, 0, 1)", "x = out[0]", "out[0] += out[0]"]
)
def test_where_somebody_waits_an_access_costs_more_than_its_statement(body: str) -> None:
    def steps(budget: Budget) -> int:
        return launch(as_program(body), 1, 32, np.zeros(1, np.float32), budget=budget).steps

    accesses = {"out[0] += out[0]": 3}.get(body, 1)
    assert steps(INTERACTIVE) - steps(Budget()) == accesses * INTERACTIVE.access_steps


def test_more_lanes_cost_more_steps_also_for_an_access() -> None:
    def steps(blocks: int) -> int:
        out = np.zeros(1, np.float32)
        return launch(as_program("out[0] = 1"), blocks, 256, out, budget=INTERACTIVE).steps

    assert steps(1) == steps(32) == 1 + INTERACTIVE.access_steps
    assert steps(512) == (1 + 512 * 256 // INTERACTIVE.lanes_per_step) * steps(1)


def test_an_access_with_many_indices_costs_more_steps() -> None:
    def steps(index: str) -> int:
        program = as_program(f"out[{index}] = 1")
        out = np.zeros(4096, np.float32)
        return launch(program, 16, 256, out, budget=INTERACTIVE).steps

    assert steps("7") == 1 + INTERACTIVE.access_steps
    assert steps("cuda.grid(1)") == 1 + INTERACTIVE.access_steps * (
        1 + 16 * 256 // CELLS_PER_ACCESS
    )
