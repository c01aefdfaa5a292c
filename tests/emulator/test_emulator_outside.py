"""What stands around a kernel means what Python would make of it, without running it."""

import enum
import os
import textwrap
import types

import numpy as np
import pytest
from emulator_helpers import as_program, codes, kernel_of, refusal, rejection_codes, run, run_clean
from every_case import every_case
from numba import cuda

from course_lib.emulator import emulate, load_program
from course_lib.host.device_array import EmulatedDeviceArray

ARRAYS = {
    "a list": "np.array([1, 2, 4])",
    "a tuple": "np.array((1, 2, 4))",
    "with a dtype by name": "np.array([1, 2, 4], dtype=np.int32)",
    "with a dtype by place": "np.array([1.5, 2, 4], np.float32)",
    "rows": "np.array([[1, 2], [3, 4]])",
    "worked out": "np.array([2 ** k, 3 * 2], dtype=np.float64)",
}


@pytest.mark.parametrize("text", ARRAYS.values(), ids=ARRAYS)
def test_arrays_of_numbers(text: str) -> None:
    program = as_program("out[0] = TABLE.size", before=f"k = 3\nTABLE = {text}")
    found = load_program(program).kernel("kernel").namespace["TABLE"]
    expected = eval(text, {"np": np, "k": 3})
    assert found.dtype == expected.dtype
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("text", [
    "np.array([[1, 2], [3]])", "np.array([1, 2], dtype=thing)", "np.array()",
    "np.array([10 ** 30])", "np.array([1, 2], copy=False)", f"np.array([{'0, ' * 1001}])",
])  # fmt: skip
def test_other_arrays_are_no_constants(text: str) -> None:
    program = as_program("out[0] = TABLE[0]", before=f"TABLE = {text}")
    assert refusal(program, np.zeros(1)).code == "unsupported"


def test_an_array_of_records_from_outside_is_a_constant() -> None:
    records = np.array([(1.5, 2), (3.5, 4)], [("x", np.float32), ("n", np.int64)])

    @cuda.jit
    def kernel(out):
        table = cuda.const.array_like(records)
        i = cuda.threadIdx.x
        out[i] = table[i]["x"] + records[i].n + records.n[1] + len(table)

    out = np.zeros(2)
    assert not emulate(kernel)[1, 2](out).findings
    assert out.tolist() == [1.5 + 2 + 4 + 2, 3.5 + 4 + 4 + 2]


def test_the_type_of_an_array_casts() -> None:
    out = np.zeros(1, np.float32)
    profile = run_clean("out[0] = out.dtype.type(1) / out.dtype.type(3)", 1, 1, out)
    assert out[0] == np.float32(1) / np.float32(3)
    assert not profile.float64_flops


class TestAnIndexFromTheEnd:
    """Written on purpose on one axis, while another index differs from thread to thread."""

    @pytest.mark.parametrize("axes", ["[i, -1]", "[-1, i]", "[i, -2]", "[pair[0], -1]"])
    def test_beside_any_other_index(self, axes: str) -> None:
        data, out = np.arange(16.0).reshape(4, 4), np.zeros(4)
        body = f"i = cuda.grid(1)\npair = (i, i)\nout[i] = data{axes}"
        run_clean(body, 1, 4, data, out, parameters="data, out")
        names = ({"data": data, "i": i, "pair": (i, i)} for i in range(4))
        assert out.tolist() == [eval(f"data{axes}", each) for each in names]

    def test_the_same_number_worked_out_is_a_mistake(self) -> None:
        body = "i = cuda.grid(1)\nk = i - 1\nout[i] = data[k, -1]"
        data, out = np.arange(4.0).reshape(2, 2), np.zeros(1)
        profile = run(body, 1, 1, data, out, parameters="data, out")
        severities = {each.severity for each in profile.findings if each.code == "wrong-index"}
        assert severities == {"error", "warning"}


class OnAGpu:
    """What a device's array offers whose elements lie out of reach."""

    def __init__(self, elements: np.ndarray) -> None:
        self.hidden = {"elements": elements.copy()}
        self.dtype = elements.dtype

    def copy_to_host(self) -> np.ndarray:
        return self.hidden["elements"].copy()

    def copy_to_device(self, array: np.ndarray) -> None:
        self.hidden["elements"][...] = array


