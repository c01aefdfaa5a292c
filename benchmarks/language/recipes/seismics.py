"""PyLops and PyProximal: operators on wave fields, and a projection."""

from __future__ import annotations

import math

import numpy as np

from recipes.recipe import fixed, full, launch, real

NS, NR, NT, NI, NZ = 4, 5, 30, 24, 6
NAMES = {
    "ns": NS, "nr": NR, "nt": NT, "ni": NI, "dt": 0.1, "nz": NZ, "vel": real(NI, low=1, high=2),
    "trav_srcs": real(NI, NS, high=2), "trav_recs": real(NI, NR, high=2), "amp_srcs": real(NI, NS),
    "amp_recs": real(NI, NR), "aperturemin": 0.2, "aperturemax": 2.0, "angleaperturemin": 0.3,
    "angleaperturemax": 1.2, "aperturetap": real(42), "six": real(NS * NR, high=5),
    "rix": real(NS * NR, high=5), "angles_srcs": real(NI, NS, low=-1.5, high=1.5),
    "angles_recs": real(NI, NR, low=-1.5, high=1.5), "f": real(12, high=3, kind="f4"),
    "px": real(5, low=-1, kind="f4"), "py": real(3, low=-1, kind="f4"), "h": real(6, kind="f4"),
    "hx": real(6, kind="f4"), "hy": real(4, kind="f4"), "flim0": 2, "flim1": 9, "npx": 5, "nh": 6,
    "npy": 3, "nhx": 6, "nhy": 4,
}  # fmt: skip
AROUND = {
    "TWO_PI_MINUS": np.float32(-2 * math.pi), "TWO_PI_PLUS": np.float32(2 * math.pi),
    "IMG": np.complex64(1j),
}  # fmt: skip
MODEL, SHOTS = real(NI), real(NS * NR, NT)
KIRCHHOFF = ((1, 1), (16, 16))
LAUNCHES = {
    "_travsrcrec_kirch_matvec_cuda": launch(*KIRCHHOFF, x=MODEL, y=full(NS * NR, NT)),
    "_ampsrcrec_kirch_matvec_cuda": launch(*KIRCHHOFF, x=MODEL, y=full(NS * NR, NT)),
    "_travsrcrec_kirch_rmatvec_cuda": launch(*KIRCHHOFF, x=SHOTS, y=full(NI)),
    "_ampsrcrec_kirch_rmatvec_cuda": launch(*KIRCHHOFF, x=SHOTS, y=full(NI)),
    "_radon_inner_2d_kernel": launch(
        (1, 1), (8, 16), x=real(5, 12, kind="c8"), y=full(6, 12, kind="c8")
    ),
    "_aradon_inner_2d_kernel": launch(
        (1, 1), (8, 16), x=full(5, 12, kind="c8"), y=real(6, 12, kind="c8")
    ),
    "_radon_inner_3d_kernel": launch(
        (1, 2, 2), (8, 4, 8), x=real(3, 5, 12, kind="c8"), y=full(4, 6, 12, kind="c8")
    ),
    "_aradon_inner_3d_kernel": launch(
        (1, 2, 2), (8, 4, 8), x=full(3, 5, 12, kind="c8"), y=real(4, 6, 12, kind="c8")
    ),
    "_nonstatconvolve2d_cuda::_matvec_rmatvec": launch(
        (2, 1), (8, 16), x=real(12, 14, kind="f4"), y=full(12, 14, kind="f4"),
        hs=real(2, 3, 3, 5, kind="f4"), hshape=(3, 5), xdims=(12, 14), ohx=2.0, ohz=1.0, dhx=6.0,
        dhz=5.0, nhx=2, nhz=3, rmatvec=False,
    ),
    "_nonstatconvolve3d_cuda::_matvec_rmatvec": launch(
        (2, 2, 2), (4, 4, 4), x=real(6, 5, 7, kind="f4"), y=full(6, 5, 7, kind="f4"),
        hs=real(2, 2, 2, 3, 3, 3, kind="f4"), hshape=(3, 3, 3), xdims=(6, 5, 7), ohx=1.0, ohy=1.0,
        ohz=2.0, dhx=3.0, dhy=2.0, dhz=3.0, nhx=2, nhy=2, nhz=2, rmatvec=True,
    ),
    "simplex_jit_cuda": launch(
        1, 32, x=real(9, 5, low=-1), coeffs=fixed([1.0] * 5), scalar=1.0, lower=0.0, upper=1.0,
        maxiter=60, ftol=1e-8, xtol=1e-8, y=full(9, 5),
    ),
}  # fmt: skip
