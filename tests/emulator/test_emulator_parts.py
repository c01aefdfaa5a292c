"""Whole arrays and parts of them as the target of an assignment, and `.flat`."""

import numpy as np
import pytest
from emulator_helpers import as_program as program
from emulator_helpers import codes, line_of, rejection_codes, run, run_clean
from every_case import every_case
from hypothesis import given, settings
from hypothesis import strategies as st

PARTS = {
    "all": ("s[:] = value", "for j in range(6):\n    s[j] = value"),
    "from": ("s[2:] = value", "for j in range(2, 6):\n    s[j] = value"),
    "to": ("s[:3] = value", "for j in range(3):\n    s[j] = value"),
    "between": ("s[1:4] = value", "for j in range(1, 4):\n    s[j] = value"),
    "own part": ("s[i:i + 2] = value", "for j in range(i, min(i + 2, 6)):\n    s[j] = value"),
    "nothing": ("s[4:2] = value", "pass"),
    "row": ("t[1] = value", "for j in range(4):\n    t[1, j] = value"),
    "row by a slice": ("t[i % 3, :] = value", "for j in range(4):\n    t[i % 3, j] = value"),
    "column": ("t[:, 2] = value", "for j in range(3):\n    t[j, 2] = value"),
    "matrix": ("t[:, :] = value", "for j in range(12):\n    t[j // 4, j % 4] = value"),
    "corner": ("t[1:, :2] = value", "for j in range(4):\n    t[1 + j // 2, j % 2] = value"),
}  # fmt: skip
BODY = """\
i = cuda.threadIdx.x
s = cuda.{space}.array(6, float32)
t = cuda.{space}.array((3, 4), float32)
for j in range(6):
    s[j] = -1
for j in range(3):
    for k in range(4):
        t[j, k] = -1
value = {value}
if i < 5:
    {write}
for j in range(6):
    out[i, j] = s[j]
for j in range(12):
    out[i, 6 + j] = t[j // 4, j % 4]
"""
COUNTED = ("shared_store_requests", "shared_store_wavefronts", "shared_store_bytes",
           "shared_store_bank_conflicts", "flops", "barriers")  # fmt: skip


@every_case("space", ["local", "shared"])
@every_case("part", PARTS)
def test_a_part_is_written_as_by_a_loop(part: str, space: str) -> None:
    """Values, counters and, in shared memory, races: each element is a store by that thread."""
    found = []
    for write in PARTS[part]:
        out = np.zeros((8, 18), np.float32)
        value = "i + 0.5" if space == "local" else "2.5"
        body = BODY.format(space=space, value=value, write=write.replace("\n", "\n    "))
        profile = run(body, 1, 8, out)
        errors = {each.code for each in profile.findings if each.severity == "error"}
        counters = [getattr(profile, name) for name in COUNTED]
        stores = sum(each.local_store_requests for each in profile.lines.values())
        found.append((out.tolist(), errors, counters, stores))
    assert found[0] == found[1]


def test_what_a_part_leaves_out_is_still_unwritten() -> None:
    body = "s = cuda.local.array(4, float32)\ns[1:] = 1\nout[0] = s[{}]"
    assert codes(run(body.format(0), 1, 1, np.zeros(1, np.float32))) == ["uninitialised-read"]
    run_clean(body.format(3), 1, 1, np.zeros(1, np.float32))


def test_numbers_are_converted_and_tuples_spread() -> None:
    out = np.zeros(4, np.int8)
    run_clean("out[:] = 300\nout[1:3] = (2.9, 1.5)", 1, 1, out)
    assert out.tolist() == [44, 2, 1, 44]


def test_a_tuple_of_another_length_raises() -> None:
    out = np.zeros(4, np.int8)
    profile = run("out[1:n] = (1, 2)\nout[0] = 1", 1, 1, out, 2, parameters="out, n")
    assert codes(profile) == ["raised-exception"]
    assert out.tolist() == [0, 0, 0, 0]


def test_a_row_that_does_not_exist_is_no_other_row() -> None:
    out = np.zeros((2, 3), np.float32)
    assert codes(run("out[cuda.threadIdx.x] = 1", 1, 3, out)) == ["out-of-bounds-write"]
    assert out.tolist() == [[1, 1, 1], [1, 1, 1]]


