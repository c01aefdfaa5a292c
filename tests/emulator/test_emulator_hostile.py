"""Hostile text ends quickly, with a rejection or a finding, and is never executed."""

import textwrap
from pathlib import Path

import numpy as np
import pytest
from counted_work import counted_calls
from emulator_helpers import HEADER, as_program, launch
from every_case import every_case
from hypothesis import given
from hypothesis import strategies as st
from stored_answers import right_answers_to

import course_lib
from course_lib.emulator import Budget, KernelRejected, load_program

MOST_CALLS = 5_000_000  # 2.2 million at most, in November 2026
GOOD_KERNEL = "@cuda.jit\ndef kernel(out):\n    out[0] = 1\n"


def outcome(program: str) -> str:
    """The first code that the text is told, "clean" if it runs, with bounded work."""
    with counted_calls(MOST_CALLS):
        try:
            out = np.zeros(4, np.float32)
            profile = launch(program, 1, 1, out, budget=Budget(steps=5_000))
            found = [each.code for each in profile.findings if each.severity == "error"]
            return found[0] if found else "clean"
        except KernelRejected as refused:
            return refused.findings[0].code


# Module-level statements beside a harmless kernel. They are never executed.
BESIDE = [
    "X = 10 ** 10 ** 10", "X = 2 ** 2 ** 2 ** 2 ** 2 ** 2", "X = 1 << 10 ** 9",
    "X = (1 << 255) ** 255", "X = 'a' * 10 ** 9", "X = (1,) * 10 ** 9", "X = [0] * 10 ** 9",
    "X = round(5, -10 ** 9)", "X = round(1 << 200, -(1 << 200))", "X = int('9' * 10 ** 8)",
    "X = float('1' + '0' * 10 ** 8)", "X = tuple(range(10 ** 10))",
    "X = [i for i in range(10 ** 10)]", "X = {i: i for i in range(10 ** 10)}",
    "X = sum(i for i in range(10 ** 10))", "X = pow(3, 10 ** 10)", "X = math.factorial(10 ** 7)",
    "X = math.comb(10 ** 7, 10 ** 6)", "X = np.zeros((10 ** 6, 10 ** 6))",
    "X = np.arange(10 ** 12)", "X = bytes(10 ** 10)", "X = f'{1:>1000000000}'",
    "X = '%1000000000d' % 1", "X = min(10 ** 10 ** 10, 2)", "X = -(10 ** 10 ** 10)",
    "X = ~(1 << 10 ** 9)", "X = 10 ** 10 ** 10 if 1 else 0", "X = (10 ** 10 ** 10, 1)[1]",
    "X = 10 ** -(10 ** 10)", "X = 1e308 * 1e308 // 1e-300", "X = math.floor(1e308)",
    "X = np.int64(1) << 10 ** 6", "X = np.float64(10) ** 400", "while True:\n    pass",
    "for i in range(10 ** 12):\n    X = i", "if [1 for _ in range(10 ** 10)]:\n    X = 1",
    "with_ = (lambda f: f(f))(lambda f: f(f))", "class X:\n    y = 10 ** 10 ** 10",
    "def later(x=10 ** 10 ** 10):\n    return x",
    "def later(x=[i for i in range(10 ** 10)]):\n    return x", "X: 10 ** 10 ** 10 = 3",
    "assert 10 ** 10 ** 10", "del kernel_", "X = (Y := 10 ** 10 ** 10)",
    "async def f():\n    await f()", "raise SystemExit(3)",
    "X = ().__class__.__bases__[0].__subclasses__()", "X = cuda.__class__.__init__.__globals__",
    "X = np.__builtins__", "X = math.__loader__.load_module('os')", "X = 'a'.join", "X = print",
    "X = None",
    "X = 0xffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    "X0 = (1, 2)\n" + "\n".join(f"X{i + 1} = (X{i}, X{i})" for i in range(60)),
    "X = " + "+".join(["1"] * 20_000), "X = " + "-" * 20_000 + "1", "X = " + "not " * 5_000 + "1",
    "X = " + "(" * 150 + "1" + ")" * 150, "X = " + "[" * 5_000 + "]" * 5_000,
    "X = " + "1 if 1 else " * 5_000 + "1", "X = a" + ".b" * 20_000, "X = a" + "[0]" * 20_000,
    "X = a" + "(0)" * 20_000, "X = " + "lambda: " * 5_000 + "1", "X = '" + "a" * 1_000_000 + "'",
    "#" + "x" * 1_000_000, "X = " + "9" * 100_000, "X = " + "9" * 4_000, "x = " * 10_000 + "1",
    "\n".join("    " * i + f"def f{i}():" for i in range(90)) + "\n" + "    " * 90 + "pass",
    "\n".join("    " * i + "if 1:" for i in range(90)) + "\n" + "    " * 90 + "pass",
    "X = '\\ud800'", "X = '\\N{NO SUCH NAME}'",
]  # fmt: skip


