"""Memory and parts of it: bounds on every axis, poison until written, views, slices, layouts."""

import numpy as np
import pytest
from emulator_helpers import (
    as_program,
    codes,
    launch,
    line_of,
    run,
    run_clean,
)
from emulator_helpers import as_program as program
from every_case import every_case
from hypothesis import given, settings
from hypothesis import strategies as st


@every_case(("index", "code"), [
    ("3, 0", "out-of-bounds-read"),
    ("0, 4", "out-of-bounds-read"),  # the flat address 4 would be inside the array
    ("2, 100", "out-of-bounds-read"),
    ("100, 100", "out-of-bounds-read"),
    ("4 - i, 0", "wrong-index"),
    ("0, 4 - i", "wrong-index"),
    ("-4, 0", "out-of-bounds-read"),
    ("0, -5", "out-of-bounds-read"),
])  # fmt: skip
def test_read_bounds(index: str, code: str) -> None:
    data = np.arange(12, dtype=np.float32).reshape(3, 4)
    out = np.zeros(1, np.float32)
    body = f"i = cuda.threadIdx.x\nif i == 5:\n    out[0] = data[{index}]"
    profile = run(body, 1, 32, data, out, parameters="data, out")
    assert codes(profile)[0] == code
    (first, *_) = [each for each in profile.findings if each.severity == "error"]
    assert first.line == line_of(as_program(body, "data, out"), "out[0] =")
    assert (5, 0, 0) in [(*thread, 0, 0)[:3] for thread in first.threads]
    if code == "wrong-index":
        assert out[0] == eval(f"data[{index}]", {"data": data, "i": 5})


@every_case("index", ["-1, 0", "0, -1", "-3, LAST", "-1", "LAST"])
@every_case("use", ["out[0] = data[{}]{}", "data[{}]{} = 1", "data[{}]{} += 1"])
def test_an_index_that_is_negative_on_purpose(index: str, use: str) -> None:
    """Whoever writes -1 means the last one: a warning, and Python's meaning."""
    row = "" if "," in index else "[1]"
    data, expected = np.arange(12.0).reshape(3, 4), np.arange(12.0).reshape(3, 4)
    body, out, same = use.format(index, row), np.zeros(1), np.zeros(1)
    profile = run(body, 1, 1, data, out, parameters="data, out", before="LAST = -1")
    found = {(each.code, each.severity) for each in profile.findings}
    assert found == {("wrong-index", "warning")}
    exec(body, {"data": expected, "out": same, "LAST": -1})
    assert (data.tolist(), out[0]) == (expected.tolist(), same[0])


@every_case("index", ["3, 0, 0", "0, 4, 0", "0, 0, 2", "7, 7, 7", "-4, 0, 0"])
def test_write_bounds(index: str) -> None:
    data = np.zeros((3, 4, 2), np.float32)
    profile = run(f"data[{index}] = 1", 1, 1, data, parameters="data")
    assert codes(profile) == ["out-of-bounds-write"]
    assert not data.any(), "a store out of bounds must not land anywhere"


def test_shared_memory_is_fresh_for_every_block() -> None:
    body = """
        s = cuda.shared.array(1, float32)
        if cuda.blockIdx.x == 0:
            s[0] = 1
        out[cuda.blockIdx.x] = s[0]
    """
    assert codes(run(body, 2, 1, np.zeros(2, np.float32))) == ["uninitialised-read"]


