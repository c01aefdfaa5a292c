"""Every hazard is named with its code and line, every twin clean; so are lanes that do not come."""

import numpy as np
import pytest
from emulator_helpers import as_program, launch, line_of
from every_case import every_case
from hazards import Hazard, catalogue, faults_of, faults_of_twin
from sampling import one_in

from course_lib.emulator import emulate, load_program

NAMED = catalogue()


# Every third in the fast set, and of another third the twin.
@pytest.mark.parametrize("name", one_in(3, NAMED))
def test_named(name: str) -> None:
    assert not faults_of(NAMED[name])


@pytest.mark.parametrize("name", one_in(3, NAMED, first=1))
def test_twin_is_clean(name: str) -> None:
    assert not faults_of_twin(NAMED[name])


def test_the_catalogue_is_large_and_each_entry_sets_its_mistake_apart() -> None:
    assert len(NAMED) >= 50
    for name, each in NAMED.items():
        assert each.expected, name
        assert each.source != each.twin, name


def test_a_hazard_that_is_none_and_a_twin_that_is_none_are_noticed() -> None:
    """The catalogue's own check must be able to fail."""
    clean = Hazard("clean", "out[cuda.grid(1)] = 1   #! RAW")
    assert any("not found" in fault for fault in faults_of(clean))
    racy = Hazard("racy", "out[cuda.threadIdx.x] = cuda.blockIdx.x")
    assert any("not there" in fault for fault in faults_of(racy))
    assert any("race-write-after-write" in fault for fault in faults_of_twin(racy))
    idle = Hazard("idle", "pass")
    assert faults_of_twin(idle) == ["nothing was written"]


DIVERGES, UNDEFINED = "barrier-divergence", "uninitialised-read"
SUM = """\
v = 1
d = {first}
while d:
    v += cuda.shfl_down_sync({mask}, v, d)  # this
    d //= 2
"""

# A body, how many threads run it, the code and the severity that its line `# this` gets, and the
# two threads that are named (one where the other does not exist).
FAULTS = {
    "syncwarp in a branch": ("if t < 2:\n    cuda.syncwarp()  # this", 32, DIVERGES, (0, 2)),
    "syncwarp in a loop": ("for k in range(t):\n    cuda.syncwarp()  # this", 32, DIVERGES, (1, 0)),
    "syncwarp with too long a mask": (
        "if t < 4:\n    cuda.syncwarp(0x1F)  # this", 32, DIVERGES, (0, 4)),
    "syncwarp that does not name its caller": (
        "if t < 4:\n    cuda.syncwarp(7)  # this", 32, DIVERGES, (3,)),
    "the other branch has fewer": (
        "if t < 4:\n    cuda.syncwarp()\n    cuda.syncwarp()  # this\nelse:\n    cuda.syncwarp()",
        32, DIVERGES, (0, 4)),
    "a shuffle by one lane": (
        "if t < 1:\n    out[t] = cuda.shfl_down_sync(1, t, 16)  # this", 32, UNDEFINED, (0, 16)),
    "a shuffle from a lane beyond the mask": (
        "out[t] = cuda.shfl_sync(1 << t, t, 9)  # this", 32, UNDEFINED, (0, 9)),
    "a shuffle from a lane that has returned": (
        "if t >= 20:\n    return\nout[t] = cuda.shfl_down_sync(0xffffffff, t, 1)  # this",
        32, UNDEFINED, (19, 20)),
    "a shuffle by every other lane": (
        "if t % 2:\n    out[t] = cuda.shfl_sync(cuda.activemask(), t, 0)  # this",
        32, UNDEFINED, (1, 0)),
    "a sum over lanes that the block does not have": (
        SUM.format(first=16, mask="0xffffffff") + "out[t] = v", 16, UNDEFINED, (0,)),
    "an absent lane that the mask names": (
        "if t < 8:\n    out[t] = cuda.shfl_xor_sync(0xffffffff, t, 8)  # this",
        32, DIVERGES, (0, 8)),
    "a vote": ("if t < 8:\n    out[t] = cuda.any_sync(-1, t)  # this", 32, DIVERGES, (0, 8)),
    "a shuffle that does not name its caller": (
        "out[t] = cuda.shfl_sync(0xffff, t, 5)  # this", 32, DIVERGES, (16,)),
    "a match": ("if t < 8:\n    out[t] = cuda.match_any_sync(-1, t)  # this", 32, DIVERGES, (0, 8)),
}  # fmt: skip


@every_case("name", FAULTS)
def test_lanes_that_do_not_come_are_named(name: str) -> None:
    body, threads, code, places = FAULTS[name]
    program = as_program("t = cuda.threadIdx.x\n" + body)
    for schedule in ("lockstep", "warps"):
        profile = launch(program, 1, threads, np.zeros(32, np.int64), schedule=schedule)
        errors = {each.line: each for each in profile.findings if each.severity == "error"}
        found = errors[line_of(program, "# this")]
        assert {each.code for each in errors.values()} == {code}, schedule
        assert found.threads == tuple((place, 0, 0) for place in places)