@every_case("text", BESIDE, ids=lambda text: text[:60])
def test_beside_the_kernel(text: str) -> None:
    found = outcome(f"{HEADER}{text}\n{GOOD_KERNEL}")
    assert found in ("clean", "not-allowed", "compile-error", "unsupported"), found


# The same, and the kernel uses the value: then it must not be clean.
@every_case("value", [
    "10 ** 10 ** 10", "1 << 10 ** 9", "'a' * 10 ** 9", "(1,) * 10 ** 9", "round(5, -10 ** 9)",
    "math.factorial(10 ** 7)", "pow(3, 10 ** 10)", "tuple(range(10 ** 10))", "open('x')",
    "[i for i in range(10 ** 10)]", "np.zeros((10 ** 6, 10 ** 6))", "1 << 300", "10 ** 70",
])  # fmt: skip
def test_as_a_constant_of_the_kernel(value: str) -> None:
    program = f"{HEADER}X = {value}\n" + GOOD_KERNEL.replace("= 1", "= X")
    assert outcome(program) in ("not-allowed", "compile-error", "unsupported")
    # Inside a kernel integers have 64 bits, so some of these are harmless there.
    outcome(HEADER + GOOD_KERNEL.replace("= 1", f"= {value}"))


# Inside a kernel. One `оut` begins with a Cyrillic letter; Python takes wide letters for ASCII.
INSIDE = [
    "open('/tmp/course_lib_was_here', 'w')",
    "__import__('os').system('touch /tmp/course_lib_was_here')", "exec('1')",
    "compile('1', '', 'eval')", "getattr(out, '__class__')", "setattr(out, 'x', 1)",
    "globals()['x'] = 1", "locals()", "vars()", "x = out.__class__",
    "x = out.__class__.__mro__[1].__subclasses__()", "x = out.__array_interface__",
    "x = out.ctypes.data", "x = out.base", "x = out.data",
    "x = out.tofile('/tmp/course_lib_was_here')", "out.tofile('/tmp/course_lib_was_here')",
    "out.dump('/tmp/course_lib_was_here')", "np.save('/tmp/course_lib_was_here', out)",
    "np.load('/etc/hostname')", "np.fromfile('/etc/hostname')",
    "x = np.lib.format.open_memmap('/tmp/course_lib_was_here')", "x = np.ctypeslib",
    "x = math.__dict__", "x = cuda.jit.__globals__", "x = cuda.to_device(out)",
    "x = cuda.current_context()", "cuda.synchronize()", "x = (lambda: (yield))()",
    "x = [y for y in range(10 ** 9)]", "x = {y for y in range(10 ** 9)}",
    "x = sum(y for y in range(10 ** 9))", "x = (1,) * 10 ** 9", "x = 'a' * 10 ** 9",
    "x = 10 ** 10 ** 10", "x = 2 ** (2 ** 62)", "x = 1 << (2 ** 62)", "x = round(5, -10 ** 9)",
    "x = print(10 ** 10 ** 10)", "global q\nq = 1",
    "def f():\n    nonlocal_ = 1\n    return f()\nf()", "f = lambda g: g(g)\nf(f)",
    "class A:\n    pass", "raise SystemExit", "assert False, open('x')",
    "with open('x'):\n    pass", "try:\n    out[0] = 1\nfinally:\n    out[1] = 1", "yield 1",
    "await out", "del out", "while True:\n    pass", "while 1:\n    out[0] += 1",
    "for i in range(10 ** 18):\n    pass", "for i in range(0, 10, 0):\n    pass",
    "for i in range(-10 ** 18, 10 ** 18):\n    out[0] = i",
    "for a in range(10 ** 9):\n  for b in range(10 ** 9):\n    pass",
    "while True:\n    print('x' )", "while True:\n    cuda.syncthreads()",
    "while True:\n    cuda.atomic.add(out, 0, 1)",
    "while True:\n    s = cuda.shared.array(100, float32)\n    s[0] = 1",
    "while True:\n    s = cuda.local.array(100, float32)\n    s[0] = 1",
    "s = cuda.shared.array(10 ** 12, float32)\ns[0] = 1",
    "s = cuda.shared.array((10 ** 6, 10 ** 6), float32)\ns[0, 0] = 1",
    "s = cuda.shared.array(-5, float32)\ns[0] = 1",
    "s = cuda.shared.array(2 ** 62, float32)\ns[0] = 1",
    "s = cuda.local.array(10 ** 12, float32)\ns[0] = 1",
    "s = cuda.local.array(10 ** 9, float32)\ns[0] = 1",
    "s = cuda.local.array(-1, float32)\ns[0] = 1",
    "s = cuda.shared.array(" + "(1, " * 40 + "1" + ")" * 40 + ", float32)",
    "s = cuda.shared.array((" + "1, " * 100 + "), float32)",
    "x = " + "+".join(["out[0]"] * 5_000), "x = " + "-" * 5_000 + "out[0]",
    "x = " + "not " * 2_000 + "out[0]", "x = " + "1 if out[0] else " * 2_000 + "1",
    "x = out" + "[0]" * 5_000, "x = " + "(" * 150 + "out[0]" + ")" * 150,
    "x = " + " and ".join(["out[0]"] * 2_000), "x = " + " < ".join(["out[0]"] * 2_000),
    "x = " + "abs(" * 150 + "out[0]" + ")" * 150, "x = 0\n" + "x = x + out[0] * x\n" * 3_000,
    "\n".join("  " * i + f"for i{i} in range(2):" for i in range(19)) + "\n" + "  " * 19 + "pass",
    "x = 0\n"
    + "\n".join("  " * i + f"for i{i} in range(1):" for i in range(19))
    + "\n" + "  " * 19 + "x += out[0]",
    "\n".join("  " * i + "while out[0] > 1:" for i in range(19)) + "\n" + "  " * 19 + "pass",
    "\n".join("  " * i + "if out[0] > 1:" for i in range(19)) + "\n" + "  " * 19 + "pass",
    "\n".join("  " * i + f"def f{i}():" for i in range(19)) + "\n" + "  " * 19 + "pass",
    "\n".join(f"x{i} = out[0]" for i in range(3_000)),
    "x0 = 0\n" + "for _ in range(3):\n" + "\n".join(f"  x{i + 1} = x{i}" for i in range(500)),
    "x = (1, 2)\n" + "x = (x, x)\n" * 60 + "out[0] = 1",
    "x = (1, 2)\n" + "x = x + x\n" * 60 + "out[0] = 1", "x = round(5, -3 * 10 ** 9)",
    "x = round(5, -10 ** 18)", "x = round(out[0], 10 ** 18)",
    "if out[0] > 1:\n  x = 1\n" + "elif out[0] > 1:\n  x = 1\n" * 300 + "out[1] = 1",
    "out[10 ** 30] = 1", "out[-10 ** 18] = 1", "out[2 ** 63 - 1] = 1", "out[0] = 10 ** 30",
    "x = 5 // 0", "x = 5 % 0", "x = 5 / 0", "x = out[0] // 0", "out[0] = 1 << 64",
    "out[0] = 1 << -1", "out[0] = 1 >> 1000", "out[0] = (-9223372036854775807 - 1) // -1",
    "out[0] = abs(-9223372036854775807 - 1)", "out[0] = int(1e300)", "out[0] = int(float('nan'))",
    "out[0] = math.sqrt(-1.0)", "out[0] = math.log(0.0)", "out[0] = 2.0 ** 100000",
    "out[0] = (-8.0) ** 0.5", "out[0] = 0 ** -1", "out[int(1e300)] = 1",
    "cuda.nanosleep(10 ** 12)", "cuda.grid(10 ** 9)", "cuda.shfl_sync(10 ** 30, 1, 10 ** 9)",
    "print('%s' % ('a' * 10 ** 9))", "print(f'{out[0]:>1000000000}')", "оut[0] = 1",
    "ｏｕｔ[0] = 1",
    "x = __builtins__", "x = __name__\nx = __file__", "x = type(out)", "x = type('A', (), {})",
    "x = object()", "x = super()", "help()", "x = memoryview(out)", "x = id(out)",
    "x = hash(out)", "x = dir()", "kernel[1, 1](out)", "kernel(out)",
]  # fmt: skip


