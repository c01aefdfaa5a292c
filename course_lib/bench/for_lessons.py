"""The speeds that a lesson shows: measured here, or measured elsewhere and stored, or published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from course_lib import curriculum, measurements, runtime
from course_lib.measurements import Speeds

ROUNDS = 9  # a lesson does not wait long


def speeds(
    rungs: Sequence[str] | None = None,
    size: int = 4096,
    precisions: Sequence[str] = ("float32",),
) -> Speeds:
    """How fast the rungs are, with the label that has to stand beside the numbers.

    On a GPU they are measured now, as `course.py bench` does it. Without one they are the newest
    stored measurements; and while there are none of this size, the published ladder.

    Args:
        rungs: names; all of the ladder's if None.
        size: edge of the square matrices.
        precisions: which of them to show: "float32", "tf32", "float16", "bfloat16".
    """
    if runtime.on_gpu():
        found = _measured_here(rungs, size).speeds(size, precisions)
    else:
        stored = measurements.latest()
        found = stored.speeds(size, precisions) if stored else published()
        if not found.gflops:
            found = published()
    return _only(found, rungs)


def published() -> Speeds:
    """The ladder as others published it, until there are measurements of ours."""
    return Speeds(
        label=f"{curriculum.PUBLISHED_BY}, {curriculum.PUBLISHED_ON}",
        origin="published",
        gflops={rung.name: rung.published_gflops for rung in curriculum.RUNGS},
        of_cublas={rung.name: rung.share_of_cublas for rung in curriculum.RUNGS},
    )


def _measured_here(rungs: Sequence[str] | None, size: int) -> measurements.Measurements:
    from course_lib.bench.session import Options, measure
    from course_lib.kernels import RUNG_KERNELS

    names = tuple(rungs) if rungs is not None else None
    options = Options(sizes=(size,), rungs=names, rounds=ROUNDS, tuned=False, ceilings=False)
    measured, _ = measure(RUNG_KERNELS, options)
    return measured


def _only(found: Speeds, rungs: Sequence[str] | None) -> Speeds:
    if rungs is None:
        return found
    return replace(
        found,
        gflops={name: found.gflops[name] for name in rungs if name in found.gflops},
        of_cublas={name: found.of_cublas[name] for name in rungs if name in found.of_cublas},
    )
