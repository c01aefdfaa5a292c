"""The slips that are usual in the tasks of lesson 09b: see test_tasks.py."""

SLIPS: dict[str, list[tuple[str, str, str, str]]] = {
    "four_by_two": [
        ("b0, b1 = B[k, x], B[k, x + 1]", "b0, b1 = B[k, x], B[k, x]", "wrong-index", "b0, b1"),
        ("        b0, b1 = B[k, x], B[k, x + 1]\n        for i in range(4):\n"
         "            a = A[k, y + i]\n            sums[i, 0] += a * b0\n"
         "            sums[i, 1] += a * b1\n",
         "        for i in range(4):\n            for j in range(2):\n"
         "                sums[i, j] += A[k, y + i] * B[k, x + j]\n", "not-used",
         "sums[i, j] += A[k,"),
        ("A[k, y + i]", "A[y + i, k]", "wrong-index", "a = A[y + i, k]"),
        ("A.shape[0]", "A.shape[1]", "wrong-loop-bound", "for k in range(A"),
        ("    for i in range(4):\n        sums[i, 0] = sums[i, 1] = 0\n", "", "uninitialised-read",
         "sums[i, 0] += a * "),
        ("x, y = 2 * cuda.threadIdx.x, 4 * cuda.threadIdx.y",
         "x, y = cuda.threadIdx.x, cuda.threadIdx.y", "wrong-loop-bound", "for i in ran"),  # shows
        ("sums[i, 1] += a * b1", "sums[i, 1] += a * b0", "wrong-index", "sums[i, 1] += a * "),
        ("range(A.shape[0])", "range(24)", "wrong-loop-bound", "for k in range(24)"),
        ("C[y + i, x], C[y + i, x + 1] = sums[i, 0], sums[i, 1]", "C[y + i, x] = sums[i, 0]",
         "wrong-index", "x, y = 2 * c"),  # shows
        ("A.shape[0]", "A.shape[0] - 1", "wrong-loop-bound", "A.shape[0] - 1"),
    ],
    "two_buffers": [
        ("load4(sA, now + 32 * k + y), load4(sB, now + 32 * k + x)",
         "load4(sA, now + 32 * k + x), load4(sB, now + 32 * k + y)", "wrong-index",
         "p, q = load4(sA, now + 32 * k + x), load4(sB, now + 32 * k + y)"),
        ("store4(sB, now + 4 * t, b)", "store4(sB, now + 4 * t, a)", "wrong-formula",
         "sums[i, j] +"),  # shows
        ("p[i] * q[j]", "p[j] * q[i]", "wrong-index", "sums[i, j] += p[j]"),
        ("sums[i, j] += p[i]", "sums[i, j] = p[i]", "accumulator-error",
         "sums[i, j] = p[i]"),  # shows
        ("            store4(sB, now + 4 * t, b)\n        cuda.syncthreads()\n",
         "            store4(sB, now + 4 * t, b)\n", "race-read-after-write", "p, q = load4(sA, n"),
        ("        now = 256 - now\n", "", "race-write-after-read", "store4(sA, now + 4"),
        ("        now = 256 - now\n", "        cuda.syncthreads()\n        now = 256 - now\n",
         "excess-barriers", "cuda.syncthreads()"),
        ("            a, b = load4(A, 32 * start + 4 * t), load4(B, 32 * start + 4 * t)\n",
         "            a, b = load4(A, 32 * start + 4 * t), load4(B, 32 * start + 4 * t)\n"
         "            store4(sA, 256 - now + 4 * t, a)\n"
         "            store4(sB, 256 - now + 4 * t, b)\n", "serial-work", "store4(sA, 256 - n"),
        ("        if start < A.shape[0]:\n            a, b", "        if True:\n            a, b",
         "out-of-bounds-read", "a, b = load4(A, 32"),
        ("range(8, A.shape[0] + 8, 8)", "range(8, A.shape[0], 8)", "wrong-formula",
         "sums[i, j] += p[i]"),
        ("store4(sB, now + 4 * t, b)", "store4(sB, 4 * t, b)", "race-write-after-read",
         "store4(sB, 4 * t, "),
    ],
    "async_buffers": [
        ("        cuda.syncthreads()\n        if after < A.shape[0]:\n"
         "            cp_async16(sA, 256 - now + 4 * t, A, 32 * after + 4 * t)\n"
         "            cp_async16(sB, 256 - now + 4 * t, B, 32 * after + 4 * t)\n"
         "            cp_async_commit()\n", "        if after < A.shape[0]:\n"
         "            cp_async16(sA, 256 - now + 4 * t, A, 32 * after + 4 * t)\n"
         "            cp_async16(sB, 256 - now + 4 * t, B, 32 * after + 4 * t)\n"
         "            cp_async_commit()\n        cuda.syncthreads()\n", "race-write-after-read",
         "cp_async16(sA, 256"),
        ("    cp_async16(sA, 4 * t, A, 4 * t)\n    cp_async16(sB, 4 * t, B, 4 * t)\n",
         "    cp_async16(sA, t, A, t)\n    cp_async16(sB, t, B, t)\n", "wrong-index",
         "cp_async16(sA, t, "),
        ("        cp_async_wait(0)\n", "", "race-read-after-write", "p, q = load4(sA, n"),
        ("            cp_async_commit()\n",
         "            cp_async_commit()\n            cp_async_wait(0)\n", "serial-work",
         "cp_async16(sA, 256"),
        ("cp_async16(sA, 256 - now + 4 * t, A, 32 * after + 4 * t)",
         "cp_async16(A, 32 * after + 4 * t, sA, 256 - now + 4 * t)", "unsupported",
         "cp_async16(A, 32 *"),
        ("cp_async16(sB, 256 - now + 4 * t, B, 32 * after + 4 * t)",
         "store4(sB, 256 - now + 4 * t, load4(B, 32 * after + 4 * t))", "not-used",
         "store4(sB, 256 - n"),
        ("            cp_async16(sB, 256 - now + 4 * t, B, 32 * after + 4 * t)\n"
         "            cp_async_commit()\n",
         "            cp_async16(sB, 256 - now + 4 * t, B, 32 * after + 4 * t)\n"
         "            cp_async_commit()\n        cuda.syncthreads()\n", "excess-barriers",
         "cuda.syncthreads()"),
    ],
}  # fmt: skip
