"""Functions for kernels that Numba lacks: wide accesses, asynchronous copies, unrolled loops.

Owns: what Numba compiles these functions to; their twins in the emulator are its own.
May import: nothing of the course.
Start with: `wide`, then `copying` (cp.async), `tma`, `wgmma`.

| | what it does | from |
|---|---|---|
| `unroll(n)`, `@unrolled` | a loop written out | any GPU |
| `load4(array, i)`, `store4(array, i, four)` | 16 bytes at once | any GPU |
| `cp_async16`, `cp_async16_zfill` | start to copy 16 bytes from global to shared memory | 8.0 |
| `cp_async4`, `cp_async4_zfill` | the same for one 32-bit element | 8.0 |
| `cp_async_commit()`, `cp_async_wait(n)` | put copies into a group; wait for groups | 8.0 |
| `ldmatrix_x4`, `ldmatrix_x2`, with `_trans` | shared memory into a tensor core's fragments | 7.5 |
| `mma_m16n8k8_f16` | 16 x 8 sums of a warp, k = 8, float16 | 7.5 |
| `mma_m16n8k16_f16`, `mma_m16n8k16_bf16`, `mma_m16n8k8_tf32` | the same in other formats | 8.0 |
| `load_words`, `store_words`, `store2` | 16 bytes of 16-bit numbers; 8 bytes of float32 | any GPU |
| `float_bits`, `to_tf32`, `bf16_bits` | a float32 in another format | any, 8.0, 8.0 |
| `wgmma_m64n256k64_bf16`, `wgmma_wait`, `warpgroup_product` | a warpgroup's product | 9.0 |
| `tma_load`, `tma_load_multicast`, `tma_store` | one thread starts to copy a whole tile | 9.0 |
| `mbarrier_init`, `mbarrier_wait` and others | barriers that count threads and bytes | 9.0 |
| `cluster_rank`, `cluster_sync`, `mbarrier_arrive_at` | blocks that run side by side | 9.0 |
| `stmatrix_x4`, `pack_bf16`, `store_shared2` | results into shared memory | 9.0 |
| `trigger_next_launch`, `grid_dependency_sync` | launches that overlap | 9.0 |
| `shared_address`, `uniform` | addresses; what is the same in a whole warp | any GPU |

Indices count elements from an array's first, whatever its axes, and are not checked; from the first
row for 9.0 on, functions take addresses in bytes. They have twins in the emulator, where addresses,
bounds and races are checked.
"""

from course_lib.intrinsics.addresses import shared_address, uniform
from course_lib.intrinsics.clusters import cluster_rank, cluster_sync, mbarrier_arrive_at
from course_lib.intrinsics.copying import (
    cp_async4,
    cp_async4_zfill,
    cp_async16,
    cp_async16_zfill,
    cp_async_commit,
    cp_async_wait,
)
from course_lib.intrinsics.launches import grid_dependency_sync, trigger_next_launch
from course_lib.intrinsics.mbarrier import (
    fence_mbarrier_init,
    group_sync,
    mbarrier_arrive,
    mbarrier_arrive_with_bytes,
    mbarrier_init,
    mbarrier_wait,
)
from course_lib.intrinsics.stmatrix import (
    pack_bf16,
    stmatrix_x4,
    stmatrix_x4_trans,
    store_shared,
    store_shared2,
)
from course_lib.intrinsics.tensor_cores import (
    bf16_bits,
    float_bits,
    ldmatrix_x2,
    ldmatrix_x2_trans,
    ldmatrix_x4,
    ldmatrix_x4_trans,
    load_words,
    mma_m16n8k8_f16,
    mma_m16n8k8_tf32,
    mma_m16n8k16_bf16,
    mma_m16n8k16_f16,
    store2,
    store_words,
    to_tf32,
)
from course_lib.intrinsics.tma import (
    fence_async,
    tma_load,
    tma_load_multicast,
    tma_prefetch,
    tma_store,
    tma_store_wait,
)
from course_lib.intrinsics.unrolling import unroll, unrolled
from course_lib.intrinsics.wgmma import (
    warpgroup_product,
    wgmma_a,
    wgmma_b,
    wgmma_m64n256k64_bf16,
    wgmma_wait,
)
from course_lib.intrinsics.wide import load4, store4

__all__ = [
    "bf16_bits",
    "cluster_rank",
    "cluster_sync",
    "cp_async4",
    "cp_async4_zfill",
    "cp_async16",
    "cp_async16_zfill",
    "cp_async_commit",
    "cp_async_wait",
    "fence_async",
    "fence_mbarrier_init",
    "float_bits",
    "grid_dependency_sync",
    "group_sync",
    "ldmatrix_x2",
    "ldmatrix_x2_trans",
    "ldmatrix_x4",
    "ldmatrix_x4_trans",
    "load4",
    "load_words",
    "mbarrier_arrive",
    "mbarrier_arrive_at",
    "mbarrier_arrive_with_bytes",
    "mbarrier_init",
    "mbarrier_wait",
    "mma_m16n8k8_f16",
    "mma_m16n8k8_tf32",
    "mma_m16n8k16_bf16",
    "mma_m16n8k16_f16",
    "pack_bf16",
    "shared_address",
    "stmatrix_x4",
    "stmatrix_x4_trans",
    "store2",
    "store4",
    "store_shared",
    "store_shared2",
    "store_words",
    "tma_load",
    "tma_load_multicast",
    "tma_prefetch",
    "tma_store",
    "tma_store_wait",
    "to_tf32",
    "trigger_next_launch",
    "uniform",
    "unroll",
    "unrolled",
    "warpgroup_product",
    "wgmma_a",
    "wgmma_b",
    "wgmma_m64n256k64_bf16",
    "wgmma_wait",
]
