"""The slips that are usual in the tasks of lesson 09: see test_tasks.py."""

SLIPS: dict[str, list[tuple[str, str, str, str]]] = {
    "row_sums": [
        ("(32, 33)", "(32, 32)", "bank-conflict", "total += tile[lane"),
        ("    cuda.syncthreads()\n", "", "race-read-after-write", "total += tile[lane"),
        ("tile[lane, k]", "tile[k, lane]", "wrong-index", "total += tile[k, l"),
        ("    tile = cuda.shared.array((32, 33), float32)\n    lane = cuda.threadIdx.x\n"
         "    for row in range(32):\n        tile[row, lane] = A[row, lane]\n"
         "    cuda.syncthreads()\n    total = float32(0)\n    for k in range(32):\n"
         "        total += tile[lane, k]\n",
         "    lane = cuda.threadIdx.x\n    total = float32(0)\n    for k in range(32):\n"
         "        total += A[lane, k]\n", "not-used", "def row_sums(A, y)"),
        ("tile[row, lane] = A[row, lane]", "tile[lane, row] = A[lane, row]", "uncoalesced-load",
         "tile[lane, row] = "),
        ("total += tile[lane, k]", "total = tile[lane, k]", "accumulator-error", "total ="),
        ("    for row in range(32):\n        tile[row, lane] = A[row, lane]\n"
         "    cuda.syncthreads()\n    total = float32(0)\n    for k in range(32):\n"
         "        total += tile[lane, k]\n", "    total = float32(0)\n    for row in range(32):\n"
         "        tile[row, lane] = A[row, lane]\n        cuda.syncthreads()\n"
         "        total += tile[lane, row]\n", "uninitialised-read", "total += tile[lane"),
        ("total = float32(0)", "total = 0.0", "float64-arithmetic", "total = 0.0"),
    ],
    "copy_by_fours": [
        ("4 * cuda.grid(1)", "cuda.grid(1)", "wrong-index", "i = cuda"),
        ("store4(target, i, load4(source, i))", "target[i] = load4(source, i)", "compile-error",
         "target[i] = load4("),
        ("store4(target, i, load4(source, i))",
         "four = load4(source, i)\n    for m in range(4):\n        target[i + m] = four[m]",
         "not-used", "target[i + m] = fo"),
        ("4 * cuda.grid(1)", "4 * cuda.threadIdx.x", "wrong-index", "4 * cuda.threadIdx.x"),
        ("store4(target, i, load4(source, i))", "store4(target, i, source[i])", "compile-error",
         "store4(target, i, "),
        ("store4(target, i, load4(source, i))", "store4(target, load4(source, i))", "compile-error",
         "store4(target, loa"),
        ("store4(target, i, load4(source, i))", "store4(target, 4 * i, load4(source, 4 * i))",
         "out-of-bounds-read", "i = 4 * cuda.grid(1)"),
        ("    store4(target, i, load4(source, i))\n",
         "    if i < source.shape[0] - 4:\n        store4(target, i, load4(source, i))\n",
         "wrong-bounds-check", "if i < source.shap"),
    ],
    "stage_a": [
        ("load4(sA, 132", "load4(sA, 128", "uninitialised-read", "store4(T, 128 * k "),
        ("(8, 132)", "(8, 128)", "out-of-bounds-read", "store4(T, 128 * k "),
        ("sA[column + m, row]", "sA[row, column + m]", "wrong-index", "sA[row, column + m"),
        ("sA[column + m, row] = four[m]", "sA[column, row + m] = four[m]", "wrong-index",
         "sA[column, row + m"),
        ("sA[column + m, row] = four[m]", "sA[column + m, row] = four[0]", "wrong-index",
         "sA[column"),
        ("    for m in range(4):\n        sA[column + m, row] = four[m]\n",
         "    sA[column, row] = four\n", "compile-error", "sA[column, row] = "),
        ("store4(T, 128 * k", "store4(T, 132 * k", "out-of-bounds-write", "store4(T, 132 * k "),
        ("sA[column + m, row] = four[m]", "sA[column + m, row] = four[column + m]", "wrong-index",
         "sA[column + m, row"),
        ("    for m in range(4):\n        sA[column + m, row] = four[m]\n",
         "    store4(sA, 132 * column + row, four)\n", "wrong-index", "store4(sA, 132 * c"),
        ("sA[column + m, row] = four[m]", "sA[column + m, row] = A[row, column + m]", "not-used",
         "sA[column + m, row"),
    ],
    "lane_place": [
        ("    row = lane // 8 * 2 + lane // 2 % 2\n    column = lane // 4 % 2 * 2 + lane % 2\n",
         "    row, column = lane % 8, lane // 8\n", "wrong-index",
         "row, column = lane % 8, lane // 8"),
        ("    return row, column\n", "    return row\n", "compile-error", "return row"),
        ("    row = lane // 8 * 2 + lane // 2 % 2\n    column = lane // 4 % 2 * 2 + lane % 2\n",
         "    row, column = lane // 4, lane % 4\n", "wrong-formula",
         "row, column = lane // 4, lane % 4"),
        ("    row = lane // 8 * 2 + lane // 2 % 2\n    column = lane // 4 % 2 * 2 + lane % 2\n",
         "    row = lane // 8 * 2 + lane % 2\n    column = lane // 4 % 2 * 2 + lane // 2 % 2\n",
         "wrong-formula", "column = lan"),  # shows
        ("lane // 8 * 2 + lane // 2 % 2", "lane // 8 * 2 + lane // 2", "out-of-bounds-write",
         "return row, column"),
        ("lane // 8 * 2 + lane // 2 % 2", "lane // 8 + lane // 2 % 2", "wrong-index",
         "column = lan"),  # shows
        ("lane // 8 * 2 + lane // 2 % 2", "lane / 8 * 2 + lane / 2 % 2", "compile-error",
         "row = lane / 8 * 2"),
        ("return row, column", "return column, row", "out-of-bounds-write", "return column, row"),
    ],
    "warp_piece": [
        ("t // 32 * 32 + 8 * column", "8 * column", "wrong-index", "y, x = 8 * row, 8 * column"),
        ("y, x = 8 * row, t // 32 * 32 + 8 * column", "y, x = row, t // 32 * 32 + column",
         "wrong-index", "y, x = row, t // 3"),
        ("lane_place(t % 32)", "lane_place(t)", "out-of-bounds-write", "y, x = 8 * row"),
        ("row, column = lane_place(t % 32)", "row, column = t % 32 // 4, t % 4", "bank-conflict",
         "b[g], b[g + 1], b["),
        ("y, x = 8 * row, t // 32 * 32 + 8 * column", "y, x = 8 * column, t // 32 * 32 + 8 * row",
         "wrong-index", "row, column = lane_place(t % 32)"),
        ("y, x = 8 * row, t // 32 * 32 + 8 * column", "y, x = 4 * row, t // 32 * 32 + 4 * column",
         "wrong-index", "y, x"),
    ],
}  # fmt: skip
