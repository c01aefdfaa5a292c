"""What Numba fixes when it compiles: global names, and the declared types of device functions."""

from collections import namedtuple

import numpy as np
import pytest
from emulator_helpers import as_program, launch, rejection_codes

from course_lib.emulator import KernelRejected, emulate

cuda = pytest.importorskip("numba.cuda")

TAX = 2.0
TABLE = np.array([1.0, 2.0])


@cuda.jit(device=True)
def taxed(value):
    return value * TAX


def kernels():
    """Kernels that nobody has launched yet; a decorated function is compiled once."""

    @cuda.jit
    def by_name(out):
        out[0] = TAX

    @cuda.jit
    def by_table(out):
        out[0] = TABLE[1]

    rate = TAX

    @cuda.jit
    def by_closure(out):
        out[0] = rate

    def change(value):
        nonlocal rate
        rate = value

    @cuda.jit
    def by_device_function(out):
        out[0] = taxed(1.0)

    return by_name, by_table, by_closure, by_device_function, change


def test_global_names_are_frozen_by_the_first_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    *launched, change = kernels()
    out = np.zeros(1)
    for kernel in launched:
        emulate(kernel)[1, 1](out)
        assert out[0] == 2
    monkeypatch.setitem(globals(), "TAX", 3.0)
    TABLE[1], _ = 3.0, change(3.0)
    try:
        for kernel in launched:
            emulate(kernel)[1, 1](out)
            assert out[0] == 2, "compiled once for these types"
        for kernel in launched[:3]:
            single = np.zeros(1, np.float32)
            emulate(kernel)[1, 1](single)
            assert single[0] == 3, "compiled anew for other types"
        for kernel in kernels()[:2]:
            emulate(kernel)[1, 1](out)
            assert out[0] == 3, "another kernel"
    finally:
        TABLE[1] = 2.0


class OnTheDevice:
    def copy_to_host(self):
        return np.zeros(1)


STRANGERS = {
    "an array on the device": (OnTheDevice(), "unsupported"),
    "an object": (object(), "unsupported"),
    "a class of named tuples": (namedtuple("Pair", "x y"), "unsupported"),
    "a list": ([1, 2], "compile-error"),
    "a dictionary": ({1: 2}, "compile-error"),
}


@pytest.mark.parametrize("name", STRANGERS)
def test_what_cannot_come_from_outside(name: str) -> None:
    stranger, code = STRANGERS[name]

    @cuda.jit
    def kernel(out):
        out[0] = stranger[0]

    with pytest.raises(KernelRejected) as refused:
        emulate(kernel)[1, 1](np.zeros(1))
    (found,) = refused.value.findings
    assert found.code == code
    assert found.line and found.hint and "stranger" in found.message


def test_several_signatures_are_chosen_from_by_type() -> None:
    device = (
        '@cuda.jit(["int64(int64)", "float64(float64)"], device=True)\n'
        "def half(a):\n    return a / 2\n"
    )
    text = as_program("out[0] = half(x)\nout[1] = half(n)", "out, x, n", before=device)
    out = np.zeros(2)
    launch(text, 1, 1, out, 3.0, 3)
    assert out.tolist() == [1.5, 1]
    assert rejection_codes(text, out, np.float32(3), 3) == ["unsupported"]
