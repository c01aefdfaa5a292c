"""The slips that are usual in the tasks of lesson 04: see test_tasks.py."""

ADD = "        cuda.atomic.add(counts, b, 1)\n"
TOTAL = "    total = float32(0)\n    for start in range(0, x.shape[0], 4):\n"
NUMBER = "cuda.threadIdx.y * 16 + cuda.threadIdx.x"
ROW, COLUMN = "row, column = number // 8, number % 8", "A[row, 8 + column]"
RETURN = "4 * blocks * (K // BK) * (BM * BK + BK * BN)"

SLIPS: dict[str, list[tuple[str, str, str, str]]] = {
    "histogram": [
        (ADD, "        counts[b] += 1\n", "race-write-after-read", "counts[b] +="),
        (ADD, "        counts[b] = counts[b] + 1\n", "race-write-after-read", "counts[b] ="),
        ("    if i < x.shape[0]:\n", "    if True:\n", "out-of-bounds-read", "b ="),
        ("i < x.shape[0]", "i < x.shape[0] - 1", "wrong-bounds-check", "if i <"),
        ("i < x.shape[0]", "i < counts.shape[0]", "wrong-bounds-check", "if i <"),
        ("cuda.grid(1)", "cuda.threadIdx.x", "wrong-index", "i ="),
        ("int(x[i])", "int(x[i] + 0.5)", "integer-arithmetic", "b ="),
        ("int(x[i])", "int(x[i]) + 1", "wrong-index", "b ="),
        ("int(x[i])", "i % 5", "hardcoded-answer", "cuda.atomic"),
        ("counts, b, 1", "counts, b + 1, 1", "wrong-index", "cuda.atomic"),
        ("counts, b, 1", "counts, 0, 1", "wrong-index", "cuda.atomic"),
        ("counts, b, 1", "counts, b, x[i]", "wrong-formula", "cuda.atomic"),
    ],
    "running_totals": [
        (TOTAL, "    for start in range(0, x.shape[0], 4):\n        total = float32(0)\n",
         "accumulator-error", "total = float32(0)"),
        ("range(start, start + 4)", "range(4)", "wrong-formula", "total += x[k"),
        ("range(start, start + 4)", "range(start, 4)", "wrong-loop-bound", "for k"),
        ("range(start, start + 4)", "range(start + 4)", "accumulator-error", "total = floa"),
        ("range(start, start + 4)", "range(x.shape[0])", "wrong-formula", "total +="),
        ("totals[start // 4]", "totals[start]", "wrong-index", "totals[start]"),
        ("totals[start // 4]", "totals[start / 4]", "compile-error", "totals[start"),
        ("total += x", "total = x", "accumulator-error", "total = x"),
        ("float32(0)", "0", "float64-arithmetic", "total = 0"),
        ("x[k] * y[k]", "x[start] * y[start]", "wrong-index", "total +="),
        ("x[k] * y[k]", "x[k] + y[k]", "wrong-formula", "total +"),
        ("        totals[start // 4]", "    totals[start // 4]", "incomplete-output",
         "totals[start"),
    ],
    "stage_tile": [
        (ROW, "row, column = cuda.threadIdx.x, cuda.threadIdx.y", "uncoalesced-load", "tile["),
        # shows
        (ROW, "row, column = cuda.threadIdx.y, cuda.threadIdx.x", "out-of-bounds-write", "tile["),
        # shows
        (ROW, "row, column = number // 16, number % 16", "wrong-index", "row, column ="),
        (ROW, "row, column = number % 8, number // 8", "wrong-index", "row, column ="),
        (COLUMN, "A[row, column]", "wrong-index", "tile["),
        (COLUMN, "A[8 + row, column]", "out-of-bounds-read", "tile["),
        (NUMBER, "cuda.threadIdx.y * 8 + cuda.threadIdx.x", "wrong-index", "number ="),
        (NUMBER, "cuda.threadIdx.x", "wrong-index", "row, column "),  # shows
        ("tile[row, column]", "tile[row, 8 + column]", "wrong-index", "tile["),
    ],
    "staged_bytes": [
        (RETURN, "8 * M * N * K", "wrong-formula", "return"),
        (RETURN, "4 * (M * K + K * N)", "wrong-formula", "return"),
        (RETURN, "4 * (BM * BK + BK * BN)", "wrong-formula", "return"),
        (RETURN, "4 * blocks * (BM * BK + BK * BN)", "wrong-formula", "return"),
    ],
}  # fmt: skip
