"""What a launch costs the emulator, and what it saves, changes no count; loops without end stop."""

import gc
import platform
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from emulator_helpers import as_program, launch, line_of, run
from every_case import every_case

from course_lib.emulator import INTERACTIVE, Budget, KernelRejected, Profile, emulate, load_program
from course_lib.emulator.film import film
from course_lib.emulator.machine import repetition
from course_lib.emulator.observers import meter, races
from course_lib.emulator.observers.races import RaceDetector
from course_lib.wording.sentences import facts_of

DIAGONALS = """
    s = cuda.shared.array((33, 33), {kind})
    tx = cuda.threadIdx.x
    b = cuda.blockIdx.x
    s[0, tx + 1] = tx
    s[tx + 1, 0] = tx
    if tx == 0:
        s[0, 0] = 0
    cuda.syncthreads()
    for d in range(63):
        row = tx + 1
        column = d - tx + 1
        if 1 <= column <= 32:
            s[row, column] = s[row - 1, column - 1] + out[b, row - 1, column - 1]
        {barrier}
    out[b, tx, 31] = s[tx + 1, 32]
"""
TREE = """
    s = cuda.shared.array(64, {kind})
    tx = cuda.threadIdx.x
    s[tx] = out[cuda.blockIdx.x, 0, tx % 32]
    cuda.syncthreads()
    half = 16
    while half > 0:
        if tx < half:
            s[tx] += s[tx + half]
        {barrier}
        half //= 2
    out[cuda.blockIdx.x, 0, tx % 32] = s[0]
"""
ATOMICS = """
    s = cuda.shared.array(8, int32)
    tx = cuda.threadIdx.x
    if tx < 8:
        s[tx] = 0
    {barrier}
    cuda.atomic.add(s, tx % 5, 1)
    cuda.syncthreads()
    cuda.atomic.add(out, (0, 0, tx % 32), s[tx % 8])
"""
BETWEEN_BLOCKS = """
    i = cuda.grid(1)
    for k in range(3):
        out[k, 0, i % 32] = i
        {barrier}
        out[cuda.blockIdx.x, 1, k] += out[(cuda.blockIdx.x + 1) % cuda.gridDim.x, 0, k]
"""
LAUNCHES = [
    (body.format(barrier=barrier, kind=kind), blocks)
    for body, kind in (
        (DIAGONALS, "float32"), (DIAGONALS, "float64"), (TREE, "float64"), (ATOMICS, ""),
        (BETWEEN_BLOCKS, ""))
    for barrier in ("cuda.syncthreads()", "cuda.syncwarp()", "pass")
    for blocks in (1, 12)
]  # fmt: skip


def report(profile: Profile) -> dict[str, Any]:
    """All that was counted and found."""
    return {
        name: repr(getattr(profile, name))
        for name in ("lines", "arrays", "findings", "stale_reads")
    }


def reports() -> list[dict[str, Any]]:
    return [
        report(run(body, blocks, 32, np.ones((12, 32, 32), np.float32), schedule=schedule))
        for body, blocks in LAUNCHES
        for schedule in ("lockstep", "shuffled")
    ]


@pytest.fixture(scope="module")
def usual() -> list[dict[str, Any]]:
    found = reports()
    assert sum("race-" in each["findings"] for each in found) > 10
    assert sum("race-" not in each["findings"] for each in found) > 10
    assert all("requests" in each["lines"] for each in found)
    return found


