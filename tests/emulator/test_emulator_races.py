"""A catalogue of hazards: each is found, whatever the schedule, and its repair is clean."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

import numpy as np
import pytest
from emulator_helpers import codes, run
from every_case import every_case

from course_lib.wording.sentences import Capital, Line, facts_of

RAW, WAR, WAW = (
    "race-read-after-write",
    "race-write-after-read",
    "race-write-after-write",
)


@dataclass(frozen=True)
class Hazard:
    """A kernel body with a race; `repair` replaces text in it to make it right."""

    name: str
    expected: frozenset[str]
    body: str
    repair: tuple[tuple[str, str], ...]
    grid: int = 2
    block: object = 64

    @property
    def repaired(self) -> str:
        body = textwrap.dedent(self.body)
        for old, new in self.repair:
            assert body.count(old) == 1, (self.name, old)
            body = body.replace(old, new)
        return body


def hazard(name, expected, body, *repair, **options) -> Hazard:
    expected = frozenset([expected] if isinstance(expected, str) else expected)
    return Hazard(name, expected, body, repair, **options)


SHARED = "s = cuda.shared.array(64, float32)\ni = cuda.threadIdx.x\n"
HAZARDS = [
    hazard("neighbour read", RAW, SHARED + "s[i] = i\n#\nout[cuda.grid(1)] = s[(i + 1) % 64]",
           ("#", "cuda.syncthreads()")),
    hazard("neighbour in the same warp", RAW, SHARED + "s[i] = i\n#\nout[cuda.grid(1)] = s[i ^ 1]",
           ("#", "cuda.syncwarp()")),
    hazard("syncwarp across warps", RAW,
           SHARED + "s[i] = i\ncuda.syncwarp()\nout[cuda.grid(1)] = s[63 - i]",
           ("cuda.syncwarp()", "cuda.syncthreads()")),
    hazard("syncwarp that one lane comes to", (RAW, "barrier-divergence"), SHARED + """\
s[i] = i
if i % 32 == 0:
    cuda.syncwarp()
out[cuda.grid(1)] = s[i ^ 1]
""", ("if i % 32 == 0:\n    cuda.syncwarp()", "cuda.syncwarp()")),
    hazard("some lanes wait once more", RAW, SHARED + """\
if i % 32 < 16:
    cuda.syncwarp(0xFFFF)
s[i] = i
#
out[cuda.grid(1)] = s[i ^ 1]
""", ("#", "cuda.syncwarp()")),
    hazard("a syncwarp in each branch", RAW, SHARED + "s[i] = i\n#\nout[cuda.grid(1)] = s[i ^ 16]",
           ("#", "if i % 32 < 16:\n    cuda.syncwarp()\nelse:\n    cuda.syncwarp()")),
    hazard("fence is no barrier", RAW,
           SHARED + "s[i] = i\ncuda.threadfence_block()\nout[cuda.grid(1)] = s[63 - i]",
           ("cuda.threadfence_block()", "cuda.syncthreads()")),
    hazard("overwritten after reading", WAR, SHARED + """\
s[i] = i
cuda.syncthreads()
x = s[63 - i]
#
s[i] = x
out[cuda.grid(1)] = x
""", ("#", "cuda.syncthreads()")),
    hazard("reverse in place", WAR,
           SHARED + "s[i] = i\ncuda.syncthreads()\ns[i] = s[63 - i]\nout[cuda.grid(1)] = s[i]",
           ("s[i] = s[63 - i]", "x = s[63 - i]\ncuda.syncthreads()\ns[i] = x")),
    hazard("two writers of one cell", WAW,
           SHARED + "s[i // 2] = i\ncuda.syncthreads()\nout[cuda.grid(1)] = s[i // 2]",
           ("s[i // 2] = i\n", "if i % 2 == 0:\n    s[i // 2] = i\n")),
    hazard("all write one cell", WAW,
           SHARED + "s[0] = i\ncuda.syncthreads()\nout[cuda.grid(1)] = s[0]",
           ("s[0] = i\n", "if i == 0:\n    s[0] = i\n")),
    hazard("reduction without barriers", {RAW, WAR}, SHARED + """\
