"""Run the GPU tests of public projects by `pytest --cuda-emulate`, and on Numba's simulator.

The list below was fixed before any of these tests had run on the emulator.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Project:
    """One project, and which of its tests launch kernels.

    Attributes:
        name: its name on PyPI.
        version: the version that is installed.
        files: its test files, and how pytest is told to choose among their tests.
        choice: `-k`: which tests of these files use a GPU; "" for all.
    """

    name: str
    version: str
    files: tuple[str, ...]
    choice: str = ""


PROJECTS = (
    Project(
        "stumpy",
        "1.14.1",
        (
            "tests/test_gpu_aamp.py",
            "tests/test_gpu_aamp_ostinato.py",
            "tests/test_gpu_aamp_stimp.py",
            "tests/test_gpu_aampdist.py",
            "tests/test_gpu_mpdist.py",
            "tests/test_gpu_ostinato.py",
            "tests/test_gpu_stimp.py",
            "tests/test_gpu_stump.py",
            "tests/test_core.py",
            "tests/test_precision.py",
            "tests/test_non_normalized_decorator.py",
        ),
        choice="gpu",
    ),
    Project(
        "gamdpy",
        "0.8.3",
        (
            "tests/test_D2.py",
            "tests/test_JIT.py",
            "tests/test_LJ_nogpu.py",
            "tests/test_SLLOD.py",
            "tests/test_bare.py",
            "tests/test_brownian.py",
            "tests/test_energy_gradient.py",
            "tests/test_gradient_descent.py",
            "tests/test_gridsync.py",
            "tests/test_linked_lists_nblist.py",
            "tests/test_nvt_langevin.py",
            "tests/test_planar_interactions.py",
            "tests/test_stress.py",
            "tests/test_widom.py",
        ),
    ),
    # Its package has no tests; those of the repository at 50536a40 lie in FOLDER/read/algotom.
    Project(
        "algotom",
        "1.7.0",
        (
            "tests/test_rec/test_reconstruction.py",
            "tests/test_rec/test_vertrec.py",
            "tests/test_util/test_correlation.py",
        ),
    ),
    Project(
        "numba",
        "0.68.1",
        tuple(
            f"numba.cuda.tests.doc_examples.{name}"
            for name in (
                "test_cg",
                "test_cpu_gpu_compat",
                "test_laplace",
                "test_matmul",
                "test_montecarlo",
                "test_random",
                "test_reduction",
                "test_sessionize",
                "test_ufunc",
                "test_vecadd",
            )
        ),
    ),
)
