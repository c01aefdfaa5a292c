"""The slips that are usual in the tasks of lesson 05b: see test_tasks.py."""

SHARE = "min(1, 1 / (wavefronts * starts))"
ROOF = "min(peak, flop_per_byte * gb_per_s)"

SLIPS: dict[str, list[tuple[str, str, str, str]]] = {
    "transposed_product": [
        ("column, row = cuda", "row, column = cuda", "wrong-index", "row, column ="),
        ("A[k, row]", "A[row, k]", "wrong-index", "total +="),
        ("A.shape[0]", "A.shape[1]", "wrong-loop-bound", "while k <"),
        ("            k += 1\n", "", "timeout", "while k <"),
        ("            k += 1\n        C[row, column] = total",
         "            k += 1\n            C[row, column] = A[k - 1, row] * B[k - 1, column]",
         "accumulator-error", "C[row, column] ="),
        ("k < A.shape[0]", "k < A.shape[0] - 1", "wrong-loop-bound", "while k <"),
        ("k < A", "k <= A", "wrong-loop-bound", "while k <"),
        ("k = 0", "k = 1", "wrong-loop-bound", "k = 1"),
        ("total += ", "total = ", "accumulator-error", "total ="),
        ("float32(0)", "0.0", "float64-arithmetic", "total = 0.0"),
        ("    if row < C.shape[0] and column < C.shape[1]:\n", "    if True:\n",
         "out-of-bounds-read", "total +="),
        ("            total += A[k, row] * B[k, column]\n            k += 1\n",
         "            k += 1\n            total += A[k, row] * B[k, column]\n", "wrong-loop-bound",
         "k += 1"),
    ],
    "share_of_peak": [
        (SHARE, "1 / (wavefronts * starts)", "wrong-formula", "return"),
        (SHARE, "wavefronts * starts", "wrong-formula", "return"),
        (SHARE, "1 / 8", "hardcoded-answer", "return"),
        ("return " + SHARE, "if wavefronts * starts > 1:\n        return 1\n"
         "    return 1 / wavefronts / starts",
         "wrong-formula", "if wavefronts"),
    ],
    "roof": [
        (ROOF, "flop_per_byte * gb_per_s", "wrong-formula", "return"),
        (ROOF, "max(peak, flop_per_byte * gb_per_s)", "wrong-formula", "return"),
        (ROOF, "min(peak, gb_per_s / flop_per_byte)", "wrong-formula", "return"),
        (ROOF, "peak / gb_per_s", "wrong-formula", "return"),
    ],
}  # fmt: skip