s[i] = i
cuda.syncthreads()
step = 32
while step > 0:
    if i < step:
        s[i] += s[i + step]
    #
    step //= 2
if i == 0:
    out[cuda.blockIdx.x] = s[0]
""", ("#", "cuda.syncthreads()")),
    hazard("warp-synchronous reduction", {RAW, WAR}, SHARED + """\
s[i] = i
cuda.syncthreads()
if i < 32:
    for k in range(5):
        step = 16 >> k
        if i < step:
            s[i] += s[i + step]
        #
if i == 0:
    out[cuda.blockIdx.x] = s[0]
""", ("#", "cuda.syncwarp()")),
    hazard("scan in place", {RAW, WAR}, SHARED + """\
s[i] = i
cuda.syncthreads()
step = 1
while step < 64:
    if i >= step:
        s[i] += s[i - step]
    cuda.syncthreads()
    step *= 2
out[cuda.grid(1)] = s[i]
""", ("    if i >= step:\n        s[i] += s[i - step]\n", """\
    x = s[i]
    if i >= step:
        x += s[i - step]
    cuda.syncthreads()
    s[i] = x
""")),
    hazard("second barrier of a tile loop", WAR, SHARED + """\
acc = float32(0)
for t in range(3):
    s[i] = t
    cuda.syncthreads()
    acc += s[63 - i]
    #
out[cuda.grid(1)] = acc
""", ("#", "cuda.syncthreads()")),
    hazard("first barrier of a tile loop", RAW, SHARED + """\
acc = float32(0)
for t in range(3):
    s[i] = t
    #
    acc += s[63 - i]
    cuda.syncthreads()
out[cuda.grid(1)] = acc
""", ("#", "cuda.syncthreads()")),
    hazard("double buffer, one buffer too few", WAR, SHARED + """\
acc = float32(0)
for t in range(4):
    here = 32 * (t % 1)
    if i < 32:
        s[i + here] = t
    cuda.syncthreads()
    acc += s[31 - i % 32 + here]
out[cuda.grid(1)] = acc
""", ("t % 1", "t % 2")),
    hazard("broadcast slot reused", WAR, SHARED + """\
acc = float32(0)
for t in range(3):
    if i == t:
        s[0] = t
    cuda.syncthreads()
    acc += s[0]
    #
out[cuda.grid(1)] = acc
""", ("#", "cuda.syncthreads()")),
    hazard("transpose through a tile", RAW, """
s = cuda.shared.array((8, 8), float32)
x = cuda.threadIdx.x
y = cuda.threadIdx.y
s[y, x] = y * 8 + x
#
out[y * 8 + x] = s[x, y]
""", ("#", "cuda.syncthreads()"), block=(8, 8), grid=1),
    hazard("global neighbour read", RAW,
           "i = cuda.grid(1)\nout[i] = i\n#\nif cuda.threadIdx.x:\n    out[i + 128] = out[i - 1]",
           ("#", "cuda.syncthreads()")),
    hazard("global read across blocks", RAW,
           "i = cuda.grid(1)\nout[i] = i\ncuda.syncthreads()\nout[i + 128] = out[127 - i]",
           ("out[127 - i]", "out[cuda.blockIdx.x * 64 + 63 - cuda.threadIdx.x]")),
    hazard("global shift in place", {RAW, WAR},
           "i = cuda.grid(1)\nif i > 0:\n    out[i] = out[i - 1]",
           ("out[i] = out[i - 1]", "out[i + 128] = out[i - 1]")),
    hazard("two blocks write one cell", WAW,
           "out[cuda.threadIdx.x] = cuda.blockIdx.x",
           ("out[cuda.threadIdx.x]", "out[cuda.grid(1)]")),
    hazard("lost updates of a counter", {RAW, WAR, WAW},
           "out[0] += 1",
           ("out[0] += 1", "cuda.atomic.add(out, 0, 1)")),
    hazard("histogram without atomics", {RAW, WAR, WAW},
           "i = cuda.grid(1)\nout[i % 10] += 1",
           ("out[i % 10] += 1", "cuda.atomic.add(out, i % 10, 1)")),
    hazard("plain read of an atomic's cell", {RAW, WAR}, SHARED + """\
