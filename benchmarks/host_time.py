"""Measure what a launch costs the host, and what a loop of products gets of the GPU for it.

    python3 benchmarks/host_time.py [--store]

Needs a Hopper GPU, numba-cuda 0.30 and PyTorch. The same product (bfloat16, with a bfloat16 result)
and the same attention are called in four ways: by PyTorch; by `launch`, which looks at its arrays
every time; by what `prepare` has returned; and as a CUDA graph of 20 of them. Host time is that of
calls while the GPU is held, so nobody waits for it; the time in a loop is that of calls until the
last one is done, over their number. All ways take turns in each round, and medians count.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from numba import cuda

from course_lib.bench import gpu
from course_lib.bench.nvml import Nvml
from course_lib.bench.session import short_name
from course_lib.kernels import attention_launch
from course_lib.kernels.rung_12_tma import ROUNDED
from course_lib.measurements import files, host_time

PRODUCTS = ((512,) * 3, (1024,) * 3, (2048,) * 3, (4096,) * 3, (200, 4096, 4096))
ATTENTION = ((1, 16, 777, 128), (1, 16, 1000, 128), (1, 16, 2048, 128))
CALLS, IN_A_GRAPH, ROUNDS = 200, 20, 15
HELD_CALLS = 100  # while the GPU is held

Launch = Callable[[], Any]


def product(shape: tuple[int, int, int]) -> Callable[[Any], Mapping[str, Launch]]:
    """The ways to compute C = A @ B on a stream."""
    import torch

    M, N, K = shape
    A, B = (torch.randn(size, device="cuda", dtype=torch.bfloat16) for size in ((M, K), (K, N)))
    C, expected = (torch.empty((M, N), device="cuda", dtype=torch.bfloat16) for _ in range(2))
    bits = [cuda.as_cuda_array(matrix.view(torch.uint16)) for matrix in (A, B, C)]
    torch.matmul(A, B, out=expected)
    ROUNDED.launch(*bits)
    assert torch.allclose(C, expected, rtol=2e-2, atol=K**0.5 / 50)

    def ways(stream: Any) -> Mapping[str, Launch]:
        return {
            "PyTorch": lambda: torch.matmul(A, B, out=C),
            "launch": lambda: ROUNDED.launch(*bits, stream=stream),
            "prepared": ROUNDED.prepare(*bits, stream=stream),
        }

    return ways


def attention(shape: tuple[int, int, int, int]) -> Callable[[Any], Mapping[str, Launch]]:
    """The ways to compute attention without a mask on a stream; PyTorch's is cuDNN's."""
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.nn.functional import scaled_dot_product_attention

    Q, K, V = (torch.randn(shape, device="cuda", dtype=torch.bfloat16) for _ in range(3))
    out, lse = torch.empty_like(Q), torch.empty(shape[:3], device="cuda")
    bits = [cuda.as_cuda_array(array.view(torch.uint16)) for array in (Q, K, V, out)]
    arrays = (*bits, cuda.as_cuda_array(lse))
    attention_launch.flash_attention(*arrays)

    def library() -> Any:
        return scaled_dot_product_attention(Q, K, V)

    kept = sdpa_kernel(SDPBackend.CUDNN_ATTENTION)
    kept.__enter__()  # for the calls to come: entering it every time would count as theirs
    assert torch.allclose(out, library(), rtol=2e-2, atol=2e-2)

    def ways(stream: Any) -> Mapping[str, Launch]:
        return {
            "PyTorch": library,
            "launch": lambda: attention_launch.flash_attention(*arrays, stream=stream),
            "prepared": attention_launch.prepare(*arrays, stream=stream),
        }

    return ways


def graph_of(launch: Launch, stream: Any) -> Any:
    """A CUDA graph of some of these launches."""
    import torch

    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for _ in range(IN_A_GRAPH):
            launch()
    return graph


def host_microseconds(launch: Launch, hold: Callable[[], None]) -> float:
    """Of one call, while the GPU is kept busy with something else."""
    import torch

    torch.cuda.synchronize()
    hold()
    began = time.perf_counter()
    for _ in range(HELD_CALLS):
        launch()
    took = time.perf_counter() - began
    torch.cuda.synchronize()
    return took / HELD_CALLS * 1e6


def loop_microseconds(launch: Launch, calls: int) -> float:
    """Of one call in a loop, until the GPU has done the last."""
    import torch

    torch.cuda.synchronize()
    began = time.perf_counter()
    for _ in range(calls):
        launch()
    torch.cuda.synchronize()
    return (time.perf_counter() - began) / calls * 1e6


def measured(make: Callable[[Any], Mapping[str, Launch]]) -> dict[str, dict[str, float]]:
    """Microseconds by way: of the host, and in a loop."""
    import torch

    clock = gpu.EventClock(Nvml(gpu.device()[2]))
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        own = cuda.external_stream(side.cuda_stream)
        ways = dict(make(own))
        for launch in ways.values():
            launch()
        torch.cuda.synchronize()
        graphs = {name: graph_of(ways[name], side) for name in ("PyTorch", "prepared")}
        host: dict[str, list[float]] = {name: [] for name in ways}
        loop: dict[str, list[float]] = {name: [] for name in (*ways, *map(graph_name, graphs))}
        for _ in range(ROUNDS):
            for name, launch in ways.items():
                held = host_microseconds(launch, lambda: clock._hold(0.1))
                host[name].append(held)
                loop[name].append(loop_microseconds(launch, CALLS))
            for name, graph in graphs.items():
                one = loop_microseconds(graph.replay, CALLS // IN_A_GRAPH) / IN_A_GRAPH
                loop[graph_name(name)].append(one)
    rows = {name: {"loop_us": statistics.median(each)} for name, each in loop.items()}
    for name, each in host.items():
        rows[name]["host_us"] = statistics.median(each)
    return rows


def graph_name(name: str) -> str:
    return f"{name}, graph"


def main() -> None:
    name, _, _ = gpu.device()
    rows: dict[str, Any] = {}
    for kind, shapes, make in (("product", PRODUCTS, product), ("attention", ATTENTION, attention)):
        for shape in shapes:
            title = f"{kind} {' x '.join(map(str, shape))}"
            rows[title] = measured(make(shape))  # type: ignore[operator]
            best = rows[title]["PyTorch"]["loop_us"]
            print(title)
            for way, row in rows[title].items():
                host = f"{row['host_us']:8.1f}" if "host_us" in row else " " * 8
                print(f"  {way:18}{host} us of the host, {row['loop_us']:8.1f} us in a loop,"
                      f" {best / row['loop_us']:.2f} of PyTorch")  # fmt: skip
    if "--store" in sys.argv:
        about = {"device": name, "date": datetime.now(UTC).date().isoformat(), "rows": rows}
        print(f"Stored in {files.store(host_time.FOLDER, short_name(name), about)}.")


if __name__ == "__main__":
    np.seterr(all="raise")
    main()
