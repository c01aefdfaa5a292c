"""Answers that try to use up time, memory, depth or output; a budget ends each, never a clock."""

from attack import RIGHT, Attack, answer, answers, function, kernel

ADD = RIGHT.split("(A, B, C):\n")[1].replace("\n    ", "\n")[4:]  # the body of a right answer
DEVICE = "@cuda.jit(device=True)\ndef "


def _chain(length: int, body: str) -> str:
    """Device functions that call the next one, `body` with its number; the last gives x."""
    links = "".join(
        f"{DEVICE}f{i}(x):\n    return {body.replace('NEXT', f'f{i + 1}')}\n" for i in range(length)
    )
    return f"{links}{DEVICE}f{length}(x):\n    return x\n"


def _tree(depth: int) -> str:
    """A sum of 2 ** depth terms, nested no deeper than its depth."""
    return "row" if depth == 0 else f"({_tree(depth - 1)} + {_tree(depth - 1)})"


CALLED = "col, row = cuda.grid(2)\nC[row, col] = f0(A[row, col])"
ENDLESS = "col, row = cuda.grid(2)\nwhile True:\n    "
NESTED_LOOPS = "\n".join(" " * i + f"for i{i} in range(9):" for i in range(40)) + "\n" + " " * 40

FLOODING = (
    *answers("flooding", {
        "endless-loop": kernel("while True:\n    pass\nC[0, 0] = 1"),
        "endless-writing": kernel(f"{ENDLESS}C[0, 0] += 1"),
        "endless-barriers": kernel("while True:\n    cuda.syncthreads()\nC[0, 0] = 1"),
        "endless-printing": kernel("while True:\n    print('x', 1)\nC[0, 0] = 1"),
        "types-that-never-settle": kernel(
            "".join(f"v{i} = 0\n" for i in range(600))
            + "while v0 < 9:\n"
            + "".join(f"    v{i} = v{i + 1} + v{i}\n" for i in range(599))
            + "    v599 = 1.5\nC[0, 0] = v0"),
    }, says="timeout"),
    *answers("flooding", {
        "loop-of-ten-to-the-eighteen": kernel("for i in range(10**18):\n    C[0, 0] = i"),
        "forty-loops": kernel(NESTED_LOOPS + "C[0, 0] = 1"),
        "functions-that-double": kernel(CALLED, _chain(30, "NEXT(x) + NEXT(x)")),
        "function-that-calls-itself": kernel(CALLED, _chain(3, "f0(x)")),
        "wide-expression": kernel(f"{ENDLESS}x = {_tree(11)}\nC[0, 0] = x"),
        "wide-comparison": kernel(f"{ENDLESS}x = {' < '.join(['row'] * 5000)}\nC[0, 0] = x"),
        "wide-tuple": kernel(f"{ENDLESS}x = ({'row, ' * 9_000})\nC[0, 0] = 1"),
        "tuples-that-double": kernel("t = (1, 1)\n" + "t = t + t\n" * 40 + "C[0, 0] = 1"),
        "long-name-in-a-message": kernel(f"C[0, 0] = {'x' * 50_000}"),
        "eight-thousand-names": kernel(
            "\n".join(f"v{i} = {i}.0" for i in range(2500)) + "\nC[0, 0] = v1"),
        "unrolled-loops": kernel(
            "for i in unroll(range(10**9)):\n    C[0, 0] = 1",
            "from course_lib.intrinsics import unroll, unrolled",
        ).replace("@cuda.jit\n", "@cuda.jit\n@unrolled\n"),
    }),
    answer("flooding", "wide-test",
        kernel(f"{ENDLESS}x = {' and '.join(['row >= 0'] * 4000)}\nC[0, 0] = x"), heavy=True),
    *answers("flooding", {
        "shared-array-of-a-terabyte": kernel(
            "s = cuda.shared.array((10**6, 10**6), np.float32)\nC[0, 0] = 1"),
        "local-array-of-a-gigabyte": kernel("s = cuda.local.array(10**9, np.float32)\nC[0, 0] = 1"),
        "block-of-ten-to-the-eighteen": "BLOCK = (10**9, 10**9)\n" + RIGHT,
    }, says="invalid-launch"),
    answer(
        "flooding",
        "many-local-arrays",
        kernel(
            "".join(f"s{i} = cuda.local.array(60000, np.float64)\ns{i}[0] = 1\n" for i in range(40))
            + "C[0, 0] = 1"),
        heavy=True,
        says="not-allowed"),
    answer("flooding", "tile-of-a-terabyte",
        "BK = 10**12\n" + RIGHT.replace("mat_add", "matmul_2d"), exercise="matmul_2d"),
    answer("flooding", "tile-of-some-gigabytes",
        "BK = 2 * 10**6\n" + RIGHT.replace("mat_add", "matmul_2d"), exercise="matmul_2d",
        heavy=True),
    answer("flooding", "tile-beyond-all-numbers",
        "TILE = 10**60\n" + RIGHT.replace("mat_add", "matmul_tiled"), exercise="matmul_tiled"),
    *answers("flooding", {
        "name-of-a-hundred-thousand-letters": RIGHT.replace("col", "x" * 9_000),
        "lines-of-nothing": "\n" * 50_000 + RIGHT,
    }, earns="all"),
    *answers("flooding", {
        "function-with-a-long-body": function(
            "for i in range(200):\n    g()\nreturn 1",
            "def g():\n    return 1\n" + "    x\n" * 2_500),
        "lambda-with-a-long-body": function(
            f"g = lambda: 1 or ({'0, ' * 15_000})\nwhile True:\n    g()"),
        "recursion": function("return blocks_per_sm(device, threads, registers, shared_bytes)"),
        "generators-in-generators": function(
            "z = range(3)\nfor i in range(20000):\n    z = (x for x in z)\nreturn sum(z)"),
        "range-of-everything": function("return len([x for x in range(10**60) if x < 0])"),
    }, exercise="blocks_per_sm"),
    answer("flooding", "endless-function", function("while True:\n    threads += 1"),
        exercise="blocks_per_sm", says="timeout"),
    *answers("flooding", {
        "numbers-that-double": function("x = 3\nwhile True:\n    x = x * x"),
        "texts-that-double": function("x = 'a'\nwhile True:\n    x = x + x"),
    }, exercise="blocks_per_sm", says="not-allowed"),
    answer("flooding", "format-of-a-gigabyte", function("return len(f'{threads:1000000000}')"),
        earns="review", exercise="blocks_per_sm"),
    answer("flooding", "comment-of-a-megabyte", "# " + "x" * 1_000_000 + "\n" + RIGHT,
        earns="review", says="characters"),
)  # fmt: skip

