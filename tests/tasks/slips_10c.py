"""The slips that are usual in the tasks of lesson 10c: see test_tasks.py."""

import textwrap

TERM = "total += math.exp(X[row, j] - top)"
ROUND = "        cuda.syncthreads()\n        if t < half:\n            parts[t] +="
LANES = """\
        apart = 16
        while apart > 0:
            total += cuda.shfl_xor_sync(0xFFFFFFFF, total, apart)
            apart //= 2
"""
LANES_MAX = LANES.replace(
    "total += cuda.shfl_xor_sync(0xFFFFFFFF, total, apart)",
    "top = max(top, cuda.shfl_xor_sync(0xFFFFFFFF, top, apart))",
)

SLIPS: dict[str, list[tuple[str, str, str, str]]] = {
    "softmax_naive": [
        ("math.exp(X[row, j] - top) / total", "math.exp(X[row, j] - top)", "wrong-formula",
         "Y[row, j] = math.exp(X[row, j] - top)"),
        ("float32(-math.inf), float32(0)", "float32(0), float32(0)", "numerical-overflow",
         "top, total = float32(0), float32(0)"),
        (TERM, "total = math.exp(X[row, j] - top)", "accumulator-error",
         "total = math.exp(X[row, j] - top)"),
        (TERM, "total += X[row, j]", "wrong-formula", "total += X[row, j]"),
        (TERM, "total += math.exp(X[row, j])", "numerical-overflow",
         "total += math.exp(X[row, j])"),
        (TERM, "total += math.exp(X[row, 0] - top)", "wrong-index",
         "total += math.exp(X[row, 0] - top)"),
        (TERM, "total += math.exp(top - X[row, j])", "wrong-formula",
         "total += math.exp(top - X[row, j])"),
        ("Y[row, j] = math.exp(X[row, j] - top)", "Y[row, j] = math.exp(X[row, j])",
         "wrong-formula", "Y[row, j] = math.exp(X[row, j]) / total"),
        ("Y[row, j] = math.exp(X[row, j] - top)", "Y[row, j] = X[row, j]", "wrong-formula",
         "Y[row, j] = X[row, j] / total"),
        ("/ total", "* total", "wrong-formula", "Y[row, j] = math.exp(X[row, j] - top) * total"),
        ("row < X.shape[0]", "row < X.shape[1]", "wrong-bounds-check", "if row < X.shape[1]:"),
        ("    if row < X.shape[0]:", "    if True:", "out-of-bounds-read",
         "top = max(top, X[row, j])"),
        ("max(top, X[row, j])", "max(top, X[j, row])", "wrong-index", "top = max(top, X[j, row])"),
        ("top = max(top, X[row, j])", "top = X[row, j]", "numerical-overflow", "top = X[row, j]"),
        ("max(top, X[row, j])", "min(top, X[row, j])", "numerical-overflow",
         "Y[row, j] = math.exp(X[row, j] - top) / total"),  # shows
        ("row = cuda.grid(1)", "row = cuda.threadIdx.x", "wrong-index", "row = cuda.threadIdx.x"),
        ("range(X.shape[1]):\n            Y", "range(X.shape[1] - 1):\n            Y",
         "wrong-loop-bound", "for j in range(X.shape[1] - 1):"),
        ("range(X.shape[1]):\n            total", "range(1, X.shape[1]):\n            total",
         "wrong-loop-bound", "for j in range(1, X.shape[1]):"),
        ("float32(-math.inf), float32(0)", "float32(-math.inf), 0.0", "float64-arithmetic",
         "top, total = float32(-math.inf), 0.0"),
    ],
    "softmax_tree": [
        ("    cuda.syncthreads()\n    parts[t] = total", "    parts[t] = total",
         "race-write-after-read", "parts[t] = total"),
        ("        half //= 2\n    cuda.syncthreads()\n    total", "        half //= 2\n    total",
         "race-read-after-write", "total = parts[0]"),
        (ROUND, "        if t < half:\n            parts[t] +=", "race-read-after-write",
         "parts[t] += parts[t + half]"),
        (ROUND, "        if t < half:\n            cuda.syncthreads()\n            parts[t] +=",
         "barrier-divergence", "            cuda.syncthreads()"),
        ("    total = parts[0]\n", "", "hardcoded-answer",
         "Y[row, j] = math.exp(X[row, j] - top) / total"),  # shows
        ("    half = 64\n    while half > 0:\n        cuda.syncthreads()\n        if t < half:\n"
         "            parts[t] +=",
         "    half = 32\n    while half > 0:\n        cuda.syncthreads()\n        if t < half:\n"
         "            parts[t] +=", "wrong-loop-bound", "half = 32"),
        ("        half //= 2\n    cuda.syncthreads()\n    total",
         "        half //= 4\n    cuda.syncthreads()\n    total", "wrong-loop-bound", "half //= 4"),
        ("parts[t] += parts[t + half]", "parts[t] = parts[t + half]", "accumulator-error",
         "parts[t] = parts[t + half]"),
        ("parts[t] += parts[t + half]", "parts[t] = max(parts[t], parts[t + half])",
         "wrong-formula", "Y[row, j] = math.exp(X[row, j] - top) / total"),  # shows
        ("X[row, j] - top)\n    cuda", "X[row, t] - top)\n    cuda", "wrong-index",
         "total += math.exp(X[row, t] - top)"),
        ("range(t, columns, 128):\n        Y", "range(columns):\n        Y",
         "race-write-after-write", "Y[row, j] = math.exp(X[row, j] - top) / total"),
        ("range(t, columns, 128):\n        total", "range(columns):\n        total",
         "accumulator-error", "parts[t] += parts[t + half]"),  # shows
        ("range(t, columns, 128):\n        total", "range(t, columns - 1, 128):\n        total",
         "wrong-loop-bound", "for j in range(t, columns - 1, 128):"),
        ("/ total", "/ parts[t]", "numerical-overflow",
         "Y[row, j] = math.exp(X[row, j] - top) / parts[t]"),  # shows
        ("math.exp(X[row, j] - top) / total", "math.exp(X[row, j]) / total", "wrong-formula",
         "Y[row, j] = math.exp(X[row, j]) / total"),
        ("math.exp(X[row, j] - top) / total", "math.exp(X[row, j] - top)", "wrong-formula",
         "Y[row, j] = math.exp(X[row, j] - top)"),
        ("    for j in range(t, columns, 128):\n        Y",
         "    if t < columns:\n        j = t\n        Y", "wrong-index", "j = t"),
    ],
    "softmax_warps": [
        (LANES, "", "wrong-formula", "Y[row, j] = math.exp(X[row, j] - top) / total"),  # shows
        (LANES_MAX, "", "hardcoded-answer",
         "Y[row, j] = math.exp(X[row, j] - top) / total"),  # shows
        (LANES, LANES.replace("16", "8"), "wrong-loop-bound", "apart = 8"),
        ("while apart > 0:\n            total", "while apart > 1:\n            total",
         "wrong-loop-bound", "while apart > 1:"),
        ("total += cuda", "total = cuda", "accumulator-error",
         "total = cuda.shfl_xor_sync(0xFFFFFFFF, total, apart)"),
        ("total += cuda.shfl_xor_sync", "total += cuda.shfl_down_sync", "wrong-formula",
         "total += cuda.shfl_down_sync(0xFFFFFFFF, total, apart)"),
        ("cuda.shfl_xor_sync(0xFFFFFFFF, top", "cuda.shfl_down_sync(0xFFFFFFFF, top",
         "wrong-formula", "top = max(top, X[row, j])"),  # shows
        ("total, apart)", "top, apart)", "accumulator-error",
         "total += cuda.shfl_xor_sync(0xFFFFFFFF, top, apart)"),
        ("0xFFFFFFFF, total", "0xFFFF, total", "barrier-divergence",
         "total += cuda.shfl_xor_sync(0xFFFF, total, apart)"),
        ("total, apart)", "total, 16)", "accumulator-error",
         "total += cuda.shfl_xor_sync(0xFFFFFFFF, total, 16)"),
        (LANES, "        if lane == 0:\n" + textwrap.indent(LANES, "    "), "barrier-divergence",
         "if lane == 0:"),
        ("max(top, cuda", "min(top, cuda", "numerical-overflow",
         "Y[row, j] = math.exp(X[row, j] - top) / total"),  # shows
        ("        for j in range(lane, X.shape[1], 32):\n            Y",
         "        j = lane\n        if j < X.shape[1]:\n            Y", "wrong-index", "j = lane"),
        ("range(lane, X.shape[1], 32):\n            Y",
         "range(lane, X.shape[1], 128):\n            Y", "wrong-loop-bound",
         "for j in range(lane, X.shape[1], 128):"),
        ("range(lane, X.shape[1], 32):\n            total", "range(X.shape[1]):\n            total",
         "accumulator-error", "total += cuda.shfl_xor_sync(0xFFFFFFFF, total, apart)"),  # shows
        ("total += cuda", "total += top + cuda", "wrong-formula",
         "total += top + cuda.shfl_xor_sync(0xFFFFFFFF, total, apart)"),
        ("math.exp(X[row, j] - top) / total", "math.exp(X[row, j] - top)", "wrong-formula",
         "Y[row, j] = math.exp(X[row, j] - top)"),
        ("math.exp(X[row, j] - top) / total", "math.exp(X[row, j]) / total", "wrong-formula",
         "Y[row, j] = math.exp(X[row, j]) / total"),
    ],
    "softmax_once": [
        ("X[row, j] if j < columns else float32(-math.inf)",
         "X[row, j] if j < columns else float32(0)",
         "accumulator-error", "kept[k] = X[row, j] if j < columns else float32(0)"),
        ("X[row, j] if j < columns else float32(-math.inf)", "X[row, j]", "out-of-bounds-read",
         "kept[k] = X[row, j]"),
        ("            kept[k] = math.exp(kept[k] - top)\n            total += kept[k]\n",
         "            total += math.exp(kept[k] - top)\n", "wrong-formula",
         "Y[row, j] = kept[k] * share"),  # shows
        ("            kept[k] = math.exp(kept[k] - top)\n            total += kept[k]\n",
         "            total += kept[k]\n", "wrong-formula",
         "Y[row, j] = math.exp(X[row, j] - top) * share"),  # shows
        ("        if j < columns:\n            Y", "        if True:\n            Y",
         "out-of-bounds-write", "Y[row, j] = kept[k] * share"),
        ("        j = t + 256 * k\n        if j", "        j = 16 * t + k\n        if j",
         "wrong-formula", "j = t + 256 * k"),  # shows
        ("Y[row, j] = kept[k] * share", "Y[row, j] = math.exp(X[row, j] - top) / total",
         "excess-global-traffic", "- top) / total"),
        ("Y[row, j] = kept[k] * share", "Y[row, j] = kept[0] * share", "wrong-index",
         "Y[row, j] = kept[0] * share"),
        ("Y[row, j] = kept[k] * share", "Y[row, j] = kept[k]", "wrong-formula",
         "Y[row, j] = kept[k]"),
        ("kept = cuda.local.array(16, float32)", "kept = cuda.local.array(8, float32)",
         "out-of-bounds-write", "kept[k] = X[row, j] if j < columns else float32(-math.inf)"),
        ("kept = cuda.local.array(16, float32)", "kept = cuda.shared.array(16, float32)",
         "race-read-after-write", "top = max(top, kept[k])"),
        ("if 256 * k < columns:", "if 256 * k < columns - 256:", "wrong-bounds-check",
         "if 256 * k < columns - 256:"),
        ("    total = float32(0)\n", "", "wrong-formula", "total += sums[warp]"),  # shows
        ("t + 256 * k\n        kept", "t + 32 * k\n        kept", "wrong-index", "j = t + 32 * k"),
        ("    top = warp_max(top)\n", "", "wrong-formula", "top = max(top, kept[k])"),  # shows
        ("        sums[t // 32] = total\n    cuda.syncthreads()", "        sums[t // 32] = total",
         "race-read-after-write", "total += sums[warp]"),
        ("    if t % 32 == 0:\n        sums[t // 32]", "    if t % 64 == 0:\n        sums[t // 32]",
         "uninitialised-read", "sums[t // 32] ="),
        ("range(t + 4096, columns, 256):\n        total", "range(t, columns, 256):\n        total",
         "accumulator-error", "share = float32(1) / total"),  # shows
        ("share = float32(1) / total", "share = 1 / total", "float64-arithmetic",
         "share = 1 / total"),
    ],
}  # fmt: skip
