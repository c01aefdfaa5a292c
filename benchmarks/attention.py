"""Attention, this course's beside PyTorch's, in one run: checked against float64, then timed.

    python3 benchmarks/attention.py                  check, then time everything; needs a Hopper GPU
    python3 benchmarks/attention.py --ablation       the variants of flash_attention, too
    python3 benchmarks/attention.py --float32        the float32 kernels only (any GPU)
    python3 benchmarks/attention.py --one-head       exercise 11b's solution, too, on one head alone
    python3 benchmarks/attention.py --check          right or wrong on odd shapes, no times
    python3 benchmarks/attention.py --store          keep it: course_lib/measurements/attention

Needs PyTorch. The check runs first, in a process of its own with a limit on its time: a kernel that
waits for a barrier that never completes would hang for ever, and so would everything behind it. Who
is wrong, or hangs, gets no time. Samples are about 10 ms long, in rounds, each round in an order of
its own; `course_lib.bench.gpu.EventClock` keeps the GPU from waiting for Python. PyTorch multiplies
float32 without TF32 here.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from course_lib.bench import gpu  # noqa: E402
from course_lib.bench.nvml import Nvml  # noqa: E402
from course_lib.bench.session import short_name  # noqa: E402
from course_lib.measurements import files  # noqa: E402
from course_lib.measurements.attention import (  # noqa: E402
    CUDNN,
    FLASH_2,
    FOLDER,
    MMA_SOLUTION,
    OURS,
    OURS_IN_FLOAT32,
    SOLUTION,
    UNFUSED,
    AttentionProblem,
    AttentionRun,
    Row,
)

SHAPES = ((4, 16, 4096, 64), (4, 16, 4096, 128), (1, 16, 16384, 128))
BFLOAT16 = [AttentionProblem(*shape, causal=causal) for causal in (False, True) for shape in SHAPES]
FLOAT32 = AttentionProblem(1, 1, 8192, 32, "float32")
ONE_HEAD = AttentionProblem(1, 1, 16384, 64)  # which is all that exercise 11b computes
# Batch, heads, queries, keys, and a factor for Q and K: one of each; less than a tile; a row more
# than a block; scores far beyond 88; lengths that differ, both ways.
ODD_SHAPES = (
    (1, 1, 1, 1, 1), (2, 3, 77, 33, 1), (1, 2, 129, 257, 1), (2, 2, 1000, 1000, 12),
    (1, 2, 517, 2049, 1), (1, 1, 1030, 70, 1), (1, 2, 4096, 4096, 1),
)  # fmt: skip
# A float32 sum over 8,192 keys is off by 2e-6, with one key left out by more than 1e-4.
MOST_ERROR = {"bfloat16": 8e-3, "float32": 5e-6}
MOST_LSE_ERROR = 2e-3
SWITCHES = (
    (False, False, "no overlap, no turns"), (False, True, "turns only"),
    (True, False, "overlap only"), (True, True, "overlap and turns"),
)  # fmt: skip
CHECK_SECONDS, CHECKED_AT_ONCE = 90, 6
SAMPLE_MS, ROUNDS = 10.0, 15

Launch = Callable[[], Any]


# --- who takes part -------------------------------------------------------------------------------


def inputs(problem: AttentionProblem, keys: int | None = None, size: float = 1) -> tuple[Any, ...]:
    """Q, K and V as PyTorch has them, normally distributed; Q and K times `size`."""
    import torch

    kind = getattr(torch, problem.precision)
    made = []
    for rows, factor in ((problem.length, size), (keys or problem.length, size), (keys, 1)):
        shape = (problem.batch, problem.heads, rows or problem.length, problem.head)
        made.append((torch.randn(shape, device="cuda") * factor).to(kind))
    return tuple(made)


def ours(
    problem: AttentionProblem, Q: Any, K: Any, V: Any, plan: Any = None
) -> tuple[Launch, Any, Any]:
    """`flash_attention`: what launches it, its O, and its log-sum-exp."""
    import torch
    from numba import cuda

    from course_lib.kernels import attention_launch

    O = torch.full_like(Q, math.nan)
    lse = torch.full(Q.shape[:3], math.nan, device="cuda")
    bits = [cuda.as_cuda_array(each.view(torch.uint16)) for each in (Q, K, V, O)]
    launch = attention_launch.prepare(
        *bits, cuda.as_cuda_array(lse), causal=problem.causal, plan=plan
    )
    return launch, O, lse


def pytorchs(problem: AttentionProblem, Q: Any, K: Any, V: Any) -> Iterator[tuple[str, Launch]]:
    """PyTorch's own ways; each returns its O."""
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.nn.functional import scaled_dot_product_attention

    scale = 1 / math.sqrt(problem.head)
    bf16 = problem.precision == "bfloat16"
    hidden = None
    if problem.causal:
        hidden = torch.ones((Q.shape[2], K.shape[2]), dtype=torch.bool, device="cuda").triu(1)

    def unfused() -> Any:
        scores = (Q @ K.transpose(-1, -2)) * scale
        if hidden is not None:
            scores = scores.masked_fill_(hidden, -math.inf)
        return scores.softmax(-1) @ V

    def through(backend: Any) -> Launch:
        def launch() -> Any:
            with sdpa_kernel(backend):
                return scaled_dot_product_attention(Q, K, V, is_causal=problem.causal)

        return launch

    yield UNFUSED, unfused
    yield "PyTorch, efficient", through(SDPBackend.EFFICIENT_ATTENTION)
    if bf16:
        yield FLASH_2, through(SDPBackend.FLASH_ATTENTION)
        yield CUDNN, through(SDPBackend.CUDNN_ATTENTION)


