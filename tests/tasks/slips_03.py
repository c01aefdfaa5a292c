"""The slips that are usual in the tasks of lesson 03: see test_tasks.py."""

SLIPS: dict[str, list[tuple[str, str, str, str]]] = {
    "sectors": [
        ("offset + lane * stride", "lane * stride", "wrong-formula", "return"),
        ("(offset + lane * stride) // 8", "offset + lane * stride", "wrong-formula", "return"),
        ("// 8", "// 32", "wrong-formula", "return"),
        ("return len(touched)", "return 4", "hardcoded-answer", "return"),
        ("return len(touched)", "return len(touched) - 1", "wrong-formula", "return"),
        ("return len(touched)", "return float(len(touched))", "wrong-formula", "return"),
        ("    return len(touched)\n", "", "wrong-formula", "def sectors"),
    ],
    "matmul_coalesced": [
        ("column, row = cuda", "row, column = cuda", "wrong-index", "row, column ="),
        ("A[row, k]", "A[k, row]", "wrong-index", "total +="),
        ("B[k, column]", "B[column, k]", "wrong-index", "total +="),
        (" and column < C.shape[1]", "", "wrong-bounds-check", "if row <"),
        ("float32(0)", "0", "float64-arithmetic", "total = 0"),
    ],
}  # fmt: skip
