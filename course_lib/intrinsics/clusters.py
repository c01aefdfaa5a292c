"""Clusters: blocks that run at the same time on neighbouring SMs (compute capability 9.0).

Blocks of a grid know nothing of each other. Those of a cluster do: they start together, meet at
`cluster_sync()`, reach into each other's shared memory, and one copy of TMA can fill the shared
memory of all of them (`tma_load_multicast`). How many blocks a cluster has is set before the launch
(`course_lib.kernels.hopper_launch`); neighbours along x make up a cluster.

Inside a cluster a shared-memory address holds the block's rank, from bit 24 up. Whoever packs an
address into fewer bits has to mask that away, as `course_lib.intrinsics.wgmma` does.

PTX ISA, "mapa", "barrier.cluster", "%cluster_ctarank".
"""

from __future__ import annotations

from typing import Any

from course_lib.intrinsics.lowering import device_function, instruction


@device_function
def cluster_rank(context: Any) -> Any:
    """`rank = cluster_rank()`: which block of its cluster this is, from 0; a uint32."""
    return instruction("mov.u32 $0, %cluster_ctarank;", "", (), "r")


@device_function
def cluster_sync(context: Any) -> Any:
    """`cluster_sync()`: all threads of all blocks of the cluster meet here.

    Needed after barriers were made and before another block uses them; and before the kernel ends,
    so that no block is gone while another still writes to its shared memory.
    """
    text = "barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;"
    return instruction(text, "", ())


@device_function
def mbarrier_arrive_at(context: Any, barrier: Any, block: Any, if_not_zero: Any) -> Any:
    """`mbarrier_arrive_at(barrier, block, if_not_zero)`: arrive at the barrier of a block.

    `barrier` is the address of this block's own; the block of rank `block` has its barrier at the
    same place. Threads whose `if_not_zero` is 0 do nothing, without a branch.

    It promises no visibility of writes to other blocks. It could (`.release.cluster`), but then
    each arrival waits for this block's earlier writes to reach memory: a quarter of the speed
    of a product, on an H200. Those who only have *read* need no such promise.
    """
    text = """{
.reg .pred wanted;
.reg .b32 there;
setp.ne.u32 wanted, $2, 0;
@wanted mapa.shared::cluster.u32 there, $0, $1;
@wanted mbarrier.arrive.shared::cluster.b64 _, [there];
}"""
    return instruction(text, "rrr", (barrier, block, if_not_zero))
