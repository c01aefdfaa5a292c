"""What Numba refuses, what the emulator alone does not know, and what is wrong when it runs.

What is refused was tried with Numba's compiler (numba-cuda 0.30).
"""

import textwrap
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from emulator_helpers import as_program, codes, launch, refusal
from every_case import every_case

IMPORT = "from course_lib.intrinsics import *"
DEVICE = """
import cmath
import operator
from operator import add
N = 3
SIDE = 4
@cuda.jit(device=True)
def f(a, b=2, c=10):
    return 100 * a + 10 * b + c
@cuda.jit(device=True)
def three(a, b, c):
    return a - b - c
@cuda.jit(device=True)
def use(f, x, N):
    return f(x) + 0 * N
"""
CALLING_ITSELF = """
@cuda.jit(device=True)
def f(n):
    {}
@cuda.jit(device=True)
def g(n):
    return f(n)
"""


class Told(NamedTuple):
    """Statements by the code that each is told, and the kernel around each."""

    parameters: str
    arguments: Callable[[], tuple[Any, ...]]
    statements: dict[str, list[str]]
    start: str = ""  # what stands before the statement
    before: str = DEVICE  # … and before the kernel


def some() -> tuple[Any, ...]:
    return (np.zeros(4, np.float32),)


REFUSED = {
    "statements": Told("out", some, {
        "compile-error": [
            "a = np.zeros(4)", "a = [1, 2, 3]\na[0] = 2", "return 5", "a = {1: 2}", "import math",
            "x = out + 1", "x = 'a' + 1", "raise_ = undefined_name", "x = out.nothing",
            "out[0.5] = 1", "out['a'] = 1", "a, b = 1, 2, 3",
            "try:\n    out[0] = 1\nexcept:\n    pass", "y = x + 1", "with out:\n    pass",
            "a = cuda.shared.array((4, 4))", "out[0] = math.sqrt('4')",
            "x = len(3)", "out = 5 < 'a'", "async_ = await_", "cuda.syncthreads = 3",
            "out.shape = 3", "cuda.threadIdx.x += 1", "out.size += 1",
            "out[0] = cuda.fp16.hsine(np.float16(1))", "x = out[1:1j]",
            # near to what the emulator alone does not know
            "global N\nN = 2", "global N\nN += 2", "global out",
            "x = out.flatt", "x = operator.nope(1)", "x = zipp((1,), (2,))",
            "x = [1, 2]\nout[0] = x[0]", "x = [nowhere]\nout[0] = 1",
            "x = sum(i for i in range(9))", "x = out.copy()",
            "x = reversed((1, 2))", "x = out.__class__",
            "x = operator.attrgetter('__class__')"],
        "not-allowed": ["open('x')", "eval('1')", "exec('1')", "__import__('os')",
            "getattr(out, 'x')", "globals()", "x = [open('x')]\nout[0] = 1",
            "for i in enumerate(open('x')):\n    pass", "x = out.ctypes.data",
            "x = out is out"],
        # Numba compiles all of these
        "unsupported": [
            "pairs = zip((1, 2), (3, 4))\nfor a, b in pairs:\n    pass",
            "x = out.real", "operator.setitem(out, 0, 1)", "x = next(iter((1, 2)))",
            "x = out[slice(0, 2)]", "x = (*out.shape, 1)", "x = out[None, 0]", "x = not out.shape",
            "global N\nout[0] = N", "x = [1, 2]\nout[0] = 1", "for x in [1, 2]:\n    out[0] = x",
            "out[0] = out.size in [1, 2]", "x, y = range(2)\nout[0] = x",
            "s = out[::cuda.threadIdx.x + 1]\nout[0] = s[0]"]}),
    "calls": Told("out", lambda: (np.zeros(3),), {
        "compile-error": ["f()", "f(1, d=3)", "f(1, a=3)", "f(1, 2, 3, 4)", "three(*out)"],
        "unsupported": ["f(**out)", "max(*(1, 2))"]}, "out[0] = "),
    # One name for two variables: it was silently taken for that of the function that calls.
    "names with two meanings": Told("out", lambda: (np.zeros(1),), {"unsupported": [
        "y = 2\ndef h(x):\n    return x + y\ndef g(y):\n    return h(1) * y\nout[0] = g(5)",
        "N = 2\ndef h(x):\n    return x + N\nout[0] = use(h, 1, 5)",
        "def h(x):\n    return x + N\nout[0] = use(h, 1, 5)"]}),
    "shapes": Told("out", some, {
        "compile-error": [f"s = cuda.shared.array({shape}, float32)\nout[0] = 1" for shape in (
            "n", "(4, n)", "out.shape[0]", "cuda.blockDim.x", "(SIDE, SIDE + 1)", "int(SIDE)")],
        # by every GPU that has no room for it
        "invalid-launch": ["s = cuda.shared.array((128, 128), float32)\nout[0] = 1"],
    }, "n = out.size\n"),
    "parts and loops": Told("out, x", lambda: (np.zeros(3), np.arange(3)), {
        "compile-error": [
            "s = x[..., ...]", "for a in zip(x, 3): out[0] = 1",
            "for a in enumerate(3): out[0] = 1", "for a in enumerate(x, 1.5): out[0] = 1",
            "out[:] = out[:]", "out[0:2] = out", "out[:] = None", "out[:] += 1"],
        "unsupported": ["pairs = zip(x, x)\nfor a, b in pairs: out[0] = 1"]}),
    "complex numbers, records and vectors": Told(
        "out, r, zero",
        lambda: (
            np.zeros(3, np.float32), np.zeros(3, [("x", np.float32), ("v", np.float32, (2,))]),
            np.zeros((), np.float32)),
        {"compile-error": [
            "out[0] = z", "if z < 1:\n    pass", "x = z // 2", "x = z & 1", "x = min(z, z)",
            "print(z)", "x = int(z)", "x = np.float32(z)", "x = math.sqrt(z)",
            "x = cuda.fma(z, z, z)", "x = z.nope", "x = cuda.float32x4(1, 2)",
            "v = cuda.float32x2(1, 2)\nv.x = 3", "x = cuda.float32x2(1, 2).z",
            "x = cuda.float32x2(1, 2) + cuda.float32x2(1, 2)", "x = cuda.float32x2(1, 2)[0]",
            "x = r[0].nope", "x = r[0]['nope']", "x = r[0] + 1", "r[0] = 1", "r[0] = (1, 2)",
            "r[0].v = 1", "r.x = 1", "print(r[0])", "r[0].x = 1j", "x = len(r[0])",
            "x = np.sqrt(2.0)", "z.real = 1", "x = zero[0]", "x = zero + 1",
            "cuda.atomic.compare_and_swap(out, 0, 1)"]}, "z = out[0] + 1j\n"),
    "asynchronous copies": Told(
        "A, D, H", lambda: (np.zeros((4, 4), np.float32), np.zeros(4), np.zeros(8, np.float16)), {
        "compile-error": [
            "cp_async4(s16, 0, H, 0)", "cp_async16(s, 0, D, 0)", "cp_async16(s, 0, A.T, 0)",
            "cp_async16(s, 0.5, A, 0)", "cp_async16(s, 0, A, 0, True)",
            "cp_async16_zfill(s, 0, A, 0, 1)", "cp_async_wait()", "cp_async_wait(-1)",
            "cp_async_wait(A.size)", "cp_async_commit(0)"],
        "unsupported": ["cp_async16(A, 0, A, 0)", "cp_async16(s, 0, s, 0)"],
    }, "s = cuda.shared.array((4, 4), float32, alignment=16)\n"
        "s16 = cuda.shared.array((4, 4), np.float16, alignment=16)\n", IMPORT),
    "accesses of 16 bytes": Told(
        "A, D, F", lambda: (
            np.ones((4, 4), np.float32), np.zeros(4), np.ones((4, 4), np.float32, order="F")), {
        "compile-error": [
            "load4(A.T, 0)", "load4(F, 0)", "load4(A[:, 0], 0)", "load4(A[1:, 1:], 0)",
            "load4(D, 0)", "load4(A, 0.0)", "load4(A)", "x = load4(A, 0)[4]", "x, y = load4(A, 0)",
            "store4(A, 0, (0.0, 0.0, 0.0, 0.0))", "store4(A, 0, (A[0, 0], A[0, 0]))",
            "load_words(A, 0)", "load4(A, 0)[0] = 1", "A[0, 0] = load4(A, 0)",
            "cuda.shared.array(4, float32, alignment=4)",
            "cuda.shared.array(4, float32, alignment=A.size)"]}, before=IMPORT),
    "tensor cores": Told("out", lambda: (np.zeros(64, np.float32),), {
        "compile-error": [
            "acc = mma_m16n8k16_f16(acc, (w, w), (w, w))",
            "acc = mma_m16n8k8_f16(acc, (w, w), (w,))",
            "acc = mma_m16n8k16_f16((0.0, 0.0, 0.0, 0.0), (w, w, w, w), (w, w))",
            "acc = mma_m16n8k8_tf32(acc, (z, z, z, z), (z, z))",
            "acc = mma_m16n8k16_f16(acc, (w, w, w, w))", "x = ldmatrix_x4(s.T, 0)",
            "x = ldmatrix_x4(f, 0, 1)", "x = ldmatrix_x4_trans(f, 0)", "x = float_bits(1.0)",
            "x = to_tf32(w)"],
        "unsupported": ["x = ldmatrix_x4(out, 0)"],
    }, "s = cuda.shared.array((8, 8), np.uint16, alignment=16)\n"
        "f = cuda.shared.array((8, 8), float32, alignment=16)\n"
        "w, z = uint32(0), float32(0)\nacc = (z, z, z, z)\n", IMPORT),
}  # fmt: skip


