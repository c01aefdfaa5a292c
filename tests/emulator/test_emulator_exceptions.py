"""What ends a single thread: `raise`, a failed `assert`, an item that a tuple does not have.

Numba compiles all three to an early return of the whole kernel; under debug=True it tells the host.
"""

import numpy as np
import pytest
from emulator_helpers import codes, launch, run
from every_case import every_case

from course_lib.wording.sentences import facts_of

DEVICE = """
@cuda.jit(device=True)
def checked(value):
    if value > 2:
        raise ValueError('too large')
    return value
"""
RAISING = {
    "raise": ("if i > 2:\n    raise ValueError", "ValueError"),
    "raise with a text": ("if i > 2:\n    raise IndexError('far')", "IndexError"),
    "assert": ("assert i <= 2, 'text'", "AssertionError"),
    "in a device function": ("x = checked(i)", "ValueError"),
    "in an expression": ("x = 1 + checked(i) * 2", "ValueError"),
    "in a test": ("if checked(i) > 1:\n    out[i] = 0", "ValueError"),
    "in a loop's test": ("while checked(i) > 5:\n    pass", "ValueError"),
    "in a loop": ("for j in range(3):\n    checked(i)", "ValueError"),
    "in half an expression": ("x = i > 1 and checked(i) > 1", "ValueError"),
}


def program(body: str, debug: bool) -> str:
    from emulator_helpers import as_program

    text = as_program(f"i = cuda.threadIdx.x\n{body}\nout[i] = 1", before=DEVICE)
    return (
        text.replace("@cuda.jit\ndef", "@cuda.jit(debug=True, opt=False)\ndef") if debug else text
    )


@every_case("name", RAISING)
def test_a_thread_that_raises_ends(name: str) -> None:
    body, exception = RAISING[name]
    for debug in (False, True):
        out = np.zeros(6, np.float32)
        profile = launch(program(body, debug), 1, 6, out)
        assert out.tolist() == [1, 1, 1, 0, 0, 0]
        if debug:
            (found,) = [each for each in profile.findings if each.severity == "error"]
            assert (found.code, found.threads[0]) == ("raised-exception", (3, 0, 0))
            assert facts_of(found.message)["what"] == exception
        else:
            assert not codes(profile)


def test_threads_that_ended_are_missed_at_a_barrier() -> None:
    body = "if checked(i) < 9:\n    pass\ncuda.syncthreads()"
    out = np.zeros(6, np.float32)
    assert codes(launch(program(body, False), 1, 6, out)) == ["barrier-divergence"]


def test_what_ended_a_thread_is_told_and_not_that_it_is_missed_at_a_barrier() -> None:
    ends = {
        "an item that is not there": ("x = (5, 6)[i]", False, "out-of-bounds-read"),
        "an exception under debug": ("x = checked(i)", True, "raised-exception"),
    }
    for name, (body, debug, code) in ends.items():
        profile = launch(program(f"{body}\ncuda.syncthreads()", debug), 1, 6, np.zeros(6, "f4"))
        assert codes(profile) == [code], name


@pytest.mark.parametrize("index", ["j", "j + i * 0", "i * 0 - j - 1"])
def test_an_item_that_a_tuple_lacks(index: str) -> None:
    """The same for an index that is uniform, that differs between lanes, and that is negative."""
    body = f"i = cuda.threadIdx.x\nt = (1.0, 2.0)\nfor j in range(4):\n    out[i, j] = t[{index}]"
    out = np.zeros((2, 4))
    profile = run(body, 1, 2, out)
    assert codes(profile) == ["out-of-bounds-read"]
    expected = [2, 1, 0, 0] if "-" in index else [1, 2, 0, 0]
    assert out.tolist() == [expected] * 2
    assert facts_of(profile.findings[0].message)["items"] == 2
