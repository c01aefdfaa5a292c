"""What is told of a race, and what is none; the hazards themselves are in hazards.txt."""

import re

import numpy as np
import pytest
from emulator_helpers import as_program, codes, launch, refusal, rejection_codes, run
from every_case import every_case

from course_lib.wording.sentences import Capital, Line, facts_of

RAW, WAW = "race-read-after-write", "race-write-after-write"


SHARED = "s = cuda.shared.array(64, float32)\ni = cuda.threadIdx.x\n"


def test_a_race_names_lines_threads_and_cell() -> None:
    body = """
        tile = cuda.shared.array((8, 8), float32)
        x = cuda.threadIdx.x
        y = cuda.threadIdx.y
        tile[y, x] = 1  # write
        out[y * 8 + x] = tile[y, (x + 1) % 8]  # read
    """
    profile = run(body, 1, (8, 8), np.zeros(64, np.float32))
    (race,) = [each for each in profile.findings if each.severity == "error"]
    assert race.code == RAW
    assert race.line is not None and race.other_line is not None
    assert abs(race.line - race.other_line) == 1
    assert race.cell.startswith("tile[")
    assert len(race.threads) == 2
    (one_x, one_y, *_), (other_x, other_y, *_) = race.threads
    assert one_y == other_y and (one_x - other_x) % 8 in (1, 7)


def test_same_shape_arrays_on_one_line_are_two() -> None:
    body = """
        a, b = cuda.shared.array(64, float32), cuda.shared.array(64, float32)
        i = cuda.threadIdx.x
        a[i] = i
        b[i] = 2 * i
        cuda.syncthreads()
        out[i] = a[63 - i] + b[63 - i]
    """
    out = np.zeros(64, np.float32)
    profile = run(body, 1, 64, out)
    assert not codes(profile)
    assert np.array_equal(out, 3 * (63 - np.arange(64)))


def test_many_races_of_one_array_hide_none_of_another() -> None:
    many = "\n".join(f"loud[(i + {step}) % 64] += 1" for step in range(20))
    body = f"""\
loud = cuda.shared.array(64, int32)
quiet = cuda.shared.array(64, int32)
i = cuda.threadIdx.x
loud[i] = 0
quiet[i] = i
{many}
out[cuda.grid(1)] = quiet[63 - i] + loud[i]
"""
    profile = run(body, 1, 64, np.zeros(64, np.float32))
    races = [each for each in profile.findings if each.code.startswith("race")]
    together = (facts_of(each.message).get("ended_by_it", ()) for each in races)
    raced = {array for several in together for _, array, _ in several}
    assert raced == {"loud", "quiet"}


@pytest.mark.parametrize("schedule", ["lockstep", "warps", "shuffled"])
def test_what_is_read_before_it_is_ever_written_is_no_race(schedule: str) -> None:
    """Row by row, each behind a barrier: the column read in turn k is there after the last turn."""
    body = """
        tile = cuda.shared.array((32, 32), float32)
        i = cuda.threadIdx.x
        total = float32(0)
        for k in range(32):
            tile[k, i] = k  # write
            cuda.syncthreads()
            total += tile[i, k]  # read
        out[i] = total
    """
    profile = run(body, 1, 32, np.zeros(32, np.float32), schedule=schedule)
    (found,) = [each for each in profile.findings if each.severity == "error"]
    assert found.code == "uninitialised-read"
    asked = facts_of(found.hint)["line"]
    assert isinstance(asked, Capital) and isinstance(asked.said, Line) and found.line is not None
    assert asked.said.number == found.line - 2


@pytest.mark.parametrize("value", ["0", "float32(1)", "-TWO"])
def test_one_value_from_many_threads_is_a_warning(value: str) -> None:
    profile = run(f"out[0] = {value}", 2, 32, np.zeros(1, np.float32), before="TWO = 2")
    assert not profile.errors
    assert {finding.code for finding in profile.findings} == {WAW}


