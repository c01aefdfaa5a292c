"""The slips that are usual in the tasks of lesson 01: see test_tasks.py."""

SLIPS: dict[str, list[tuple[str, str, str, str]]] = {
    "flop_per_byte": [
        ("flops / (4 * (loads + stores))", "flops / (loads + stores)", "wrong-formula", "return"),
        ("flops / (4 * (loads + stores))", "4 * (loads + stores) / flops", "wrong-formula",
         "return"),
        ("return flops", "flops", "missing-answer", "def flop"),
        ("flops / (4 * (loads + stores))", "1 / 12", "hardcoded-answer", "return"),
    ],
    "grid_stride": [
        ("cuda.gridsize(1)", "cuda.gridsize", "compile-error", "for i in"),
        ("cuda.gridsize(1)", "64", "wrong-loop-bound", "for i"),
        (", cuda.gridsize(1)", "", "race-write-after-write", "y[i] ="),
        ("x.shape[0]", "cuda.gridsize(1)", "wrong-loop-bound", "for i in"),
        ("2 * x[i]", "x[i] + 2", "wrong-formula", "y[i] ="),
    ],
    "bytes_in_flight": [
        ("latency_ns * gb_per_s", "latency_ns * gb_per_s * 1000", "wrong-formula", "return"),
        ("latency_ns * gb_per_s", "gb_per_s / latency_ns", "wrong-formula", "return"),
        ("latency_ns * gb_per_s", "latency_ns / gb_per_s", "wrong-formula", "return"),
        ("latency_ns * gb_per_s", "latency_ns * 1e-9 * gb_per_s", "wrong-formula", "return"),
    ],
}  # fmt: skip
