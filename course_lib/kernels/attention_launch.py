"""Launch FlashAttention: look at the arrays, choose a plan, describe the arrays to TMA.

    attention_launch.flash_attention(Q, K, V, O, lse, causal=True)

`prepare` does everything but the launch, and returns what launches: for use again and again.
`emulate` needs no GPU, takes NumPy arrays, and returns what the emulator saw.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import Any

import numpy as np

from course_lib.host import runtime
from course_lib.kernels import hopper_launch
from course_lib.kernels.flash_attention import PANEL, ROWS, Plan, make_kernel
from course_lib.kernels.hopper_launch import ReadyLaunch, described
from course_lib.kernels.rung import MOST_BLOCKS_IN_Y, InputsRefused

LOG2_E = math.log2(math.e)
# What was the fastest on an H200 of what benchmarks/attention.py compares. FlashAttention-3 has
# nearly the same (hopper/tile_size.h of Dao-AILab/flash-attention, November 2026): 192 keys for
# d = 64, with P in shared memory, and 176 for d = 128 without a mask.
PLANS = {
    (64, False): Plan(64, False, consumers=3, keys=128, turns=False),
    (64, True): Plan(64, True, consumers=3, keys=128, turns=False),
    (128, False): Plan(128, False, consumers=2, keys=160),
    (128, True): Plan(128, True, consumers=2, keys=128),
}


def flash_attention(
    Q: Any,
    K: Any,
    V: Any,
    O: Any,
    lse: Any,
    causal: bool = False,
    scale: float | None = None,
    stream: Any = 0,
) -> None:
    """O = softmax(scale Q Kᵀ) V, for each batch and head; lse = log of the sum of exp(scores).

    Args:
        Q: (batch, heads, queries, d) of bfloat16 bits, uint16, C-contiguous on the GPU; d is 64 or
            128.
        K, V: (batch, heads, keys, d), likewise; any number of queries and keys from 1 on.
        O: as Q; is written.
        lse: (batch, heads, queries) of float32; is written.
        causal: query i sees keys 0 to i only (as PyTorch's `is_causal`, also for unequal lengths).
        scale: 1 / √d if None.

    Raises:
        InputsRefused: with one sentence that says what is wrong.
    """
    _ready((Q, K, V, O, lse), causal, scale, stream)()


def prepare(
    Q: Any,
    K: Any,
    V: Any,
    O: Any,
    lse: Any,
    causal: bool = False,
    scale: float | None = None,
    stream: Any = 0,
    plan: Plan | None = None,
) -> Callable[[], None]:
    """The same without the launch; what is returned launches, and keeps the arrays alive."""
    launch = _ready((Q, K, V, O, lse), causal, scale, stream, plan)

    def start(_: Any = (Q, K, V, O, lse)) -> None:
        launch()

    return start


def _ready(
    arrays: Sequence[Any],
    causal: bool,
    scale: float | None,
    stream: Any,
    plan: Plan | None = None,
) -> ReadyLaunch:
    on_gpu = tuple(described(array) for array in arrays)
    if None in on_gpu:
        check_inputs(*arrays)
        name = ("Q", "K", "V", "O", "lse")[on_gpu.index(None)]
        _refuse(f"{name} is not on the GPU, cuda.to_device({name}) copies it there")
    handle, gpu = hopper_launch.handle_of(stream), hopper_launch.current_gpu()
    return _prepared(on_gpu, causal, plan, scale, handle, gpu)


@lru_cache(maxsize=256)
def _prepared(
    arrays: tuple[Any, ...],
    causal: bool,
    plan: Plan | None,
    scale: float | None,
    stream: int,
    gpu: int,
) -> ReadyLaunch:
    """The launch for these arrays; addresses and sizes say which, so nothing keeps them."""
    check_inputs(*arrays)
    Q = arrays[0]
    plan = plan or PLANS[Q.shape[3], causal]
    arguments = _arguments(plan, hopper_launch.tensor_map, arrays, scale)
    kernel, shape = kernel_for(plan), _shape(plan, Q)
    return ReadyLaunch(kernel, shape, arguments, stream, plan.shared_bytes, overlap=False)


def emulate(
    Q: Any,
    K: Any,
    V: Any,
    O: Any,
    lse: Any,
    causal: bool = False,
    scale: float | None = None,
    plan: Plan | None = None,
    kernel: Any = None,
    **options: Any,
) -> Any:
    """The same on the emulator, whatever the machine; `options` are those of `runtime.emulate`.

    `kernel` takes the place of the plan's own. Returns the Profile.

    Raises:
        InputsRefused: with one sentence that says what is wrong.
    """
    check_inputs(Q, K, V, O, lse)
    plan = plan or PLANS[Q.shape[3], causal]
    emulated = runtime.emulate(
        kernel or kernel_for(plan),
        steps=runtime.PATIENT_STEPS,
        max_dynamic_shared=plan.shared_bytes,
        **options,
    )
    arguments = _arguments(plan, runtime.tensor_map, (Q, K, V, O, lse), scale)
    return emulated[*_shape(plan, Q), 0, plan.shared_bytes](*arguments)


def _arguments(
    plan: Plan, tensor_map: Callable[..., Any], arrays: Sequence[Any], scale: float | None
) -> tuple[Any, ...]:
    """What the kernel takes; `tensor_map` describes an array to TMA."""
    Q, K, V, O, lse = arrays
    boxes = ((Q, ROWS), (K, plan.keys), (V, plan.keys), (O, ROWS))
    maps = [tensor_map(_heads_in_a_row(array), (1, rows, PANEL)) for array, rows in boxes]
    scale = 1 / math.sqrt(plan.head) if scale is None else scale
    # Scores are made for powers of 2.
    numbers = np.int32(Q.shape[2]), np.int32(K.shape[2]), np.float32(scale * LOG2_E)
    return (*maps, _heads_in_a_row(lse), *numbers)


def _shape(plan: Plan, Q: Any) -> tuple[tuple[int, int], int]:
    """The grid, and the threads of a block."""
    batch, heads, queries, _ = Q.shape
    return (-(-queries // plan.rows), batch * heads), plan.threads


@cache
def kernel_for(plan: Plan) -> Any:
    """The kernel of a plan; compiled once."""
    return make_kernel(plan)


def check_inputs(Q: Any, K: Any, V: Any, O: Any, lse: Any) -> None:
    """Look at the arrays before a kernel sees them.

    Raises:
        InputsRefused: with one sentence that says what is wrong.
    """
    for name, array in {"Q": Q, "K": K, "V": V, "O": O}.items():
        if str(array.dtype) != "uint16" or len(array.shape) != 4:
            _refuse(
                f"{name} is {array.dtype} with {len(array.shape)} axes: it has to be bfloat16's "
                "bits as uint16, of batch, heads, rows and columns"
            )
        if 0 in array.shape:
            _refuse(f"{name} is empty, of shape {tuple(array.shape)}")
    batch, heads, queries, head = Q.shape
    if head not in (64, 128):
        _refuse(f"Q has {head} columns, and there are kernels for 64 and for 128")
    if tuple(K.shape) != tuple(V.shape) or tuple(K.shape[:2] + K.shape[3:]) != (batch, heads, head):
        _refuse(f"K and V have shapes {tuple(K.shape)} and {tuple(V.shape)}; Q's is {Q.shape}")
    if tuple(O.shape) != tuple(Q.shape):
        _refuse(f"O has shape {tuple(O.shape)}, and Q {tuple(Q.shape)}")
    if str(lse.dtype) != "float32" or tuple(lse.shape) != (batch, heads, queries):
        _refuse(f"lse is {lse.dtype}{tuple(lse.shape)}, not float32{(batch, heads, queries)}")
    if batch * heads > MOST_BLOCKS_IN_Y:
        _refuse(f"{batch * heads:,} heads in all are more than {MOST_BLOCKS_IN_Y:,}")
    for name, array in {"Q": Q, "K": K, "V": V, "O": O, "lse": lse}.items():
        on_gpu = getattr(array, "__cuda_array_interface__", None)
        if (on_gpu or array.__array_interface__).get("strides") is not None:
            _refuse(f"{name} is not C-contiguous")


def _heads_in_a_row(array: Any) -> Any:
    """Batch and heads as one axis: TMA takes five axes, but one is enough."""
    batch, heads, *rest = array.shape
    return array.reshape(batch * heads, *rest)


def _refuse(why: str) -> None:
    raise InputsRefused(f"flash_attention can't take these: {why}.")
