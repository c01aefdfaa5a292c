"""What any kernel costs beyond its need is told at its line; a kernel that has no need is not."""

import numpy as np
import pytest
from emulator_helpers import as_program, launch, line_of
from every_case import every_case

from course_lib.emulator import load_program
from course_lib.host import runtime
from course_lib.wording.sentences import facts_of

N = 4096
SUM = (
    "s = cuda.shared.array(256, float32)\nt = cuda.threadIdx.x\n"
    "s[t] = x[cuda.grid(1)]\ncuda.syncthreads()\n"
)
LOCK = (
    "i = cuda.grid(1)\ndone = False\nwhile not done:\n"
    "    if cuda.atomic.cas(x, 0, 0, 1) == 0:\n        cuda.threadfence()\n"
    "        y[0] += z[i]\n        cuda.threadfence()\n        cuda.atomic.exch(x, 0, 0)\n"
    "        done = True"
)


def told(body: str, grid: object, block: object, *shapes: tuple[int, ...], **kinds: object):
    """The code and the text of the line, of each finding, of a launch on arrays x, y and z."""
    names = "xyz"[: len(shapes)]
    random = np.random.default_rng(0)
    arrays = [
        random.integers(0, 9, shape).astype(kinds.get(name, np.float32))
        for name, shape in zip(names, shapes, strict=True)
    ]
    program = as_program(body, ", ".join(names), f"N = {N}")
    profile = launch(program, grid, block, *arrays, costs=True)
    assert not profile.errors, profile.errors
    lines = program.splitlines()
    assert all(finding.severity == "warning" for finding in profile.findings)
    return [(finding.code, lines[finding.line - 1].strip()) for finding in profile.findings]


def findings(body: str, parameters: str, grid: object, block: object, *arrays, before: str = ""):
    """What is found where costs are told."""
    return launch(as_program(body, parameters, before), grid, block, *arrays, costs=True).findings


