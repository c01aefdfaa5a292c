"""The slips that are usual in the tasks of lesson 05c: see test_tasks.py."""

GUARD = "row < A.shape[0] and column < A.shape[1]"
BEFORE = """\
        before = float32(0)
        if t >= step:
            before = part[t - step]
        cuda.syncthreads()
        part[t] += before
        cuda.syncthreads()
"""
IN_RANGE = "    if i < x.shape[0]:\n"
LOAD = """\
        part[t + 1] = x[i]
        if t == 0:
            part[0] = x[i - 1] if i > 0 else float32(0)
"""
TOTAL = """\
        total = float32(0)
        for k in range(A.shape[0]):
            total += A[k, j]
        y[j] = total
"""

SLIPS: dict[str, list[tuple[str, str, str, str]]] = {
    "add_bias": [
        ("column < A", "column - 1 < A", "wrong-bounds-check", "if row"),
        ("column < A.shape[1]", "column < A.shape[0]", "wrong-bounds-check", "if row"),
        ("bias[column]", "bias[row]", "wrong-index", "B[row, column] ="),
        (" + bias[column]", "", "wrong-formula", "B[row, column] ="),
        (GUARD, "column < A.shape[0] and row < A.shape[1]", "wrong-bounds-check", "if column"),
        ("column, row = cuda", "row, column = cuda", "wrong-index", "row, column ="),
    ],
    "prefix_sums": [
        # The usual mend of someone who knows the rule, and not where the two threads meet.
        (BEFORE, "        if t >= step:\n            before = part[t - step]\n"
         "            cuda.syncthreads()\n            part[t] += before\n"
         "        cuda.syncthreads()\n", "barrier-divergence", "            cuda.syncthreads()"),
        ("        part[t] += before\n        cuda.syncthreads()\n", "        part[t] += before\n",
         "race-read-after-write", "before = part"),
        (BEFORE, BEFORE.replace("        cuda.syncthreads()\n", "", 1), "race-write-after-read",
         "part[t] +="),
        ("while step < 128", "while step < 64", "wrong-loop-bound", "while step"),
        ("step *= 2", "step += 1", "wrong-loop-bound", "step +="),
        ("t >= step", "t > step", "wrong-bounds-check", "if t >"),
        (BEFORE.partition("        cuda")[0],
         "        before = part[t - step]\n", "wrong-index", "before = part"),
        ("y[t] = part[t]", "y[t] = x[t]", "wrong-formula", "y[t] ="),
    ],
    "differences": [
        # Everybody passes a barrier, but not the same one.
        (IN_RANGE + LOAD + "    cuda.syncthreads()\n" + IN_RANGE
         + "        y[i] = part[t + 1] - part[t]\n",
         IN_RANGE + LOAD + "        cuda.syncthreads()  # one\n"
         "        y[i] = part[t + 1] - part[t]\n    else:\n        cuda.syncthreads()\n",
         "barrier-divergence", "# one"),
        (IN_RANGE + LOAD + "    cuda.syncthreads()\n" + IN_RANGE,
         "    if i >= x.shape[0]:\n        return\n" + LOAD.replace("        ", "    ", 1)
         .replace("\n        ", "\n    ") + "    cuda.syncthreads()\n    if True:\n",
         "barrier-divergence", "if i >="),
        ("    cuda.syncthreads()\n", "", "race-read-after-write", "y[i] ="),
        (IN_RANGE + "        y[i]", "    if True:\n        y[i]", "out-of-bounds-write", "y[i] ="),
        (" if i > 0 else float32(0)", "", "wrong-index", "part[0] ="),
        ("part[t + 1] - part[t]", "part[t] - part[t + 1]", "wrong-formula", "y[i] ="),
        ("part[0] = x[i - 1] if", "part[0] = x[i] if", "wrong-index", "part[0] ="),
        ("        if t == 0:\n            part[0] = x[i - 1] if i > 0 else float32(0)\n", "",
         "uninitialised-read", "part[t + 1] ="),
        (IN_RANGE + LOAD, LOAD.replace("        ", "    ", 1).replace("\n        ", "\n    "),
         "out-of-bounds-read", "part[t + 1] ="),
    ],
    "column_totals": [
        (TOTAL, "        for k in range(A.shape[0]):\n            y[j] = y[j] + A[k, j]\n",
         "wrong-formula", "y[j] ="),
        ("y[j] = total", "y[j] += total", "accumulator-error", "y[j] +="),
        (TOTAL, TOTAL.replace("total = float32(0)", "total = y[j]"), "accumulator-error",
         "total = y"),
        ("            total += A[k, j]\n", "            total = float32(0)\n"
         "            total += A[k, j]\n", "accumulator-error", "total = float32(0)"),
        (TOTAL, "        for k in range(A.shape[0]):\n            y[j] = float32(0)\n"
         "            y[j] += A[k, j]\n", "accumulator-error", "y[j] = float32(0)"),
        ("float32(0)", "A[0, j]", "accumulator-error", "total = A"),
        ("A[k, j]", "A[j, k]", "wrong-index", "total +="),
        ("range(A.shape[0])", "range(A.shape[1])", "wrong-loop-bound", "for k"),
        ("j < A.shape[1]", "j < A.shape[0]", "wrong-bounds-check", "if j"),
    ],
    "block_sums": [
        ("else float32(0)", "else part[t]", "uninitialised-read", "part[t] ="),
        (" if i < x.shape[0] else float32(0)", "", "out-of-bounds-read", "part[t] ="),
        ("float32(0)\n    cuda", "float32(1)\n    cuda", "missing-mask", "part[t] ="),
        ("range(64)", "range(36)", "wrong-loop-bound", "for k"),
        ("    cuda.syncthreads()\n", "", "race-read-after-write", "total +="),
        # All threads leave it to nobody: the last block's threads past x end before the barrier.
        ("    part[t] = x[i] if i < x.shape[0] else float32(0)\n",
         "    if i >= x.shape[0]:\n        return\n    part[t] = x[i]\n",
         "barrier-divergence", "if i >="),
        ("sums[cuda.blockIdx.x]", "sums[0]", "wrong-index", "sums[0] ="),
        ("range(64)", "range(x.shape[0])", "wrong-loop-bound", "for k"),
    ],
}  # fmt: skip
