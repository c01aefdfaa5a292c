"""What the machine noticed is told as what it is: which cell, which threads, what to look at."""

import numpy as np
import pytest

from course_lib.emulator import KernelRejected, Profile, emulate, load_program
from course_lib.wording.findings import Finding
from course_lib.wording.sentences import Line, facts_of

HEAD = "import numpy as np\nfrom numba import cuda, float32, float64\n\n@cuda.jit\n"


def launch(text: str, *arrays: np.ndarray, block: object = 32, grid: object = 1) -> Profile:
    kernel = load_program(HEAD + text).kernel("k")
    names = kernel.parameters
    return emulate(kernel, outputs=(names[-1],))[grid, block](*arrays)


def only(profile: Profile, code: str) -> Finding:
    found = [each for each in profile.findings if each.code == code]
    assert len(found) == 1, profile.findings
    return found[0]


def zeros(n: int = 32, dtype: type = np.float32) -> np.ndarray:
    return np.zeros(n, dtype)


def test_the_cell_that_is_quoted_reaches_the_output() -> None:
    text = """def k(x, y):
    s = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    if t % 2:
        s[t] = x[t]
    cuda.syncthreads()
    value = s[t]
    if t == 6:
        y[t] = value
"""
    found = only(launch(text, zeros(), zeros()), "uninitialised-read")
    assert (found.cell, found.threads) == ("s[6]", ((6, 0, 0),))


@pytest.mark.parametrize("space", ["shared", "local"])
def test_outside_an_array_of_its_own_the_size_is_the_question(space: str) -> None:
    text = f"""def k(y):
    s = cuda.{space}.array(8, float32)
    t = cuda.threadIdx.x
    s[t] = 1
    y[t] = 2
"""
    found = only(launch(text, zeros()), "out-of-bounds-write")
    facts = facts_of(found.hint)
    assert (facts["array"], facts["line"], facts["elements"]) == ("s", Line(6), 8)


def test_outside_an_argument_the_test_is_the_question() -> None:
    found = only(
        launch("def k(y):\n    y[cuda.threadIdx.x] = 1\n", zeros(8)), "out-of-bounds-write"
    )
    assert found.hint and not facts_of(found.hint)  # nothing of its size


@pytest.mark.parametrize(
    ("dtypes", "phrase"),
    [
        ((np.float32, np.float32), "although the arrays are float32"),
        ((np.uint8, np.uint8), "although the arrays are uint8"),
        ((np.uint8, np.float32), "although none of the arrays is"),
    ],
)
def test_float64_is_set_against_the_arrays_that_there_are(dtypes: tuple, phrase: str) -> None:
    text = "def k(x, y):\n    t = cuda.threadIdx.x\n    y[t] = x[t] * 0.1\n"
    arrays = [zeros(dtype=each) for each in dtypes]
    assert phrase in only(launch(text, *arrays), "float64-arithmetic").message


@pytest.mark.parametrize(("count", "verb"), [(1, "was"), (2, "were")])
def test_how_many_arguments_were_passed(count: int, verb: str) -> None:
    with pytest.raises(KernelRejected, match=f"but {count} {verb} passed"):
        launch("def k(x, y, z):\n    z[0] = 1\n", *[zeros()] * count)
    with pytest.raises(KernelRejected, match=r"k takes 1 argument \(x\), but 2 were passed"):
        launch("def k(x):\n    x[0] = 1\n", zeros(), zeros())
