"""What is told of a race, and what is none; the hazards themselves are in hazards/."""

import numpy as np
import pytest
from emulator_helpers import codes, run

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
