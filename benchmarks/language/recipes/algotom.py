"""algotom: tomography, one thread for a pixel of a reconstruction or of a map of shifts."""

from __future__ import annotations

import numpy as np

from recipes.recipe import Array, full, launch, real

D, H, W, RADIUS, MARGIN = 3, 17, 19, 2, 3
EDGE, SIZE = RADIUS + MARGIN, 2 * MARGIN + 1
ROWS, COLUMNS = H - 2 * EDGE, W - 2 * EDGE
GRID = ((2, 2), (16, 16))
AROUND: dict[str, object] = {}
ANGLES = Array(lambda random: np.linspace(0, np.pi, 6).astype("f4"))
STACK = real(D, H, W, kind="f4")
NAMES = {
    "angles": ANGLES, "center": np.float32(7.3), "edge_pad": True, "depth": np.int32(D),
    "height": np.int32(ROWS), "width": np.int32(COLUMNS), "radi": np.int32(RADIUS),
    "margin": np.int32(MARGIN), "ref_mat": STACK, "mat": STACK,
    "shifts": full(2, ROWS, COLUMNS, kind="f4"),
    "coef_4d": full(ROWS, COLUMNS, SIZE, SIZE, kind="f4"), "sum_sqr": np.float32(4.0),
    "height1": np.int32(5), "width1": np.int32(5), "height2": np.int32(ROWS),
    "width2": np.int32(COLUMNS), "coef_mat": full(ROWS, COLUMNS, kind="f4"),
}  # fmt: skip
BACK = {"depth": np.int32(6), "height": np.int32(12), "width": np.int32(14)}
LINE = real(14, low=-7, high=7, kind="f4")
LAUNCHES = {
    "__back_projection_gpu_kernel": launch(
        *GRID, recon=full(15, 15, kind="f4"), sinogram=real(6, 15, kind="f4"),
        sino_height=np.int32(6), sino_width=np.int32(15),
    ),
    "__back_projection_gpu_chunk_kernel": launch(
        *GRID, recons=full(15, 4, 15, kind="f4"), sinograms=real(6, 4, 15, kind="f4"),
        sino_height=np.int32(6), sino_width=np.int32(15), num_sino=np.int32(4),
    ),
    "__vertical_back_projection_gpu_kernel": launch(
        *GRID, **BACK, recon=full(12, 14, kind="f4"), projections=real(6, 12, 14, kind="f4"),
        xlist=LINE, ylist=LINE,
    ),
    "__vertical_back_projection_gpu_chunk_kernel": launch(
        *GRID, **BACK, recons=full(3, 12, 14, kind="f4"), projections=real(6, 12, 14, kind="f4"),
        x_mat=real(3, 14, low=-7, high=7, kind="f4"), y_mat=real(3, 14, low=-7, kind="f4"),
        num_slice=np.int32(3),
    ),
    "_generate_correlation_map_2d_input_gpu": launch(
        *GRID, ref_mat=real(H, W, kind="f4"), mat=real(5, 5, kind="f4")
    ),
    "_generate_correlation_map_3d_input_gpu": launch(*GRID, mat=real(D, 5, 5, kind="f4")),
    "_get_1d_shift_multi_rows_3d_input_kernel": launch(
        *GRID, shift_mat=full(4, COLUMNS, kind="f4"), ref_mat=real(4, D, W, kind="f4"),
        mat=real(4, D, W, kind="f4"), list_coef=full(4, COLUMNS, SIZE, kind="f4"),
        height=np.int32(4),
    ),
    "_get_2d_shift_multi_rows_2d_input_kernel": launch(
        *GRID, ref_mat=real(H, W, kind="f4"), mat=real(H, W, kind="f4")
    ),
    "_get_2d_shift_multi_rows_3d_input_kernel": launch(*GRID),
    "_generate_4d_correlation_map_3d_input_kernel": launch(*GRID),
    "_get_local_shifts_gpu_kernel": launch(
        1, 32, shifts=full(2, 5, kind="f4"), ref_mat=real(H, W, kind="f4"),
        mat=real(H, W, kind="f4"),
        list_i=Array(lambda random: random.integers(EDGE, H - EDGE, 5).astype("i4")),
        list_j=Array(lambda random: random.integers(EDGE, W - EDGE, 5).astype("i4")),
        list_2d_coef=full(5, SIZE, SIZE, kind="f4"), num_point=np.int32(5),
    ),
    "__calc_shift_umpa_gpu_kernel": launch(
        *GRID, trans=full(ROWS, COLUMNS, kind="f4"), dark=full(ROWS, COLUMNS, kind="f4"),
        window=real(5, 5, kind="f4"), get_dark=np.int32(1), depth=np.int32(D),
        **dict.fromkeys(("L1", "L3", "L4", "L6"), real(H, W, low=1, high=2, kind="f4")),
        L2=np.float32(3.0),
        **dict.fromkeys(("A0", "V0", "D0"), full(ROWS, COLUMNS, SIZE, SIZE, kind="f4")),
    ),
}  # fmt: skip
