"""The types that a function is declared with count, however it was handed to cuda.jit."""

import numpy as np
import pytest
from every_case import every_case

from course_lib.emulator import KernelRejected, emulate, load_program

AROUND = "from numba import cuda, float32, float64, int64\nTYPES = 'int64(int64)'\n"

# How a device function may be declared; each makes 2 of 2.7, as Numba's compiler does.
DECLARED = {
    "a decorator": "@cuda.jit('int64(int64)', device=True)\ndef f(x):\n    return x\n",
    "a call": "def g(x):\n    return x\nf = cuda.jit('int64(int64)', device=True)(g)\n",
    "a call that keeps the name": (
        "def f(x):\n    return x\nf = cuda.jit(int64(int64), device=True)(f)\n"
    ),
    "a named signature": "def g(x):\n    return x\nf = cuda.jit(TYPES, device=True)(g)\n",
    "no result": "@cuda.jit('(int64,)', device=True)\ndef f(x):\n    return x\n",
    "types": "@cuda.jit((int64,), device=True)\ndef f(x):\n    return x\n",
    "short names": "@cuda.jit('i8(i8)', device=True)\ndef f(x):\n    return x\n",
    "a result of its own": "@cuda.jit('int32(float64)', device=True)\ndef f(x):\n    return x\n",
    "a list": "def g(x):\n    return x\nf = cuda.jit([TYPES], device=True)(g)\n",
    "made by a function": (
        "def made(types):\n    def g(x):\n        return x\n"
        "    return cuda.jit(types, device=True)(g)\nf = made('int64(int64)')\n"
    ),
}


@every_case("way", DECLARED)
def test_a_declared_device_function_casts(way: str) -> None:
    text = f"{AROUND}{DECLARED[way]}@cuda.jit\ndef k(out, x):\n    out[0] = f(x)\n"
    out = np.zeros(1)
    emulate(load_program(text).functions["k"])[1, 1](out, 2.7)
    assert out[0] == 2


# Of a kernel: its signature, what it is given beside the array, and what x / 2 is then.
KERNELS = {
    "void(float64[:], float32)": (0.1, np.float64(np.float32(0.1)) / 2),
    "void(float64[::1], int32)": (2**32 + 3, 1.5),
    "(float64[:], uint8)": (-1, 127.5),
    "void(float64[:], complex64)": (0.1, np.float64(np.float32(0.1)) / 2),
}
WAYS = (
    "@cuda.jit('{types}')\ndef k(out, x):\n    {body}\n",
    "def k(out, x):\n    {body}\nk = cuda.jit('{types}')(k)\n",
)


@every_case("way", WAYS)
def test_a_declared_kernel_is_given_its_types(way: str) -> None:
    for types, (given, expected) in KERNELS.items():
        body = "out[0] = (x / 2).real" if "complex" in types else "out[0] = x / 2"
        out = np.zeros(1)
        text = AROUND + way.format(types=types, body=body)
        emulate(load_program(text).functions["k"])[1, 1](out, given)
        assert out[0] == expected, types


# What is declared, what is given, and the code of what is said.
OTHERS = (
    ("void(float32[:], int64)", 3, "invalid-launch"),  # Numba would read wrong numbers
    ("void(float64[:, :], int64)", 3, "invalid-launch"),
    ("void(float64[:], int64)", 2.5, "invalid-launch"),
    ("void(float64[:])", 3, "invalid-launch"),
    ("void(float64[:], stranger)", 3, "unsupported"),
)


@every_case(("types", "given", "code"), OTHERS)
def test_what_does_not_fit_is_said(types: str, given: object, code: str) -> None:
    text = f"{AROUND}@cuda.jit('{types}')\ndef k(out, x):\n    out[0] = x\n"
    with pytest.raises(KernelRejected) as refused:
        emulate(load_program(text).functions["k"])[1, 1](np.zeros(1), given)
    assert refused.value.findings[0].code == code


# Of several signatures: what is given for x, and x / 2 for the one that Numba chooses.
SEVERAL = (
    (["float32", "float64"], 0.1, 0.05),
    (["float32", "float64"], np.float32(0.1), np.float32(0.1) / 2),
    (["float64", "int64"], 3, 1.5),
    (["int32", "float64"], np.float32(0.5), 0.25),
    (["float32", "float64"], 3, "unsupported"),
    (["int64", "int32"], 2.5, "invalid-launch"),
)


@every_case(("types", "given", "expected"), SEVERAL)
def test_the_signature_with_the_types_that_are_given(types, given, expected):
    declared = [f"void(float64[:], {each})" for each in types]
    text = f"{AROUND}@cuda.jit({declared})\ndef k(out, x):\n    out[0] = x / 2\n"
    out, start = np.zeros(1), emulate(load_program(text).functions["k"])[1, 1]
    if isinstance(expected, str):
        with pytest.raises(KernelRejected) as refused:
            start(out, given)
        assert refused.value.findings[0].code == expected
    else:
        start(out, given)
        assert out[0] == expected


def test_a_signature_that_is_not_read_leaves_arrays_as_they_are() -> None:
    text = f"{AROUND}@cuda.jit('void(stranger[:])')\ndef k(out):\n    out[0] = 5\n"
    out = np.zeros(1)
    emulate(load_program(text).functions["k"])[1, 1](out)
    assert out[0] == 5


def test_integers_of_one_size_are_read_as_declared() -> None:
    """A GPU is handed the address of an array, and takes what lies there for what is declared."""
    text = f"{AROUND}@cuda.jit('void(uint32[:])')\ndef k(out):\n    out[1] = out[0] // 2\n"
    out = np.array([-2, 0], np.int32)
    emulate(load_program(text).functions["k"])[1, 1](out)
    assert out.tolist() == [-2, 2**31 - 1]


def test_a_declared_array_has_its_type() -> None:
    """Numba's compiler finds no version of the function for another one."""
    text = (
        f"{AROUND}@cuda.jit('float32(float32[:])', device=True)\ndef f(a):\n    return a[0]\n"
        "@cuda.jit\ndef k(out, a):\n    out[0] = f(a)\n"
    )
    kernel = emulate(load_program(text).functions["k"])[1, 1]
    kernel(np.zeros(1), np.zeros(1, np.float32))
    for other in (np.zeros(1), np.zeros((1, 1), np.float32)):
        with pytest.raises(KernelRejected, match="is declared with"):
            kernel(np.zeros(1), other)
