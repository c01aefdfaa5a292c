"""Memory: bounds on every axis, poison until written, views, layouts, local and shared arrays."""

import numpy as np
from emulator_helpers import (
    as_program,
    assert_as_in_python,
    codes,
    launch,
    line_of,
    rejection_codes,
    run,
    run_clean,
)
from every_case import every_case


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


@every_case("value", [
    "data[where]", "data[1][3]", "len(data)", "data.shape[1]", "data.size", "data.ndim",
    "data.shape[-1]",
])  # fmt: skip
def test_indices_and_attributes(value: str) -> None:
    body = f"where = (1, 2)\nout[0] = {value}"
    assert_as_in_python(body, data=np.arange(12.0).reshape(3, 4), out=np.zeros(1))


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


@every_case(
    ("shape", "code"),
    [(shape, "compile-error") for shape in ("n", "(4, n)", "out.shape[0]", "cuda.blockDim.x",
     "(SIDE, SIDE + 1)", "int(SIDE)")] + [("(128, 128)", "invalid-launch")],
)  # fmt: skip
def test_shapes_that_are_refused(shape: str, code: str) -> None:
    """By Numba, and by every GPU that has no room for it."""
    body = f"n = out.size\ns = cuda.shared.array({shape}, float32)\nout[0] = 1"
    program = as_program(body, before="SIDE = 4")
    assert rejection_codes(program, np.zeros(1, np.float32)) == [code]


def test_dynamic_shared_memory() -> None:
    body = "s = cuda.shared.array(0, float32)\ni = cuda.threadIdx.x\ns[i] = i\nout[i] = s[i]"
    for size, code in ((192, ""), (191, "out-of-bounds-write")):
        out = np.zeros(48, np.float32)
        found = codes(launch(as_program(body), 1, 48, out, shared_bytes=size))
        assert code in found if code else not found
        assert np.array_equal(out[:47], np.arange(47))
