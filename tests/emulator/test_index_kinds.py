"""What may be an index, and what a refused one is told: the index's own kind, and its own mend."""

import numpy as np
import pytest
from emulator_helpers import as_program, launch, run_clean

from course_lib.emulator import KernelRejected

PARAMETERS = "out, m, k, t, r, n, x, q"
ARGUMENTS = (
    np.zeros(4, np.float32), np.zeros((4, 4), np.float32), np.zeros(4, np.int32), (1, 2), (1, 2.5),
    2, np.float32(1.5), True,
)  # fmt: skip
FLOAT = "`//` of whole numbers is a whole number, too. int(…) converts a float."
BOOL = "int(…) turns it into 0 or 1."
ONE_AXIS = "needs a number as the index of an array with one axis, not a tuple"

REFUSED = {
    "out[x] = 1": ("float32 cannot be an index.", FLOAT),
    "out[x // 1] = 1": ("float64 cannot be an index.", FLOAT),
    "out[q] = 1": ("bool cannot be an index.", BOOL),
    "m[n, 1.5] = 1": ("float64 cannot be an index.", FLOAT),
    "m[r] = 1": ("float64 cannot be an index.", FLOAT),
    "m[q, q] = 1": ("bool cannot be an index.", BOOL),
    "out[0] = t[1.5]": ("float64 cannot be an index.", FLOAT),
    "out[0] = r[x]": ("float32 cannot be an index.", FLOAT),
    "out[0] = t[q]": ("bool cannot be an index.", BOOL),
    "out[0] = r[n]": (
        "An index of a tuple must be a constant, unless all its items have the same type.", "",
    ),
    "cuda.atomic.add(out, (n,), 1)": (f"cuda.atomic.add {ONE_AXIS}.", "Leave out the brackets."),
    "cuda.atomic.max(out, t, 1)": (
        f"cuda.atomic.max {ONE_AXIS}.",
        "There are several numbers in the brackets, as in a shape. Which one do you mean?",
    ),
    "cuda.atomic.add(m, n, 1)": (
        "cuda.atomic.add needs 2 indices.",
        "Write them as a tuple, in brackets, with one index for each axis.",
    ),
    "cuda.atomic.cas(k, None, 1, 2)": ("cuda.atomic.cas needs a number as its index.", ""),
    "cuda.atomic.add(out, m, 1)": (
        "cuda.atomic.add needs a number as its index.",
        "An array holds many numbers. Do you mean its length, or one of its elements?",
    ),
    "cuda.atomic.inc(k, 0, 1)": (
        "cuda.atomic.inc does not exist for elements of int32.",
        "There is one for elements of uint32, uint64.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("line", REFUSED)
def test_a_refused_index(line: str) -> None:
    with pytest.raises(KernelRejected) as refused:
        launch(as_program(line, PARAMETERS), 1, 1, *ARGUMENTS)
    finding = refused.value.findings[0]
    assert (finding.code, finding.message, finding.hint) == ("compile-error", *REFUSED[line])


@pytest.mark.parametrize("name", ["add", "sub", "max", "min", "nanmax", "nanmin", "exch", "cas"])
def test_an_atomics_index_is_cut_off_to_a_whole_number_as_numba_does(name: str) -> None:
    """Unlike a subscript, an atomic takes any real number: its cast to an integer is Numba's."""
    array, values = ("k", "0, 1") if name == "cas" else ("k", "1")
    if name not in ("exch", "cas"):
        array = "out"
    indices = {"1.9": 1, "x": 1, "q": 1, "n": 2, "np.uint8(3)": 3, "-0.9": 0, "x / 2": 0}
    for index, cell in indices.items():
        arrays = [np.zeros_like(each) if i < 3 else each for i, each in enumerate(ARGUMENTS)]
        arrays[0][:], arrays[2][:] = np.nan if name.startswith("nan") else 0, 0
        value = "-1" if name == "min" else values
        call = f"cuda.atomic.{name}({array}, {index}, {value})"
        run_clean(call, 1, 1, *arrays, parameters=PARAMETERS)
        changed = arrays[2] if array == "k" else arrays[0]
        is_new = ~np.isnan(changed) if name.startswith("nan") else changed != 0
        assert np.flatnonzero(is_new).tolist() == [cell], call
    run_clean(f"cuda.atomic.add(m, ({2.9}, q), 1)", 1, 1, *arrays, parameters=PARAMETERS)
    assert np.argwhere(arrays[1]).tolist() == [[2, 1]]
