"""Series in time: STUMPY's profiles, pysdtw's alignments, pulsars' and genomes' kernels."""

from __future__ import annotations

import numpy as np

from recipes.recipe import Array, fixed, full, launch, real, rising, whole

N, M, K = 60, 6, 3  # windows, their length, how many neighbours
LONG = N + M - 1
FLAGS = Array(lambda random: random.random(N) < 0.1)
STUMPY = {
    "idx": 7, "T_A": real(LONG), "T_B": real(LONG), "m": M, "QT_even": real(N, high=3),
    "QT_odd": real(N, high=3), "QT_first": real(N, high=3), "μ_Q": real(N), "σ_Q": real(N, low=0.1),
    "M_T": real(N), "Σ_T": real(N, low=0.1), "Q_subseq_isconstant": FLAGS,
    "T_subseq_isconstant": FLAGS, "w": N, "ignore_trivial": True, "excl_zone": 2,
    "profile": rising(N, K, low=2, high=9), "profile_L": full(N, value=5.0),
    "profile_R": full(N, value=5.0), "indices": full(N, K, value=-1, kind="i8"),
    "indices_L": full(N, value=-1, kind="i8"), "indices_R": full(N, value=-1, kind="i8"),
    "compute_QT": True, "bfs": fixed([1, 0, 2], "i8"), "nlevel": 2, "k": K, "p": 2.0,
    "p_norm_even": real(N, high=3), "p_norm_odd": real(N, high=3), "p_norm_first": real(N, high=3),
    "compute_p_norm": True, "T_A_subseq_isfinite": Array(lambda random: random.random(N) < 0.9),
    "T_B_subseq_isfinite": Array(lambda random: random.random(N) < 0.95),
}  # fmt: skip


def _edges() -> Array:
    """The sums of two alignments: infinity at the edges, 0 in the corner."""

    def draw(random: np.random.Generator) -> np.ndarray:
        sums = np.full((2, 8, 9), np.inf, "f4")
        sums[:, 0, 0] = 0
        return sums

    return Array(draw)


SOFTDTW = {
    "D": real(2, 6, 7, kind="f4"), "gamma": 0.5, "inv_gamma": 2.0, "bandwidth": 0.0,
    "mn": fixed([[6, 7], [5, 6]], "i8"), "n_passes": 1, "n_antidiag": 12, "R": _edges(),
    "E": real(2, 8, 9, kind="f4"),
}  # fmt: skip
CHANNELS, SAMPLES = 8, 20
PULSAR = {
    "cand_data_in": real(CHANNELS, SAMPLES, kind="f4"), "dm": 60.0, "tsamp": 0.001,
    "chan_freqs": Array(lambda random: np.linspace(1500, 1200, CHANNELS).astype("f4")),
    "cand_data_out": full(CHANNELS, SAMPLES, kind="f4"), "dms": fixed([0.0, 30.0, 60.0]),
    "all_delays": whole(CHANNELS, 3, high=30), "time_decimation_factor": 2,
    "frequency_decimation_factor": 2,
}  # fmt: skip
GENES = {"x": real(9, 12, high=3, kind="f4"), "y": real(7, 12, high=3, kind="f4")}
NAMES: dict[str, object] = {}
AROUND: dict[str, object] = {}
LAUNCHES = {
    "_compute_and_update_PI_kernel": launch(2, 32, **STUMPY),
    "compute_softdtw_cuda": launch(2, 7, **SOFTDTW),
    "compute_softdtw_backward_cuda": launch(
        2, 7, **SOFTDTW | {"D": real(2, 8, 9, kind="f4"), "R": real(2, 8, 9, kind="f4")}
    ),
    "gpu::gpu_dedisperse.gpu_dedisp": launch((1, 2), (8, 16), **PULSAR),
    "gpu::gpu_dmt.gpu_dmt": launch(
        (2, 3, 1), (4, 8, 4), **PULSAR | {"cand_data_out": full(3, SAMPLES, kind="f4")}
    ),
    "gpu::gpu_dedisp_and_dmt_crop.crop_time": launch(
        (1, 1), (8, 16), data_in=real(CHANNELS, SAMPLES), data_out=full(CHANNELS, 12), side_stride=4
    ),
    "gpu::gpu_dedisp_and_dmt_crop.gpu_dedisp": launch(
        (1, 2), (8, 16), **PULSAR | {"cand_data_out": full(4, 10, kind="f4")}
    ),
    "gpu::gpu_dedisp_and_dmt_crop.gpu_dmt": launch(
        (2, 3, 1), (4, 8, 4), **PULSAR | {"cand_data_out": full(3, 10, kind="f4")}
    ),
    "correlation_map_kernel": launch((1, 1), (16, 16), **GENES, out=full(9, 7, 6, kind="f4")),
    "euclidean_map_kernel": launch((1, 1), (16, 16), **GENES, out=full(9, 7, 1, kind="f4")),
}
