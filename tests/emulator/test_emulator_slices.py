"""Slices with a step, and `...`: the same elements as in NumPy, to read and to write."""

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


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("s = x[::cuda.threadIdx.x + 1]\nx[0] = s[0]", "unsupported"),
        ("s = x[..., ...]", "compile-error"),
    ],
)
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