FAULTY = {
    "a cell under way": Told("A", lambda: (np.zeros(128, np.float32),), {
        "race-write-after-write": ["s[4 * i] = float32(0)", "cp_async16(s, 4 * i, A, 0)"],
        "race-read-after-write": ["x = s[4 * i + 2]", "x = load4(s, 4 * i)[0]"],
    }, "s = cuda.shared.array(128, float32, alignment=16)\ni = cuda.threadIdx.x\n"
        "cp_async16(s, 4 * i, A, 4 * i)\ncp_async_commit()\n", IMPORT),
    "asynchronous copies": Told("A", lambda: (np.zeros(128, np.float32),), {
        "out-of-bounds-read": ["cp_async16(s, 4 * i, A, 4 * i + 4)"],
        "out-of-bounds-write": ["cp_async16(s, 4 * i + 4, A, 4 * i)"],
        "wrong-index": [
            "cp_async16(s, 4 * i, A, 2 * i)", "cp_async16(s, i, A, 4 * i)",
            "cp_async16(loose, 4 * i, A, 4 * i)"],
    }, "s = cuda.shared.array(128, float32, alignment=16)\n"
        "loose = cuda.shared.array(128, float32)\ni = cuda.threadIdx.x\n", IMPORT),
    "accesses of 16 bytes": Told("A", lambda: (np.arange(128, dtype=np.float32),), {
        "wrong-index": [
            "x = load4(A, 4 * (i % 8) + 1)[0]", "store4(A, 2 * i, (one, one, one, one))",
            "x = load4(A[1:], 4 * (i % 8))[0]",
            "x = load4(cuda.shared.array(128, float32), 4 * i)[0]", "store2(A, i, (one, one))"],
        "out-of-bounds-read": [
            "x = load4(A, 4 * i + 4)[0]", "x = load4(A, 4 * i - 4)[0]",
            "x = load4(A[4:], 4 * i)[0]"],
        "out-of-bounds-write": ["store4(A, 4 * i + 8, (one, one, one, one))"],
        "race-write-after-write": ["store4(A, 4 * (i // 2), (one, one, one, one))"],
    }, "i = cuda.threadIdx.x\none = float32(1)\n", IMPORT),
    "matrices of a warp": Told("out", some, {
        "out-of-bounds-read": ["words = ldmatrix_x4(s, 8 * i + 8)"],
        "wrong-index": ["words = ldmatrix_x4(s, 4 * i)", "words = ldmatrix_x4(loose, 8 * i)"],
    }, "s = cuda.shared.array((32, 8), np.uint16, alignment=16)\n"
        "loose = cuda.shared.array((32, 8), np.uint16)\ni = cuda.threadIdx.x\n"
        "for k in range(8):\n    s[i, k] = i\n    loose[i, k] = i\ncuda.syncthreads()\n", IMPORT),
    "views": Told("y", lambda: (np.zeros(8, np.int8),), {
        "raised-exception": [
            "y[:7].view(np.int32)[0] = 1", "y[1:5].view(np.int32)[0] = 1",
            "y.reshape(3, 2)[0, 0] = 1", "y.reshape(-1, -1)[0, 0] = 1"],
        "out-of-bounds-write": ["y.reshape(2, -1)[1, 4] = 1", "y.view(np.int32)[2] = 1"],
    }, "if cuda.threadIdx.x > 0:\n    return\n"),
}  # fmt: skip


