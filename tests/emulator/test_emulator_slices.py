"""Slices with a step, `...`, and loops over zip, enumerate, rows: as in NumPy and Python."""

import numpy as np
import pytest
from emulator_helpers import as_program, assert_as_in_python, rejection_codes, run, run_clean
from every_case import every_case
from hypothesis import given, settings
from hypothesis import strategies as st

BOUNDS = st.none() | st.integers(-9, 9)
STEPS = st.none() | st.integers(-4, 4).filter(bool)


def as_text(part: slice) -> str:
    return ":".join(
        "" if each is None else str(each) for each in (part.start, part.stop, part.step)
    )


@settings(max_examples=60, deadline=None)
@given(st.builds(slice, BOUNDS, BOUNDS, STEPS), st.booleans())
def test_a_slice_is_cut_as_in_numpy(part: slice, passed_in: bool) -> None:
    values = np.arange(7, dtype=np.int64) + 10
    out = np.zeros(10, np.int64)
    given_bounds = [0 if each is None else each for each in (part.start, part.stop, part.step)]
    names = slice(*("abc"[i] if each is not None else None
                    for i, each in enumerate((part.start, part.stop, part.step))))  # fmt: skip
    body = f"""
        piece = x[{as_text(names if passed_in else part)}]
        out[9] = len(piece)
        for j in range(len(piece)):
            out[j] = piece[j]
    """
    run_clean(body, 1, 1, values, out, *given_bounds, parameters="x, out, a, b, c")
    expected = values[part]
    assert out[9] == len(expected)
    assert out[: len(expected)].tolist() == expected.tolist()


# As Numba compiles them, for a processor and for a GPU: the whole part of any real number counts.
OTHER_BOUNDS = {
    "1.9:5": "1:5", "f:": "2:", ":f": ":2", "q:4": "1:4", ":q": ":1", "::q": "::1", "::2.9": "::2",
    "-1.5:": "-1:", "-f:6.9": "-2:6", "-0.5:3": "0:3", "None:f": ":2", "t / 2:": "t // 2:",
}  # fmt: skip


@every_case(("bounds", "meant"), OTHER_BOUNDS.items(), ids=OTHER_BOUNDS)
def test_any_real_number_is_a_bound(bounds: str, meant: str) -> None:
    results = []
    for written in (bounds, meant):
        out = np.full((8, 9), -1)
        body = (
            f"t = cuda.threadIdx.x\npiece = x[{written}]\nout[t, 8] = len(piece)\n"
            "for j in range(len(piece)):\n    out[t, j] = piece[j]"
        )
        given = np.arange(8), out, np.float32(2.7), True
        run_clean(body, 1, 8, *given, parameters="x, out, f, q")
        results.append(out.tolist())
    assert results[0] == results[1]


def test_no_real_number_is_no_bound() -> None:
    assert rejection_codes(as_program("x = out[1:1j]"), np.zeros(4)) == ["compile-error"]


CASES = {
    "every second": "x[::2, 1]", "backwards": "x[::-1, 0]", "a corner backwards": "x[2:0:-1, 3]",
    "rest behind": "x[1, ...]", "rest before": "x[..., 1]",
    "rest that is nothing": "x[1:4:2, ..., 2]", "everything": "x[...][3]",
    "of a slice": "x[::2][::-1, 1]", "of the transposed": "x.T[::3, 2]",
}  # fmt: skip


@every_case("text", CASES.values())
def test_parts_of_a_matrix(text: str) -> None:
    body = f"piece = {text}\nfor j in range(piece.shape[0]):\n    out[j] = piece[j]"
    assert_as_in_python(body, x=np.arange(20.0).reshape(5, 4), out=np.zeros(8))


@every_case("text", ["x[::2]", "x[::-2, 1]", "x[...]", "x[1, ...]", "x[..., 2]", "x[4:0:-3, ::2]"])
def test_what_is_written_into_a_part(text: str) -> None:
    assert_as_in_python(f"{text} = 3", x=np.zeros((5, 4), np.float32))


@pytest.mark.parametrize(("body", "code"), [
    ("s = x[::cuda.threadIdx.x + 1]\nx[0] = s[0]", "unsupported"),
    ("s = x[..., ...]", "compile-error"),
])  # fmt: skip
def test_what_has_no_uniform_step_is_refused(body: str, code: str) -> None:
    assert rejection_codes(as_program(body, "x"), np.zeros(9)) == [code]


def test_a_step_through_shared_memory_has_its_conflicts() -> None:
    """The counters see the addresses: a step of two is a conflict of two ways."""
    body = """
        s = cuda.shared.array(64, float32)
        i = cuda.threadIdx.x
        s[i] = 0
        s[i + 32] = 1
        every = s[::2]
        cuda.syncthreads()
        out[i] = every[i]
    """
    profile = run(body, 1, 32, np.zeros(32, np.float32))
    assert profile.shared_load_wavefronts == 2


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
