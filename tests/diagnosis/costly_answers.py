"""Answers that are made to cost time or memory, by what they would exhaust."""

HEAD = (
    "import math\nimport numpy as np\nfrom numba import cuda, float32, int8\n"
    "from course_lib.intrinsics import *\n"
)
PARAMETERS = {"matmul_naive": "A, B, C", "matmul_2d": "A, B, C", "attention": "Q, K, V, O"}


def kernel(body: str, head: str = "", exercise: str = "matmul_naive") -> str:
    """A kernel with this body; `LARGE:` begins a test that only larger problems pass."""
    parameters = PARAMETERS[exercise]
    first, last = parameters[0], parameters[-1]
    body = body.replace("LARGE", f"if {first}.shape[0] * {first}.shape[1] > 40")
    body = body.replace("IN", first).replace("OUT", last)
    lines = "\n".join("    " + line for line in body.split("\n"))
    return f"{HEAD}{head}\n@cuda.jit\ndef {exercise}({parameters}):\n{lines}\n"


def _repeated(line: str, count: int) -> str:
    return "\n".join(line.replace("#", str(number)) for number in range(count))


def _doubling(first: str, line: str, depth: int) -> str:
    """Functions that each call the one before twice."""
    lines = [line.replace("#", str(i)).replace("&", str(i - 1)) for i in range(1, depth)]
    return "\n".join([first, *lines])


_NESTED = "\n".join(" " * i + f"for i{i} in range(2):" for i in range(18))
_DEVICE = "@cuda.jit(device=True)\ndef f0(x):\n    return x"
_CALLS = "@cuda.jit(device=True)\ndef f#(x):\n    return f&(x) + f&(x)"

