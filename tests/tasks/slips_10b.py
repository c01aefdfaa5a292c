"""The slips that are usual in the tasks of lesson 10b: see test_tasks.py."""

TURN = """\
        if warp == 0 and s < x.shape[0]:
            rows[s % 2, lane] = x[s, lane]
        if warp == 1 and s > 0:
            total += rows[(s - 1) % 2, lane]
        cuda.syncthreads()
    if warp == 1:
"""
ADDS = TURN.replace("warp == 1", "cuda.threadIdx.x > 32")
FETCHES = TURN.replace("warp == 0", "cuda.threadIdx.x > 32").replace("warp == 1", "warp == 0")

SLIPS: dict[str, list[tuple[str, str, str, str]]] = {
    "fetch_and_add": [
        ("        cuda.syncthreads()\n", "", "race-read-after-write", "total +="),
        ("range(x.shape[0] + 1)", "range(x.shape[0])", "wrong-loop-bound", "for s"),
        ("warp == 0 and s < x.shape[0]", "warp == 0", "wrong-loop-bound", "for s in"),
        ("        if warp == 1 and s > 0:\n", "        cuda.syncthreads()\n        if warp == 1 "
         "and s > 0:\n", "excess-barriers", "        cuda.syncthreads()"),
        ("if warp == 1:\n        y[lane]", "if warp == 0:\n        y[lane]", "wrong-bounds-check",
         "if warp == 1 and s > 0:"),
        ("total += rows", "total = rows", "accumulator-error", "total ="),
        ("            total += rows[(s - 1) % 2, lane]\n        cuda.syncthreads()\n",
         "            total += rows[(s - 1) % 2, lane]\n            cuda.syncthreads()\n",
         "barrier-divergence", "            cuda.syncthreads()"),
        (TURN, ADDS, "wrong-index", "warp, lane ="),  # shows
        (TURN, FETCHES, "wrong-bounds-check", "if cuda.threadIdx.x > 32 and s"),
        ("if warp == 1:\n", "if cuda.threadIdx.x > 32:\n", "incomplete-output",
         "if cuda.threadIdx.x > 32:"),
    ],
    "descriptor": [
        ("address // 16 | across // 16 << 16 | down // 16 << 32", "address | across << 16 | "
         "down << 32", "wrong-formula", "return"),
        (" | 1 << 62", "", "wrong-formula", "return"),
        ("1 << 62", "62", "wrong-formula", "return"),
        ("address // 16 |", "address |", "wrong-result", "return"),
    ],
    "ring_end": [
        ("max(empty + copy, before)", "empty + copy", "wrong-formula", "return"),
        ("empty + copy, before", "max(empty, tile * copy) + copy, before", "wrong-formula",
         "max(empty, tile"),
        ("if tile >= stages", "if tile > stages", "wrong-bounds-check", "tile > stages"),
        ("if tile >= stages", "if ends", "out-of-bounds-read", "if ends"),
    ],
    "banded": [
        ("which * band + inside % band, inside // band", "inside % band, inside // band",
         "wrong-formula", "return"),
        ("inside // band", "inside // columns", "race-write-after-write", "return"),
        ("which * band + inside % band, inside // band", "inside // band, which * band + inside % "
         "band", "out-of-bounds-write", "return"),
        ("number // (band * columns), number", "number // band * columns, number",
         "wrong-formula", "which, inside"),
    ],
}  # fmt: skip
