"""The slips that are usual in the tasks of lesson 02: see test_tasks.py."""

SLIPS: dict[str, list[tuple[str, str, str, str]]] = {
    "naive_by_rows": [
        ("row, column = cuda", "column, row = cuda", "wrong-index", "column, row ="),
        (" and column < C.shape[1]", "", "wrong-bounds-check", "if row <"),
        ("B[k, column]", "B[column, k]", "wrong-index", "total +="),
        ("total += ", "total = ", "accumulator-error", "total = A"),
        ("A.shape[1]", "A.shape[0]", "wrong-loop-bound", "for k in"),
    ],
}  # fmt: skip
