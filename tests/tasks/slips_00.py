"""The slips that are usual in the tasks of lesson 00: see test_tasks.py."""

SLIPS: dict[str, list[tuple[str, str, str, str]]] = {
    "put_seven": [
        ("out[2] = 7", "out[1] = 7", "wrong-index", "out[1] = 7"),
        ("out[2] = 7", "out[2] = 8", "wrong-formula", "out[2] = 8"),
        ("out[2] = 7", "out[4] = 7", "out-of-bounds-write", "out[4] = 7"),
        ("out[2] = 7", "out[:] = 7", "wrong-index", "out[:] = 7"),
        ("out[2] = 7", "out[0] = 1\n    out[2] = 7", "wrong-index", "out[0] = 1"),
        ("out[2] = 7", "for i in range(4):\n        out[i] = 7", "wrong-index", "out[i] = 7"),
        ("out[2] = 7", "out = 7", "missing-answer", "out = 7"),
        ("@cuda.jit\n", "", "invalid-launch", "def put_seven"),
    ],
    "add_ten_guarded": [
        ("    if i < a.shape[0]:\n    ", "", "out-of-bounds-read", "out[i] = a"),
        ("i < a", "i <= a", "wrong-bounds-check", "if i <= a"),
        ("i < a.shape[0]", "i < a.shape[0] - 1", "wrong-bounds-check", "if i <"),
        ("a[i] + 10", "a[i]", "wrong-formula", "out[i] = a[i]"),
        ("a[i] + 10", "a[i] + 1", "wrong-formula", "out[i] = a[i] + 1"),
        ("i = cuda.threadIdx.x", "i = cuda.blockIdx.x", "race-write-after-write", "out[i] = a"),
        ("out[i] = a[i] + 10", "a[i] = a[i] + 10", "wrong-index", "a[i] = a[i]"),
    ],
}  # fmt: skip