# Of these the code is told, too.
CLOSED = [
    "open('x')", "eval('1')", "__import__('os')", "getattr(out, 'x')", "globals()",
    "ｅｖａｌ('1')", "__builtins__['open']('x')", "x = input()", "exit()", "breakpoint()",
    "import os", "from os import system",
]  # fmt: skip


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which a text would leave something."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def is_untouched(folder: Path) -> bool:
    return not list(folder.iterdir()) and not Path("/tmp/course_lib_was_here").exists()


@every_case("body", [*INSIDE, *CLOSED], ids=lambda body: body[:60])
def test_inside_the_kernel(body: str, empty: Path) -> None:
    found = outcome(as_program(body))
    assert is_untouched(empty)
    assert body not in CLOSED or found in ("not-allowed", "compile-error")


DECORATORS_AND_DEFAULTS = [
    "@open('/tmp/course_lib_was_here', 'w').write\ndef kernel(out):\n    out[0] = 1",
    "@(lambda f: __import__('os').system('true'))\ndef kernel(out):\n    out[0] = 1",
    "@cuda.jit(max_registers=__import__('os').getpid())\ndef kernel(out):\n    out[0] = 1",
    "@cuda.jit\ndef kernel(out, x=open('/tmp/course_lib_was_here', 'w')):\n    out[0] = 1",
    "@cuda.jit\ndef kernel(out: open('/tmp/course_lib_was_here', 'w')):\n    out[0] = 1",
    "@cuda.jit\ndef kernel(*out):\n    out[0][0] = 1", "@cuda.jit\ndef kernel(**out):\n    pass",
    "@cuda.jit\nasync def kernel(out):\n    pass", "class kernel:\n    pass", "kernel = 5",
    "kernel = lambda out: open('/tmp/course_lib_was_here', 'w')",
    "def kernel(out):\n    out[0] = 1\nkernel = exec",
    "def kernel(out):\n    out[0] = 1\ndef kernel(out):\n    return open('x')",
    "@cuda.jit(device=True)\ndef f(a):\n    return eval('1')\ndef kernel(out):\n    f(out)",
    "exec('import os')\ndef kernel(out):\n    out[0] = 1",
    "import os\ndef kernel(out):\n    out[0] = 1",
    "import sys, subprocess\ndef kernel(out):\n    out[0] = 1",
    "from numba import os\ndef kernel(out):\n    x = os.system('true')",
    "import numpy.ctypeslib as c\ndef kernel(out):\n    x = c.load_library('c', '/')",
    "from numpy import *\nfrom math import *\ndef kernel(out):\n    x = save('f', out)",
    "from . import secrets\ndef kernel(out):\n    pass",
    "import course_lib.cli\ndef kernel(out):\n    x = course_lib.cli.main()",
    "from course_lib.checking import examine\ndef kernel(out):\n    x = examine('mat_add', out)",
]  # fmt: skip