# A syncwarp that the other lanes leave out, and whether they come to anything else afterwards.
LEFT_OUT = {
    "they return": ("if t < 2:\n    cuda.syncwarp()  # this", False),
    "they store and return": ("if t < 2:\n    cuda.syncwarp()  # this\nout[t] = t", False),
    "they leave a loop": ("for k in range(t):\n    cuda.syncwarp()  # this", False),
    "they come to a barrier of the block": (
        "if t < 2:\n    cuda.syncwarp()  # this\ncuda.syncthreads()", True),
    "they come to a shuffle": (
        "if t < 2:\n    cuda.syncwarp()  # this\nout[t] = cuda.shfl_sync(-1, t, 0)", True),
    "they come to another syncwarp less": (
        "if t < 2:\n    cuda.syncwarp()  # this\ncuda.syncwarp()", True),
}  # fmt: skip


@every_case("name", LEFT_OUT)
def test_a_gpu_goes_on_without_lanes_that_only_return(name: str) -> None:
    body, come_later = LEFT_OUT[name]
    program = as_program("t = cuda.threadIdx.x\n" + body)
    for schedule in ("lockstep", "warps"):
        out = np.zeros(64, np.int64)
        profile = launch(program, 1, 64, out, schedule=schedule, costs=True)
        (found,) = (each for each in profile.findings if each.code == DIVERGES)
        assert found.line == line_of(program, "# this")
        assert found.severity == ("error" if come_later else "warning"), schedule
        assert ("returns without it" in found.message) != come_later


RIGHT = {
    "both branches meet": (
        "if t < 4:\n    cuda.syncwarp()\nelse:\n    cuda.syncwarp()\ncuda.syncwarp()\nout[t] = 1"),
    "a mask of those that come": "if t < 4:\n    cuda.syncwarp(15)\nout[t] = 1",
    "by the mask of those that are here": (
        "if t < 4:\n    out[t] = cuda.ballot_sync(cuda.activemask(), True) & 1"),
    "whole warps": "if t < 32:\n    cuda.syncwarp()\nout[t] = 1",
    "who has returned need not come": "if t >= 20:\n    return\ncuda.syncwarp()\nout[t] = 1",
    "beyond the warp's ends": (
        "out[t] = cuda.shfl_up_sync(-1, 1, 4) + cuda.shfl_down_sync(-1, 0, 4)"),
    "within the mask": (
        "if t < 8:\n    out[t] = cuda.shfl_xor_sync(0xff, 1, 7)\nelse:\n    out[t] = 1"),
    "by the mask that a match gives": (
        "k = t % 3\nm = cuda.match_any_sync(-1, k)\nout[t] = cuda.any_sync(m, k == 1) == (k == 1)"),
}  # fmt: skip


@every_case("name", RIGHT)
def test_nothing_is_said_of_lanes_that_need_not_come(name: str) -> None:
    out = np.ones(64, np.int64)
    profile = launch(as_program("t = cuda.threadIdx.x\n" + RIGHT[name]), 1, 64, out)
    assert profile.findings == []
    assert (out == 1).all()


def test_an_undefined_value_that_nobody_uses_is_a_warning() -> None:
    """Half a warp adds up: its upper lanes read from lanes that are not there, and are not read."""
    body = (
        "t = cuda.threadIdx.x\n" + SUM.format(first=8, mask="0xffff") + "if t == 0:\n    out[0] = v"
    )
    for dtype in (np.int32, np.float32):
        out = np.zeros(1, dtype)
        (found,) = launch(as_program(body), 1, 16, out).findings
        assert (found.code, found.severity) == (UNDEFINED, "warning")
        assert out[0] == 16


def _votes(mask: np.ndarray, yes: np.ndarray) -> dict[str, list[int]]:
    """What each lane gets, worked out one lane after the other."""
    groups = [[lane for lane in range(32) if int(bits) >> lane & 1] for bits in mask]
    return {
        "ballot_sync(m, y)": [sum(1 << i for i in group if yes[i]) for group in groups],
        "any_sync(m, y)": [any(yes[i] for i in group) for group in groups],
        "all_sync(m, y)": [all(yes[i] for i in group) for group in groups],
        "eq_sync(m, y)": [len({bool(yes[i]) for i in group}) == 1 for group in groups],
        "match_any_sync(m, y)": [
            sum(1 << i for i in group if yes[i] == yes[lane]) for lane, group in enumerate(groups)
        ],
        "match_all_sync(m, y)[0]": [
            sum(1 << i for i in group) * (len({yes[i] for i in group}) == 1) for group in groups
        ],
    }


@pytest.mark.parametrize("seed", range(4))
def test_each_group_of_a_warp_votes_by_itself(seed: int) -> None:
    random = np.random.default_rng(seed)
    group, yes = random.integers(0, 3, 32), random.integers(0, 2, 32)
    mask = np.array([sum(1 << i for i in range(32) if group[i] == of) for of in group])
    for call, expected in _votes(mask, yes).items():
        text = as_program(
            f"t = cuda.threadIdx.x\nm = masks[t]\ny = said[t]\nout[t] = cuda.{call}",
            "out, masks, said",
        )
        out = np.zeros(32, np.int64)
        profile = emulate(load_program(text).kernel("kernel"))[1, 32](out, mask, yes)
        assert (out & 0xFFFFFFFF).tolist() == expected, call
        assert profile.findings == []
