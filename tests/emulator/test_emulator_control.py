"""Control flow, functions, barriers, budgets, and what ends a single thread."""

import textwrap
from operator import add as operator_add
from typing import Any

import numpy as np
import pytest
from emulator_helpers import as_program, codes, launch, rejection_codes, run, run_clean
from every_case import every_case

from course_lib.emulator import KernelRejected, Profile, emulate
from course_lib.wording.sentences import facts_of

FUNCTIONS = """
SCALE = 3
def clamp(x, low, high):
    if x < low:
        return low
    if x > high:
        return high
    return x
def both(x):
    return SCALE * x, clamp(x, 2, 5)
def put(array, i, value):
    array[i] = value
def hundredfold(x):
    i = x * 100
    return i + 1
"""
DEVICE = FUNCTIONS.replace("def ", "@cuda.jit(device=True)\ndef ")
STATEMENTS = {
    "break, continue, else and return": """
        total = 0
        for k in range(10):
            if k == i:
                continue
            if k > 2 * i:
                break
            total += k
        else:
            total += 1000
        out[i] = total
        if i % 2:
            return
        out[i] += 5
    """,
    "a loop's variable keeps its last value": "k = -1\nfor k in range(i):\n    pass\nout[i] = k",
    "changing it does not change the loop": "for k in range(5):\n    out[i] += 1\n    k += 10",
    "swap": "a, b = 1, i\na, b = b, a\nout[i] = 10 * a + b",
    "unpacking": "(c, d), e = (2, i), 9\nx = y = c\nx += 1\nout[i] = x * 10 + y + d + e",
    "a function and a lambda inside": """
        n = 8
        def mirrored(k):
            return n - 1 - k
        double = lambda x: 2 * x
        out[mirrored(i)] = double(i)
    """,
    "device functions": "a, b = both(i)\nput(out, i, a * 10 + b)",
    "a device function's variables are its own": "y = hundredfold(i)\nout[i] = y + i",
}


@every_case("body", STATEMENTS.values(), ids=STATEMENTS)
def test_a_thread_does_what_python_does(body: str) -> None:
    body, mine, theirs = textwrap.dedent(body), np.zeros(8, np.int64), np.zeros(8, np.int64)
    run_clean(f"i = cuda.threadIdx.x\n{body}", 1, 8, mine, before=DEVICE)
    names: dict[str, Any] = {}
    exec(f"{FUNCTIONS}def thread(i, out):\n{textwrap.indent(body, '    ')}", names)
    for i in range(8):
        names["thread"](i, theirs)
    assert mine.tolist() == theirs.tolist()


def test_shuffles_votes_and_lanes() -> None:
    body = """
        i = cuda.threadIdx.x
        out[0, i] = cuda.laneid
        out[1, i] = cuda.shfl_sync(0xFFFFFFFF, i, 3)
        out[2, i] = cuda.shfl_up_sync(0xFFFFFFFF, i, 1)
        out[3, i] = cuda.shfl_down_sync(0xFFFFFFFF, i, 2)
        out[4, i] = cuda.shfl_xor_sync(0xFFFFFFFF, i, 1)
        out[5, i] = cuda.any_sync(0xFFFFFFFF, i == 40)
        out[6, i] = cuda.all_sync(0xFFFFFFFF, i < 32)
        out[7, i] = cuda.ballot_sync(0xFFFFFFFF, i % 2 == 0)
        out[8, i] = cuda.syncthreads_count(i < 5)
        out[9, i] = cuda.syncthreads_or(i == 63)
        out[10, i] = cuda.syncthreads_and(i < 63)
        out[11, i] = cuda.popc(i)
    """
    out = np.zeros((12, 64), np.int64)
    run_clean(body, 1, 64, out)
    i = np.arange(64)
    warp = i // 32 * 32
    expected = [
        i % 32, warp + 3, np.where(i % 32, i - 1, i), np.where(i % 32 < 30, i + 2, i), i ^ 1,
        i >= 32, i < 32, 0x55555555 + 0 * i, 5 + 0 * i, 1 + 0 * i, 0 * i,
        [bin(k).count("1") for k in i],
    ]  # fmt: skip
    found = out.copy()
    found[7] &= 0xFFFFFFFF
    found[9:11] = found[9:11] != 0
    np.testing.assert_array_equal(found, np.array(expected).astype(np.int64))


