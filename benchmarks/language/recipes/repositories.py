"""Single files of repositories: courses' and students' kernels, and a detector's."""

from __future__ import annotations

import types
from typing import Any

import numpy as np
from numba import cuda, float32

from recipes.recipe import Array, fixed, full, launch, real, states, whole


def _module(name: str, **values: Any) -> types.ModuleType:
    made = types.ModuleType(name)
    vars(made).update(values)
    return made


TRACK = np.dtype(
    [(name, "f4") for name in ("dEdx", "dE", "p_mag_traj_start", "n_electrons", "n_photons")]
    + [("pdg_id", "i4")],
    align=True,
)


def _tracks() -> Array:
    def draw(random: np.random.Generator) -> np.ndarray:
        tracks = np.zeros(30, TRACK)
        for name in ("dEdx", "dE", "p_mag_traj_start"):
            tracks[name] = random.uniform(0.5, 3, 30)
        tracks["pdg_id"] = random.choice([11, -11, 13, 2212, 1000020040, 1000010020], 30)
        return tracks

    return Array(draw)


NAMES: dict[str, object] = {}
AROUND: dict[str, object] = {
    "THREADS": 32, "cuda": cuda, "float32": float32, "numba": __import__("numba"),
    "light": _module("light", W_PH=1.95e-5, SCINT_PRESCALE=0.5),
    "pdg": _module("pdg", electron=11, alpha=1000020040, deuteron=1000010020),
    "detector": _module("detector", E_FIELD=0.5, LAR_DENSITY=1.38),
    "physics": _module(
        "physics", BOX=1, BIRKS=2, NEST_ER=3, NEST_ALPHA=4, NEST_NR=5, USE_DEFAULT_MODEL=False,
        BOX_BETA=0.207, BOX_ALPHA=0.93, BIRKS_Ab=0.8, BIRKS_kb=0.0486, ALPHA_R_FACTOR=0.06,
        ER_ASYMPTOTE_AVG=0.6, NR_ASYMPTOTE_AVG=0.3, W_ION=2.36e-5,
    ),
}  # fmt: skip
PRODUCT = {"A": real(32, 32, kind="f4"), "B": real(32, 32, kind="f4"), "C": full(32, 32, kind="f4")}
LAUNCHES = {
    "mat_ker2::fast_matmul": launch(
        (1, 1), (32, 32),
        A=whole(32, 32, high=2, kind="i4"), B=whole(32, 32, high=2, kind="i4"),
        C=full(32, 32, kind="i4"),
    ),
    "fastmult::fast_matmul": launch(
        (2, 2), (16, 16), A=real(20, 23), B=real(23, 21), C=full(20, 21)
    ),
    "matmul_kernel": launch((2, 2), (16, 16), **PRODUCT),
    "matmul_kernel2": launch((2, 2), (16, 16), **PRODUCT),
    "mc_pi": launch(2, 32, states=states(64), iterations=40, out=full(64, kind="f4")),
    "calcularpi_kernel": launch(2, 32, rng_states=states(64), iteraciones=40, out=full(64)),
    "sobel_filter": launch((2, 2), (16, 16), img=real(30, 31, kind="f4")),
    "smooth_gpu": launch(
        (2, 2), (16, 16), x=whole(20, 22, low=-100, high=100, kind="i1"),
        out=full(20, 22, kind="i1"),
    ),
    "reduce_kernel": launch(4, 32, data=real(100, kind="f4"), out=full(4, kind="f4"), n=100),
    "reduction_3": launch(
        4, 32, g_idata=whole(128, high=9, kind="i4"), g_odata=full(32, kind="i4")
    ),
    "quench": launch(
        1, 64, tracks=_tracks(), d_pdg_codes=fixed([11, 13, 2212, 1000020040], "i8"),
        d_model_codes=fixed([3, 1, 2, 4], "i8"), er_energy_threshold=1.5, default_model=1,
        **dict.fromkeys(("E_ER", "E_NR"), Array(lambda random: np.linspace(0, 3, 7))),
        **dict.fromkeys(("R_ER", "R_NR"), real(7)),
    ),
}  # fmt: skip
