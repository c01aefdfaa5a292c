"""The student's own ladder: what each rung that they passed counts, beside the course's answer.

All rungs are counted on one product of small square matrices, so that they can be compared. The
reference's counts are stored below, because the students' copy of the course has no solutions; a
test counts the solutions again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from course_lib.curriculum import EXERCISES, RUNGS, TASKS, Exercise
from course_lib.devices.number_formats import rounded
from course_lib.diagnosis.problems.inputs import as_held
from course_lib.diagnosis.problems.table import problem_of
from course_lib.diagnosis.trial import counts_of
from course_lib.emulator import INTERACTIVE, KernelRejected, emulate, kernel_from
from course_lib.host import runtime
from course_lib.student import progress
from course_lib.wording.errors import PlainError

SIZE = 64  # of the counted product
TIMED_SIZE = 1024  # of the timed one
SECONDS = 2.0  # for timing
LONGEST_NAME = 32  # of a GPU, in characters
FAMILIES = ("product", "register product", "product of boxes")

# What is compared: the heading, and the emulator's counter.
COLUMNS: Mapping[str, str] = {
    "bytes loaded": "global_load_bytes",
    "sectors loaded": "global_load_sectors",
    "shared-memory wavefronts": "shared_load_wavefronts",
}
REFERENCE: Mapping[str, Mapping[str, int]] = {
    "naive_by_rows": {
        "global_load_bytes": 2_097_152,
        "global_load_sectors": 139_264,
        "shared_load_wavefronts": 0,
    },
    "matmul_coalesced": {
        "global_load_bytes": 2_097_152,
        "global_load_sectors": 32_768,
        "shared_load_wavefronts": 0,
    },
    "matmul_tiled": {
        "global_load_bytes": 131_072,
        "global_load_sectors": 4_096,
        "shared_load_wavefronts": 16_384,
    },
    "matmul_1d": {
        "global_load_bytes": 32_768,
        "global_load_sectors": 1_024,
        "shared_load_wavefronts": 9_216,
    },
    "matmul_2d": {
        "global_load_bytes": 32_768,
        "global_load_sectors": 1_024,
        "shared_load_wavefronts": 8_192,
    },
    "matmul_wide": {
        "global_load_bytes": 32_768,
        "global_load_sectors": 1_024,
        "shared_load_wavefronts": 3_072,
    },
    "matmul_warp_tiled": {
        "global_load_bytes": 32_768,
        "global_load_sectors": 1_024,
        "shared_load_wavefronts": 1_024,
    },
    "matmul_two_buffers": {
        "global_load_bytes": 32_768,
        "global_load_sectors": 1_024,
        "shared_load_wavefronts": 1_024,
    },
    "matmul_async": {
        "global_load_bytes": 32_768,
        "global_load_sectors": 1_024,
        "shared_load_wavefronts": 1_024,
    },
    "matmul_mma": {
        "global_load_bytes": 16_384,
        "global_load_sectors": 512,
        "shared_load_wavefronts": 256,
    },
    "matmul_tma": {
        "global_load_bytes": 16_384,
        "global_load_sectors": 512,
        "shared_load_wavefronts": 0,
    },
}


@dataclass(frozen=True)
class OwnRung:
    """A rung of the student's ladder.

    Attributes:
        title: the answer's name.
        rung: the name of the rung.
        yours, ours: what one product counts; empty where it is not known.
        milliseconds: how long a product of `TIMED_SIZE` took on the GPU that was used last.
        gpu: its name.
        passed: whether the student has passed it.
        is_new: whether that was just now.
    """

    title: str
    rung: str
    yours: Mapping[str, int]
    ours: Mapping[str, int]
    milliseconds: float | None = None
    gpu: str = ""
    passed: bool = False
    is_new: bool = False

    @property
    def time(self) -> str:
        """ "0.123 ms", or "" without a GPU."""
        return "" if self.milliseconds is None else f"{self.milliseconds:.3g} ms"


def own_ladder(now: str = "") -> Sequence[OwnRung]:
    """The rungs that the student has passed, from the bottom up; `now` is the newest."""
    return tuple(rung for rung in whole_ladder(now) if rung.passed)


def whole_ladder(now: str = "") -> Sequence[OwnRung]:
    """Every rung that the course asks a student to write, from the bottom up.

    Where several answers stand on one rung, it is the newest one, or one that was passed.
    """
    known = progress.entries()
    steps = [
        _step(each, known.get(each.id, progress.ExerciseProgress()), now)
        for each in (*TASKS.values(), *EXERCISES.values())
        if each.rung
    ]
    # Above the rungs that others have published stand those of the later exercises, in their order.
    names = dict.fromkeys((*(each.name for each in RUNGS), *(step.rung for step in steps)))
    rungs = []
    for name in names:
        here = [step for step in steps if step.rung == name]
        rungs += [max(here, key=lambda step: (step.is_new, step.passed))] if here else []
    return tuple(rungs)


def counts_of_product(
    exercise: Exercise, answer: object, block: Sequence[int] | None = None
) -> dict[str, int]:
    """What an answer counts for the product of the ladder; {} if it cannot be launched so."""
    if exercise.family not in FAMILIES:
        return {}
    *inputs, C, wanted = _matrices(exercise, SIZE)
    try:
        kernel = kernel_from(answer)
        launch = exercise.launch(C.shape, chosen_constants(exercise, kernel.namespace), block)
        profile = emulate(kernel, budget=INTERACTIVE)[launch.grid, launch.block](*inputs, C)
    except (KernelRejected, ValueError):
        return {}
    return counts_of(profile) if np.allclose(C, wanted, rtol=1e-4, atol=1e-4) else {}


def milliseconds_of_product(
    exercise: Exercise, answer: object, block: Sequence[int] | None = None
) -> dict[str, float]:
    """How long an answer takes for a larger product, by the GPU's name; {} without a GPU."""
    if exercise.family not in FAMILIES or not hasattr(answer, "py_func") or not runtime.on_gpu():
        return {}
    if exercise.boxes:  # the tensor maps of the emulator are none for a GPU
        return {}
    from course_lib.timing import time_kernel

    *inputs, C, _ = _matrices(exercise, TIMED_SIZE)
    try:
        names = kernel_from(answer).namespace
        launch = exercise.launch(C.shape, chosen_constants(exercise, names), block)
        timing = time_kernel(answer, launch.grid, launch.block, *inputs, C, max_seconds=SECONDS)
    except (PlainError, KernelRejected, ValueError):
        return {}
    return {runtime.device_name(): timing.median_ms}