@every_case("text", DECORATORS_AND_DEFAULTS)
def test_decorators_defaults_and_imports(text: str, empty: Path) -> None:
    assert outcome(HEADER + textwrap.dedent(text)) != "timeout"
    assert is_untouched(empty)


@every_case(
    "text",
    [
        "", "\0", "x = 1\0", "\ufeff", "\x1a", "\r\r\r", "def", "(", "'''", "\\", "\t x\n  y",
        "x = 1 +", "é = 1", "\ud800", "def kernel(out):", "kernel", "# -*- coding: rot13 -*-",
        "# -*- coding: no-such-codec -*-\nx = 1", "\f", "\u2028", "if", "return", "yield", "break",
        "print 'x'", "x = 08", "x = 1_", "'\\x'", "f'{'", "0" * 5000, "𝕩 = 1", "nonlocal x",
    ],
)  # fmt: skip
def test_any_text_is_answered_by_examine_source(text: str) -> None:
    report = course_lib.examine_source("mat_add", text)
    assert not report.passed
    assert report.findings[0].code in ("missing-answer", "compile-error", "not-allowed")


@given(st.text(max_size=200))
def test_random_text_never_raises(text: str) -> None:
    try:
        load_program(text)
    except KernelRejected as refused:
        assert refused.findings


@given(st.data())
def test_damaged_kernels_never_raise(data) -> None:
    """Cut, doubled and exchanged pieces of a right answer."""
    good = right_answers_to("mat_add")["device_function"]
    start, stop = sorted(data.draw(st.tuples(*[st.integers(0, len(good))] * 2)))
    piece = data.draw(
        st.sampled_from(["", "\n", "(", " row", ":", "[0]", "1", good[start:stop] * 2])
    )
    outcome((good[:start] + piece + good[stop:]).replace("mat_add(A, B, C)", "kernel(A)"))
