"""The slips that are usual in the tasks of lesson 03: see test_tasks.py."""

STRIDED = "range(i, x.shape[0], cuda.gridsize(1))"
SECTOR = "(offset + lane * stride) // 8"
BODY = (
    "    touched = set()\n    for lane in range(32):\n"
    f"        touched.add({SECTOR})\n    return len(touched)"
)
ROW, COLUMN = "blockIdx.y * 16 + cuda.threadIdx.y", "blockIdx.x * 16 + cuda.threadIdx.x"
BOTH = f"    row = cuda.{ROW}\n    column = cuda.{COLUMN}"

SLIPS: dict[str, list[tuple[str, str, str, str]]] = {
    "strided_sums": [
        (STRIDED, "range(i, x.shape[0], 32)", "wrong-loop-bound", "for k"),
        (STRIDED, "range(i, x.shape[0], cuda.blockDim.x)", "wrong-loop-bound", "for k"),
        (STRIDED, "range(0, x.shape[0], 64)", "wrong-loop-bound", "for k"),
        (STRIDED, "range(i, x.shape[0])", "wrong-loop-bound", "for k"),
        ("cuda.grid(1)", "cuda.threadIdx.x", "wrong-index", "i = cuda"),
        ("total += x[k]", "total = x[k]", "accumulator-error", "total = x"),
        ("total += x[k]", "total += x[i]", "wrong-index", "total += x"),
        ("float32(0)", "0", "float64-arithmetic", "total = 0"),
        (f"    total = float32(0)\n    for k in {STRIDED}:\n        total += x[k]\n"
         "    y[i] = total", "    if i < x.shape[0]:\n        y[i] = x[i]",
         "accumulator-error", "if i < x.shape[0]:"),  # shows
    ],
    "sectors": [
        ("offset + lane * stride", "lane * stride", "wrong-formula", "return"),
        (SECTOR, "(offset + lane) * stride // 8", "wrong-formula", "touched.add"),
        ("range(32)", "range(31)", "wrong-formula", "for lane"),
        ("return len(touched)", "return 4", "hardcoded-answer", "return"),
        ("return len(touched)", "return float(len(touched))", "wrong-formula", "return"),
        ("return len(touched)", "return touched", "wrong-formula", "return"),
        ("    return len(touched)\n", "", "missing-answer", "def sectors"),
    ],
    "repair_copy": [
        (ROW, "blockIdx.y * 16 + cuda.threadIdx.x", "wrong-index", "row = "),
        (BOTH, "    row, column = cuda.grid(2)", "wrong-index", "row, column ="),
        (BOTH, "    row = cuda.blockIdx.x * 16 + cuda.threadIdx.y\n"
         "    column = cuda.blockIdx.y * 16 + cuda.threadIdx.x", "wrong-index", "row = cuda"),
        ("= A[row, column]", "= A[column, row]", "wrong-index", "B[row, column] ="),
        (" and column < A.shape[1]", "", "wrong-bounds-check", "if row"),
        (BOTH, "    row = cuda.blockIdx.y * 16 + cuda.threadIdx.x  # as given\n"
         "    column = cuda.blockIdx.x * 16 + cuda.threadIdx.y\n    n = A.shape[1]",
         "uncoalesced-load", "B[row, column] ="),
    ],
    "matmul_coalesced": [
        ("column, row = cuda", "row, column = cuda", "wrong-index", "row, column ="),
        ("    column, row = cuda.grid(2)", BOTH.replace("threadIdx.y", "threadIdx.z")
         .replace("threadIdx.x", "threadIdx.y").replace("threadIdx.z", "threadIdx.x"),
         "uncoalesced-load", "total +="),
        ("A[row, k]", "A[k, row]", "wrong-index", "total +="),
        ("C[row, column] = total", "C[column, row] = total", "wrong-index", "C[column, row]"),
        (" and column < C.shape[1]", "", "wrong-bounds-check", "if row <"),
        ("A.shape[1]", "A.shape[0]", "wrong-loop-bound", "for k"),
        ("total += A", "total = A", "accumulator-error", "total = A"),
        ("float32(0)", "0", "float64-arithmetic", "total = 0"),
    ],
}  # fmt: skip
