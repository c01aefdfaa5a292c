"""The rungs of the ladder as code, one a file, from the definition of a product upwards.

Owns: the code of the rungs and of FlashAttention, and what they take.
May import: `devices`, `host`, `intrinsics`, `measurements`, `wording`.
Start with: `rung` (what a rung is), then `rung_01_naive`.

`RUNG_KERNELS["warp_tiled"].launch(A, B, C)` computes C = A @ B. A rung is called with (A, B, C),
for matrices of M x K, K x N and M x N elements that lie row after row. Where plain style, and not
memory, is what binds, a second kernel with "_while" in its name stands in the same file.
"""

from course_lib.kernels import (
    rung_01_naive,
    rung_02_coalesced,
    rung_03_tiled,
    rung_04_register_1d,
    rung_05_register_2d,
    rung_06_vectorised,
    rung_07_warp_tiled,
    rung_08_double_buffered,
    rung_09_cp_async,
    rung_10_tensor_core_bf16,
    rung_10_tensor_core_f16,
    rung_10_tensor_core_tf32,
    rung_11_wgmma,
    rung_12_tma,
)
from course_lib.kernels.rung import InputsRefused, RungKernel

# From the bottom up.
RUNG_KERNELS: dict[str, RungKernel] = {
    rung.name: rung
    for rung in (
        rung_01_naive.RUNG,
        rung_01_naive.LEAN,
        rung_02_coalesced.RUNG,
        rung_02_coalesced.LEAN,
        rung_03_tiled.RUNG,
        rung_03_tiled.LEAN,
        rung_04_register_1d.RUNG,
        rung_05_register_2d.RUNG,
        rung_06_vectorised.RUNG,
        rung_07_warp_tiled.RUNG,
        rung_08_double_buffered.RUNG,
        rung_09_cp_async.RUNG,
        rung_10_tensor_core_f16.RUNG,
        rung_10_tensor_core_tf32.RUNG,
        rung_10_tensor_core_bf16.RUNG,
        rung_11_wgmma.RUNG,
        rung_12_tma.RUNG,
        rung_12_tma.ROUNDED,
    )
}

__all__ = ["RUNG_KERNELS", "InputsRefused", "RungKernel"]
