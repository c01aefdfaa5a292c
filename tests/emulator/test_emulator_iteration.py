"""Loops over zip, enumerate, rows and tuples: what Python itself goes through, item by item."""

import numpy as np
from emulator_helpers import as_program, assert_as_in_python, rejection_codes, run_clean
from every_case import every_case

LOOPS = {
    "enumerate an array": "for i, v in enumerate(x): out[i] = v + i",
    "enumerate from 3": "for i, v in enumerate(x, 3): out[i] = v + i",
    "enumerate a tuple": "for i, v in enumerate((5, 6, 7)): out[i] = v * i",
    "enumerate a range": "for i, v in enumerate(range(9, 0, -2)): out[i] = v",
    "zip": "for a, b in zip(x, y): out[a] = b",
    "zip of unequal length": "for a, b in zip(x[1:], y): out[a] = b",
    "zip of three": "for a, b, k in zip(x, y, range(1, 99)): out[k] = a + b",
    "zip of one": "for (a,) in zip(x): out[a] = 1",
    "enumerate a zip": "for i, (a, b) in enumerate(zip(x, y)): out[i] = a - b",
    "zip of an enumerate": "for (i, a), b in zip(enumerate(x), y): out[i] = a - b",
    "rows": "for row in m: out[row[0]] = row[1]",
    "rows and numbers": "for row, b in zip(m, x): out[row[0] + b] = row[1]",
    "rows of columns": "for i, row in enumerate(m.T): out[i] = row[2]",
    "nothing": "for a, b in zip(x[:0], y): out[a] = b",
    "break and else": """
        for i, v in enumerate(x):
            if v == 2:
                continue
            if v == 4:
                break
            out[i] = v + 10
        else:
            out[0] = 99
    """,
    "a pair kept whole": "for pair in zip(x, y): out[pair[0]] = pair[1]",
}


@every_case("loop", LOOPS.values())
def test_a_loop_goes_through_what_pythons_goes_through(loop: str) -> None:
    x, y, m = np.arange(1, 7), np.arange(20, 26), np.arange(12).reshape(4, 3)
    assert_as_in_python(loop, x=x, y=y, m=m, out=np.zeros(16, np.int64))


REFUSED = {
    "for a in zip(x, 3): out[0] = 1": "compile-error",
    "for a in enumerate(3): out[0] = 1": "compile-error",
    "for a in enumerate(x, 1.5): out[0] = 1": "compile-error",
    "pairs = zip(x, x)\nfor a, b in pairs: out[0] = 1": "unsupported",
}


@every_case("body", REFUSED)
def test_what_no_loop_goes_over_is_refused(body: str) -> None:
    program = as_program(body, "x, out")
    assert rejection_codes(program, np.arange(3), np.zeros(3)) == [REFUSED[body]]


@every_case("dtype", [np.int32, np.uint32, np.int64, np.uint64])
def test_ranges_whose_bounds_differ_between_threads_end_where_python_ends_them(dtype: type) -> None:
    """Those of unsigned numbers as well, where stop - start wraps if a range is empty."""
    starts, stops = [0, 5, 9, 0, 10, 7, 3, 3], [9, 3, 0, 0, 1, 8, 3, 60]
    steps = [2, 1, 1, 3, 1, 9, 1, 7]
    out = np.zeros((2, 8), np.int64)
    body = """
        i = cuda.threadIdx.x
        for x in range(a[i], b[i], s[i]):
            out[0, i] += x + 1
        for x, y in zip(range(a[i], b[i], s[i]), range(20)):
            out[1, i] += x + 1
    """
    run_clean(body, 1, 8, out, *(np.array(each, dtype) for each in (starts, stops, steps)),
              parameters="out, a, b, s")  # fmt: skip
    numbers = [range(*each) for each in zip(starts, stops, steps, strict=True)]
    assert out.tolist() == [[sum(each) + len(each) for each in numbers]] * 2
