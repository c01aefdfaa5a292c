"""What stands around a kernel and is not used there does no harm, whatever it is."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("numba.cuda")
from every_case import every_case
from numba import cuda

from course_lib.emulator import KernelRejected, emulate, kernel_from

LATER = False


def without_source() -> Any:
    names: dict[str, Any] = {"cuda": cuda}
    exec("@cuda.jit(device=True)\ndef lost(x):\n    return x\n", names)
    return names["lost"]


AROUND: dict[str, Callable[[], object] | None] = {
    "no value": None,
    "a function without source": without_source,
    "an object": object,
    "a module": lambda: np,
}


def kernel_beside(value: Callable[[], object] | None) -> Any:
    """A kernel within a function that has a variable `beside`, without a value if that is None."""

    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        if LATER:  # Numba leaves out a branch that a constant rules out
            out[i] = beside
        total = np.float32(0)
        for k in range(32):
            if i + k < x.size:
                total += x[i + k]
        if i < out.size:
            out[i] = total

    if value is not None:
        beside = value()
    return kernel


@every_case("name", AROUND)
def test_the_names_around_a_kernel_are_those_with_a_value(name: str) -> None:
    names = kernel_from(kernel_beside(AROUND[name])).namespace
    assert ("beside" in list(names)) == ("beside" in names) == (AROUND[name] is not None)
    assert len(names) == len(list(names))


def test_a_variable_without_a_value_is_refused_where_it_is_used() -> None:
    @cuda.jit
    def kernel(out):
        out[0] = beside

    if LATER:
        beside = 1
    with pytest.raises(KernelRejected) as refused:
        emulate(kernel)[1, 1](np.zeros(1))
    assert "beside" in refused.value.findings[0].message


def test_a_function_in_another_language_is_refused_as_such() -> None:
    doubled = cuda.declare_device("doubled", "float32(float32)")

    @cuda.jit
    def kernel(out):
        out[0] = doubled(out[0])

    with pytest.raises(KernelRejected) as refused:
        emulate(kernel)[1, 1](np.zeros(1, np.float32))
    found = refused.value.findings[0]
    assert (found.code, found.message) == (
        "unsupported",
        "doubled is declared here, and written in another language.",
    )
    assert "device=True" in found.hint


TILE, NUMBER = np.int64(4), 4


@cuda.jit
def of_a_number(out):
    rows = cuda.local.array(TILE, np.float32)
    out[0] = rows[0]


@cuda.jit
def of_two(out):
    rows = cuda.shared.array((NUMBER, TILE), np.float32)
    out[0] = rows[0, 0]


@cuda.jit
def of_a_variable(out):
    size = out.size
    rows = cuda.shared.array(size, np.float32)
    out[0] = rows[0]


SHAPES = {of_a_number: "TILE", of_two: "TILE", of_a_variable: ""}


@every_case("kernel", SHAPES)
def test_a_shape_from_numpy_is_called_so(kernel: Any) -> None:
    """Numba takes no NumPy number for a constant where it needs one."""
    with pytest.raises(KernelRejected) as refused:
        emulate(kernel)[1, 1](np.zeros(1, np.float32))
    (found,) = refused.value.findings
    assert found.code == "compile-error" and "needs a shape that is constant" in found.message
    name = SHAPES[kernel]
    is_numpys = f"{name} is a NumPy number, but Numba needs a Python number here. Write int({name})"
    assert found.hint.startswith(is_numpys) if name else not found.hint
