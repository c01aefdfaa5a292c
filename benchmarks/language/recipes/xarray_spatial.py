"""xarray-spatial: one thread for a cell of a raster, which is float32 or float64."""

from __future__ import annotations

import numpy as np

from recipes.recipe import Array, fixed, full, launch, real, whole

H, W = 20, 27
RASTER = real(H, W, low=-50, high=100, kind="f4")
BAND = real(H, W, kind="f4")
OUT = full(H, W, value=np.nan, kind="f4")
GRID = ((2, 2), (16, 16))
AROUND: dict[str, object] = {}


def _stacked() -> Array:
    """Heights, latitudes and longitudes of a raster, one over the other."""

    def draw(random: np.random.Generator) -> np.ndarray:
        heights = random.uniform(0, 900, (H, W))
        north, east = np.meshgrid(np.linspace(40, 41, H), np.linspace(5, 6, W), indexing="ij")
        return np.stack([heights, north, east])

    return Array(draw)


WINDOW = fixed([[0, 1, 0], [1, 2, 1], [0, 1, 0]], "f4")
NAMES = {
    "arr": RASTER, "data": RASTER, "out": OUT, "kernel": WINDOW, "cellsize": fixed([2.5], "f4"),
    "cellsize_x_arr": fixed([2.5], "f4"), "cellsize_y_arr": fixed([1.5], "f4"), "H": H, "W": W,
    "nir_data": BAND, "red_data": BAND, "blue_data": BAND, "green_data": BAND, "swir_data": BAND,
    "tir_data": BAND, "arr1": BAND, "arr2": real(H, W, low=-1, kind="f4"), "c1": 6.0, "c2": 7.5,
    "soil_factor": 1.0, "gain": 2.5, "stacked": _stacked(), "a2_arr": fixed([6378137.0**2]),
    "b2_arr": fixed([6356752.314245**2]), "zf_arr": fixed([1.0]),
    "inv_2r_arr": fixed([1 / 12742000.0]), "rays": real(H, W, 8, high=9, kind="f4"),
    "camera_rays": real(H, W, 8, high=9, kind="f4"), "hits": real(H, W, 4, low=-1, kind="f4"),
    "normals": real(H, W, 3, low=-1, kind="f4"), "sun_dir": fixed([0.5, 0.3, 0.8], "f4"),
    "output": full(H, W, kind="f4"), "vsrays": full(H, W, 8, kind="f4"),
    "vp": fixed([5, 7, 3.5, 0.5], "f4"),
}  # fmt: skip
LAUNCHES = {
    name: launch(*GRID)
    for name in (
        "_run_gpu _convolve_2d_cuda _focal_min_cuda _focal_max_cuda _focal_range_cuda "
        "_focal_std_cuda _focal_var_cuda _focal_sum_cuda _focal_mean_cuda "
        "_run_gpu_geodesic_slope _run_gpu_geodesic_aspect _generate_shadow_rays_kernel "
        "_generate_viewshed_rays_kernel _arvi_gpu _evi_gpu _gci_gpu _normalized_ratio_gpu "
        "_savi_gpu _sipi_gpu _ebbi_gpu"
    ).split()
} | {
    "_run_gpu_binary": launch(
        *GRID, data=whole(H, W, high=9, kind="f4"), values=fixed([2, 5, 7], "i8")
    ),
    "_run_gpu_bin": launch(
        *GRID, bins=fixed([-20, 10, 40, 80]), new_values=fixed([1, 2, 3, 4], "i8")
    ),
    "_mean_gpu": launch(*GRID, data=whole(H, W, high=5, kind="f4"), excludes=fixed([np.nan, 3])),
    "_run_gpu_hotspots": launch(
        *GRID, data=real(H, W, low=-4, high=4, kind="f4"), out=full(H, W, kind="i1")
    ),
    "_generate_primary_rays_kernel": launch(*GRID, data=full(H, W, 8, kind="f4")),
    "_shade_lambert_kernel": launch(*GRID, cast_shadows=True),
    "_triangulate_terrain_kernel": launch(
        3, 256, verts=full(3 * H * W, kind="f4"), triangles=full(6 * H * W, kind="i4"), scale=1.5,
        stride=0,
    ),
    "_calc_viewshed_kernel": launch(
        *GRID, visibility_grid=full(H, W, kind="f4"), hmap=RASTER, v=(5, 7), oe=3.5, te=0.5,
        ew_range=1.0, ns_range=1.0,
    ),
    "_gpu_calc_numba": launch(
        *GRID, sin_altituderad=0.42, cos_altituderad=0.9, azimuthrad=2.3
    ),
    "_perlin_gpu": launch(
        *GRID, p=Array(lambda random: np.append(random.permutation(64), np.arange(70))),
        x0=0.0, x1=5.0, y0=0.0, y1=4.0, m=1.0,
    ),
}  # fmt: skip