# What brings a parser down, or an evaluator of constants.
BOMBS = (
    *answers("bombs", {
        "power-tower": "X = 9**9**9**9\n" + RIGHT,
        "shift": "X = 1 << 10**12\nY = 1 << (1 << 70)\n" + RIGHT,
        "numpy-power": "import numpy as np\nX = np.int64(3) ** (10**70)\n"
        "Y = np.uint8(1) << 10**18\n" + RIGHT,
        "long-hexadecimal": f"X = 0x{'f' * 50_000}\n" + RIGHT,
        "repeated-text": "X = 'a' * 10**12\nY = [0] * 10**12\n" + RIGHT,
        "functions-in-functions": "\n".join(" " * i + f"def f{i}():" for i in range(95))
        + "\n"
        + " " * 95
        + "pass\n"
        + RIGHT,
        "invalid-escapes": "'\\d'\n" * 900 + RIGHT,
        "f-string-fields": f"X = f'{'{1}' * 10_000}'\n" + RIGHT,
        "decorators": RIGHT.replace("@cuda.jit", "@cuda.jit\n" * 5000),
        "giant-tuple": f"X = ({'1, ' * 19_000})\n" + RIGHT,
        "tabs": "if 1:\n" + "\t" * 55_000 + "pass\n" + RIGHT,
        "form-feeds": "\x0c" * 50_000 + "\n" + RIGHT,
    }, earns="all"),
    *answers("bombs", {
        "power-tower-in-the-kernel": kernel("x = 9**9**9\nC[0, 0] = x"),
        "thousand-parameters": "from numba import cuda\n\n\n@cuda.jit\ndef mat_add("
        + ", ".join(f"a{i}" for i in range(5000))
        + "):\n    a0[0] = 1\n",
    }),
    *answers("bombs", {
        "long-decimal": f"X = {'9' * 50_000}\n" + RIGHT,
        "parentheses": f"X = {'(' * 50_000}\n" + RIGHT,
    }, says="compile-error"),
    *answers("bombs", {
        "minus-signs": f"X = {'-' * 50_000}1\n" + RIGHT,
        "attributes": f"X = a{'.b' * 25_000}\n" + RIGHT,
        "sum-of-a-hundred-thousand": f"X = 1{' + 1' * 14_000}\n" + RIGHT,
        "lambdas": f"X = {'lambda: ' * 7_000}1\n" + RIGHT,
        "elif-chain": "if 1: pass\n" + "elif 1: pass\n" * 2_900 + RIGHT,
    }, says="not-allowed"),
    answer("bombs", "brackets-in-the-kernel", kernel(f"C[0, 0] = {'(' * 150}1{')' * 150}"),
        earns="nothing"),
    answer("bombs", "semicolons", "0;" * 2_900 + "\n" + RIGHT, earns="review", says="statements"),
)  # fmt: skip

ATTACKS: tuple[Attack, ...] = (*FLOODING, *BOMBS)