def test_atomics() -> None:
    body = """
        i = cuda.grid(1)
        cuda.atomic.add(out, 0, 1)
        cuda.atomic.add(out, 1, i)
        cuda.atomic.max(out, 2, i)
        cuda.atomic.min(out, 3, i)
        old = cuda.atomic.add(out, 4, 1)
        seen[old] = 1
        cuda.atomic.sub(out, 5, 2)
        cuda.atomic.exch(out, 6, i)
        cuda.atomic.or_(out, 7, 1 << (i % 8))
    """
    out, seen = np.zeros(8, np.int64), np.zeros(100, np.int64)
    out[3] = 1000
    profile = run_clean(body, 4, 25, out, seen, parameters="out, seen")
    assert out[:6].tolist() == [100, 4950, 99, 0, 100, -200]
    assert 0 <= out[6] < 100 and out[7] == 255
    assert seen.all(), "every thread must see another old value"
    assert profile.atomics > 0


def test_barriers_that_the_whole_block_takes_alike() -> None:
    out = np.zeros(256, np.float32)
    right = [
        "if cuda.blockIdx.x == 1:\n    cuda.syncthreads()",
        "if cuda.blockIdx.x == 1:\n    return\ncuda.syncthreads()",
        "for k in range(cuda.blockIdx.x):\n    cuda.syncthreads()",
        "if out.size > 3:\n    cuda.syncthreads()",
        "if cuda.threadIdx.x < 64:\n    cuda.syncthreads()",
        "cuda.syncthreads()\nif cuda.threadIdx.x:\n    return",
        "k = 0\nwhile True:\n    k += 1\n    cuda.syncthreads()\n    if k == 4:\n        break",
    ]
    for body in right:
        for schedule in ("lockstep", "warps", "shuffled"):
            assert not codes(run(body, 4, 64, out, schedule=schedule)), (body, schedule)


@every_case(
    ("grid", "block"),
    [(1, 1025), (1, (64, 32)), (1, 0), (0, 32), ((1, 2, 3, 4), 32), (1, (1, 1, 128)), (1, -1),
     (1.5, 32), ((1, 70000), 32)],
)  # fmt: skip
def test_impossible_launches(grid: object, block: object) -> None:
    program = as_program("out[0] = 1")
    refused = rejection_codes(program, np.zeros(1, np.float32), grid=grid, block=block)
    assert refused == ["invalid-launch"]


def test_operator_functions_of_a_live_kernel_are_known_by_name() -> None:
    out = np.zeros(1, np.float32)
    emulate(_adds)[1, 1](out)
    assert out[0] == 3


def _adds(out):
    out[0] = operator_add(1, 2)


def on_arrays(body: str) -> tuple[Profile, list[float]]:
    """A launch of four threads, and what they write into C; A counts from 0, and B from 100."""
    A, C = np.arange(16, dtype=np.float32).reshape(4, 4), np.zeros(4, np.float32)
    body = f"t = cuda.threadIdx.x\n{body}"
    return run(body, 1, 4, A, A + 100, C, parameters="A, B, C"), C.tolist()


@every_case(("body", "expected"), [
    ("v = A[0] if t > 1 else A[t]\nC[t] = v[0]", [0, 4, 0, 0]),
    ("v = A[0]\nif t > 1:\n    v = A[t]\nC[t] = v[0]", [0, 0, 8, 12]),
    ("v = A[0, 1:3] if t > 1 else A[t, 0:2]\nC[t] = v[1]", [1, 5, 2, 2]),
    ("v = A[0]\nif A.shape[0] > 1:\n    v = B[t]\nC[t] = v[0]", [100, 104, 108, 112]),
    ("C[t] = ((1, 2), (3, 4))[t % 2][t // 2]", [1, 3, 2, 4]),
])  # fmt: skip
def test_threads_may_choose_parts_of_an_array(body: str, expected: list[float]) -> None:
    assert on_arrays(body)[1] == expected


DIFFERENT, NO_TYPE, NO_VALUE = "different arrays", "no common type", "v has no value here yet"


@every_case(("body", "said"), [
    ("C[t] = (A if t > 1 else B)[0, 0]", DIFFERENT),
    ("v = A\nif t > 1:\n    v = B\nC[t] = v[0, 0]", DIFFERENT),
    ("C[t] = (A, B)[t % 2][0, 0]", DIFFERENT),
    ("x = 1.0\nif t > 1:\n    x = A[0]\nC[t] = x", NO_TYPE),
    ("x = np.float32(1) if t > 1 else A[0]", NO_TYPE),
    ("for i in range(0):\n    v = A[0]\nfor k in v:\n    C[t] = k", NO_VALUE),
    ("for i in range(0):\n    v = range(3)\nfor k in v:\n    C[t] = k", NO_VALUE),
])  # fmt: skip
def test_what_threads_cannot_choose_is_refused(body: str, said: str) -> None:
    with pytest.raises(KernelRejected, match=said) as refused:
        on_arrays(body)
    assert said != DIFFERENT or refused.value.findings[0].code == "unsupported"


