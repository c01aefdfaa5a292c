"""The slips that are usual in the tasks of lesson 10: see test_tasks.py."""

NEXT = """\
        if start + 64 < K:
            start_copy(sA[1 - here], sB[1 - here], A, B, start + 64)
"""
PRODUCT = "        warp_product(sums, sA[here], sB[here])\n"

SLIPS: dict[str, list[tuple[str, str, str, str]]] = {
    "four_in_a_row": [
        ("4 * cuda.threadIdx.x", "cuda.threadIdx.x", "wrong-index", "b = load4"),
        ("range(A.shape[1])", "range(B.shape[1])", "wrong-loop-bound", "for k in"),
        ("b[1]\n        c2 += a * b[2]\n        c3 += a * b[3]", "b[0]\n        c2 += a * b[0]\n"
         "        c3 += a * b[0]", "wrong-formula", "c1 += a * b["),
        ("c1 += a * b[1]", "c1 = a * b[1]", "accumulator-error", "c1 ="),
        ("c3 += a * b[3]", "c3 += a * b[2]", "wrong-index", "c3 +"),
        ("y * C.shape[1] + x, (", "x, (", "wrong-index", "a = A[y, k]"),  # shows
        ("b = load4(B, k * B.shape[1] + x)", "b = B[k, x], B[k, x + 1], B[k, x + 2], B[k, x + 3]",
         "not-used", "b = B"),
    ],
    "one_mma": [
        ("A[g, 2 * t + 8], A[g, 2 * t + 9]", "A[g, 2 * t + 16], A[g, 2 * t + 17]",
         "out-of-bounds-read", "a = ("),
        ("A[g, 2 * t], A[g, 2 * t + 1]", "A[lane, 2 * t], A[lane, 2 * t + 1]",
         "wrong-index", "A[lane"),
        ("B[2 * t + 8, g], B[2 * t + 9, g]", "B[g, 2 * t + 8], B[g, 2 * t + 9]",
         "out-of-bounds-read", "b = pair"),
        ("        pair(A[g + 8, 2 * t], A[g + 8, 2 * t + 1]),\n"
         "        pair(A[g, 2 * t + 8], A[g, 2 * t + 9]),\n",
         "        pair(A[g, 2 * t + 8], A[g, 2 * t + 9]),\n"
         "        pair(A[g + 8, 2 * t], A[g + 8, 2 * t + 1]),\n",
         "wrong-formula", "        pair(A[g, 2 * t], A[g, 2 * t + 1]),"),
        ("    sums = mma_m16n8k16_bf16(sums, a, b)", "    mma_m16n8k16_bf16(sums, a, b)",
         "wrong-formula", "    mma_m16n8k16_bf16(sums"),
        ("pair(B[2 * t, g], B[2 * t + 1, g])", "pair(B[g, 2 * t], B[g, 2 * t + 1])",
         "wrong-formula", "b = pair"),
        ("pair(B[2 * t, g], B[2 * t + 1, g])", "pair(B[2 * t + 1, g], B[2 * t, g])",
         "wrong-index", "b = pair"),
        ("(sums, a, b)", "(sums, b, a)", "compile-error", "sums = mma"),
        ("A[g + 8, 2 * t], A[g + 8, 2 * t + 1]", "A[g + 8, 2 * t], A[g + 8, 2 * t + 2]",
         "wrong-index", "2 * t + 2"),
        ("A[g, 2 * t + 8], A[g, 2 * t + 9]", "A[g, 2 * t + 8], A[g, 2 * t + 1]", "wrong-index",
         "A[g, 2 * t + 8], A[g, 2 * t + 1]"),
        ("B[2 * t + 8, g], B[2 * t + 9, g]", "B[2 * t + 4, g], B[2 * t + 5, g]", "wrong-index",
         "C[g, 2 * t], C[g, 2 * t + 1] = sums[0], sums[1]"),  # shows
    ],
    "one_ldmatrix": [
        ("(sA, lane % 16 * 16 + lane // 16 * 8)", "(sA, lane * 8)", "wrong-formula",
         "a = ldmatrix_x4"),
        ("(sA, lane % 16 * 16 + lane // 16 * 8)", "(sA, lane * 16)", "out-of-bounds-read",
         "a = ldmatrix_x4"),
        ("(sA, lane % 16 * 16 + lane // 16 * 8)", "(sA, lane % 16 * 16 + lane // 16)",
         "wrong-index", "a = ldmatrix_x4"),
        ("(sB, lane % 16 * 8)", "(sB, lane % 8 * 8)", "wrong-formula", "b = ldmatrix_x2"),
    ],
    "piece_at": [
        ("(piece ^ row % 8) * 8", "(piece ^ row % 4) * 8", "bank-conflict", "return"),
        ("(piece ^ row % 8) * 8", "(piece ^ row) * 8", "out-of-bounds-write", "return"),
        ("(piece ^ row % 8) * 8", "(piece ^ row % 8)", "wrong-index", "return"),
        ("    return row", "    row", "compile-error", "def piece_at"),
    ],
    "warp_product": [
        ("ldmatrix_x4_trans(\n", "ldmatrix_x4(\n", "wrong-formula", "b[j, 0], b[j, 1], b[j"),
        ("2 * k + lane // 16", "k + lane // 16", "wrong-formula", "a = ldmatrix_x4"),
        ("16 * i + lane % 16", "8 * i + lane % 16", "wrong-index", "a = ldmatrix_x4"),
        ("b[j, 0], b[j, 1])", "b[i, 0], b[i, 1])", "wrong-formula", "add_product(sums"),
        ("b[j, 0], b[j, 1])", "b[j, 1], b[j, 0])", "wrong-formula", "add_product("),  # shows
        ("16 * i + lane % 16, 2 * k + lane // 16", "16 * i + lane // 16, 2 * k + lane % 16",
         "wrong-index", "four = sums["),  # shows
        ("            for j in range(8):\n                add_product(sums, i, j, a, b[j, 0], "
         "b[j, 1])", "            for j in range(8):\n                a = ldmatrix_x4(sA, "
         "piece_at(16 * i + lane % 16, 2 * k + lane // 16))\n                add_product(sums, i, "
         "j, a, b[j, 0], b[j, 1])", "not-used", "                a = ldmatrix_x4"),
        ("piece_at(16 * k + lane % 16, j", "piece_at(k + lane % 16, j", "wrong-loop-bound",
         "sB, piece_at"),
        ("j + lane // 16", "j // 2 + lane // 16", "wrong-index", "sB, piece"),
    ],
    "two_stages": [
        ("start + 64 < K", "start + 64 <= K", "out-of-bounds-read", "start + 64)"),
        ("        cp_async_wait(0)\n", "", "race-read-after-write", "warp_product(sums"),
        ("        here = 1 - here\n", "", "wrong-formula", "warp_product(sums"),
        ("    start_copy(sA[0], sB[0], A, B, 0)\n", "", "uninitialised-read",
         "warp_product(sums"),
        ("A, B, start + 64)", "A, B, start)", "wrong-formula", "start_copy(sA[1 - here]"),
        ("range(0, K, 64)", "range(0, 192, 64)", "wrong-loop-bound", "for start in"),
        (f"{NEXT}{PRODUCT}", f"{PRODUCT}{NEXT}", "serial-work", "start_copy(sA[1 - here]"),
        (NEXT, NEXT.splitlines()[1][4:] + "\n", "out-of-bounds-read", "start_copy(sA[1 - here]"),
    ],
}  # fmt: skip
