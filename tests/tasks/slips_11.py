"""The slips that are usual in the tasks of lesson 11: see test_tasks.py."""

WAIT = "        cuda.syncwarp()\n"
BLOCK = "        cuda.syncthreads()\n"
PASS = "total * math.exp(top - new) + math.exp(score - new)"
RESCALE = "        mixed *= math.exp(top - new)\n"

SLIPS: dict[str, list[tuple[str, str, str, str]]] = {
    "padded_scores": [
        ("(32, 33)", "(32, 32)", "bank-conflict", "score +="),
        ("    cuda.syncthreads()\n", "", "race-read-after-write", "score +="),
        ("    sK[y + 16, x] = K[first + y + 16, x]\n", "", "uninitialised-read", "sK[y, x] ="),
        ("sQ[y, k] * sK[x, k]", "sQ[y, k] * sK[k, x]", "wrong-index", "score +="),
        ("K[first + y, x]\n    sK[y + 16, x] = K[first + y + 16, x]", "K[first // 2 + y, x]\n"
         "    sK[y + 16, x] = K[first // 2 + y + 16, x]", "wrong-formula", "sK[y, x] = K"),
        ("K[first + y, x]\n    sK[y + 16, x] = K[first + y + 16, x]",
         "K[y, x]\n    sK[y + 16, x] = K[y + 16, x]", "wrong-formula", "sK[y, x] ="),
        ("16 * cuda.blockIdx.y + y", "y", "wrong-index", "query, first ="),
        ("sK[y, x] = K[first + y, x]\n    sK[y + 16, x] = K[first + y + 16, x]",
         "sK[x, y] = K[first + x, y]\n    sK[x, y + 16] = K[first + x, y + 16]",
         "uncoalesced-load", "sK[x, y + 16]"),
        ("        score += sQ[y, k] * sK[x, k]", "        score = sQ[y, k] * sK[x, k]",
         "accumulator-error", "score = sQ"),
        ("    S[query, first + x] = score", "    S[first + x, query] = score",
         "wrong-index", "S[first + x, query]"),
    ],
    "one_pass": [
        (PASS, "total + math.exp(score - new)", "wrong-formula", "total + math"),
        (PASS, "total * math.exp(new - top) + math.exp(score - new)", "accumulator-error",
         "math.exp(new - top)"),
        (PASS, "total + math.exp(score)", "wrong-formula", "math.exp(score)"),
        (PASS, "math.exp(score - new)", "wrong-formula", "total = math"),
        (PASS, "(total + math.exp(score - new)) * math.exp(top - new)", "wrong-formula",
         "(total + math"),
        ("        top = new\n", "", "wrong-formula", "total = total"),
        ("new = max(top, score)", "new = score", "wrong-formula", "score = s[i]"),  # shows
        (f"        score = s[i]\n        new = max(top, score)\n        total = {PASS}\n"
         "        top = new\n", "        top, total = max(top, s[i]), float32(0)\n"
         "        for j in range(i + 1):\n            total += math.exp(s[j] - top)\n",
         "excess-global-traffic", "total += math"),
        ("float32(-math.inf), float32(0)", "float32(0), float32(0)", "wrong-loop-bound",
         "top, total ="),
    ],
    "mix_tiles": [
        (RESCALE, "", "wrong-formula", "mixed +="),
        ("math.exp(top - new)", "math.exp(new - top)", "wrong-formula", "mixed *="),
        ("        top = new\n", "", "wrong-formula", "out[first // 8, x] ="),
        ("V[j, x]", "V[x, j]", "wrong-index", "V[x, j]"),
        ("V[j, x]", "V[first, x]", "wrong-index", "V[first, x]"),
        ("V[j, x]", "V[j - first, x]", "wrong-index", "mixed +="),
        ("new = max(new, s[j])", "new = max(top, s[j])", "wrong-formula", "max(top, s[j])"),
        ("float32(-math.inf), float32(0)", "float32(0), float32(0)", "wrong-formula",
         "mixed += mat"),  # shows
        ("        new = top\n", "        new = float32(-math.inf)\n", "wrong-formula",
         "new = float32(-math.inf)"),
    ],
    "own_tiles": [
        (WAIT, BLOCK, "barrier-divergence", "for first"),
        (f"{WAIT}        new", "        new", "race-read-after-write", "new = max"),
        (f"        top = new\n{WAIT}", "        top = new\n", "race-write-after-read",
         "handed[y, x] ="),
        (f"        top = new\n{WAIT}", f"        top = new\n        if x == 0:\n    {WAIT}",
         "barrier-divergence", "            cuda.syncwarp()"),
    ],
}  # fmt: skip
