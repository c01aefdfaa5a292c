"""Images of atoms and of scenes: abTEM, pyxem, skopi, and MMDetection3D's boxes."""

from __future__ import annotations

import numpy as np

from recipes.recipe import Array, fixed, full, launch, real, whole


def _slices() -> Array:
    """Corners of windows into an image of 10 x 11: top, left, bottom, right."""

    def draw(random: np.random.Generator) -> np.ndarray:
        first = random.integers(0, 6, (12, 2))
        return np.hstack([first, first + random.integers(1, 4, (12, 2))])

    return Array(draw)


ATOMS, PIXELS = 9, 40
NAMES: dict[str, object] = {}
AROUND: dict[str, object] = {"TPB": 32}
LAUNCHES = {
    "_batch_crop_2d": launch(
        (3, 1, 1), (1, 16, 16), new_array=full(3, 6, 7, kind="c8"),
        array=real(3, 12, 13, kind="c8"), corners=whole(3, 2, high=6),
    ),
    "_sum_run_length_encoded": launch(
        1, 32, array=real(2, 40, kind="f4"), result=full(2, 6, kind="f4"),
        separators=fixed([0, 3, 9, 9, 20, 31, 40], "i4"),
    ),
    "_interpolate_radial_functions": launch(
        (5, 1), (1, 64), array=full(16, 16, kind="f4"), positions=real(5, 2, high=8, kind="f4"),
        disk_indices=whole(50, 2, low=-4, high=5, kind="i4"),
        disk_counts=fixed([50, 40, 30, 50, 10], "i4"), sampling=fixed([0.5, 0.5], "f4"),
        radial_gpts=Array(lambda random: np.geomspace(0.1, 4, 20).astype("f4")),
        radial_functions=real(5, 20, kind="f4"), radial_derivatives=real(5, 20, low=-1, kind="f4"),
        dt=0.194,
    ),
    "__slice_radial_integrate_cupy": launch(
        (2, 3), 4, img=real(2, 10, 11), factors=real(40), slices=_slices(), npt_azim=4,
        factors_slice=whole(12, 2, high=20), mask=full(10, 11), val=full(2, 3, 4),
    ),
    "_correlate_polar_image_to_library_gpu": launch(
        (6, 2), (1, 32), polar_image=real(36, 20, kind="f4"),
        sim_r=whole(6, 40, low=1, high=20, kind="i4"), sim_t=whole(6, 40, high=36, kind="i4"),
        sim_i=real(6, 40, kind="f4"), correlation=full(6, 36, kind="f4"),
        correlation_m=full(6, 36, kind="f4"),
    ),
    "calculate_pattern_gpu_back_engine": launch(
        2, 32, form_factor=real(3, 64), pixel_position=real(PIXELS, 3),
        atom_position=real(ATOMS, 3), pattern_cos=full(PIXELS), pattern_sin=full(PIXELS),
        atom_type_num=3, split_index=fixed([0, 3, 7, ATOMS], "i8"), pixel_num=PIXELS,
    ),
    "calculate_solvent_pattern_gpu_back_engine": launch(
        2, 32, pixel_position=real(PIXELS, 3), water_position=real(ATOMS, 3),
        pattern_cos=full(PIXELS), pattern_sin=full(PIXELS), water_prefactor=1.7, water_num=ATOMS,
        pixel_num=PIXELS,
    ),
    "rotate_iou_kernel_eval": launch(
        (1, 1), 64, N=9, K=7, criterion=np.int32(-1), dev_boxes=real(45, low=1, high=3, kind="f4"),
        dev_query_boxes=real(35, low=1, high=3, kind="f4"), dev_iou=full(63, kind="f4"),
    ),
}  # fmt: skip
