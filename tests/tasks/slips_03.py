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
}  # fmt: skip
