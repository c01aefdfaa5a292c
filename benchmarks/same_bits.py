"""Compare the emulator's results of Hopper's kernels with a GPU's, bit for bit.

    python3 benchmarks/same_bits.py [--store]

Needs a Hopper GPU and numba-cuda 0.30. Rungs 11 and 12 multiply small integers, so that every sum
is exact in any order. In attention the scores are far apart, so that weights are 1 or 0; where the
number of equal maxima of a row is no power of two, its mean need not be exact, and is held to
1/128. A run is kept in same_bits.json.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from numba import cuda

from course_lib.host import runtime
from course_lib.kernels import RUNG_KERNELS, attention_launch
from course_lib.kernels.accuracy import bits_of_bf16, from_bf16

STORED = Path(__file__).with_suffix(".json")
# One element, an edge on each side, one thin side each, more than one tile in both directions.
PRODUCTS = (
    (1, 8, 8), (33, 72, 24), (128, 256, 64), (130, 264, 80), (257, 136, 200),
    (127, 248, 72), (64, 512, 320), (300, 8, 128), (8, 520, 64), (256, 256, 256),
)  # fmt: skip
SCALE = 256 * math.log(2)  # a score less by 1 halves a weight 256 times, which leaves 0
WHOLE_TILES = tuple((128 * m, 256 * n, 64 * k) for m in (1, 2) for n in (1, 2) for k in (1, 2, 5))
# Heads, queries, keys, and numbers in a row.
ATTENTIONS = (
    (1, 1, 1, 64), (1, 77, 300, 64), (2, 129, 257, 64), (1, 200, 40, 64), (1, 128, 128, 64),
    (1, 1, 1, 128), (1, 77, 300, 128), (2, 129, 257, 128), (1, 200, 40, 128), (1, 128, 128, 128),
)  # fmt: skip


def whole_numbers(random: np.random.Generator, *shape: int) -> np.ndarray:
    """Numbers from -4 to 4 as bfloat16."""
    return bits_of_bf16(random.integers(-4, 5, shape).astype(np.float32))


def product(name: str, shape: tuple[int, int, int]) -> dict[str, Any]:
    """How many elements of a product differ, and how far it is from the right one."""
    (M, N, K), rung = shape, RUNG_KERNELS[name]
    random = np.random.default_rng(M + N + K)
    A, B = whole_numbers(random, M, K), whole_numbers(random, K, N)
    rounded = rung.result == "uint16"
    ours = np.zeros((M, N), np.uint16 if rounded else np.float32)
    on_gpu = cuda.to_device(ours)
    rung.launch(cuda.to_device(A), cuda.to_device(B), on_gpu)
    if hasattr(rung, "emulate"):
        profile = rung.emulate(A, B, ours)
    else:
        grid, block = rung.grid_and_block(M, N, K)
        emulated = runtime.emulate(rung.kernel, max_dynamic_shared=rung.dynamic_shared)
        profile = emulated[grid, block, 0, rung.dynamic_shared](A, B, ours)
    right = from_bf16(A) @ from_bf16(B)
    theirs = on_gpu.copy_to_host()
    expected = bits_of_bf16(right) if rounded else right
    return {
        "elements": ours.size,
        "differ": int(np.count_nonzero(ours != theirs)),
        "wrong": int(np.count_nonzero(ours != expected)),
        "errors": len(profile.errors),
    }


def attention(shape: tuple[int, int, int, int], causal: bool) -> dict[str, Any]:
    """The same for attention; `inexact` counts the rows whose mean need not be exact."""
    heads, queries, keys, d = shape
    random = np.random.default_rng(sum(shape))
    Q, K, V = (whole_numbers(random, 1, heads, n, d) for n in (queries, keys, keys))
    ours, lse = np.zeros(Q.shape, np.uint16), np.zeros((1, heads, queries), np.float32)
    arrays = [cuda.to_device(each) for each in (Q, K, V, ours, lse)]
    attention_launch.prepare(*arrays, causal=causal, scale=SCALE)()
    profile = attention_launch.emulate(Q, K, V, ours, lse, causal=causal, scale=SCALE)
    theirs = arrays[3].copy_to_host()
    scores = np.einsum("bhqd,bhkd->bhqk", from_bf16(Q), from_bf16(K))
    if causal:
        scores[..., np.triu(np.ones((queries, keys), bool), 1)] = -np.inf
    equal = (scores == scores.max(axis=3, keepdims=True)).sum(axis=3)
    exact = (equal & (equal - 1)) == 0
    off = np.abs(from_bf16(ours) - from_bf16(theirs))
    return {
        "elements": int(np.count_nonzero(exact)) * d,
        "differ": int(np.count_nonzero((ours != theirs)[exact])),
        "inexact": int(np.count_nonzero(~exact)),
        "off": float(off.max()),
        "lse": float(np.abs(lse - arrays[4].copy_to_host()).max()),
        "errors": len(profile.errors),
    }


def main() -> None:
    """Run all, print a line for each, and fail if any bit differs that must not."""
    runs: list[tuple[str, Any, Callable[[], dict[str, Any]]]] = [
        *(("wgmma", shape, lambda s=shape: product("wgmma", s)) for shape in WHOLE_TILES[:10]),
        *((name, shape, lambda n=name, s=shape: product(n, s))
          for name in ("tma", "tma_bf16") for shape in PRODUCTS),
        *(("flash_attention", shape, lambda s=shape: attention(s, False)) for shape in ATTENTIONS),
        *(("flash_attention, causal", shape, lambda s=shape: attention(s, True))
          for shape in ATTENTIONS if shape[1] == shape[2]),
    ]  # fmt: skip
    rows = []
    for name, shape, run in runs:
        row = {"kernel": name, "shape": shape, **run()}
        print(row, flush=True)
        rows.append(row)
    bad = [row for row in rows if row["differ"] or row["errors"] or row.get("off", 0) > 1 / 16]
    gpu = cuda.get_current_device().name
    gpu = gpu.decode() if isinstance(gpu, bytes) else gpu
    told = {"gpu": gpu, "date": datetime.now(UTC).date().isoformat(), "rows": rows}
    if "--store" in sys.argv:
        STORED.write_text(json.dumps(told).replace("{", "\n{") + "\n")
    print(f"{len(rows)} runs on {gpu}, {len(bad)} of them differ")
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