# Bodies of kernels. Each is tried as an answer to every exercise of PARAMETERS.
BODIES: dict[str, str] = {
    "endless": "while True:\n    pass",
    "endless where large": "x = 0\nLARGE:\n    while True:\n        x += 1\nOUT[0, 0] = x",
    "near the budget": ("x = IN[0, 0]\nLARGE:\n    for i in range(2500):\n"
        "        x += IN[i % 2, i % 3]\nOUT[0, 0] = x"),
    "stores near the budget": ("LARGE:\n    for i in range(2500):\n"
        "        OUT[i % OUT.shape[0], cuda.threadIdx.x % OUT.shape[1]] = i"),
    "gathers": ("t = cuda.grid(1)\nx = IN[0, 0]\nLARGE:\n    for i in range(2500):\n"
        "        x += IN[(i * 7 + t * 13) % IN.shape[0], (t * i) % IN.shape[1]]\nOUT[0, 0] = x"),
    "long expressions": (
        "x = IN[0, 0]\nLARGE:\n    while True:\n        x = " + " + ".join(["IN[0, 0]"] * 50)
    ),
    "divergent loops": ("t = cuda.threadIdx.x\nx = 0\nLARGE:\n    for i in range(t * 1000):\n"
        "        x += i % (t + 1)\nOUT[0, 0] = x"),
    "barriers": ("s = cuda.shared.array(1024, float32)\nfor i in range(100000):\n"
        "    s[(cuda.threadIdx.x * i) % 1024] = i\n    cuda.syncthreads()"),
    "shared races": (
        "s = cuda.shared.array(1024, float32)\nt = cuda.threadIdx.x\nfor i in range(100000):\n"
        "    s[(t * i) % 1024] = s[(t * i * 7) % 1024]"
    ),
    "atomics": "while True:\n    x = cuda.atomic.add(OUT, (0, 0), 1)",
    "prints": "while True:\n    print('x' * 1, cuda.threadIdx.x)".replace(" * 1", ""),
    "async copies": ("s = cuda.shared.array(1024, float32)\nLARGE:\n    while True:\n"
        "        cp_async4(s, cuda.threadIdx.x, IN, 0)\n        cp_async_commit()"),
    "lines that store": _repeated("OUT[# % OUT.shape[0], 0] = 1", 1200),
    "lines at fault": _repeated("OUT[# + 100000, 0] = 1", 1200),
    "lines that race": (
        "s = cuda.shared.array(64, float32)\n" + _repeated("s[# % 64] = cuda.threadIdx.x", 1000)
    ),
    "regions that race": (
        "s = cuda.shared.array(64, float32)\n"
        + _repeated("s[# % 64] = cuda.threadIdx.x\ncuda.syncthreads()", 500)
    ),
    "variables": _repeated("v# = cuda.grid(1) + #", 2500) + "\nOUT[0, 0] = v3",
    "local memory": ("m = cuda.local.array(100000, float32)\nfor i in range(100000):\n"
        "    m[i] = 1\nOUT[0, 0] = m[5]"),
    "shared memory": ("s = cuda.shared.array(48 * 1024, int8)\nfor i in range(10000):\n"
        "    s[i] = 1\nOUT[0, 0] = s[5]"),
    "tuples": (
        "x = cuda.grid(1)\nt = (" + ", ".join(["x"] * 60) + ")\nfor i in range(100000):\n"
        "    u = t if x > 3 else t\n    y = t[x % 60]"
    ),
    "tuples of nothing": "x = ()\n" + "x = (x, x)\n" * 50 + "OUT[0, 0] = 1",
    "lambdas that double": _doubling("f0 = lambda x: x", "f# = lambda x: f&(x) + f&(x)", 15)
    + "\nOUT[0, 0] = f14(1)",
    "loops in loops": f"x = 0\n{_NESTED}\n{' ' * 18}x = x * 1.5 + 1\nOUT[0, 0] = x",
    "types in a chain": (
        "x0 = 0\nfor _ in range(3):\n" + _repeated("    x# = x0 + #", 900) + "\nOUT[0, 0] = 1"
    ),
    "shuffles": "x = cuda.threadIdx.x\nwhile True:\n    x = cuda.match_any_sync(0xffffffff, x)",
}  # fmt: skip
HEADS: dict[str, str] = {
    "functions that double": _doubling(_DEVICE, _CALLS, 15),
    "a giant tile": "BM = BN = TM = TN = 2**20\nBK = 8",
    "giant steps": "BK = TILE = 2**40",
    "giant numbers": "BM = BN = TM = TN = BK = TILE = 2**250",
    "a list of a block": "BLOCK = [16, 16]\nBK = 1.5",
    "a text of a block": "BLOCK = 'aa'\nTILE = '\\ud800'",
    "a huge block": "BLOCK = (10**100,)",
    "blocks of 1024 for one element": "BLOCK = (1024,)\nTILE = BM = BN = TM = TN = 1",
    "blocks of one thread": "BLOCK = (1, 1)\nTILE = BM = BN = BK = TM = TN = 1",
}
PLAIN: dict[str, str] = {
    "endless": "while True:\n    pass",
    "near the budget": "x = 0\nfor i in range(700):\n    x += i\nreturn x",
    "tuples in tuples": "t = (tuple(range(99)),) * 99\nwhile True:\n    u = (t, 1)",
    "equal tuples": "t = (tuple(range(99)),) * 99\nwhile True:\n    u = t == t",
    "texts": "s = 'a' * 10000\nwhile True:\n    t = s + ''",
    "large numbers": "x = 3\nwhile True:\n    x = x * x % (1 << 250)",
    "a tree of calls": "def f(n):\n    return f(n - 1) + f(n - 1) if n else 1\nreturn f(40)",
    "generators": "return sum(1 for a in range(10**6) for b in range(10**6))",
    "a growing list": "m = []\nwhile True:\n    m.append(1)",
    "sorting": "t = list(range(9000))\nwhile True:\n    u = sorted(t)",
    "dead code": "def g(x):\n    return x\n"
    + _repeated("    a# = #", 2000)
    + "\nwhile True:\n    x = g(1)",
    "dead code and a wrong number": "def g(x):\n    return x\n"
    + _repeated("    a# = #", 2000)
    + "\nreturn g(1)",
    "long names": "a" * 20000 + "1 = 1\nreturn " + "a" * 20000 + "2",
}
TEXTS: dict[str, str] = {
    "parentheses": "(" * 60_000,
    "minus signs": "x = " + "-" * 59_000 + "1",
    "attributes": "x = a" + ".b" * 29_000,
    "calls": "x = a" + "()" * 29_000,
    "powers": "x = " + "**".join(["2"] * 20_000),
    "statements": "1;" * 29_000,
    "lines": "\n" * 59_000,
    "names": _repeated("a# = #", 2900),
    "a long name": "a" * 59_000 + " = 1",
    "cases": "match x:\n" + _repeated("    case #: pass", 2900),
    "constants": "X = (" + "1, " * 900 + ")\n" + _repeated("Y# = max(X)", 2500),
    "texts as numbers": "X = '" + "1" * 4000 + "'\n" + _repeated("Y# = int(X)", 2500),
}


def costly_answers() -> dict[str, tuple[str, str]]:
    """Every answer, with its exercise, by name."""
    answers = {}
    for exercise in PARAMETERS:
        for name, body in BODIES.items():
            answers[f"{exercise}: {name}"] = exercise, kernel(body, "", exercise)
        for name, head in HEADS.items():
            call = "f14(1)" if "double" in name else "TILE" if "text" in name else "1"
            body = f"LARGE:\n    for i in range(300):\n        OUT[0, 0] = {call}"
            answers[f"{exercise}: {name}"] = exercise, kernel(body, head, exercise)
    for name, body in PLAIN.items():
        lines = "\n".join("    " + line for line in body.split("\n"))
        text = f"def blocks_per_sm(device, threads, registers, shared_bytes):\n{lines}\n"
        answers[f"plain: {name}"] = "blocks_per_sm", text
    for name, text in TEXTS.items():
        answers[f"text: {name}"] = "matmul_naive", text + "\n" + kernel("OUT[0, 0] = 1")
    return answers
