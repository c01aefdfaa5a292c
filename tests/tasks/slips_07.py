"""The slips that are usual in the tasks of lesson 07: see test_tasks.py."""

BARRIER = "    cuda.syncthreads()\n"
XY = "x, y = cuda.threadIdx.x, cuda.threadIdx.y"
TAKE = "tile[x, y]"
COUNT = (
    "    asked = [0] * 32\n    for word in {lane * stride for lane in range(32)}:\n"
    "        asked[word % 32] += 1\n    return max(asked)"
)
LOOP = "        cuda.syncthreads()\n        if t < half:\n            sums[t] += sums[t + half]\n"
STRIP = """\
        tile[y, (left + x) ^ y] = A[y, left + x]
    cuda.syncthreads()
    for top in range(0, 384, 32):
        B[top + y, x] = tile[x, (top + y) ^ x]
"""
ROUND_2 = "    before = sums[t - 2] if t >= 2 else float32(0)\n    cuda.syncthreads()\n"

SLIPS: dict[str, list[tuple[str, str, str, str]]] = {
    "turn_tile": [
        (BARRIER, "", "race-read-after-write", "B[y, x] ="),
        (TAKE, "tile[y, x]", "wrong-index", "B[y, x] ="),
        ("B[y, x] = tile[x, y]", "B[x, y] = tile[y, x]", "uncoalesced-store", "B[x, y] ="),
        ("tile[y, x] = A[y, x]", "tile[x, y] = A[x, y]", "uncoalesced-load", "tile[x, y] ="),
        ("(32, 32)", "32", "compile-error", "tile[y, x] ="),
        ("(32, 32)", "(16, 16)", "out-of-bounds-write", "tile = cuda"),
        ("(32, 32), float32", "(32, 32)", "compile-error", "cuda.shared.array"),
        (XY, "x, y = cuda.threadIdx", "compile-error", "x, y ="),
        ("    tile[y, x] = A[y, x]\n", "", "uninitialised-read", "B[y, x] ="),
        ("B[y, x] = tile[x, y]", "B[y, x] = A[x, y]", "not-used", "tile = cuda"),
    ],
    "bank_of": [
        ("% 32", "// 32", "wrong-formula", "return"),
        ("(row * width + column) % 32", "row * width + column", "wrong-formula", "return"),
        ("(row * width + column) % 32", "row * width + column % 32", "wrong-formula", "return"),
        ("row * width + column", "column * width + row", "wrong-formula", "return"),
    ],
    "wavefronts": [
        (COUNT, "    return len({lane * stride % 32 for lane in range(32)})", "wrong-formula",
         "return"),
        (COUNT, "    return stride if 32 % stride == 0 else 1", "wrong-formula", "return"),
        ("asked[word % 32] += 1", "asked[word // 32] += 1", "out-of-bounds-read",
         "asked[word // 32]"),
        ("asked[word % 32] += 1", "asked[word % 32] = 1", "wrong-formula", "asked[word"),
        ("lane * stride for", "(lane * stride) % 32 for", "wrong-formula", "for word"),
        ("max(asked)", "max(asked) - 1", "accumulator-error", "asked = "),
    ],
    "pad_tile": [
        ("(32, 33)", "(33, 32)", "bank-conflict", "= tile[x, y]"),
        ("(32, 33)", "(33, 33), ", "compile-error", "cuda.shared.array"),
        ("(32, 33)", "(32, 34)", "bank-conflict", "= tile[x, y]"),
        ("(32, 33)", "(32, 31)", "out-of-bounds-write", "tile = cuda"),
        ("= tile[x, y]", "= tile[y, x]", "wrong-index", "= tile[y, x]"),
        ("tile[y, x] = A[y, x]", "tile[y, x + 1] = A[y, x]", "wrong-index", "tile[y"),
        ("B[y, x] = tile[x, y]", "B[x, y] = tile[y, x]", "uncoalesced-store", "B[x, y] ="),
        (BARRIER, "", "race-read-after-write", "B[y, x] ="),
    ],
    "swizzle_strip": [
        ("tile[y, (left + x) ^ y]", "tile[y, left + x]", "wrong-formula", "B[top + y, x]"),
        ("tile[x, (top + y) ^ x]", "tile[x, top + y]", "wrong-index", "tile[y"),
        ("tile[x, (top + y) ^ x]", "tile[x, (top + y) ^ y]", "wrong-index", "B[top + y, x]"),
        ("(32, 384)", "(32, 385)", "invalid-launch", "tile = cuda"),
        ("left + x) ^ y", "left + x) ^ x", "wrong-index", "tile[y, (left"),
        (STRIP, STRIP.replace("^ y", "^ (y & 7)").replace("^ x", "^ (x & 7)"), "bank-conflict",
         "B[top + y, x]"),
        (STRIP, STRIP.replace(") ^ y", ")").replace("[x, (top + y) ^ x", "[x, 0 + (top + y)"),
         "bank-conflict", "B[top + y, x]"),
        ("    cuda.syncthreads()\n", "", "race-read-after-write", "B[top + y, x]"),
        (STRIP, STRIP.replace("^ y", "+ y").replace("^ x", "+ x"), "out-of-bounds-write",
         "tile[y, (left"),
    ],
    "tree_sum": [
        ("        cuda.syncthreads()\n", "", "race-read-after-write", "sums[t] +="),
        ("half = 512", "half = 1024", "wrong-bounds-check", "if t < half:"),
        ("half > 0", "half > 1", "wrong-formula", "y[0] ="),
        ("half = 512", "half = 256", "wrong-loop-bound", "half = 256"),
        ("half //= 2", "half /= 2", "compile-error", "sums[t] +="),
        ("        half //= 2\n", "", "timeout", "while half"),
        (LOOP, "        if t < half:\n            cuda.syncthreads()\n"
         "            sums[t] += sums[t + half]\n", "barrier-divergence",
         "            cuda.syncthreads()"),
        ("        if t < half:\n    ", "", "race-write-after-read", "sums[t] +="),
        ("sums[t] += sums[t + half]", "sums[t] = sums[t + half]", "accumulator-error", "sums[t"),
        ("    if t == 0:\n        y[0] = sums[0]", "    y[0] = sums[t]", "race-write-after-write",
         "y[0] ="),
        ("    if t == 0:\n        y[0] = sums[0]", "    y[t] = sums[t]", "out-of-bounds-write",
         "y[t] ="),
        ("    sums[t] = x[t]\n", "", "uninitialised-read", "sums[t] +="),
        (LOOP, "        cuda.syncthreads()\n        k = 512 // half\n        if t < half:\n"
         "            sums[2 * t * k] += sums[2 * t * k + k]\n", "bank-conflict", "sums[2"),
    ],
    "sums_of_four": [
        (ROUND_2, "    before = sums[t - 2] if t >= 2 else float32(0)\n",
         "race-write-after-read", "sums[t] += before"),
        ("    sums[t] += before\n    cuda.syncthreads()\n", "    sums[t] += before\n",
         "race-read-after-write", "before = sums[t - 2]"),
        (ROUND_2, "    if t >= 2:\n        before = sums[t - 2]\n        cuda.syncthreads()\n",
         "barrier-divergence", "        cuda.syncthreads()"),
        ("    before = sums[t - 2] if t >= 2 else float32(0)\n", "    before = sums[t - 2]\n",
         "wrong-index", "before = sums[t - 2]"),
        ("sums[t] += before\n    y", "sums[t] = before\n    y", "accumulator-error", "sums[t] ="),
        ("t - 2]", "t - 1]", "wrong-index", "before ="),
        ("    y[t] = sums[t]", "    y[t] = sums[t] + before", "wrong-formula", "y[t] = "),
    ],
}  # fmt: skip
