"""The slips that are usual in the tasks of lesson 12: see test_tasks.py."""

REUSE = "tflops * itemsize / tb_per_s"
TIME = "product_ms + kernels * 2 * mb / gb_per_s"

SLIPS: dict[str, list[tuple[str, str, str, str]]] = {
    "reuse_needed": [
        (REUSE, "2 * tflops * itemsize / tb_per_s", "wrong-formula", "return"),
        (REUSE, "tflops * itemsize / tb_per_s / 2", "wrong-formula", "return"),
        (REUSE, "tflops / tb_per_s", "wrong-formula", "return"),
        (REUSE, "10", "hardcoded-answer", "return"),
    ],
    "with_small_kernels": [
        (TIME, "product_ms + kernels * mb / gb_per_s", "wrong-formula", "return"),
        (TIME, "product_ms + 2 * mb / gb_per_s", "wrong-formula", "return"),
        (TIME, "kernels * 2 * mb / gb_per_s", "wrong-formula", "return"),
        (TIME, "(product_ms + 2 * mb / gb_per_s) * kernels", "wrong-formula", "return"),
    ],
}  # fmt: skip