@pytest.mark.parametrize(
    "body", ["out[:] = out[:]", "out[0:2] = out", "out[:] = None", "out[:] += 1"]
)
def test_what_numba_does_not_write_into_parts(body: str) -> None:
    assert rejection_codes(program(body), np.zeros(4, np.float32)) == ["compile-error"]


BOUND = st.none() | st.integers(-9, 9)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(BOUND, BOUND), min_size=8, max_size=8), st.integers(0, 7))
def test_slices_are_pythons_in_every_lane(bounds: list, active: int) -> None:
    """Each lane has its own bounds, and some lanes are inactive: loads and stores both."""
    starts = np.array([0 if low is None else low for low, _ in bounds])
    stops = np.array([5 if high is None else high for _, high in bounds])
    out, counts = np.zeros((8, 5)), np.zeros(8, np.int64)
    body = """\
i = cuda.threadIdx.x
if i <= active:
    part = data[starts[i]:stops[i]]
    counts[i] = part.shape[0]
    for j in range(part.shape[0]):
        out[i, j] = part[j]
    out[i, starts[i]:stops[i]] = -1
"""
    data = np.arange(10.0, 15.0)
    run_clean(body, 1, 8, data, starts, stops, active, counts, out,
              parameters="data, starts, stops, active, counts, out")  # fmt: skip
    for lane in range(active + 1):
        part = data[starts[lane] : stops[lane]]
        expected = np.zeros(5)
        expected[: len(part)] = part
        expected[starts[lane] : stops[lane]] = -1
        assert (counts[lane], out[lane].tolist()) == (len(part), expected.tolist())
    assert not out[active + 1 :].any()


@pytest.mark.parametrize(("index", "code"), [("6", "read"), ("-1", "read")])
def test_flat_never_counts_from_the_end(index: str, code: str) -> None:
    data, out = np.arange(6.0).reshape(2, 3), np.zeros(1)
    body = f"out[0] = data.flat[{index}]"
    assert codes(run(body, 1, 1, data, out, parameters="data, out")) == ["out-of-bounds-read"]


@pytest.mark.parametrize("tuples", ["(i, j) < C.shape", "C.shape > (i, j)", "not (i, j) >= C.shape",
                                    "(i, j) < shape"])  # fmt: skip
def test_a_tuple_compared_with_a_shape_is_a_wrong_bounds_check(tuples: str) -> None:
    body = f"i, j = cuda.grid(2)\nshape = C.shape\nif {tuples}:\n    C[i, j] = 1"
    profile = run(body, 1, (4, 4), np.zeros((3, 2)), parameters="C")
    first = profile.findings[0]
    line = line_of(program(body, "C"), "if ")
    assert (first.code, first.line) == ("wrong-bounds-check", line)
    assert first.threads == ((3, 0, 0),)  # 3 is no less than 3, but 0 is less than 2


def test_a_tuple_compared_with_a_shape_that_lets_nobody_through_is_right() -> None:
    body = "i, j = cuda.grid(2)\nif (i, j) < C.shape:\n    C[i, j] = 1"
    run_clean(body, 1, (3, 2), np.zeros((3, 2)), parameters="C")


OPERATORS = st.sampled_from(["<", "<=", ">", ">=", "==", "!="])
ITEMS = st.lists(st.integers(-2, 2), min_size=1, max_size=3)


@settings(max_examples=80, deadline=None)
@given(ITEMS, ITEMS, OPERATORS)
def test_tuples_compare_as_in_python(left: list, right: list, operator: str) -> None:
    """Uniform items and items that differ between lanes."""
    texts = [f"({', '.join(f'data[{n}] + i' for n in items)},)" for items in
             (range(len(left)), range(len(left), len(left) + len(right)))]  # fmt: skip
    out = np.zeros(2, np.bool_)
    body = f"i = cuda.threadIdx.x\nout[i] = {texts[0]} {operator} {texts[1].replace(' + i', '')}"
    run_clean(body, 1, 2, np.array(left + right), out, parameters="data, out")
    expected = [
        eval(f"{tuple(each + i for each in left)} {operator} {tuple(right)}") for i in range(2)
    ]
    assert out.tolist() == expected