if i == 0:
    s[0] = 0
cuda.syncthreads()
cuda.atomic.add(s, 0, 1)
#
out[cuda.grid(1)] = s[0]
""", ("#", "cuda.syncthreads()")),
    hazard("shuffle orders no memory", RAW, SHARED + """\
s[i] = i
x = cuda.shfl_sync(0xFFFFFFFF, i, 0)
out[cuda.grid(1)] = s[i ^ 1] + x
""", ("out[", "cuda.syncwarp()\nout[")),
]  # fmt: skip


def output_of(
    body: str, hazard: Hazard, schedule: str, seed: int = 0
) -> tuple[list[str], np.ndarray]:
    out = np.zeros(256, np.float32)
    profile = run(body, hazard.grid, hazard.block, out, schedule=schedule, seed=seed)
    return codes(profile), out


@every_case("each", HAZARDS, ids=lambda each: each.name)
def test_hazard_is_found(each: Hazard) -> None:
    for schedule in ("lockstep", "warps", "shuffled"):
        found, _ = output_of(each.body, each, schedule)
        assert found, f"{schedule}: no race found"
        assert set(found) <= each.expected, (schedule, found)


@every_case("each", HAZARDS, ids=lambda each: each.name)
def test_repaired_twin_is_clean(each: Hazard) -> None:
    outputs = []
    for schedule, seed in (("lockstep", 0), ("warps", 0), ("shuffled", 1), ("shuffled", 2)):
        found, out = output_of(each.repaired, each, schedule, seed)
        assert not found, (schedule, found)
        outputs.append(out)
    for out in outputs[1:]:
        np.testing.assert_array_equal(out, outputs[0])


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


@pytest.mark.parametrize("schedule", ["lockstep", "warps", "shuffled"])
def test_a_race_is_told_of_two_warps_where_there_are_two(schedule: str) -> None:
    """Threads of one warp meet here, too; but between warps a missing barrier is easier to see."""
    body = """
        s = cuda.shared.array(64, float32)
        i = cuda.threadIdx.x
        total = 0
        for turn in range(2):
            s[i] = turn
            cuda.syncthreads()
            for k in range(64):
                total += s[k]
        out[i] = total
    """
    profile = run(body, 1, 64, np.zeros(64, np.float32), schedule=schedule)
    (race,) = [each for each in profile.findings if each.severity == "error"]
    (one, _, _), (other, _, _) = race.threads
    assert race.code == WAR and one // 32 != other // 32
    assert "cuda.syncthreads()" in facts_of(race.message)["lacking"]


@pytest.mark.parametrize("schedule", ["warps", "shuffled"])
def test_a_missing_barrier_shows_in_the_numbers(schedule: str) -> None:
    body = SHARED + "s[i] = i\ncuda.syncthreads()\ns[i] = -1\n#\nout[i] = s[63 - i]"
    wrong, right = np.zeros(64, np.float32), np.zeros(64, np.float32)
    racy = body.replace("s[i] = -1\n#", "s[i] = i + 100")
    run(racy, 1, 64, wrong, schedule=schedule)
    run(racy.replace("i + 100\n", "i + 100\ncuda.syncthreads()\n"), 1, 64, right, schedule=schedule)
    assert np.array_equal(right, 163 - np.arange(64))
    assert not np.array_equal(wrong, right)


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


def test_one_thread_alone_never_races() -> None:
    body = SHARED + "if i == 0:\n    for k in range(64):\n        s[k] = k\n        out[k] = s[k]"
    assert not codes(run(body, 1, 64, np.zeros(64, np.float32)))


def test_blocks_have_their_own_shared_memory() -> None:
    body = SHARED + "s[i] = cuda.blockIdx.x\ncuda.syncthreads()\nout[cuda.grid(1)] = s[63 - i]"
    out = np.zeros(256, np.float32)
    assert not codes(run(body, 4, 64, out))
    assert np.array_equal(out, np.repeat(np.arange(4), 64))


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
    raced = {str(facts_of(each.message)["cell"]).partition("[")[0] for each in races}
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
