"""The slips that are usual in the tasks of lesson 05: see test_tasks.py."""

BARRIER = "cuda.syncthreads()\n"
GUARD = "    if top + ty < M.shape[0] and left + tx < M.shape[1]:\n"
MIRROR = """\
    if row < A.shape[0] and column < A.shape[1]:
        B[row, column] = A[row, A.shape[1] - 1 - column]
"""
STORE = "    if row < C.shape[0] and column < C.shape[1]:\n"
LOADS = "    load_tile(sA, A, row - ty, 0)\n    load_tile(sB, B, 0, column - tx)\n"

SLIPS: dict[str, list[tuple[str, str, str, str]]] = {
    "mirror_rows": [
        ("column, row = cuda", "row, column = cuda", "wrong-index", "row, column ="),
        ("A.shape[1] - 1 - column", "A.shape[1] - column", "wrong-index", "B[row"),
        ("A.shape[1] - 1 - column", "-1 - column", "wrong-index", "B[row"),
        ("A[row, A.shape[1] - 1 - column]", "A[A.shape[0] - 1 - row, column]", "wrong-formula",
         "B[row"),
        (" and column < A.shape[1]", "", "wrong-bounds-check", "if row"),
        ("A[row, A.shape[1] - 1", "A[row, A.shape[0] - 1", "wrong-index", "B[row"),
        (MIRROR, "    B[row, A.shape[1] - 1 - column] = A[row, column]\n", "out-of-bounds-read",
         "B[row"),
        ("    column, row = cuda.grid(2)\n" + MIRROR, "    row, column = cuda.grid(2)\n" + MIRROR
         .replace("[row, column]", "[row, A.shape[1] - 1 - column]")
         .replace("A[row, A.shape[1] - 1 - column]", "A[row, column]"), "wrong-index",
         "row, column = cuda"),
    ],
    "reverse_sixteen": [
        ("    " + BARRIER, "", "race-read-after-write", "y[i] ="),
        ("[15 - i]", "[i]", "wrong-index", "y[i] ="),
        ("buffer[15 - i]", "x[15 - i]", "not-used", "buffer = cuda"),
        ("    buffer[i] = x[i]\n", "", "uninitialised-read", "y[i] ="),
        ("x[i]\n    " + BARRIER + "    y[i] = buffer[15 - i]", "x[15 - i]\n    " + BARRIER
         + "    y[i] = buffer[i]", "not-used", "y[i] ="),
        (BARRIER, "cuda.syncthreads\n", "race-read-after-write", "cuda.syncthreads"),
    ],
    "sum_of_three": [
        ("    " + BARRIER, "", "race-read-after-write", "y[i] ="),
        ("part[t] + part[t + 1] + part[t + 2]", "x[i - 1] + x[i] + x[i + 1]", "wrong-index",
         "y[i]"),
        ("    part[t + 1] = x[i] if i < x.shape[0] else float32(0)\n",
         "    if i >= x.shape[0]:\n        return\n    part[t + 1] = x[i]\n", "barrier-divergence",
         "if i >= x"),
        (" if i < x.shape[0] else float32(0)\n    if t == 0", "\n    if t == 0",
         "out-of-bounds-read", "part[t + 1] ="),
        ("    if t == 127:\n        part[129] = x[i + 1] if i + 1 < x.shape[0] else float32(0)\n",
         "", "uninitialised-read", "y[i] ="),
        (" if i > 0 else float32(0)", "", "wrong-index", "part[0] ="),
        ("part[t] + part[t + 1]", "part[t + 1]", "wrong-formula", "y[i] ="),
        ("part[t] + part[t + 1] + part[t + 2]", "part[t - 1] + part[t] + part[t + 1]",
         "wrong-index", "y[i] ="),
        ("    if i < x.shape[0]:\n        y[i]", "    y[i]", "out-of-bounds-write", "y[i] ="),
        ("t == 127", "t == 128", "wrong-bounds-check", "if t"),
    ],
    "place_the_barriers": [
        ("        cuda.syncthreads()\n        total", "        total", "race-read-after-write",
         "total +="),
        ("[63 - i]\n        " + BARRIER, "[63 - i]\n", "race-write-after-read", "buffer[i] ="),
        ("        cuda.syncthreads()\n        total", "        if i < 32:\n            "
         "cuda.syncthreads()\n        total", "barrier-divergence",
         "            cuda.syncthreads()"),
        (BARRIER + "        total", BARRIER + "    for t in range(4):\n        total",
         "wrong-formula", "total +="),
    ],
    "load_tile": [
        (GUARD, "    if True:\n", "out-of-bounds-read", "tile[ty, tx] = M"),
        ("    else:\n        tile[ty, tx] = 0\n", "", "uninitialised-read", "if top"),
        (" and left + tx < M.shape[1]", "", "wrong-bounds-check", "tile[ty, tx] = M"),  # shows
        ("top + ty < M.shape[0] and left + tx < M.shape[1]",
         "top + ty < M.shape[1] and left + tx < M.shape[0]", "wrong-bounds-check", "if top + ty"),
        ("M[top + ty, left + tx]", "M[ty, tx]", "wrong-index", "tile[ty, tx] = M"),
        ("        tile[ty, tx] = M", "        tile[tx, ty] = M", "wrong-index", "tile[tx, ty] = M"),
        ("    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y\n",  # x as the row, all along
         "    ty, tx = cuda.threadIdx.x, cuda.threadIdx.y\n", "wrong-index",
         "ty, tx ="),
        ("M[top + ty, left + tx]", "M[left + ty, top + tx]", "wrong-index", "tile[ty, tx] = M"),
        ("top + ty < M.shape[0] and left + tx < M.shape[1]:\n        tile[ty, tx] = M[top + ty, "
         "left + tx]", "left + ty < M.shape[0] and top + tx < M.shape[1]:\n        tile[ty, tx] = "
         "M[left + ty, top + tx]", "wrong-bounds-check", "if left"),
        ("top + ty < M", "top + ty <= M", "wrong-bounds-check", "if top + ty"),
        ("    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y\n", "    tx, ty = cuda.grid(2)\n",
         "out-of-bounds-write", "tile[ty, tx] = M"),
    ],
    "one_tile_product": [
        ("    " + BARRIER, "", "race-read-after-write", "total +="),
        ("row - ty, 0", "0, row - ty", "wrong-formula", "load_tile(sA"),
        ("0, column - tx", "0, column", "wrong-formula", "load_tile(sB"),
        ("row - ty", "cuda.blockIdx.y", "wrong-index", "load_tile(sA"),
        ("sB[k, tx]", "sB[tx, k]", "wrong-index", "total +="),
        ("sA[ty, k] * sB[k, tx]", "sA[tx, k] * sB[k, ty]", "wrong-index", "total +="),
        (LOADS, "    load_tile(sA, A, column - tx, 0)\n    load_tile(sB, B, 0, row - ty)\n",
         "accumulator-error", "total += sA[ty, k] * sB[k, tx]"),  # shows
        ("sA[ty, k]", "sA[row, k]", "wrong-index", "total +="),
        ("    load_tile(sB", "    sB = load_tile(sB", "compile-error", "total +="),
        ("sA[ty, k] * sB[k, tx]", "A[row, k] * B[k, column]", "out-of-bounds-read", "total +="),
        (STORE, "    if True:\n", "out-of-bounds-write", "C[row, column] ="),
        (LOADS, STORE.replace("row < C.shape[0] and column < C.shape[1]",
         "row >= C.shape[0] or column >= C.shape[1]") + "        return\n" + LOADS,
         "barrier-divergence", "if row >="),
        ("float32(0)", "0.0", "float64-arithmetic", "total = 0.0"),
    ],
    "convolve": [
        ("    " + BARRIER, "", "race-read-after-write", "total +="),
        ("tile[ty + i, tx + j]", "tile[ty, tx]", "wrong-formula", "total +"),
        ("ty + n // 20 - 2, column - tx + n % 20 - 2", "ty + n // 20, column - tx + n % 20",
         "wrong-formula", "tile[n //"),
        ("16 * ty + tx, 400, 256", "16 * ty + tx, 256, 256", "uninitialised-read", "tile[n"),
        ("0 <= r < A.shape[0] and 0 <= c < A.shape[1]", "r < A.shape[0] and c < A.shape[1]",
         "wrong-bounds-check", "inside ="),
        ("W[i, j] * tile[ty + i, tx + j]", "W[j, i] * tile[ty + i, tx + j]", "wrong-index",
         "total +="),
        ("float32(0)\n        for", "0.0\n        for", "float64-arithmetic", "total = 0.0"),
    ],
}  # fmt: skip
