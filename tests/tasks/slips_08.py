"""The slips that are usual in the tasks of lesson 08: see test_tasks.py."""

SLIPS: dict[str, list[tuple[str, str, str, str]]] = {
    "resident_warps": [
        ("room // (threads // 32) * (threads // 32)", "room", "wrong-formula", "room ="),
        ("room // (threads // 32) * (threads // 32)", "room // (threads // 32)", "wrong-formula",
         "return"),
        ("min(48", "min(64", "wrong-formula", "min(64"),
        ("(32 * registers + 255) // 256 * 256", "32 * registers // 256 * 256", "wrong-formula",
         "32 * registers // 256"),
    ],
    "four_sums": [
        ("        b = B[k, x]\n        for i in range(4):\n            sums[i] += A[i, k] * b",
         "        for i in range(4):\n            sums[i] += A[i, k] * B[k, x]", "not-used",
         "sums[i] +="),
        ("sums[i] += A[i, k] * b", "sums[i] = A[i, k] * b", "accumulator-error", "sums[i] = A"),
        ("A[i, k] * b", "A[k, i] * b", "wrong-index", "sums[i] +="),
        ("b = B[k, x]", "b = B[x, k]", "wrong-index", "b = B"),
        ("            sums[i] += A[i, k] * b", "            sums[0] += A[i, k] * b",
         "wrong-index", "sums[0"),
        ("        b = B[k, x]\n        for i in range(4):\n", "        b = B[k, x]\n"
         "        for i in range(3):\n", "wrong-loop-bound", "range(3)"),
        ("A[i, k] * b", "A[i, k] + b", "wrong-formula", "sums[i] +"),
        ("A.shape[1]", "A.shape[0]", "wrong-loop-bound", "for k in"),
    ],
    "two_by_two": [
        ("        sums[0, 1] += a0 * b1\n        sums[1, 0] += a1 * b0",
         "        sums[0, 1] += a1 * b0\n        sums[1, 0] += a0 * b1", "wrong-formula",
         "sums[0, 1] +"),
        ("A[y + 1, k]", "A[y, k + 1]", "wrong-index", "a0, a1 ="),
        ("        sums[0, 1] += a0 * b1\n", "", "accumulator-error", "sums[0, 0] +"),
        ("b0, b1 = B[k, x], B[k, x + 1]", "b0, b1 = B[x, k], B[x + 1, k]",
         "wrong-index", "b0, b1 ="),
        ("sums[1, 1] += a1 * b1", "sums[1, 1] = a1 * b1", "accumulator-error", "sums[1"),
        ("        a0, a1 = A[y, k], A[y + 1, k]\n        b0, b1 = B[k, x], B[k, x + 1]\n"
         "        sums[0, 0] += a0 * b0\n        sums[0, 1] += a0 * b1\n"
         "        sums[1, 0] += a1 * b0\n        sums[1, 1] += a1 * b1\n",
         "        for i in range(2):\n            for j in range(2):\n"
         "                sums[i, j] += A[y + i, k] * B[k, x + j]\n", "not-used", "sums[i, j] +="),
        ("A.shape[1]", "A.shape[0]", "wrong-loop-bound", "for k"),
    ],
    "loads_per_multiply_add": [
        ("(rows + columns) / (rows * columns)", "rows + columns", "wrong-formula", "return"),
        ("(rows + columns) / (rows * columns)", "1 / (rows * columns)", "wrong-formula", "return"),
        ("(rows + columns) / (rows * columns)", "2 / (rows * columns)", "wrong-formula", "return"),
        ("(rows + columns) / (rows * columns)", "rows * columns / (rows + columns)",
         "wrong-formula", "return"),
    ],
    "eight_by_eight": [
        ("sB[k, 8 * x + i]", "sB[8 * x + i, k]", "out-of-bounds-read", "sB[8 * x + i, k]"),
        ("a[i] = sA[k, 8 * y + i]", "a[i] = sA[k, 8 * x + i]", "wrong-formula", "a[i] = sA"),
        ("                b[i] = sB[k, 8 * x + i]\n            for i in range(8):\n"
         "                for j in range(8):\n                    sums[i, j] += a[i] * b[j]\n",
         "            for i in range(8):\n                for j in range(8):\n"
         "                    sums[i, j] += a[i] * sB[k, 8 * x + j]\n", "not-used",
         "sums[i, j] +="),
        ("sums[i, j] += a[i] * b[j]", "sums[i, j] = a[i] * b[j]", "wrong-formula",
         "sums[i, j] = a"),
        ("for k in unroll(16)", "for k in unroll(8)", "wrong-formula", "C[top"),
        ("sums[i, j] += a[i] * b[j]", "sums[i, j] += a[i] * b[i]", "wrong-formula",
         "b[i] = sB[k,"),  # shows
        ("sA[k, 8 * y + i]", "sA[k, y + i]", "wrong-formula", "a[i] ="),
        ("sums[i, j] += a[i] * b[j]", "sums[i, j] += a[j] * b[i]", "wrong-formula", "sums[i, j] +"),
    ],
    "filter_bank": [
        ("        near, far = x[i + 8 * j], x[i + 64 + 8 * j]\n        for f in range(4):\n"
         "            tap = w[f, j]\n            sums[f, 0] += tap * near\n"
         "            sums[f, 1] += tap * far\n",
         "        for f in range(4):\n            sums[f, 0] += w[f, j] * x[i + 8 * j]\n"
         "            sums[f, 1] += w[f, j] * x[i + 64 + 8 * j]\n", "not-used", "sums[f, 0] +="),
        ("tap = w[f, j]", "tap = w[j, f]", "wrong-index", "tap = w[j, f]"),
        ("x[i + 64 + 8 * j]", "x[i + 8 * j]", "wrong-index", "near,"),
        ("y[f, i + 64]", "y[f, i + 1]", "wrong-index", "y[f, i + 1]"),
        ("x[i + 8 * j], x[i + 64 + 8 * j]", "x[i + j], x[i + 64 + j]", "wrong-formula",
         "near, far ="),
        ("        y[f, i + 64] = sums[f, 1]\n", "", "wrong-loop-bound", "for f in ran"),  # shows
        ("for j in range(5)", "for j in range(4)", "wrong-loop-bound", "for j"),
        ("w[f, j]", "w[f, 4 - j]", "wrong-index", "tap ="),
        ("sums[f, 1] += tap * far", "sums[f, 1] = tap * far", "accumulator-error", "sums[f, 1] ="),
    ],
    "bias_and_relu": [
        ("max(sums[i] + bias[column], float32(0))", "max(sums[i], float32(0)) + bias[column]",
         "wrong-formula", "C[top"),
        ("bias[column]", "bias[top]", "wrong-index", "C[top"),
        ("        if top + i < C.shape[0]:\n            C", "        C", "out-of-bounds-write",
         "C[top"),
        ("max(sums[i] + bias[column], float32(0))", "sums[i] + bias[column]\n"
         "            C[top + i, column] = max(C[top + i, column], float32(0))",
         "excess-global-traffic", "max(C[top"),
        ("top + i < C.shape[0]", "top < C.shape[0]", "wrong-bounds-check", "if top"),
        ("C[top + i, column] =", "C[top, column] =", "wrong-index", "C[top"),
    ],
    "lds_per_ffma": [
        ('each.startswith("LDS")', 'each == "LDS"', "wrong-formula", "return"),
        ('each.startswith("LDS")', 'each.startswith("LD")', "wrong-formula", "return"),
        ("loads / multiply_adds", "multiply_adds / loads", "wrong-formula", "return"),
        ("loads / multiply_adds", "loads / len(opcodes)", "wrong-formula", "return"),
    ],
}  # fmt: skip