def each_of(told: dict[str, Told]) -> list[tuple[str, str, str]]:
    """Every statement of a table, with its part and its code."""
    return [
        (of, code, statement)
        for of, each in told.items()
        for code, statements in each.statements.items()
        for statement in statements
    ]


@every_case(("of", "code", "statement"), each_of(REFUSED))
def test_a_statement_that_is_refused(of: str, code: str, statement: str) -> None:
    parameters, arguments, _, start, before = REFUSED[of]
    found = refusal(as_program(start + statement, parameters, before), *arguments(), block=32)
    assert (found.code, found.line is not None) == (code, True), found
    assert len(found.message) > 10 and "rejected" not in found.message.lower()
    if of == "statements" and code == "unsupported":
        assert "Numba" not in found.message


@every_case(("of", "code", "statement"), each_of(FAULTY))
def test_a_statement_that_is_wrong_when_it_runs(of: str, code: str, statement: str) -> None:
    parameters, arguments, _, start, before = FAULTY[of]
    program = as_program(start + statement, parameters, before)
    profile = launch(program, 1, 32, *arguments())
    assert codes(profile) == [code]
    assert {each.line for each in profile.errors} == {len(program.splitlines())}


RECURSION = {
    "without end": ("return f(n - 1)", "compile-error"),
    "a growing tuple": ("if n < 1:\n    return (n,)\nreturn (n, f(n - 1)[0])", "compile-error"),
    "other types": ("if n < 1:\n    return 1.0\nreturn f(n / 2)", "unsupported"),
    "another function between": ("return 0 if n < 1 else g(n - 1)", "unsupported"),
    "a local array": (
        "s = cuda.local.array(4, float32)\nif n < 1:\n    return s[0]\nreturn f(n - 1)",
        "unsupported"),
    "too deep": ("if n < 1:\n    return n\nreturn f(n - 1)", "unsupported"),
}  # fmt: skip


@every_case(("body", "code"), RECURSION.values(), ids=RECURSION)
def test_a_function_that_calls_itself(body: str, code: str) -> None:
    before = CALLING_ITSELF.format(textwrap.indent(body, "    ").strip())
    found = refusal(as_program("out[0] = f(900)", before=before), np.zeros(1))
    assert (found.code, found.line is not None) == (code, True), found