@pytest.mark.parametrize("value", ["cuda.blockIdx.x", "out[1]", "cuda.grid(1)", "x", "place()"])
def test_values_of_their_own_are_an_error(value: str) -> None:
    body = f"x = cuda.threadIdx.x\nout[0] = {value}"
    before = "@cuda.jit(device=True)\ndef place():\n    return cuda.grid(1)\n"
    assert WAW in codes(run(body, 2, 32, np.zeros(2, np.float32), before=before))


SHARED_MISSING_BARRIERS = """
s = cuda.shared.array(64, float32)
u = cuda.shared.array(64, float32)
t = cuda.threadIdx.x
"""
# The text of a kernel, and of each finding its own two lines and those that it names besides, as
# the comments in the text call them.
MISSING = {
    "three reads": ("s[t] = x[t]  # a\na = s[63 - t]  # b\nb = s[(t + 40) % 64]  # c\n"
        "y[t] = a + b + s[(t + 1) % 64]  # d", ["ab+cd"]),
    "two arrays filled, one line reads": (
        "s[t] = x[t]  # a\nu[t] = y[t]  # b\nx[t] = s[63 - t] * u[63 - t]  # c", ["ac+b"]),
    "two barriers": ("s[t] = x[t]  # a\nu[t] = s[63 - t]  # b\ny[t] = u[(t + 40) % 64]  # c",
        ["ab", "bc"]),
    "at the end of a loop": (
        "a = float32(0)\nfor k in range(4):\n    s[t] = x[t] * k  # a\n    u[t] = y[t]  # b\n"
        "    cuda.syncthreads()\n    a += s[63 - t]  # c\n    a += u[63 - t]  # d\ny[t] = a",
        ["ca+bd"]),
    "before a loop, and in it": (
        "s[t] = x[t]  # a\nfor k in range(3):\n    a = s[63 - t]  # b\n    cuda.syncthreads()\n"
        "    s[t] = a + 1  # c\ny[t] = s[t]", ["ab", "cb"]),
    "read and written by one line": (
        "s[t] = x[t]  # a\nh = 32\nwhile h > 0:\n    cuda.syncthreads()\n"
        "    a = s[(t + h) % 64]  # b\n    s[t] += a  # c\n    h //= 2\ny[t] = s[t]", ["bc"]),
    "in turns, in two arms": (
        "s[t] = x[t]\ncuda.syncthreads()\nfor k in range(4):\n    if k % 2:\n"
        "        s[t] = u[63 - t]  # a\n    else:\n        u[t] = s[63 - t]  # b\n"
        "cuda.syncthreads()\ny[t] = s[t]",
        ["ba"],
    ),
    "two loops, each without one": (
        "for k in range(3):\n    s[t] = k  # a\n    cuda.syncthreads()\n"
        "    y[t] += s[63 - t]  # b\ncuda.syncthreads()\n"
        "for k in range(3):\n    s[t] = k  # c\n    cuda.syncthreads()\n"
        "    y[t] += s[63 - t]  # d", ["ba", "dc"]),
}  # fmt: skip


@every_case(("body", "wanted"), MISSING.values(), ids=MISSING)
def test_one_finding_for_each_barrier(body: str, wanted: list[str]) -> None:
    program = as_program(SHARED_MISSING_BARRIERS + body, "x, y")
    name = {n: line[-1] for n, line in enumerate(program.splitlines(), 1) if "# " in line}
    x, y = np.ones(64, np.float32), np.ones(64, np.float32)
    told = []
    for found in launch(program, 1, 64, x, y).errors:
        numbers = list(dict.fromkeys(map(int, re.findall(r"line (\d+)", found.message))))
        own = name[found.other_line] + name[found.line]
        others = "".join(sorted({name[n] for n in numbers} - {*own}))
        told.append(f"{own}+{others}" if others else own)
    assert sorted(told) == sorted(wanted)


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
        found = refusal(program, array)
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