CHANGES: dict[str, list[tuple[Any, str, Any]]] = {
    "one at a time": [(meter, "MAX_QUEUED_LANES", 1), (races, "MAX_WAITING_CELLS", 0)],
    "patterns of few lanes": [(meter, "MIN_PATTERN_LANES", 0)],
    "no pattern": [(meter, "MAX_PATTERN_BYTES", 0)],
    "every group is judged": [
        (RaceDetector, "_written_cells_have_one_thread", lambda self, group: False)],
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("changes", CHANGES.values(), ids=CHANGES)
def test_what_saves_time_changes_nothing(usual, monkeypatch, changes):
    for change in changes:
        monkeypatch.setattr(*change)
    assert reports() == usual


# How often a page had to be fetched in the fourth to sixth of the same launches.
FAULTS = """
import resource
import numpy as np
from course_lib.emulator import emulate, load_program

TEXT = '''
from numba import cuda
@cuda.jit
def polynomial(out, x):
    i = cuda.grid(1)
    y = x[i] * x[i] + 1.0
    for k in range(4):
        y = y * x[i] + 1.0
    out[i] = y
'''
x = np.ones(1 << 17)
launch = emulate(load_program(TEXT).functions["polynomial"])[512, 256]
for _ in range(6):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    launch(np.empty_like(x), x)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="how glibc keeps freed memory")
def test_memory_that_a_launch_has_freed_is_at_hand_for_the_next_one() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FAULTS], capture_output=True, text=True, check=True
    )
    assert sum(map(int, done.stdout.split()[3:])) < 2000


TEXT = """
from numba import cuda, float32
@cuda.jit
def grid_wide(out, x, lock):
    i = cuda.grid(1)
    out[i] = x[i]
    cuda.cg.this_grid().sync()
    cuda.atomic.add(out, 0, x[i])
@cuda.jit
def locked(out, x, lock):
    while cuda.atomic.cas(lock, 0, 0, 1) != 0:
        pass
    out[0] += x[0]
    cuda.atomic.exch(lock, 0, 0)
@cuda.jit
def racing(out, x, lock):
    tile = cuda.shared.array(32, float32)
    tile[cuda.threadIdx.x] = x[cuda.threadIdx.x]
    out[0] = tile[31 - cuda.threadIdx.x]
"""


@pytest.mark.parametrize("name", ["grid_wide", "locked", "racing"])
def test_a_launch_leaves_nothing_to_the_garbage_collector(name: str) -> None:
    """What it held is free at once: otherwise its arrays would stay until Python looks for them."""
    few = Budget(steps=2_000)  # the lanes of a warp wait for a lock without end
    launch = emulate(load_program(TEXT).functions[name], schedule="shuffled", budget=few)[2, 32]
    arrays = np.zeros(64, np.float32), np.ones(64, np.float32), np.zeros(1, np.int32)
    launch(*arrays)
    gc.collect()
    gc.freeze()  # so that the next collection looks through nothing else
    gc.disable()
    try:
        launch(*arrays)
        assert gc.collect() == 0
    finally:
        gc.enable()


# Each body marks the loop to be named.
WITHOUT_END = {
    "nothing else": "while True:  # this\n    pass",
    "a condition that nothing changes": "k = 0\nwhile k < 5:  # this\n    out[0] = k",
    "around loops that end": (
        "k = 0\nwhile k < 9:  # this\n    for i in range(90):\n        out[0] = i"),
    "around loops that grow": (
        "k = 0\nwhile k >= 0:  # this\n    k += 1\n    for i in range(k):\n        out[0] = i"),
    "around a loop with while": (
        "k = 0\nwhile k < 9:  # this\n    i = 0\n    while i < 16:\n        i += 1"),
    "within a loop that ends": (
        "for k in range(4):\n    i = 0\n    while i < 16:  # this\n        out[0] = i"),
    "within, and only the third time": (
        "for k in range(4):\n    i = 0\n    while i != 2 * k - 3 * (k == 3):  # this\n"
        "        i += 1 + (k == 3)"),
    "for a few lanes": (
        "i = cuda.threadIdx.x\nwhile i != 7:  # this\n    i += 0 if i % 9 == 0 else 7 - i"),
    "with a barrier": "while True:  # this\n    cuda.syncthreads()",
    "a for of one": "for k in range(10**12):  # this\n    out[0] = k",
    "bounds of each lane": "for k in range(cuda.grid(1), 10**12):  # this\n    out[0] = k",
}  # fmt: skip


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
    "nothing else", "a condition that nothing changes", "within a loop that ends",
    "for a few lanes",
)  # fmt: skip


# What grows in them does not decide whether they end.
GROWING = {
    "a sum": "i, s = 0, 0\nwhile i < n:  # this\n    s += 1",
    "a sum of elements": "s = 0.0\nwhile True:  # this\n    s += x[0]",
    "an index of another name": (
        "i, j = 0, 0\nwhile i < x.size:  # this\n    out[j % 64] = j\n    j += 1"),
    "behind a flag": "j = 0\nwhile x[0] == 0:  # this\n    j += 1\n    out[j % 64] = j",
    "a flag of each thread": (
        "t, j = cuda.grid(1), 0\nwhile flags[t] > 0:  # this\n    j += 1\n    out[t] = j"),
    "a break that never comes": (
        "i, s = 0, 0\nwhile True:  # this\n    s += 1\n    if i > n:\n        break\n    out[0] = s"
    ),
    "a return under two conditions": (
        "s, done = 0, False\nwhile True:  # this\n    s += 1\n    if n > 3:\n"
        "        if done:\n            return"),
    "a copy of what stays": (
        "i, s = 0, 0\nwhile i < n:  # this\n    k = i\n    s += k + 1\n    i = k"),
    "by turns": "i, s = 0, 0\nwhile i < n:  # this\n    i = 1 - i\n    s += i",
    "with a barrier": "i, s = 0, 0\nwhile i < n:  # this\n    s += 1\n    cuda.syncthreads()",
    "with an atomic": "i = 0\nwhile i < n:  # this\n    cuda.atomic.add(out, 0, 1)",
    "a local array beside": (
        "a = cuda.local.array(4, float32)\nk = 0\na[0] = 0\nwhile a[0] < 1:  # this\n"
        "    k += 1\n    out[0] = k"),
    "a loop within": ("i, s = 0, 0\nwhile i < n:  # this\n    for k in range(3):\n        s += k\n"
        "        if k > 1:\n            break"),
    "for some lanes": "i, s = cuda.grid(1) // 60 * 9, 0\nwhile i < n:  # this\n    s += 1",
    "a function of what stays": "i, s = 1, 0\nwhile math.sqrt(i) < n:  # this\n    s += i",
}  # fmt: skip


# The loop's test reads what the loop stores, and a round leaves it as it was.
STORING = {
    "the same number": "while out[0] < 5:  # this\n    out[0] = 1",
    "a sum that stands still": "while out[0] < 5:  # this\n    out[0] += x[0]",
    "a flag that is set again": (
        "k = 0\nwhile flags[0] > 0:  # this\n    flags[0] = 0\n    k += 1\n"
        "    if x[0] == 0:\n        flags[0] = 1"),
    "a flag of a block, with barriers": (
        "t, k = cuda.threadIdx.x, 0\nshared = cuda.shared.array(1, int32)\nshared[0] = 1\n"
        "cuda.syncthreads()\nwhile shared[0] != 0:  # this\n    k += 1\n    cuda.syncthreads()\n"
        "    if t == 0:\n        shared[0] = 0\n    cuda.syncthreads()\n"
        "    if t == 3:\n        shared[0] = 1\n    cuda.syncthreads()"),
    "an atomic that adds nothing": (
        "k = 0\nwhile out[0] < 5:  # this\n    k += 1\n    cuda.atomic.add(out, 0, x[0])"),
    "two that change places": ("t = cuda.grid(1)\nwhile flags[t] != out[t]:  # this\n"
        "    flags[t] = 1 - flags[t]\n    out[t] = 1 - flags[t]"),
    "a step too small for float32": (
        "t = cuda.grid(1)\nout[t] = 1e8\nwhile out[t] < 1e8 + 64:  # this\n    out[t] += 1"),
    "in a local array": ("a = cuda.local.array(2, int32)\na[0], a[1], k = 0, 5, 0\n"
        "while a[0] < a[1]:  # this\n    k += 1\n    a[0] = (a[0] + 1) % 4"),
}  # fmt: skip


BEFORE_ITS_STEPS = [*GROWING.values(), *STORING.values(), *map(WITHOUT_END.get, REPEATED)]


@pytest.fixture
def early(monkeypatch: pytest.MonkeyPatch) -> int:
    """A loop is looked at after 64 iterations, a sixteenth of the usual number."""
    usual = repetition.FIRST
    monkeypatch.setattr(repetition, "FIRST", 64)
    return usual // 64


@every_case("body", BEFORE_ITS_STEPS)
def test_a_loop_in_vain_is_named_before_its_steps_are_used_up(body: str, early: int) -> None:
    program = as_program(body, "out, x, flags, n")
    arrays = np.zeros(64, np.float32), np.zeros(64, np.float32), np.ones(64, np.int32)
    budget = Budget(steps=Budget().steps // 100 // early)
    profile = launch(program, 1, 64, *arrays, 9, races=False, budget=budget)
    assert profile.stopped_in is not None and profile.stopped_in.in_vain
    found = profile.findings[0]
    assert (found.code, found.line) == ("timeout", line_of(program, "# this"))
    assert profile.steps < budget.steps


ENDING = {  # after more turns than it takes until somebody looks for a repetition
    "what it stores it reads": "while out[0] < 110:\n    out[0] += 1",
    "by an atomic": "while cuda.atomic.add(out, 0, 1) < 110:\n    pass",
    "in a local array": (
        "a = cuda.local.array(1, float32)\na[0] = 0\nwhile a[0] < 110:\n    a[0] += 1"),
    "what another name stores": "k = 0\nsame = out\nwhile out[0] < 110:\n    same[0] += 1",
    "what a part stores": "part = out[0:1]\nwhile out[0] < 110:\n    part[0] += 1",
    "what a function stores": "while out[0] < 110:\n    more(out)",
    "what a function returns": "k = 0\nwhile next_of(k) < 110:\n    k = next_of(k)",
    "what the same array under another name stores": (
        "k = 0\nwhile out[0] < 110:\n    k += 1\n    again[0] = k"),
    "a break under a break": (
        "k, done = 0, False\nwhile True:\n    k += 1\n    if k < 110:\n        continue\n"
        "    done = True\n    if done:\n        break"),
    "a return within a loop": (
        "k = 0\nwhile True:\n    k += 1\n    for j in range(2):\n        if k + j > 110:\n"
        "            return"),
    "a condition of a condition": (
        "k, a, b = 0, 0, 0\nwhile a == 0:\n    k += 1\n    if k > 110:\n        b = 1\n"
        "    if b:\n        a = 1"),
    "an item of two": "k, j = 0, 0\nwhile j < 110:\n    k, j = k + 1, k",
    "a name in an expression": "k = 0\nwhile True:\n    if (k := k + 1) > 110:\n        break",
    "a shuffle": (
        "k, j = 0, 0\nwhile j < 110:\n    k += 1\n    j = cuda.shfl_sync(0xFFFFFFFF, k, 0)"),
    "a variable": "k = 0\nwhile k < 110:\n    k += 1",
    "a count that is stored": "k = 0\nwhile out[0] < 110:\n    k += 1\n    out[0] = k",
    "a flag by a count": (
        "k = 0\nwhile out[0] == 0:\n    out[0] = 1\n    k += 1\n    if k < 110:\n"
        "        out[0] = 0"),
    "a count in another array": (
        "a = cuda.local.array(1, int32)\na[0] = 0\nwhile out[0] == 0:\n    a[0] += 1\n"
        "    out[0] = a[0] // 110"),
    "a flag at an index that grows": (
        "a, k = cuda.local.array(120, int32), 0\nfor j in range(120):\n    a[j] = 0\n"
        "while a[110] == 0:\n    a[k] = 1\n    k += 1"),
    "a variable of every tenth turn": (
        "k, j = 0, 0\nwhile k < 11:\n    j = (j + 1) % 10\n    k += j == 0"),
}  # fmt: skip


@every_case("body", ENDING.values(), ids=ENDING)
def test_a_long_loop_ends(body: str, early: int) -> None:
    before = """
    @cuda.jit(device=True)
    def more(a):
        a[0] += 1

    @cuda.jit(device=True)
    def next_of(k):
        return k + 1
    """
    out = np.zeros(1, np.float32)
    lanes = 32 if "shfl" in body else 1
    assert launch(as_program(body, "out, again", before), 1, lanes, out, out).finished


@pytest.mark.parametrize(
    "body", ["out[0] = 1", "cuda.atomic.add(out, 0, 1)", "x = out[0]", "out[0] += out[0]"]
)
def test_where_somebody_waits_an_access_costs_more_than_its_statement(body: str) -> None:
    def steps(budget: Budget) -> int:
        return launch(as_program(body), 1, 32, np.zeros(1, np.float32), budget=budget).steps

    accesses = {"out[0] += out[0]": 3}.get(body, 1)
    assert steps(INTERACTIVE) - steps(Budget()) == accesses * INTERACTIVE.access_steps


def test_a_film_is_for_small_launches() -> None:
    kernel = load_program("def k(y):\n    y[0] = 1\n").kernel("k")
    with pytest.raises(KernelRejected, match="small"):
        film(kernel, 1000, 64, (np.zeros(64, np.float32),))