class TestADevicesArrayFromOutside:
    """Numba compiles its address: what it holds is shared, and not frozen."""

    @pytest.mark.parametrize("kind", [EmulatedDeviceArray, OnAGpu])
    def test_is_read_and_written(self, kind: type) -> None:
        prices, seen = kind(np.arange(4.0)), kind(np.zeros((2, 2), np.int32))

        @cuda.jit(device=True)
        def price(i):
            return prices[i] * 2

        @cuda.jit
        def kernel(out):
            i = cuda.grid(1)
            out[i] = price(i) + prices.size
            seen[i // 2, i % 2] += 1
            prices[i] = -1.0

        out = np.zeros(4)
        emulation = emulate(kernel)[1, 4]
        profile = emulation(out)
        assert not codes(profile)
        assert out.tolist() == [4, 6, 8, 10]
        assert profile.arrays["prices"].store_bytes == 4 * 8
        prices.copy_to_device(np.full(4, 5.0))
        emulation(out)
        assert out.tolist() == [14] * 4
        assert prices.copy_to_host().tolist() == [-1] * 4
        assert seen.copy_to_host().tolist() == [[2, 2], [2, 2]]

    def test_is_the_argument_too(self) -> None:
        """One array under two names: a race between the two is seen."""
        shared = EmulatedDeviceArray(np.zeros(4))

        @cuda.jit
        def kernel(shared_too):
            i = cuda.grid(1)
            shared_too[i] = shared[(i + 1) % 4]

        assert codes(emulate(kernel)[1, 4](shared.buffer)) == ["race-write-after-read"]

    def test_two_of_one_name(self) -> None:
        values = EmulatedDeviceArray(np.full(4, 7.0))

        @cuda.jit(device=True)
        def value(i):
            return values[i]

        def make():
            @cuda.jit
            def kernel(values):
                i = cuda.grid(1)
                values[i] = value(i)

            return kernel

        out = np.zeros(4)
        profile = emulate(make())[1, 4](out)
        assert not codes(profile)
        assert out.tolist() == [7] * 4
        assert set(profile.arrays) == {"values", "values'"}

    def test_of_what_no_kernel_has(self) -> None:
        dates = EmulatedDeviceArray(np.zeros(4, "M8[s]"))

        @cuda.jit
        def kernel(out):
            out[0] = dates[0]

        assert refusal(kernel, np.zeros(1)).code == "unsupported"


class Color(enum.Enum):
    red = 1
    green = 2
    blue = 3


class Size(enum.IntEnum):
    small = 2
    large = 300


FAVOURITE = Color.blue
LARGE = Size.large
NESTED = ((1, 2.5), (3, 4.5), ((5,), 6))


@cuda.jit(device=True)
def chosen(truth):
    return Color.red if truth else Color.green


def members(out, given):
    i = cuda.threadIdx.x
    mine = chosen(i % 2 == 0)
    out[i, 0] = mine == Color.red
    out[i, 1] = mine != Color.green
    out[i, 2] = mine is Color["red"]
    out[i, 3] = given is not FAVOURITE
    out[i, 4] = FAVOURITE.value
    out[i, 5] = Color.red == Color.green


def whole_numbers(out, given):
    i = cuda.threadIdx.x
    out[i, 0] = Size.large - Size.small
    out[i, 1] = np.int16(LARGE) + i
    out[i, 2] = given > Size.small
    out[i, 3] = Size["small"].value
    out[i, 4] = -Size.small if i else LARGE


def nested_tuples(out, given):
    i = cuda.threadIdx.x
    pair = NESTED[1]
    out[i, 0] = pair[0] + pair[1] + i
    out[i, 1] = NESTED[2][0][0] + NESTED[0][1] + given


def in_python(body, given) -> np.ndarray:
    class Thread:
        x = 0

    names = {"cuda": type("FakeCuda", (), {"threadIdx": Thread})}
    copy = type(body)(body.__code__, {**globals(), **names, "chosen": chosen.py_func})
    out = np.zeros((4, 6))
    for Thread.x in range(4):
        copy(out, given)
    return out


@pytest.mark.parametrize(("body", "given"), [
    (members, Color.green),
    (members, Color.blue),
    (whole_numbers, Size.large),
    (nested_tuples, 3),
])  # fmt: skip
def test_the_emulator_computes_what_python_computes(body, given) -> None:
    out = np.zeros((4, 6))
    emulate(body)[1, 4](out, given)
    assert out.tolist() == in_python(body, given).tolist()


class Other(enum.Enum):
    red = 1


def test_what_is_no_member_is_refused() -> None:
    for body, given, code in [
        ("out[0] = Color.purple == Color.red", 0, "compile-error"),
        ("out[0] = given == Color.red", Other.red, "unsupported"),
    ]:
        kernel = kernel_of(body, "out, given", Color=Color)
        assert refusal(kernel, np.zeros(1), given).code == code


class Mode(enum.IntEnum):
    little = 2


FIVE, TWO = 5, 2


def identities(out, one, other):
    out[0] = one is other
    out[1] = one is not other
    out[2] = one is Size.small
    out[3] = one == other
    out[4] = out.size is FIVE
    out[5] = one is TWO


@every_case(
    "one, other, expected",
    [
        (Size.small, Size.small, [1, 0, 1, 1, 0, 0]), (Size.small, Size.large, [0, 1, 1, 0, 0, 0]),
        (Size.small, Mode.little, [0, 1, 1, 1, 0, 0]), (Mode.little, 2, [0, 1, 0, 1, 0, 0]),
        (2, 2, [1, 0, 0, 1, 0, 1]), (2, np.int32(2), [0, 1, 0, 1, 0, 1]),
    ],
)  # fmt: skip
def test_identity_of_numbers_is_of_value_and_type(one, other, expected) -> None:
    """As Numba's compiler makes it: the machine code was looked at."""
    out = np.zeros(6)
    emulate(identities)[1, 1](out, one, other)
    assert out.tolist() == expected


def test_a_function_does_not_know_members() -> None:
    before = "@cuda.jit(device=True)\ndef the_same(one, other):\n    return one is other\n"
    program = as_program("out[0] = the_same(one, other)", "out, one, other", before)
    assert refusal(program, np.zeros(1), Size.small, Mode.little).code == "unsupported"


def _of_one_name(*functions: str, **values: object) -> types.ModuleType:
    """A module that somebody has beside the kernel."""
    made = types.ModuleType("helpers")
    vars(made).update(values)
    return made


@cuda.jit(device=True)
def _doubled(x):
    return 2 * x


def _undecorated(x):
    return x


deeper = _of_one_name(TILE=4, kind=np.float32)
helpers = _of_one_name(
    TILE=4, LIMIT=0.5, TABLE=np.array([3.0, 4.0]), doubled=_doubled, plain=_undecorated,
    deeper=deeper, PAIR=(5, 6),
)  # fmt: skip


@cuda.jit
def uses_a_module(out):
    shared = cuda.shared.array(helpers.TILE, helpers.deeper.kind)
    i = cuda.threadIdx.x
    shared[i] = helpers.doubled(i) + helpers.LIMIT
    out[i] = shared[i] + helpers.TABLE[1] + helpers.PAIR[0] + helpers.deeper.TILE


def test_functions_and_constants_of_a_module_of_ones_own() -> None:
    out = np.zeros(4)
    profile = emulate(uses_a_module)[1, 4](out)
    assert not profile.findings
    assert out.tolist() == [2 * i + 0.5 + 4 + 5 + 4 for i in range(4)]


def test_what_a_module_does_not_have() -> None:
    """One's own lacks a name, or has it for a plain function; Python's own stay out."""

    def lacks_a_name(out):
        out[0] = helpers.nothing

    def calls_what_is_plain(out):
        out[0] = helpers.plain(1)

    def calls_pythons_own(out):
        out[0] = os.getpid()

    kernels = lacks_a_name, calls_what_is_plain, calls_pythons_own
    found = [refusal(cuda.jit(each), np.zeros(1)).code for each in kernels]
    assert found == ["compile-error", "compile-error", "not-allowed"]


UNPACKED = {
    "a row": ("x, y = a[i]", [[1, 2], [3, 4], [5, 6], [7, 8]], [2, 12, 30, 56]),
    "in a loop": (
        "y = 1\nfor u, v in a:\n    y += u * v\nx = i", [[1, 2], [3, 4]], [0, 15, 30, 45]),
    "rows": ("u, v = a\nx, y = u[i], v[i]", [[1, 2, 3, 4], [5, 6, 7, 8]], [5, 12, 21, 32]),
    "flat": ("x, y, u, v = a.flat", [[1, 2], [3, 4]], [2] * 4),
    "local": ("s = cuda.local.array(2, int64)\ns[0], s[1] = i, 5\nx, y = s", [[0]], [0, 5, 10, 15]),
    "swapped": (
        "s = cuda.local.array(2, int64)\ns[0], s[1] = i, 5\ns[1], s[0] = s\nx, y = s[0], s[1] + 1",
        [[0]], [5, 10, 15, 20]),
}  # fmt: skip


@every_case("name", UNPACKED)
def test_arrays_are_unpacked(name: str) -> None:
    body, rows, expected = UNPACKED[name]
    out = np.zeros(4, np.int64)
    body = f"i = cuda.threadIdx.x\n{body}\nout[i] = x * y"
    run_clean(body, 1, 4, np.array(rows), out, parameters="a, out")
    assert out.tolist() == expected


def test_an_array_of_another_length_is_a_value_error() -> None:
    out = np.zeros(4)
    body = "i = cuda.threadIdx.x\nx, y = a[: 1 + i]\nout[i] = x + y"
    profile = run(body, 1, 4, np.arange(4.0), out, parameters="a, out")
    assert codes(profile) == ["raised-exception"]
    assert out.tolist() == [0, 1, 0, 0]


NONE = {
    "asked": "out[0] = 0 if flag is None else 1",
    "a branch": "if flag is None:\n    out[0] = 2\nelse:\n    out[0] = 3 * flag",
    "an array or nothing": ("part = cuda.local.array(2, float64) if flag is not None else None\n"
        "if part is not None:\n    part[0] = 7\n    out[0] = part[0]\nelse:\n    out[0] = 8"),
    "asked by a name": ("given = flag is not None\n"
        "part = cuda.local.array(2, float64) if given else None\nout[0] = 5"),
}  # fmt: skip
WITHOUT, WITH_TWO = [0, 2, 8, 5], [1, 6, 7, 5]


@every_case(("name", "nothing", "two"), list(zip(NONE, WITHOUT, WITH_TWO, strict=True)))
def test_none_as_an_argument_of_a_function(name: str, nothing: int, two: int) -> None:
    """Of a kernel it is none: Numba has no way to hand it over."""
    body = textwrap.indent(NONE[name], "    ")
    for flag, expected in ((None, nothing), (2, two)):
        out = np.zeros(1)
        before = f"@cuda.jit(device=True)\ndef work(flag, out):\n{body}\n"
        run_clean(f"work({flag}, out)", 1, 1, out, before=before)
        assert out[0] == expected
    assert rejection_codes(as_program("pass", "flag"), None) == ["invalid-launch"]


def test_a_name_that_is_set_on_some_paths_decides_nothing() -> None:
    body = "i = cuda.threadIdx.x\non = False\nif i > 1:\n    on = True\nout[i] = 1 if on else 2"
    out = np.zeros(4)
    run_clean(body, 1, 4, out)
    assert out.tolist() == [2, 2, 1, 1]


RETURNED = {
    "the argument": ("return a", True),
    "on two paths": ("if a[0] > 9:\n        return a\n    return a", True),
    "a row": ("return a[0:1]", False), "another name": ("b = a\n    return b", False),
    "set anew": ("a = a[0:1]\n    return a", False), "turned": ("return a.T", False),
    "of its own": ("b = cuda.local.array(2, float64)\n    b[0] = 3\n    return b", False),
    "one of two": ("return a if a[0] > 9 else a", False),
    "in a tuple": ("return a[0:1], 5", True),
}  # fmt: skip


@every_case("name", RETURNED)
@every_case("options", ["device=True", "device=True, inline=True"])
def test_which_arrays_a_function_returns(name: str, options: str) -> None:
    """As Numba has it; a function that is written out where it is called returns any."""
    text, returned = RETURNED[name]
    taken = "b, c = part(out)" if name == "in a tuple" else "b = part(out)"
    before = f"@cuda.jit({options})\ndef part(a):\n    {text}\n"
    program = as_program(f"{taken}\nout[1] = b[0]", before=before)
    expected = [] if returned or "inline" in options else ["compile-error"]
    assert rejection_codes(program, np.array([1.0, 2.0]), block=1) == expected