VALUES = (
    "data[where]", "data[1][3]", "len(data)", "data.shape[1]", "data.size", "data.ndim",
    "data.shape[-1]",
)  # fmt: skip
PIECES = (
    "data[::2, 1]", "data[::-1, 0]", "data[2:0:-1, 3]", "data[1, ...]", "data[..., 1]",
    "data[1:4:2, ..., 2]", "data[...][3]", "data[::2][::-1, 1]", "data.T[::3, 2]",
)  # fmt: skip
WRITTEN = (
    "data[::2]", "data[::-2, 1]", "data[...]", "data[1, ...]", "data[..., 2]", "data[4:0:-3, ::2]",
)  # fmt: skip
LOOPS = (
    "for i, v in enumerate(x): out[i] = v + i", "for i, v in enumerate(x, 3): out[i] = v + i",
    "for i, v in enumerate((5, 6, 7)): out[i] = v * i",
    "for i, v in enumerate(range(9, 0, -2)): out[i] = v", "for a, b in zip(x, y): out[a] = b",
    "for a, b in zip(x[1:], y): out[a] = b",
    "for a, b, k in zip(x, y, range(1, 99)): out[k] = a + b", "for (a,) in zip(x): out[a] = 1",
    "for i, (a, b) in enumerate(zip(x, y)): out[i] = a - b",
    "for (i, a), b in zip(enumerate(x), y): out[i] = a - b",
    "for row in m: out[row[0]] = row[1]", "for row, b in zip(m, x): out[row[0] + b] = row[1]",
    "for i, row in enumerate(m.T): out[i] = row[2]", "for a, b in zip(x[:0], y): out[a] = b",
    "for i, v in enumerate(x):\n    if v == 2:\n        continue\n    if v == 4:\n        break\n"
    "    out[i] = v + 10\nelse:\n    out[0] = 99",
    "for pair in zip(x, y): out[pair[0]] = pair[1]",
)  # fmt: skip


@every_case("body", [
    *(f"where = (1, 2)\nout[0] = {value}" for value in VALUES),
    *(f"part = {piece}\nfor j in range(part.shape[0]):\n    out[j] = part[j]" for piece in PIECES),
    *(f"{part} = 3" for part in WRITTEN), *LOOPS,
])  # fmt: skip
def test_values_parts_and_loops_are_pythons(body: str) -> None:
    """One thread leaves in its arrays what Python leaves in them."""
    given = {
        "data": np.arange(20.0).reshape(5, 4), "x": np.arange(1, 7), "y": np.arange(20, 26),
        "m": np.arange(12).reshape(4, 3), "out": np.zeros(16, np.int64),
    }  # fmt: skip
    mine, theirs = ({name: each.copy() for name, each in given.items()} for _ in range(2))
    run_clean(body, 1, 1, *mine.values(), parameters=", ".join(mine))
    exec(body, dict(theirs))
    for name, found in mine.items():
        np.testing.assert_array_equal(found, theirs[name], err_msg=f"{name} of {body}")


@every_case(
    ("shape", "size"),
    {
        "SIDE": 8, "(SIDE, 4)": 32, "(SIDE, SIDE, 2)": 128, "shape=(SIDE, 2)": 16, "SHAPE": 24,
    }.items(),
)  # fmt: skip
def test_shared_shapes(shape: str, size: int) -> None:
    out = np.zeros(1, np.int64)
    body = f"s = cuda.shared.array({shape}, dtype=float32)\nout[0] = s.size"
    profile = run_clean(body, 1, 1, out, before="SIDE = 2 * 4\nSHAPE = (SIDE, 3)")
    assert out[0] == size
    (use,) = profile.shared_arrays
    assert (use.name, use.bytes) == ("s", 4 * size)


def test_dynamic_shared_memory() -> None:
    body = "s = cuda.shared.array(0, float32)\ni = cuda.threadIdx.x\ns[i] = i\nout[i] = s[i]"
    for size, code in ((192, ""), (191, "out-of-bounds-write")):
        out = np.zeros(48, np.float32)
        found = codes(launch(as_program(body), 1, 48, out, shared_bytes=size))
        assert code in found if code else not found
        assert np.array_equal(out[:47], np.arange(47))


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


@every_case(("body", "told", "left"), [
    # numbers are converted, tuples spread
    ("out[0] = 300\nout[0, 1:3] = (2.9, 1.5)", [], [[44, 2, 1], [0, 0, 0]]),
    ("out[0, 1:n] = (1, 2)\nout[0] = 1", ["raised-exception"], [[0, 0, 0], [0, 0, 0]]),
    ("out[cuda.threadIdx.x + 1] = 1", ["out-of-bounds-write"], [[0, 0, 0], [1, 1, 1]]),
])  # fmt: skip
def test_what_is_left_in_rows(body: str, told: list[str], left: list[list[int]]) -> None:
    out, threads = np.zeros((2, 3), np.int8), 2 if "threadIdx" in body else 1
    assert codes(run(body, 1, threads, out, 2, parameters="out, n")) == told
    assert out.tolist() == left


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