def _step(exercise: Exercise, known: progress.ExerciseProgress, now: str) -> OwnRung:
    times = list(known.milliseconds.items())
    return OwnRung(
        title=exercise.id,
        rung=str(exercise.rung),
        yours=known.counts,
        ours=REFERENCE.get(exercise.id, {}),
        milliseconds=times[-1][1] if times else None,
        gpu=times[-1][0].removeprefix("NVIDIA ")[:LONGEST_NAME] if times else "",
        passed=known.passed,
        is_new=exercise.id == now,
    )


def _matrices(exercise: Exercise, size: int) -> tuple[np.ndarray, ...]:
    """What a kernel gets, its inputs in their formats and C; and the product."""
    rng = np.random.default_rng(0)
    problem = problem_of(exercise)
    numbers = problem.operands((size, size, size), rng)[2:]
    inputs = (*(rng.random((size, size), np.float32) for _ in range(2)), *numbers)
    formats = problem.formats or exercise.formats
    A, B, *_ = inputs = tuple(map(rounded, inputs, formats))
    return *as_held(problem, inputs), np.full((size, size), np.nan, np.float32), A @ B


def chosen_constants(exercise: Exercise, names: Mapping[str, object]) -> dict[str, object]:
    """The sizes that an answer has chosen itself."""
    wanted = (*exercise.constants, *(("BLOCK",) if exercise.block_axes else ()))
    chosen = {name: names.get(name) for name in wanted}
    return {
        name: value
        for name, value in chosen.items()
        if isinstance(value, int) or (name == "BLOCK" and isinstance(value, tuple))
    }
