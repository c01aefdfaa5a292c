"""Arguments of device functions: by name, by default, `*args` on both sides."""

import numpy as np
from emulator_helpers import as_program, rejection_codes, run_clean
from every_case import every_case

BEFORE = """
STEP = 10
def f(a, b=2, c=STEP):
    return 100 * a + 10 * b + c

def many(first, *rest):
    total = first
    for each in rest:
        total += each
    return total * len(rest)

def three(a, b, c):
    return a - b - c

def maybe(a, b=None):
    if b is None:
        b_or_a = a
    else:
        b_or_a = b + a
    return b_or_a if b is not None else 7 * b_or_a
"""
INNER = "def inner(a, b=3):\n    return a * b\n"
DEVICE = BEFORE.replace("def ", "@cuda.jit(device=True)\ndef ")
CALLS = """inner(4) inner(4,b=2) f(1) f(1,3) f(1,3,4) f(b=5,a=1) f(1,c=7) f(c=1,b=1,a=1)
    many(1,2) many(1,2,3,4)
    three(*(9,2,3)) three(9,*(2,3)) many(*(1,2),*(3,)) f(*(1,2)) maybe(3) maybe(3,4) maybe(3,None)
    f(*x.shape,3) three(c=1,*(5,2)) (lambda*a:a[1])(1,2) (lambda*a:len(a))(1,2)""".split()


@every_case("call", CALLS)
def test_a_call_binds_as_in_python(call: str) -> None:
    out, x = np.zeros(1, np.int64), np.zeros((2, 1))
    body = f"{INNER}out[0] = {call}"
    run_clean(body, 1, 1, out, x, parameters="out, x", before=DEVICE)
    names: dict[str, object] = {"x": x}
    exec(BEFORE + INNER, names)
    assert out[0] == eval(call, names)


def test_a_kernel_takes_the_rest_as_a_tuple() -> None:
    out, x, y = np.zeros(3, np.int64), np.arange(3), np.arange(3) + 5
    body = "i = cuda.threadIdx.x\nfor each in rest:\n    out[i] += each[i]"
    run_clean(body, 1, 3, out, x, y, parameters="out, *rest")
    assert out.tolist() == (x + y).tolist()


REFUSED = {
    "f()": "compile-error", "f(1, d=3)": "compile-error", "f(1, a=3)": "compile-error",
    "f(1, 2, 3, 4)": "compile-error", "three(*out)": "compile-error", "f(**out)": "unsupported",
    "max(*(1, 2))": "unsupported",
}  # fmt: skip


@every_case("call", REFUSED)
def test_calls_that_bind_nothing_are_refused(call: str) -> None:
    program = as_program(f"out[0] = {call}", before=DEVICE)
    assert rejection_codes(program, np.zeros(3)) == [REFUSED[call]]
