"""What stands around a kernel as text means what Python would make of it, without running it."""

import numpy as np
import pytest
from emulator_helpers import as_program, codes, run, run_clean
from numba import cuda

from course_lib.emulator import KernelRejected, emulate, load_program
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


@pytest.mark.parametrize(
    "text",
    [
        "np.array([[1, 2], [3]])", "np.array([1, 2], dtype=thing)", "np.array()",
        "np.array([10 ** 30])", "np.array([1, 2], copy=False)", f"np.array([{'0, ' * 1001}])",
    ],
)  # fmt: skip
def test_other_arrays_are_no_constants(text: str) -> None:
    body = "out[0] = TABLE[0]"
    with pytest.raises(KernelRejected) as refused:
        run(body, 1, 1, np.zeros(1), before=f"TABLE = {text}")
    assert refused.value.findings[0].code == "unsupported"


RECORDS = np.array([(1.5, 2), (3.5, 4)], [("x", np.float32), ("n", np.int64)])


@cuda.jit
def reads_records(out):
    table = cuda.const.array_like(RECORDS)
    i = cuda.threadIdx.x
    out[i] = table[i]["x"] + RECORDS[i].n + RECORDS.n[1] + len(table)


def test_an_array_of_records_from_outside_is_a_constant() -> None:
    out = np.zeros(2)
    assert not emulate(reads_records)[1, 2](out).findings
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
        expected = [
            data[(i, -1)] if axes == "[pair[0], -1]" else eval(f"data{axes}") for i in range(4)
        ]
        assert out.tolist() == expected

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

        with pytest.raises(KernelRejected) as refused:
            emulate(kernel)[1, 1](np.zeros(1))
        assert refused.value.findings[0].code == "unsupported"
