"""The slips that are usual in the tasks of lesson 11b: see test_tasks.py."""

SHRINK = "total = total * math.exp(top - new) + share"
FIRST = "    part += cuda.shfl_xor_sync(0xFFFFFFFF, part, 1)\n"
SECOND = "part + cuda.shfl_xor_sync(0xFFFFFFFF, part, 2)"

SLIPS: dict[str, list[tuple[str, str, str, str]]] = {
    "quad_sum": [
        (FIRST, FIRST.replace("part += ", ""), "wrong-formula", FIRST[11:-1]),
        (SECOND, "part", "wrong-formula", "return"),
        (SECOND, SECOND.replace("2)", "1)"), "wrong-formula", "part += cuda"),
        (FIRST, FIRST.replace("+=", "="), "accumulator-error", "part ="),
    ],
    "causal_sums": [
        ("key <= query", "key < query", "wrong-formula", "handed[y, x] ="),
        ("    if query >= S.shape[0]:\n        return\n", "", "wrong-bounds-check",
         "handed[y, x] ="),
        ("        cuda.syncwarp()\n    if x", "        cuda.syncthreads()\n    if x",
         "barrier-divergence", "if query >="),
        ("range(0, query + 1, 32)", "range(0, query, 32)", "wrong-loop-bound", "for first"),
    ],
    "merge_parts": [
        ("float32(-math.inf), float32(0), float32(0)", "-math.inf, float32(0), float32(0)",
         "float64-arithmetic", "top, total"),
        ("    out[x] = mixed / total", "    out[x] = mixed", "wrong-formula", "out[x] ="),
        ("share = math.exp(L[i] - new)", "share = math.exp(new - L[i])", "wrong-formula",
         "share ="),
        (SHRINK, "total += share", "wrong-formula", "mixed = mixe"),  # shows
        ("share * O[i, x]", "share * O[i, x] / L[i]", "accumulator-error",
         "share * O[i, x] / L[i]"),
        ("mixed / total", "mixed / L[L.shape[0] - 1]", "wrong-loop-bound", "out[x] ="),
        ("O[i, x]", "O[x, i]", "wrong-index", "O[x, i]"),
        ("new = max(top, L[i])", "new = float32(0)", "numerical-overflow", "share ="),
        ("new = max(top, L[i])", "new = L[0]", "numerical-overflow", "new = L[0]"),
    ],
}  # fmt: skip