def variants(problem: AttentionProblem) -> Iterator[tuple[str, Any]]:
    """Plans for the ablation: one ingredient after the other, then other tiles."""
    from course_lib.kernels.attention_launch import PLANS
    from course_lib.kernels.flash_attention import Plan

    chosen = PLANS[problem.head, problem.causal]
    for overlap, turns, name in SWITCHES:
        if (overlap, turns) != (chosen.overlap, chosen.turns):
            yield f"{OURS}, {name}", replace(chosen, overlap=overlap, turns=turns)
    tiles = {
        128: ((2, 128, 2), (2, 128, 3), (2, 160, 2), (2, 176, 2)),
        64: ((2, 128, 2), (3, 96, 2), (3, 128, 2), (3, 128, 4), (2, 192, 2)),
    }
    for consumers, keys, slots in tiles[problem.head]:
        plan = Plan(problem.head, problem.causal, consumers, keys, slots)
        if plan != chosen:
            yield f"{OURS}, {consumers} x 64 queries, {keys} keys, {slots} slots", plan


def float32_kernels(Q: Any, K: Any, V: Any) -> Iterator[tuple[str, Launch, Any]]:
    """This course's in float32, with their O."""
    import torch
    from numba import cuda

    from course_lib.kernels import attention_float32, attention_unfused

    flat = [each.reshape(each.shape[2:]) for each in (Q, K, V)]
    queries, keys = len(flat[0]), len(flat[1])
    S = torch.empty((queries, keys), device="cuda")
    on_gpu = [cuda.as_cuda_array(each) for each in flat]
    results = [torch.full_like(flat[0], math.nan) for _ in range(3)]
    fused, unfused, solved = (cuda.as_cuda_array(each) for each in results)
    scores = cuda.as_cuda_array(S)
    yield (
        OURS_IN_FLOAT32,
        lambda: attention_float32.launch(*on_gpu, fused),
        results[0].reshape(Q.shape),
    )
    yield (
        "attention_unfused, three kernels",
        lambda: attention_unfused.launch(*on_gpu, unfused, scores),
        results[1].reshape(Q.shape),
    )
    if kernel := solution("11_flash_attention", "attention"):
        blocks = -(-queries // 16)
        yield (
            SOLUTION,
            lambda: kernel[blocks, (32, 16)](*on_gpu, solved),
            results[2].reshape(Q.shape),
        )


def on_tensor_cores(Q: Any, K: Any, V: Any) -> Iterator[tuple[str, Launch, Any]]:
    """Exercise 11b's solution in bfloat16, with its O, in float32."""
    import torch
    from numba import cuda

    if kernel := solution("11b_attention_on_tensor_cores", "attention_mma"):
        flat = [each.reshape(each.shape[2:]) for each in (Q, K, V)]
        bits = [cuda.as_cuda_array(each.view(torch.uint16)) for each in flat]
        result = torch.full(flat[0].shape, math.nan, device="cuda")
        O = cuda.as_cuda_array(result)
        blocks = -(-len(flat[0]) // 64)
        yield MMA_SOLUTION, lambda: kernel[blocks, 128](*bits, O), result.reshape(Q.shape)


def solution(notebook: str, name: str) -> Any:
    """The kernel of an exercise's solution; None in a copy that was handed out without it."""
    path = ROOT / "solutions" / f"{notebook}.ipynb"
    if not path.exists():
        return None
    from numba import cuda, float32

    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    begins = f"# EXERCISE {name}\n"
    text = next(t for c in cells if (t := "".join(c["source"])).startswith(begins))
    names = {"cuda": cuda, "float32": float32, "np": np, "math": math}
    exec(compile(text, f"<solution of {name}>", "exec"), names)  # Numba must not read JSON
    return names[name]


# --- right or wrong -------------------------------------------------------------------------------


def exact(Q: Any, K: Any, V: Any, causal: bool) -> tuple[Any, Any]:
    """O and log-sum-exp in float64, of the numbers that a kernel gets."""
    import torch

    S = Q.double() @ K.double().transpose(-1, -2) / math.sqrt(Q.shape[-1])
    if causal:
        S.masked_fill_(torch.ones(S.shape[-2:], dtype=torch.bool, device="cuda").triu(1), -math.inf)
    return S.softmax(-1) @ V.double(), S.logsumexp(-1)


def error(O: Any, truth: Any) -> float:
    return float((O.double() - truth).norm() / truth.norm())


def check_ours(problem: AttentionProblem, plan: Any = None) -> str:
    """Why `flash_attention` is wrong on odd shapes, twice on poisoned results; "" if it is not."""
    import torch

    for batch, heads, queries, keys, size in ODD_SHAPES:
        odd = replace(problem, batch=batch, heads=heads, length=queries)
        Q, K, V = inputs(odd, keys, size)
        launch, O, lse = ours(odd, Q, K, V, plan)
        truth, sums = exact(Q, K, V, problem.causal)
        for _ in range(2):
            O.fill_(math.nan)
            lse.fill_(math.nan)
            launch()
            torch.cuda.synchronize()
            off, off_lse = error(O, truth), float((lse - sums).abs().max())
            if not (off <= MOST_ERROR["bfloat16"] and off_lse <= MOST_LSE_ERROR):
                return f"wrong on {(batch, heads, queries, keys, size)}: {off:.2g}, {off_lse:.2g}"
    return ""


def checks(only: str = "") -> Iterator[tuple[str, str]]:
    """Name and fault of each of our bfloat16 kernels, variants included."""
    for head in (64, 128):
        for causal in (False, True):
            problem = AttentionProblem(1, 1, 1, head, causal=causal)
            for name, plan in ((OURS, None), *variants(problem)):
                label = f"{name} | {head} | {causal}"
                if only in ("", label):
                    yield label, check_ours(problem, plan)


def barred(ablation: bool) -> dict[str, str]:
    """Faults by label, each kernel checked in a process of its own: a hang takes nobody along."""
    labels = []
    for head in (64, 128):
        for causal in (False, True):
            problem = AttentionProblem(1, 1, 1, head, causal=causal)
            names = [OURS, *(name for name, _ in variants(problem) if ablation)]
            labels += [f"{name} | {head} | {causal}" for name in names]
    with ThreadPoolExecutor(CHECKED_AT_ONCE) as pool:
        faults = dict(zip(labels, pool.map(fault, labels), strict=True))
    for label, why in faults.items():
        print(f"{label}: {why or 'right'}", flush=True)
    return faults


def fault(label: str) -> str:
    """Why the kernel of this label is wrong, said by a process that may hang; "" if it is not."""
    command = [sys.executable, __file__, "--check", "--only", label]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=CHECK_SECONDS)
    except subprocess.TimeoutExpired:
        return f"did not end within {CHECK_SECONDS} s"
    said = (done.stdout + done.stderr).strip().splitlines()
    return "" if done.returncode == 0 else (said or ["died"])[-1][:120]


# --- time -----------------------------------------------------------------------------------------


def measure(
    problem: AttentionProblem, clock: Any, faults: dict[str, str], ablation: bool
) -> list[Row]:
    """All contestants on one problem, in rounds."""
    import torch

    Q, K, V = inputs(problem)
    some = slice(0, 1)  # one head of the first batch is held against float64
    truth = exact(Q[some, some], K[some, some], V[some, some], problem.causal)[0]
    taking_part: dict[str, tuple[Launch, Any]] = {}
    rows = []
    if problem.precision == "bfloat16":
        plans = [(OURS, None), *(variants(problem) if ablation else ())]
        for name, plan in plans:
            why = faults.get(f"{name} | {problem.head} | {problem.causal}", "")
            if why:
                rows.append(Row(name, problem, why_not=why))
            else:
                launch, O, _ = ours(problem, Q, K, V, plan)
                taking_part[name] = launch, O
        if problem == ONE_HEAD:
            for name, launch, O in on_tensor_cores(Q, K, V):
                taking_part[name] = launch, O
    else:
        for name, launch, O in float32_kernels(Q, K, V):
            taking_part[name] = launch, O
    for name, launch in pytorchs(problem, Q, K, V):
        taking_part[name] = launch, None

    errors, pilots = {}, {}
    for name, (launch, O) in list(taking_part.items()):
        try:
            returned = launch()
            torch.cuda.synchronize()
            errors[name] = error((O if O is not None else returned)[some, some], truth)
            pilots[name] = clock.sample(launch, 2, True).ms
        except Exception as failure:
            first = (str(failure).strip() or repr(failure)).splitlines()[0]
            rows.append(Row(name, problem, why_not=first[:120]))
            del taking_part[name]
            continue
        if not errors[name] <= MOST_ERROR[problem.precision]:
            rows.append(Row(name, problem, error=errors[name], why_not="wrong"))
            del taking_part[name]
    samples: dict[str, list[float]] = {name: [] for name in taking_part}
    for _ in range(ROUNDS):
        for name in random.sample(list(taking_part), len(taking_part)):
            launches = max(1, math.ceil(SAMPLE_MS / pilots[name]))
            samples[name].append(clock.sample(taking_part[name][0], launches, True).ms)
    return rows + [
        Row(name, problem, tuple(float(f"{ms:.5g}") for ms in found), float(f"{errors[name]:.2g}"))
        for name, found in samples.items()
    ]


def versions() -> dict[str, str]:
    import torch

    cudnn = torch.backends.cudnn.version()
    found = {"torch": torch.__version__, "CUDA of PyTorch": str(torch.version.cuda)}
    return {**gpu.versions(), **found, "cuDNN": str(cudnn)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--ablation", action="store_true", help="variants of flash_attention")
    parser.add_argument("--float32", action="store_true", help="the float32 kernels only")
    parser.add_argument("--one-head", action="store_true", help="exercise 11b's solution as well")
    parser.add_argument("--check", action="store_true", help="right or wrong only")
    parser.add_argument("--only", default="", help="with --check: one kernel, by its label")
    parser.add_argument("--store", action="store_true", help="keep the measurements")
    chosen = parser.parse_args()
    if chosen.check:
        found = dict(checks(chosen.only))
        for label, fault in found.items():
            print(f"{label}: {fault or 'right'}")
        return 1 if any(found.values()) or not found else 0

    if chosen.store and (chosen.float32 or chosen.one_head):
        parser.error("--store keeps everything: leave --float32 and --one-head out")
    if importlib.util.find_spec("torch") is None:
        raise SystemExit("There is no PyTorch here to compare with.")

    import torch

    torch.backends.cuda.matmul.allow_tf32 = False
    name, cc, bus_id = gpu.device()
    if cc[0] != 9 and not chosen.float32:
        raise SystemExit(f"flash_attention is made for Hopper GPUs, and this is a {name}.")
    nvml = Nvml(bus_id)
    clock = gpu.EventClock(nvml)
    faults = {} if chosen.float32 else barred(chosen.ablation)
    about = {**versions(), "driver": nvml.driver_version()}
    made = AttentionRun(name, datetime.now(UTC).date().isoformat(), about, ())
    alone = [FLOAT32] if chosen.float32 else [ONE_HEAD] if chosen.one_head else []
    for problem in alone or [FLOAT32, *BFLOAT16]:
        made = replace(
            made, rows=made.rows + tuple(measure(problem, clock, faults, chosen.ablation))
        )
        torch.cuda.empty_cache()
    print(made)
    if chosen.store:
        failed = [f"{row.name}: {row.why_not}" for row in made.rows if row.why_not]
        if failed:
            raise SystemExit(f"Not stored, since one is missing: {failed[0]}")
        files.store(FOLDER, short_name(name), made.content())
    return 0


if __name__ == "__main__":
    sys.exit(main())