@pytest.mark.parametrize(("body", "grid", "block", "shapes", "code", "line"), [
    ("i = cuda.grid(1)\ny[i] = x[2 * i]", 8, 256, ((N,), (N // 2,)),
         "uncoalesced-load", "y[i] = x[2 * i]"),
    ("i, j = cuda.grid(2)\ny[i, j] = 1", (4, 4), (16, 16), ((64, 64), (64, 64)),
         "uncoalesced-store", "y[i, j] = 1"),
    ("i = cuda.grid(1)\nhalf = i / 2\ny[i] = x[i] * half", 16, 256, ((N,), (N,)),
         "float64-arithmetic", "half = i / 2"),
    ("i, j = cuda.grid(2)\nif i < y.shape[0] and j < y.shape[1]:\n    y[i, j] = 1",
         2, 16, ((1,), (32, 32)), "incomplete-output", "i, j = cuda.grid(2)"),
    ("i = cuda.grid(1)\nif i < y.shape[0]:\n    y[i] = x[i]", 3, 256, ((1000,), (1000,)),
         "incomplete-output", "y[i] = x[i]"),
    # values go from thread to thread by way of global memory
    ("i = cuda.grid(1)\nt = cuda.threadIdx.x\nx[i] = -x[i]\ncuda.syncthreads()\n"
         "y[i] = x[i - t + 255 - t]", 16, 256, ((N,), (N,)),
         "excess-global-traffic", "y[i] = x[i - t + 255 - t]"),
    # one thread copies what each could, one warp does what all could
    ("s = cuda.shared.array(96, float32)\nif cuda.threadIdx.x == 0:\n"
         "    for k in range(96):\n        s[k] = x[k]\ncuda.syncthreads()\ni = cuda.grid(1)\n"
         "a = float32(0)\nfor k in range(96):\n    a = a * x[i] + s[k]\ny[i] = a",
         16, 128, ((2048,), (2048,)), "serial-work", "if cuda.threadIdx.x == 0:"),
    (SUM + "if t < 32:\n    for k in range(t, 256, 32):\n        a = s[255 - k]\n"
         "        y[cuda.blockIdx.x * 256 + k] = a / (1 + a)", 16, 256, ((N,), (N,)),
         "serial-work", "if t < 32:"),
    ("i = cuda.grid(1)\nif i < x.shape[0]:\n    y[i] = x[i]", 128, 33, ((N,), (N,)),
         "serial-work", "def kernel(x, y):"),
    ("i = cuda.grid(1)\ny[i] = x[i]\ny[i] == x[i]", 16, 256, ((N,), (N,)),
         "no-effect", "y[i] == x[i]"),
])  # fmt: skip
def test_a_cost_is_told_at_its_line(body, grid, block, shapes, code, line) -> None:
    assert (code, line) in told(body, grid, block, *shapes)


@pytest.mark.parametrize(("body", "grid", "block", "shapes", "kinds"), [
    # odd sizes, with a guard
    ("i = cuda.grid(1)\nif i < x.shape[0]:\n    y[i] = -x[i]", 16, 256, ((4001,),) * 2, {}),
    # narrow blocks, rows that start in mid-sector
    ("j, i = cuda.grid(2)\nif i < 61 and j < 61:\n    y[i, j] = x[i, j]",
         (8, 8), (8, 8), ((61, 61),) * 2, {}),
    # a padded tile
    ("s = cuda.shared.array((32, 33), float32)\nj, i = cuda.threadIdx.x, cuda.threadIdx.y\n"
         "s[i, j] = x[i, j]\ncuda.syncthreads()\ny[i, j] = s[j, i]",
         1, (32, 32), ((32, 32), (32, 32)), {}),
    # data decide what is read, and who works
    ("i = cuda.grid(1)\nz[i] = y[x[i] * 400]", 16, 256, ((N,), (N,), (N,)), {"x": np.int32}),
    ("i = cuda.grid(1)\nn = 0\nwhile x[i] > n * n:\n    n += 1\ny[i] = n",
         16, 256, ((N,), (N,)), {"x": np.int32, "y": np.int32}),
    # the channels of a pixel, side by side or one by one
    ("i = cuda.grid(1)\nr = x[i, 0]\ng = x[i, 1]\nb = x[i, 2]\ny[i] = max(r, g, b)",
         16, 256, ((N, 3), (N,)), {}),
    ("i = cuda.grid(1)\nfor c in range(4):\n    y[i, c] = x[i, c]",
         16, 256, ((N, 4), (N, 4)), {"x": np.uint8, "y": np.uint8}),
    # a border is all that is touched, and lies a row apart
    ("i = cuda.grid(1)\nif i < 128:\n    y[i, 0] = y[i, 1]", 2, 64, ((1,), (128, 128)), {}),
    # double precision is meant, for all that is stored
    ("i = cuda.grid(1)\nz[i] = x[i] * y[i]", 16, 256, ((N,), (N,), (N,)),
         {"y": np.float64, "z": np.float64}),
    # and so it is beside complex numbers of it, and where no array has fractions
    ("i = cuda.grid(1)\ny[i] = x[i] * 2.0", 16, 256, ((N,), (N,)),
         {"x": np.complex128, "y": np.complex128}),
    ("i = cuda.grid(1)\ny[i] = math.sqrt(x[i])", 16, 256, ((N,), (N,)),
         {"x": np.int32, "y": np.int32}),
    # an index that each thread works out once
    ("i = cuda.grid(1)\nh = int(math.ceil(y.shape[0] / 2))\ny[i] = x[(i + h) % N]",
         16, 256, ((N,), (N,)), {}),
    # every other thread stores, each to its own cell
    ("i = cuda.grid(1)\nif x[i] % 2 == 0:\n    y[i] = 1", 16, 256, ((N,), (N,)), {"x": np.int32}),
    # a load that the compiler takes out of the loop
    ("i = cuda.grid(1)\ns = float32(0)\nfor k in range(9):\n    s += x[i]\ny[i] = s",
         16, 256, ((N,), (N,)), {}),
    # the last element, on purpose
    ("i = cuda.grid(1)\ny[i, -1] = x[i, -1]", 16, 256, ((N, 1), (N, 1)), {}),
    # a binary search
    ("i = cuda.grid(1)\nlow, high = 0, N\nwhile low < high:\n    mid = (low + high) // 2\n"
         "    if x[mid] < y[i]:\n        low = mid + 1\n    else:\n        high = mid\nz[i] = low",
         16, 256, ((N,), (N,), (N,)), {}),
    # a stencil leaves its border out
    ("i = cuda.grid(1)\nif 0 < i < x.shape[0] - 1:\n    y[i] = x[i - 1] + x[i] + x[i + 1]",
         16, 256, ((4001,), (4001,)), {}),
    # small images at whose edges most warps are parted, with a guard and with a return
    ("j, i = cuda.grid(2)\nh, w = y.shape\nif i < h and j < w:\n    s = float32(0)\n"
         "    for k in range(50):\n        s += x[k]\n    y[i, j] = s * x[i] * x[j]",
         (4, 4), (16, 16), ((64,), (52, 20)), {}),
    ("j, i = cuda.grid(2)\nh, w = y.shape\nif i >= h or j >= w:\n    return\n"
         "s = float32(0)\nfor k in range(50):\n    s += x[k]\ny[i, j] = s * x[i] * x[j]",
         (4, 4), (16, 16), ((64,), (52, 20)), {}),
    # one row on purpose: the border of the other axis is what is left out
    ("j, i = cuda.grid(2)\nif 0 < j < 63 and i < 64:\n    y[i, j] = 1",
         (2, 64), (32, 1), ((1,), (64, 64)), {}),
    # one thread of each block adds the block's sum
    (SUM + "n = 128\nwhile n > 0:\n    if t < n:\n        s[t] += s[t + n]\n"
         "    cuda.syncthreads()\n    n //= 2\nif t == 0:\n    cuda.atomic.add(y, 0, s[0])",
         16, 256, ((N,), (1,)), {}),
    # the end of a scan: each thread reads one element, and the first block none
    ("i = cuda.grid(1)\nb = cuda.blockIdx.x\nif b > 0:\n    y[i] += x[b - 1]",
         300, 512, ((300,), (300 * 512,)), {}),
    ("i = cuda.grid(1)\ny[i] += x[cuda.blockIdx.x]", 300, 512, ((300,), (300 * 512,)), {}),
    # a first block that loads little, where the others load much
    ("i = cuda.grid(1)\ns = float32(0)\nfor k in range(2 * cuda.blockIdx.x):\n    s += x[k]\n"
         "y[i] = s", 4, 64, ((N,), (256,)), {}),
])  # fmt: skip
def test_nothing_is_told_where_nothing_is_better(body, grid, block, shapes, kinds) -> None:
    assert told(body, grid, block, *shapes, **kinds) == []


EXCHANGED = "i = cuda.grid(1)\nt = cuda.threadIdx.x\ny[i] = z[i]\ncuda.syncthreads()\n"


@pytest.mark.parametrize(("body", "blocks"), [
    (LOCK, 1),
    (LOCK, 2),
    # what a block hands on inside is also what a counter hands on to all
    (EXCHANGED + "x[i] = y[i - t + 63 - t]\ncuda.atomic.add(y, i % 64, 1)", 64),
    (EXCHANGED + "x[i] = y[i - t + 63 - t]\nif t == 0:\n    z[i] = y[0]", 64),
])  # fmt: skip
def test_nothing_is_said_to_stay_in_a_block_that_others_need(body: str, blocks: int) -> None:
    arrays = np.zeros(N, np.int32), np.zeros(N, np.int32), np.ones(N, np.int32)
    found = findings(body, "x, y, z", blocks, 64, *arrays)
    assert "excess-global-traffic" not in [each.code for each in found]


COLLATZ = """
i = cuda.grid(1)
if i < y.shape[0]:
    n = i + 1
    c = 0
    while n != 1:
        n = 3 * n + 1 if n % 2 else n // 2
        c += 1
    y[i] = c
"""
TRIANGLE = """
i = cuda.grid(1)
if i < y.shape[0]:
    c = 0
    for k in range(i % 128 // 96 * 400 + 1):
        c += k
    y[i] = c
"""
ONE_LONG = COLLATZ.replace("n = i + 1", "n = 27 if i % 128 == 5 else 1")


@pytest.mark.parametrize("body", [COLLATZ, TRIANGLE, ONE_LONG])
@pytest.mark.parametrize("threads", [500, 512])
def test_a_branch_that_all_threads_enter_is_not_for_one(body: str, threads: int) -> None:
    found = findings(body, "y", 4, 128, np.zeros(threads, np.int32))
    assert line_of(as_program(body, "y"), "if i <") not in [each.line for each in found], found


LOOPS = {  # in each of them x[i] is loaded again and again, if the compiler does not take it out
    "s += x[i] * float32(k)": False,
    "s += x[i - 1] + x[i]": False,
    "s += math.exp(x[i] * float32(k))": False,
    "x[i] += float32(k)": False,
    "x[i] = x[i] * float32(1.01) + float32(.1)": False,
    "own[k % 4] = x[i] * float32(k)": False,
    "for c in range(4):\n        s += x[4 * (i % 256) + c] * y[k]": False,
    "for c in range(1, 8, 2):\n        s += x[8 * (i % 128) + c] * y[k]": False,
    "for b in range(4):\n        for c in range(4):\n            s += x[4 * (i % 256) + c] * y[b]":
        False,
    "for c in range(cuda.gridDim.x // 4):\n        s += x[4 * (i % 256) + c] * y[k]": True,
    "for c in range(4):\n        y[c] = x[4 * (i % 256) + c]": True,
    "for b in range(99):\n        for c in range(4):\n            z[b % 9, k] = x[i * 4 % 999 + c]":
        True,
    "x[i] += y[k]": True,
    "x[i] += z[k, i]": True,
    "x[i] = x[i] / 2\n    y[i] = y[i] + x[i]": True,
    "z[k, i] = x[i] * float32(k)": True,
    "s += x[i]\n    cuda.syncthreads()": True,
    "s += x[i]\n    cuda.atomic.add(y, k, s)": True,
    "if k % 2:\n        x[i] = x[i] * float32(1.01)": True,
}  # fmt: skip


@pytest.mark.slow
@every_case("loop", LOOPS)
def test_a_load_is_told_where_the_compiler_leaves_it_in_its_loop(loop: str) -> None:
    """As Numba's PTX has it."""
    body = (
        "i = cuda.grid(1)\ns = float32(0)\nown = cuda.local.array(4, float32)\nown[2] = 0\n"
        f"for k in range(n):\n    {loop}\nif n < 0:\n    y[i] = s + own[2]"
    )
    x, y, z = (np.ones(shape, np.float32) for shape in (1024, 1024, (32, 1024)))
    found = findings(body, "x, y, z, n", 16, 64, x, y, z, 16)
    told = [each.message for each in found if each.code == "excess-global-traffic"]
    assert any(" of x " in message for message in told) == LOOPS[loop]


def test_an_array_of_float64_among_others_is_told_at_the_line_that_reads_it() -> None:
    found = told("i = cuda.grid(1)\nz[i] = x[i] * y[i]", 16, 256, (N,), (N,), (N,), y=np.float64)
    assert found == [("float64-arithmetic", "z[i] = x[i] * y[i]")]


def test_a_negative_index_that_is_read_has_a_meaning_in_ones_own_kernel() -> None:
    program = as_program("i = cuda.grid(1)\ny[i] = x[i - 1]", "x, y")
    arrays = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    for costs, severity in ((True, "warning"), (False, "error")):
        (found,) = launch(program, 1, 64, *arrays, costs=costs).findings
        assert (found.code, found.severity) == ("wrong-index", severity)


def test_a_word_says_what_was_counted_and_what_would_do() -> None:
    program = as_program("i = cuda.grid(1)\ny[i] = x[4 * i]", "x, y")
    arrays = np.zeros(N, np.float32), np.zeros(N // 4, np.float32)
    (found,) = launch(program, 4, 256, *arrays, costs=True).findings
    assert found.line == line_of(program, "x[4 * i]")
    assert str(found).endswith(
        "Loads from x take 16 sectors per request, but 4 would hold everything that the lanes ask "
        "for: neighbouring lanes are 4 elements apart."
    )
    assert launch(program, 4, 256, *arrays).findings == []


def test_a_sum_that_leaves_its_type_is_told_and_a_hash_is_not() -> None:
    body = "i = cuda.grid(1)\nx[i] = x[i] + x[i]"
    assert told(body, 1, 1, (1,), x=np.int32) == []
    large = np.full(1, 2**30, np.int32)
    program = as_program(body, "x")
    (found,) = launch(program, 1, 1, large, costs=True).findings
    assert (found.code, found.line) == ("numerical-overflow", line_of(program, "x[i] + x[i]"))
    assert "2,147,483,648 does not fit into an element of" in str(found)
    hashed = as_program(body.replace("x[i] + x[i]", "(x[i] + 1) * 16777619"), "x")
    assert launch(hashed, 1, 1, large, costs=True).findings == []


GUARDED = "i, j = cuda.grid(2)\nif i < y.shape[0] and j < y.shape[1]:\n    "


@pytest.mark.parametrize(("body", "grid", "block", "is_told"), [
    (GUARDED + "y[i, j] *= 2", 2, 16, True),
    (GUARDED + "v = y[i, j]\n    y[i, j] = -v", 2, 16, True),
    ("i = cuda.grid(1)\nj = cuda.blockIdx.y\ny[j, i] += x[i]", 2, 16, True),
    (GUARDED + "y[i, j] *= 2", (2, 2), (16, 16), False),
    # a row is asked for by its number; what is read elsewhere need not be written all over
    ("i = cuda.grid(1)\ny[0, i] *= 2", 2, 16, False),
    (GUARDED + "y[i, j] = y[i, j + 1]", 2, 16, False),
    ("i = cuda.grid(1)\nfor j in range(32):\n    y[i, j] *= 2", 2, 16, False),
])  # fmt: skip
def test_an_axis_that_the_launch_lacks_is_told_in_place(body, grid, block, is_told) -> None:
    x, y = np.ones(32, np.float32), np.ones((32, 32), np.float32)
    found = findings(body, "x, y", grid, block, x, y)
    said = [finding.message for finding in found if finding.code == "incomplete-output"]
    assert bool(said) == is_told and all("along y" in message for message in said)


# Each reads, or updates, along an axis that a launch in one dimension does not have.
READ_ALONG = {
    "a grid of two": "i, j = cuda.grid(2)\ncuda.atomic.add(y, i, a[i, j])",
    "behind tests": ("i, j = cuda.grid(2)\nif i < a.shape[0] and j < a.shape[1]:\n"
        "    cuda.atomic.add(y, i, a[i, j])"),
    "tests that turn back": (
        "i, j = cuda.grid(2)\nif i >= a.shape[0] or j >= a.shape[1]:\n    return\n"
        "cuda.atomic.max(y, 0, a[i, j])"),
    "the index of a thread": (
        "i, j = cuda.threadIdx.x, cuda.threadIdx.y\ncuda.atomic.add(y, i, a[j][i])"),
    "a variable from it": (
        "i = cuda.grid(1)\nj = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y\n"
        "row = j * 2\ncuda.atomic.add(y, i, a[row, i])"),
    "by place": "p = cuda.grid(2)\nj = cuda.grid(2)[1]\ncuda.atomic.add(y, p[0], a[p[0], j])",
    "flat": ("i, j = cuda.grid(2)\nif i < 32 and j < n:\n    cuda.atomic.add(y, i, x[j * 32 + i])"),
    "updates": "i, j = cuda.grid(2)\ncuda.atomic.add(a, (i, j), 1)",
    "updates behind tests": ("i, j = cuda.grid(2)\nif i < a.shape[0] and j < a.shape[1]:\n"
        "    cuda.atomic.max(a, (i, j), i)"),
}  # fmt: skip
RIGHT_WITHOUT = {
    "updates of a single row": "i, j = cuda.grid(2)\ncuda.atomic.add(row, (j, i), 1)",
    "updates of the first column": (
        "i, j = cuda.grid(2)\nif j == 0:\n    cuda.atomic.add(a, (i, 0), 1)"),
    "a single row": "i, j = cuda.grid(2)\ny[i] = row[j, i]",
    "a single channel": (
        "i, j = cuda.grid(2)\nif i < y.size and j < one:\n    y[i] = row[j, i] * a[j, i]"),
    "one row, as the shape says": (
        "i, j = cuda.grid(2)\nrows, columns = row.shape\nif j < rows and i < columns:\n"
        "    y[i] = row[j, i] * a[i, j]"),
    "a loop over the rest": (
        "i, j = cuda.grid(2)\ns = float32(0)\nfor k in range(j, a.shape[1], cuda.gridsize(2)[1]):"
        "\n    s += a[k, i]\ny[i] = s"),
    "threads counted through": (
        "t = cuda.threadIdx.x + cuda.threadIdx.y * cuda.blockDim.x\ny[t] = x[t]"),
    "blocks counted through": (
        "i = (cuda.blockIdx.y * cuda.gridDim.x + cuda.blockIdx.x) * cuda.blockDim.x "
        "+ cuda.threadIdx.x\nif i < 32:\n    y[i] = x[i]"),
    "the first column alone": "i, j = cuda.grid(2)\nif j == 0:\n    y[i] = a[i, 0]",
    "neighbours around it": (
        "i, j = cuda.grid(2)\ny[i] = halo[i, j] + halo[i, j + 1] + halo[i, j + 2]"),
}  # fmt: skip


@every_case(("body", "is_told"), [
    *((body, True) for body in READ_ALONG.values()),
    *((b, False) for b in RIGHT_WITHOUT.values()),
], ids=[*READ_ALONG, *RIGHT_WITHOUT])  # fmt: skip
def test_what_is_read_along_an_axis_that_the_launch_lacks_is_told(body: str, is_told: bool) -> None:
    program = as_program(body, "a, x, y, row, halo, n, one")
    a, x, y = (np.ones(shape, np.float32) for shape in ((32, 32), 32 * 32, 32))
    row, halo = np.ones((1, 32), np.float32), np.ones((32, 3), np.float32)
    profile = launch(program, 1, 32, a, x, y, row, halo, 32, 1, costs=True)
    said = [found for found in profile.findings if found.code == "wrong-index"]
    assert not profile.errors and bool(said) == is_told
    if said:
        assert len(said) == 1 and facts_of(said[0].message)["axis"] == "y"
        line = program.splitlines()[said[0].line - 1].strip()
        assert line.endswith(("]", "])")) or ".atomic." in line
    if not is_told:
        assert not any("thread along" in found.message for found in profile.findings)


GATHERED = """
@cuda.jit(device=True)
def mean(part, first):
    s = float32(0)
    for k in range(8):
        s += part[first + k]
    return s
"""


@pytest.mark.parametrize(
    ("call", "is_told"),
    [("mean(x[k[i]:], 0)", False), ("mean(x, k[i])", False), ("mean(x[8 * i:], 0)", True),
     ("mean(x, 8 * i)", True)],
)  # fmt: skip
def test_a_function_that_is_given_what_data_chose_gathers(call: str, is_told: bool) -> None:
    body, y = f"i = cuda.grid(1)\ny[i] = {call}", np.zeros(N, np.float32)
    x, k = np.ones(8 * N + 8, np.float32), np.arange(0, 8 * N, 8, dtype=np.int32)
    found = findings(body, "x, k, y", N // 256, 256, x, k, y, before=GATHERED)
    assert ("uncoalesced-load" in [each.code for each in found]) == is_told


def test_a_part_of_a_block_is_no_edge() -> None:
    body = (
        "i, j = cuda.grid(2)\nif cuda.threadIdx.x < 8:\n    s = float32(0)\n"
        "    for k in range(50):\n        s = s * x[k] + x[i]\n    y[j, i] = s"
    )
    found = told(body, 16, (16, 8), (256,), (8, 256))
    assert ("serial-work", "if cuda.threadIdx.x < 8:") in found


EVERY_OTHER = {
    "a branch": ("if i % 2 == 0:\n    for k in range(40):\n        s += x[i] * k\n    y[i] = s",
        "This branch splits"),
    "a loop": ("for k in range(40 if i % 2 == 0 else 0):\n    s += x[i] * k\ny[i] = s",
        "This loop splits"),
    "after a return": (
        "if i % 2 == 1:\n    return\nfor k in range(40):\n    s += x[i] * k\ny[i] = s",
        "reach this loop"),
}  # fmt: skip


@every_case(("body", "said"), EVERY_OTHER.values(), ids=EVERY_OTHER)
def test_what_splits_warps_is_not_said_of_what_few_lanes_reach(body: str, said: str) -> None:
    x, y = np.ones(2048, np.float32), np.ones(2048, np.float32)
    found = findings(f"i = cuda.grid(1)\ns = float32(0)\n{body}", "x, y", 8, 256, x, y)
    (split,) = [each for each in found if each.code == "serial-work"]
    assert said in split.message


ADDED = "s = float32(0)\nfor k in range(x.size):\n    s += x[k]\n"
INDENTED = ADDED.replace("\n", "\n    ")


@pytest.mark.parametrize(("body", "grid", "block", "said"), [
    # one thread adds up, and the others idle: those of its warp, its block, its grid
    (f"if cuda.grid(1) == 0:\n    {INDENTED}y[0] = s", 16, 256, "Only one thread"),
    (f"if cuda.grid(1) == 0:\n    {INDENTED}y[0] = s", 1, 32, "Only one thread"),
    (f"if cuda.grid(1) != 0:\n    return\n{ADDED}y[0] = s", 16, 256, "Only one thread"),
    (f"{ADDED}y[0] = s", 1, 1, "31 of 32 lanes"),
    ("for k in range(x.size // 2):\n    v = x[2 * k]\n    y[k] = v * y[k]", 1, 1, "31 of 32"),
    # all add up the same
    (f"i = cuda.grid(1)\n{ADDED}y[i] = x[i] / s", 4, 128, "all get the same sum"),
    (f"i = cuda.grid(1)\nif i < y.size:\n    {INDENTED}y[i] = s", 4, 128, "the same sum"),
    # from another start
    ("i = cuda.grid(1)\n" + ADDED.replace("s = float32(0)", "s = y[i]") + "y[i] = s", 4, 128,
         "The threads of a block fetch the same"),
    # each adds up its own, or few; one thread does what has an order
    ("i = cuda.grid(1)\ns = float32(0)\nfor k in range(i, x.size, 512):\n    s += x[k]\n"
         "y[i] = s", 4, 128, ""),
    ("i = cuda.grid(1)\ns = float32(0)\nfor k in range(9):\n    s += x[k]\n"
         "y[i] = x[i] / s", 4, 128, ""),
    ("for k in range(1, y.size):\n    y[k] = y[k - 1] * x[k] + y[k]", 1, 1, ""),
    ("v = x[0]\nfor k in range(y.size):\n    v = v * x[k]\n    y[k] = v", 1, 1, ""),
])  # fmt: skip
def test_a_sum_that_is_not_shared_out_is_told(body, grid, block, said) -> None:
    x, y = np.ones(1024, np.float32), np.ones(512, np.float32)
    messages = [found.message for found in findings(body, "x, y", grid, block, x, y)]
    assert any(said in message for message in messages) if said else not messages, messages


WRAPPING = {
    "cuda.atomic.add(x, 0, y[t])": True,
    "cuda.atomic.sub(x, 0, -y[t])": True,
    "old = cuda.atomic.add(x, 0, y[t])": True,
    "s = 0\nfor k in range(64):\n    s += y[k]\nx[t] = s": True,
    "s = 0\nfor k in range(64):\n    s = s + y[k]\nx[t] = s": True,
    "s = y[t] * y[0] * 0\nfor k in range(64):\n    s += y[k] * 2\nx[t] = s": True,
    "s = int64(y[t])\nfor d in (16, 8, 4, 2, 1):\n"
    "    s += cuda.shfl_down_sync(0xffffffff, s, d)\nx[t] = s": True,
    "cuda.atomic.add(x, t, y[t])": False,
    "cuda.atomic.max(x, 0, y[t])": False,
    "if t < 20:\n    cuda.atomic.add(x, 0, y[t])": False,
    "s = 0\nfor k in range(20):\n    s += y[k]\nx[t] = s": False,
    "h = 7\nfor k in range(64):\n    h = h * 31 + y[k]\nx[t] = h": False,
    "h = 7\nfor k in range(64):\n    h += h * 32 + y[k]\nx[t] = h": False,
    "h = 7\nfor k in range(64):\n    h ^= y[k]\n    h *= 16777619\nx[t] = h": False,
    "s = 0\nfor k in range(64):\n    s += y[k]\nx[t] = s & 0x7fffffff": False,
}


@every_case("body", WRAPPING)
def test_a_sum_of_int32_that_wraps_is_told(body: str) -> None:
    x, y = np.zeros(64, np.int32), np.full(64, 10**8, np.int32)
    found = findings("t = cuda.threadIdx.x\n" + body, "x, y", 1, 64, x, y)
    told = [finding for finding in found if finding.code == "numerical-overflow"]
    assert bool(told) == WRAPPING[body]
    assert all(finding.severity == "warning" for finding in told)


ENDLESS = {  # the body, what is told, and whether more steps may end it
    "while cuda.atomic.cas(x, 0, 0, 1) != 0:\n    pass\ncuda.atomic.exch(x, 0, 0)": (
        "waiting for a lock", False),
    "k = 0\nwhile x[0] == 0:\n    k += 1": ("nothing that could end it had changed", False),
    "k = 0\nwhile k < 10**9:\n    k += 1": ("when the 10,000 steps", True),
}  # fmt: skip


@pytest.mark.parametrize("body", ENDLESS)
def test_what_is_said_of_a_loop_that_does_not_end(body: str) -> None:
    told, may_end = ENDLESS[body]
    emulated = runtime.emulate(load_program(as_program(body, "x")).kernel("kernel"), steps=10_000)
    (found,) = emulated.run((1, 32), (np.zeros(1, np.int32),)).errors
    assert found.code == "timeout"
    assert told in str(found)
    assert ("allows more" in found.hint) == may_end


@pytest.mark.parametrize(("first", "said"), [("0", "Each thread loads"), ("i", "A thread loads")])
def test_loads_are_counted_on_average_where_threads_have_different_numbers(first, said):
    body = f"i = cuda.grid(1)\nfor k in range({first}, x.size):\n    y[k, i] = x[i]"
    x, y = np.ones(64, np.float32), np.zeros((64, 64), np.float32)
    told = findings(body, "x, y", 1, 64, x, y)
    (found,) = (each for each in told if " the same 1 element of x" in each.message)
    assert found.message.startswith(said)
    assert ("on average" in found.message) == (first == "i")
