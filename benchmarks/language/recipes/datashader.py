"""Datashader: from points, lines and meshes to an image; what kernels close over is ours."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import cuda

from recipes.recipe import Array, Launch, fixed, full, launch, real, rising, whole

H, W, CATEGORIES, N = 12, 15, 3, 4
GRID, DEEP = ((2, 2), (8, 8)), ((2, 2, 1), (8, 8, 3))


def _as_it_is(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


@cuda.jit(device=True)
def into_row(i, j, xs, ys, shape, agg, column):  # type: ignore[no-untyped-def]
    cuda.atomic.add(agg, (j, i), column[j, i] * (xs[i + 1] - xs[i]))


@cuda.jit(device=True)
def into_cell(i, j, height, width, xs, ys, xverts, yverts, increasing, eligible, met, agg, column):  # type: ignore[no-untyped-def]
    xverts[0] = np.int32(i)
    eligible[1] = np.int8(j)
    agg[j, i] = column[j, i] + xverts[0] * eligible[1]


@cuda.jit(device=True)
def added(source_j, source_i, i, j, agg, column):  # type: ignore[no-untyped-def]
    agg[j, i] += column[source_j, source_i]


@cuda.jit(device=True)
def greatest(x, y, agg, value):  # type: ignore[no-untyped-def]
    if not np.isnan(value) and (np.isnan(agg[y, x]) or agg[y, x] < value):
        agg[y, x] = value
        return 0
    return -1


@cuda.jit(device=True)
def no_number(value):  # type: ignore[no-untyped-def]
    return np.isnan(value)


@cuda.jit(device=True)
def doubled(value):  # type: ignore[no-untyped-def]
    return 2.0 * value


@cuda.jit(device=True)
def line_part(  # type: ignore[no-untyped-def]
    i, j, sx, tx, sy, ty, xmin, xmax, ymin, ymax, xs, ys, buffer, agg, column
):
    cuda.atomic.add(agg, (j, 0), xs[i, j] * sx + tx)


@cuda.jit(device=True)
def area_part(i, sx, tx, sy, ty, xmin, xmax, ymin, ymax, start, xs, ys, agg, column):  # type: ignore[no-untyped-def]
    cuda.atomic.add(agg, (0, i % 3), xs[i] * sx + ys[i] * sy)


@cuda.jit(device=True)
def area_rows(i, j, sx, tx, sy, ty, xmin, xmax, ymin, ymax, xs, ys, agg, column):  # type: ignore[no-untyped-def]
    cuda.atomic.add(agg, (0, j), xs[j] * sx + ys[i, j] * sy)


def _holes(*shape: int) -> Array:
    """Numbers in falling order along the last axis, with no number behind some of them."""

    def draw(random: np.random.Generator) -> np.ndarray:
        values = -np.sort(-random.random(shape))
        values[np.arange(shape[-1]) >= random.integers(0, shape[-1] + 1, shape)] = np.nan
        return values

    return Array(draw)


NAMES = {
    "sx": 1.5, "tx": 0.5, "sy": 2.0, "ty": 0.1, "xmin": 0.0, "xmax": 9.0, "ymin": 0.0, "ymax": 9.0,
    "plot_start": True, "antialias_stage_2": False, "shape": (H, W), "plot_height": H,
    "plot_width": W, "aggs_and_cols": (full(H, W), real(H, W)), "out_w": W, "out_h": H, "src_w": 30,
    "src_h": 24, "translate_x": 0.3, "translate_y": 0.2, "scale_x": 2.0, "scale_y": 2.0,
    "offset_x": 0, "offset_y": 0, "agg": full(H, W), "col": real(24, 30),
}  # fmt: skip
AROUND = {
    "expand_aggs_and_cols": _as_it_is,
    "self": types.SimpleNamespace(expand_aggs_and_cols=lambda append: _as_it_is),
    "mapper": doubled, "invalid": no_number, "append": greatest,
}  # fmt: skip


def _around(part: Launch, **around: Any) -> Launch:
    return Launch(part.grid, part.block, part.names, around)


LAUNCHES = {
    "masked_clip_2d_kernel": launch(
        *GRID, data=real(H, W), mask=Array(lambda random: random.random((H, W)) < 0.3), lower=0.2,
        upper=0.8,
    ),
    "interp2d_kernel": launch(
        *GRID, x=real(H, W, low=-0.1, high=1.1), xp=rising(9), fp=real(9), left=-1.0, right=2.0,
        output_y=full(H, W),
    ),
    "cuda_nanmax_n_in_place_4d": launch(
        *DEEP, ret=_holes(H, W, CATEGORIES, N), other=_holes(H, W, CATEGORIES, N)
    ),
    "cuda_nanmin_n_in_place_4d": launch(
        *DEEP, ret=_holes(H, W, CATEGORIES, N), other=_holes(H, W, CATEGORIES, N)
    ),
    "cuda_nanmax_n_in_place_3d": launch(*GRID, ret=_holes(H, W, N), other=_holes(H, W, N)),
    "cuda_nanmin_n_in_place_3d": launch(*GRID, ret=_holes(H, W, N), other=_holes(H, W, N)),
    "cuda_row_min_in_place": launch(
        *DEEP, ret=whole(H, W, CATEGORIES, low=-1, high=9),
        other=whole(H, W, CATEGORIES, low=-1, high=9),
    ),
    **{
        name: launch(
            *DEEP, ret=whole(H, W, CATEGORIES, N, low=-1, high=9),
            other=whole(H, W, CATEGORIES, N, low=-1, high=9),
        )
        for name in ("cuda_row_max_n_in_place_4d", "cuda_row_min_n_in_place_4d")
    },
    **{
        name: launch(
            *GRID, ret=whole(H, W, N, low=-1, high=9), other=whole(H, W, N, low=-1, high=9)
        )
        for name in ("cuda_row_max_n_in_place_3d", "cuda_row_min_n_in_place_3d")
    },
    "combine_cuda_2d": launch(
        *GRID, aggs=(real(H, W), real(H, W)), selector_aggs=(real(H, W), _holes(H, W))
    ),
    "kernel": launch(*GRID, in_array=real(H, W), out_array=full(H, W)),
    "upsample_cuda": launch(*GRID),
    "downsample_cuda": _around(
        launch(*GRID, aggs_and_cols=(full(H, W), real(24, 30))), append=added
    ),
    "quadmesh::QuadMeshRectilinear._build_extend.extend_cuda": _around(
        launch(*GRID, xs=rising(W), ys=rising(H)), perform_extend=into_row
    ),
    "quadmesh::QuadMeshCurvilinear._build_extend.extend_cuda": _around(
        launch(*GRID, xs=rising(W), ys=rising(H)), perform_extend=into_cell
    ),
    "line::_build_extend_line_axis1_none_constant.extend_cuda": _around(
        launch(*GRID, xs=real(H, 6), ys=real(H, 6)), perform_extend_line=line_part
    ),
    "area::_build_extend_area_to_zero_axis0.extend_cuda": _around(
        launch(1, 32, xs=real(20), ys=real(20)), perform_extend=area_part
    ),
    "area::_build_extend_area_to_zero_axis1_x_constant.extend_cuda": _around(
        launch(*GRID, xs=fixed(np.arange(6.0)), ys=real(H, 6)), perform_extend=area_rows
    ),
}  # fmt: skip