def test_a_number_that_no_thread_has_set_is_reported() -> None:
    profile, _ = on_arrays("for i in range(0):\n    v = 1\nC[t] = v")
    assert codes(profile) == ["uninitialised-read"]


# Only another path sets the name: what is in it here, and which threads read it with no value.
SET_ELSEWHERE = {
    "a path that returned": (
        "if i < 2:\n    c = 3\n    out[i] = c\n    return\nout[i] = c", [3, 3, None, None]),
    "an earlier round": (
        "for n in range(2):\n    if n == 0:\n        if i > 0:\n            c = i\n"
        "    else:\n        c = c + 1\nout[i] = c", [None, 2, 3, 4]),
    "a path never taken": (
        "if i < 9:\n    c = 5\n    out[i] = c\nelse:\n    c += 1\n    out[i] = c", [5] * 4),
    "an array": ("if i < 2:\n    c = cuda.local.array(1, int64)\n    c[0] = 7\n    out[i] = c[0]\n"
        "    return\nif i > 8:\n    out[i] = c[0]\nelse:\n    out[i] = 1", [7, 7, 1, 1]),
}  # fmt: skip


@every_case("name", SET_ELSEWHERE)
def test_a_name_that_only_another_path_sets(name: str) -> None:
    """Numba compiles it, and takes what it finds there; whoever reads that is named."""
    body, expected = SET_ELSEWHERE[name]
    out = np.zeros(4, np.int64)
    profile = run("i = cuda.threadIdx.x\n" + body, 1, 4, out)
    read = any(value is None for value in expected)
    assert codes(profile) == ["uninitialised-read"] * read
    assert all(wanted in (None, found) for found, wanted in zip(out, expected, strict=True))


DEVICE_EXCEPTIONS = """
@cuda.jit(device=True)
def checked(value):
    if value > 2:
        raise ValueError('too large')
    return value
"""
RAISING = {
    "raise": ("if i > 2:\n    raise ValueError", "ValueError"),
    "raise with a text": ("if i > 2:\n    raise IndexError('far')", "IndexError"),
    "assert": ("assert i <= 2, 'text'", "AssertionError"),
    "in a device function": ("x = checked(i)", "ValueError"),
    "in an expression": ("x = 1 + checked(i) * 2", "ValueError"),
    "in a test": ("if checked(i) > 1:\n    out[i] = 0", "ValueError"),
    "in a loop's test": ("while checked(i) > 5:\n    pass", "ValueError"),
    "in a loop": ("for j in range(3):\n    checked(i)", "ValueError"),
    "in half an expression": ("x = i > 1 and checked(i) > 1", "ValueError"),
}


def program(body: str, debug: bool) -> str:
    text = as_program(f"i = cuda.threadIdx.x\n{body}\nout[i] = 1", before=DEVICE_EXCEPTIONS)
    return text.replace("@cuda.jit\ndef", f"@cuda.jit(debug={debug}, opt={not debug})\ndef")


@every_case("name", RAISING)
def test_a_thread_that_raises_ends(name: str) -> None:
    body, exception = RAISING[name]
    for debug in (False, True):
        out = np.zeros(6, np.float32)
        profile = launch(program(body, debug), 1, 6, out)
        assert out.tolist() == [1, 1, 1, 0, 0, 0]
        if debug:
            (found,) = [each for each in profile.findings if each.severity == "error"]
            assert (found.code, found.threads[0]) == ("raised-exception", (3, 0, 0))
            assert facts_of(found.message)["what"] == exception
        else:
            assert not codes(profile)


@every_case(("body", "debug", "code"), [
    ("x = checked(i)", False, "barrier-divergence"), ("x = checked(i)", True, "raised-exception"),
    ("x = (5, 6)[i]", False, "out-of-bounds-read"),
])  # fmt: skip
def test_a_thread_that_ended_is_missed_at_a_barrier_unless_told(body, debug, code) -> None:
    profile = launch(program(f"{body}\ncuda.syncthreads()", debug), 1, 6, np.zeros(6, "f4"))
    assert codes(profile) == [code]


@pytest.mark.parametrize("index", ["j", "j + i * 0", "i * 0 - j - 1"])
def test_an_item_that_a_tuple_lacks(index: str) -> None:
    """The same for an index that is uniform, that differs between lanes, and that is negative."""
    body = f"i = cuda.threadIdx.x\nt = (1.0, 2.0)\nfor j in range(4):\n    out[i, j] = t[{index}]"
    out = np.zeros((2, 4))
    profile = run(body, 1, 2, out)
    assert codes(profile) == ["out-of-bounds-read"]
    expected = [2, 1, 0, 0] if "-" in index else [1, 2, 0, 0]
    assert out.tolist() == [expected] * 2
    assert facts_of(profile.findings[0].message)["items"] == 2
