"""The slips that are usual in the tasks of lesson 11b: see test_tasks.py."""

SHRINK = "total = total * math.exp(top - new) + share"
FIRST = "    part += cuda.shfl_xor_sync(0xFFFFFFFF, part, 1)\n"
SECOND = "part + cuda.shfl_xor_sync(0xFFFFFFFF, part, 2)"

KEY = "key, piece = 8 * j + lane // 16 * 8 + lane % 8, 2 * k + lane // 8 % 2"
ZEROS = "    for j in range(4):\n        for c in range(4):\n            S[j, c] = float32(0)\n"
OF_Q = "q[k, 0], q[k, 1], q[k, 2], q[k, 3]"
VALUE = "piece_at(16 * k + lane % 16, j + lane // 16)"
EXCHANGE = "        new = max(new, cuda.shfl_xor_sync(0xFFFFFFFF, new, {}))\n"
SHRUNK = ("        for j in range(8):\n            mixed[j, 2 * h] *= factor\n"
          "            mixed[j, 2 * h + 1] *= factor\n")  # fmt: skip
WORDS = ("            pack_bf16(P[2 * k, 2], P[2 * k, 3]),\n",
         "            pack_bf16(P[2 * k + 1, 0], P[2 * k + 1, 1]),\n")  # fmt: skip

SLIPS: dict[str, list[tuple[str, str, str, str]]] = {
    "quad_sum": [
        (FIRST, FIRST.replace("part += ", ""), "wrong-formula", FIRST[11:-1]),
        (SECOND, "part", "wrong-formula", "return"),
        (SECOND, SECOND.replace("2)", "1)"), "wrong-formula", "part += cuda"),
        (FIRST, FIRST.replace("+=", "="), "accumulator-error", "part ="),
    ],
    "score_tile": [
        ("ldmatrix_x4(sK", "ldmatrix_x4_trans(sK", "wrong-formula", "b0, b1, b2, b3 ="),
        (KEY, "key, piece = 8 * j + lane % 16, 2 * k + lane // 16", "wrong-formula",
         "b0, b1, b2, b3 ="),
        (ZEROS, "", "uninitialised-read", "add_product(S, j + 1"),
        (OF_Q, OF_Q.replace("k", "0"), "wrong-formula", "a = q"),
        ("2 * k + lane // 8", "k + lane // 8", "wrong-index", "key, piece ="),
        ("piece_at(key, piece)", "key * 64 + piece * 8", "wrong-formula", "b0, b1, b2, b3 ="),
        ("S, j + 1, a, b2", "S, j, a, b2", "wrong-formula", "add_product(S, j, a, b2"),
        ("S, j + 1, a, b2, b3", "S, j + 1, a, b0, b1", "wrong-formula", "b0, b1, b2, b3 ="),
    ],
    "mix_values": [
        ("".join(WORDS), "".join(WORDS[::-1]), "wrong-index", "P[2 * k + 1, 0]"),
        ("ldmatrix_x4_trans(sV", "ldmatrix_x4(sV", "wrong-formula", "b0, b1, b2, b3 ="),
        (VALUE, VALUE.replace("16 * k + ", ""), "wrong-formula", "b0, b1, b2, b3 ="),
        (VALUE, VALUE.replace("16 * k", "k"), "wrong-index", "b0, b1, b2, b3 ="),
        (VALUE, VALUE.replace("j +", "2 * j +"), "out-of-bounds-read", "b0, b1, b2, b3 ="),
        ("            add_product(mixed, j + 1, a, b2, b3)\n", "", "wrong-formula",
         "add_product(mixed, j, a"),
        ("    for k in range(2):", "    for j in range(8):\n        for c in range(4):\n"
         "            mixed[j, c] = float32(0)\n    for k in range(2):", "accumulator-error",
         "mixed[j, c] ="),
    ],
    "online_rows": [
        (EXCHANGE.format(1) + EXCHANGE.format(2), "", "wrong-formula", "new = max(new, S"),
        (EXCHANGE.format(2), "", "wrong-formula", "new = max(new, S"),
        (SHRUNK, "", "wrong-formula", "factor ="),
        ("        total[h] *= factor\n", "", "wrong-formula", "total[h] += S"),
        ("for j in range(8)", "for j in range(4)", "wrong-formula", "mixed[j, 2 * h] *="),
        ("math.exp(top[h] - new)", "math.exp(new - top[h])", "numerical-overflow", "factor ="),
        ("        top[h] = new\n", "", "wrong-formula", "factor ="),
        ("S[j, c] - new)", "S[j, c])", "numerical-overflow", "S[j, c] ="),
        ("                total[h] += S[j, c]\n", "                total[h] += S[j, c]\n"
         "        total[h] += cuda.shfl_xor_sync(0xFFFFFFFF, total[h], 1)\n"
         "        total[h] += cuda.shfl_xor_sync(0xFFFFFFFF, total[h], 2)\n", "wrong-formula",
         "total[h] += cuda"),
        ("= math.exp(top[h] - new)", "= 1.0 * math.exp(top[h] - new)", "float64-arithmetic",
         "factor ="),
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
