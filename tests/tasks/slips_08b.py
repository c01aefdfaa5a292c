"""The slips that are usual in the tasks of lesson 08b: see test_tasks.py."""

RATE = "(asked - passed_on) / asked"

SLIPS: dict[str, list[tuple[str, str, str, str]]] = {
    "turn_directly": [
        ("B[column, row] = A[row, column]", "B[row, column] = A[row, column]", "wrong-index",
         "B[row, column] ="),
        ("if row < A.shape[0] and column < A.shape[1]", "if row < A.shape[0]",
         "wrong-bounds-check", "if row <"),
        ("if row < A.shape[0] and column < A.shape[1]", "if True", "out-of-bounds-read",
         "B[column, row] ="),
        ("        B[column, row] = A[row, column]\n", "        tile = cuda.shared.array((32, 32), "
         "float32)\n        x, y = cuda.threadIdx.x, cuda.threadIdx.y\n        tile[y, x] = A[row, "
         "column]\n        B[column, row] = tile[y, x]\n", "not-allowed", "tile = cuda"),
    ],
    "hit_rate": [
        (RATE, "passed_on / asked", "wrong-formula", "return"),
        (RATE, "asked - passed_on", "wrong-formula", "return"),
        (RATE, "100 * (asked - passed_on) / asked", "wrong-formula", "return"),
        (RATE, "0.75", "hardcoded-answer", "return"),
    ],
    "squared_lengths": [
        ("    cuda.syncthreads()\n", "", "race-read-after-write", "x, y, z ="),
        ("384 * cuda.blockIdx.x", "128 * cuda.blockIdx.x", "wrong-index", "f = 128"),
        ("p[f // 3, f % 3]", "p[f % 3, f // 3]", "wrong-index", "numbers[at] ="),
        ("        if f < 3 * out.shape[0]:\n            numbers", "        if True:\n"
         "            numbers", "out-of-bounds-read", "numbers[at] ="),
        ("numbers[3 * t], numbers[3 * t + 1], numbers[3 * t + 2]",
         "numbers[t], numbers[t + 128], numbers[t + 256]", "wrong-formula", "x, y, z = nu"),
        ("numbers[3 * t], numbers[3 * t + 1], numbers[3 * t + 2]",
         "numbers[3 * t], numbers[3 * t], numbers[3 * t]", "wrong-formula", "x, y, z = "),
        ("x * x + y * y + z * z", "x * x + y * y", "wrong-formula", "out[i] ="),
    ],
}  # fmt: skip
