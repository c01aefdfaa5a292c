"""The slips that are usual in the tasks of lesson 06: see test_tasks.py."""

STAGED = "4 * (BM * BK + BK * BN)"
INTENSITY = "2 * BM * BN * BK / (4 * (BM * BK + BK * BN))"
RACE, STORE = "race-write-after-write", "out[row, column] ="
WARPS = "4 * -(-latency // independent)"

SLIPS: dict[str, list[tuple[str, str, str, str]]] = {
    "pass_it_on": [
        ("    cuda.syncthreads()\n", "", "race-read-after-write", "y[i] ="),
        ("(t + 1) % 64", "t + 1", "out-of-bounds-read", "y[i] ="),
        ("(t + 1) % 64", "t - 1", "wrong-formula", "numbers[t] = x[i]"),  # shows
        ("(t + 1) % 64", "(t - 1) % 64", "wrong-index", "y[i] ="),
        ("numbers[(t + 1) % 64]", "x[i - t + (t + 1) % 64]", "not-used", "numbers = cuda"),
        ("numbers[t] = x[i]", "numbers[t] = x[t]", "wrong-index", "numbers[t] ="),
        ("cuda.shared.array(64", "cuda.shared.array(32", "out-of-bounds-write", "numbers = cuda"),
        ("numbers[t] =", "numbers[i] =", "wrong-index", "numbers[i] ="),
        ("shared.array", "local.array", "uninitialised-read", "y[i] ="),
        ("(t + 1) % 64", "t + 1 % 64", "wrong-index", "y[i] ="),
    ],
    "tile_bytes": [
        (STAGED, "BM * BK + BK * BN", "wrong-formula", "return"),
        (STAGED, "4 * BM * BN", "wrong-formula", "return"),
        (STAGED, "2 * BM * BK * 4", "wrong-formula", "return"),
        (STAGED, "4 * BM * BK + BK * BN", "wrong-formula", "return"),
        (STAGED, "4 * (BM * BK + BM * BN)", "wrong-formula", "return"),
    ],
    "four_rows_each": [
        ("cuda.blockIdx.y * 32 + cuda.threadIdx.y", "cuda.grid(2)[1]", "wrong-index", "row ="),
        ("range(4)", "range(8)", RACE, STORE),
        ("range(4)", "range(3)", "wrong-loop-bound", "for i in"),
        ("row < A.shape[0] and ", "", "wrong-bounds-check", "if column"),
        (" and column < A.shape[1]", "", "wrong-bounds-check", "if row"),
        ("        if row < A.shape[0] and column < A.shape[1]:\n    ", "", "out-of-bounds-read",
         "out[row, column] ="),
        ("A[row, column]", "A[column, row]", "wrong-index", "out[row, column] ="),
    ],
    "intensity": [
        (INTENSITY, "BM * BN * BK / (4 * (BM * BK + BK * BN))", "wrong-formula", "return"),
        (INTENSITY, "2 * BM * BN * BK / (BM * BK + BK * BN)", "wrong-formula", "return"),
        (INTENSITY, "2 * BM * BN * BK / 4 * (BM * BK + BK * BN)", "wrong-formula", "return"),
        (INTENSITY, "2 * BM * BN / (4 * (BM * BK + BK * BN))", "wrong-formula", "return"),
    ],
    "warps_needed": [
        (WARPS, "-(-latency // independent)", "wrong-formula", "return"),
        (WARPS, "-(-4 * latency // independent)", "wrong-formula", "return"),
        (WARPS, "4 * (latency // independent)", "wrong-formula", "return"),
        (WARPS, "4 * latency / independent", "wrong-formula", "return"),
    ],
    "split_k": [
        ("range(part * length, min((part + 1) * length, A.shape[1]))", "range(A.shape[1])",
         "wrong-formula", "total +="),
        ("min((part + 1) * length, A.shape[1])", "(part + 1) * length", "wrong-loop-bound",
         "for k in"),
        ("(A.shape[1] + 3) // 4", "A.shape[1] // 4", "wrong-loop-bound", "length ="),
        ("cuda.atomic.add(C, (row, column), total)", "C[row, column] += total",
         "race-write-after-read", "C[row, column] +="),
        ("cuda.atomic.add(C, (row, column), total)", "C[row, column] = total",
         "race-write-after-write", "C[row, column] ="),
        ("range(part * length", "range(part", "wrong-loop-bound", "for k in"),
        ("B[k, column]", "B[column, k]", "wrong-index", "total +="),
        ("total += A", "total = A", "accumulator-error", "total = A"),
        ("        cuda.atomic", "            cuda.atomic", "accumulator-error", "total +="),
        ("(A.shape[1] + 3) // 4", "A.shape[1]", "serial-work", "total +="),
        ("        length = (A.shape[1] + 3) // 4\n        for k in range(part * length, "
         "min((part + 1) * length, A.shape[1])):\n            total += A[row, k] * B[k, column]\n",
         "        for k in range(A.shape[1]):\n            total += A[row, k] * B[k, column]\n"
         "        if part > 0:\n            total = float32(0)\n",
         "excess-global-traffic", "total +="),
    ],
}  # fmt: skip
