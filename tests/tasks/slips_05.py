"""The slips that are usual in the tasks of lesson 05: see test_tasks.py."""

BARRIER = "cuda.syncthreads()\n"

SLIPS: dict[str, list[tuple[str, str, str, str]]] = {
    "reverse_sixteen": [
        ("    " + BARRIER, "", "race-read-after-write", "y[i] ="),
        ("[15 - i]", "[i]", "wrong-formula", "y[i] ="),
        ("shelf[15 - i]", "x[15 - i]", "not-used", "shelf = cuda"),
        ("    shelf[i] = x[i]\n", "", "uninitialised-read", "y[i] ="),
    ],
    "place_the_barriers": [
        ("        cuda.syncthreads()\n        total", "        total", "race-read-after-write",
         "total +="),
        ("[63 - i]\n        " + BARRIER, "[63 - i]\n", "race-write-after-read", "shelf[i] ="),
        ("        cuda.syncthreads()\n        total", "        if i < 32:\n            "
         "cuda.syncthreads()\n        total", "barrier-divergence", "if i < 32"),
    ],
}  # fmt: skip
