"""The student's own ladders: what each rung that they passed counts, beside the course's answer.

All rungs of a ladder are counted on one small problem, so that they can be compared. The
reference's counts are stored below, because the students' copy of the course has no solutions; a
test counts the solutions again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from course_lib.curriculum import EXERCISES, RUNGS, TASKS, Exercise
from course_lib.diagnosis.launches.outcome import counts_of
from course_lib.emulator import INTERACTIVE, KernelRejected, emulate, kernel_from
from course_lib.host import runtime
from course_lib.problems.inputs import as_held, make_inputs
from course_lib.problems.problem import Case
from course_lib.problems.table import problem_of
from course_lib.student import progress
from course_lib.wording.errors import PlainError

SECONDS = 2.0  # for timing
LONGEST_NAME = 32  # of a GPU, in characters


@dataclass(frozen=True)
class Ladder:
    """What all rungs of one ladder are counted on.

    Attributes:
        problem: what is computed, as a phrase in which {size} stands for the sides of all matrices.
        counted, timed: that side for the emulator's counts, and for a GPU's clock.
        least_sectors: sectors that any kernel has to load for the counted problem; 0: not told.
    """

    problem: str
    counted: int = 64
    timed: int = 1024
    least_sectors: int = 0

    @property
    def phrase(self) -> str:
        """ "a product of 64 x 64 matrices"."""
        return self.problem.format(size=f"{self.counted} x {self.counted}")

    @property
    def timed_size(self) -> str:
        """ "1024 x 1024"."""
        return f"{self.timed} x {self.timed}"


# By the names that entries give in `ladder`.
LADDERS: Mapping[str, Ladder] = {
    "product": Ladder("a product of {size} matrices"),
    "row softmax": Ladder(
        "a softmax of the rows of a {size} matrix", timed=4096, least_sectors=64 * 64 * 4 // 32
    ),
}

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
    "softmax_naive": {
        "global_load_bytes": 49_152,
        "global_load_sectors": 12_288,
        "shared_load_wavefronts": 0,
    },
    "softmax_tree": {
        "global_load_bytes": 49_152,
        "global_load_sectors": 1_536,
        "shared_load_wavefronts": 2_560,
    },
    "softmax_warps": {
        "global_load_bytes": 49_152,
        "global_load_sectors": 1_536,
        "shared_load_wavefronts": 0,
    },
    "softmax_once": {
        "global_load_bytes": 16_384,
        "global_load_sectors": 512,
        "shared_load_wavefronts": 8_192,
    },
}


@dataclass(frozen=True)
class OwnRung:
    """A rung of one of the student's ladders.

    Attributes:
        title: the answer's name.
        rung: the name of the rung.
        yours, ours: what the ladder's counted problem counts; empty where it is not known.
        ladder: the one that it stands on.
        milliseconds: how long the timed problem took on the GPU that was used last.
        gpu: its name.
        passed: whether the student has passed it.
        is_new: whether that was just now.
    """

    title: str
    rung: str
    yours: Mapping[str, int]
    ours: Mapping[str, int]
    ladder: Ladder = LADDERS["product"]
    milliseconds: float | None = None
    gpu: str = ""
    passed: bool = False
    is_new: bool = False

    @property
    def time(self) -> str:
        """ "0.123 ms", or "" without a GPU."""
        return "" if self.milliseconds is None else f"{self.milliseconds:.3g} ms"


def own_ladder(now: str = "", of: str = "product") -> Sequence[OwnRung]:
    """The rungs of a ladder that the student has passed, bottom first; `now` is the newest."""
    return tuple(rung for rung in whole_ladder(now, of) if rung.passed)


def whole_ladder(now: str = "", of: str = "product") -> Sequence[OwnRung]:
    """Every rung of a ladder that the course asks a student to write, from the bottom up.

    Where several answers stand on one rung, it is the newest one, or one that was passed.
    """
    known = progress.entries()
    steps = [
        _step(exercise, known.get(exercise.id, progress.ExerciseProgress()), now)
        for exercise in (*TASKS.values(), *EXERCISES.values())
        if exercise.rung and exercise.ladder == of
    ]
    # Above the rungs that others have published stand those of the later exercises, in their order.
    names = dict.fromkeys((*(rung.name for rung in RUNGS), *(step.rung for step in steps)))
    rungs = []
    for name in names:
        here = [step for step in steps if step.rung == name]
        rungs += [max(here, key=lambda step: (step.is_new, step.passed))] if here else []
    return tuple(rungs)


def counts_on_ladder(
    exercise: Exercise, answer: object, block: Sequence[int] | None = None
) -> dict[str, int]:
    """What an answer counts for its ladder's problem; {} if it has none, or is not right there."""
    if not exercise.rung:
        return {}
    problem = problem_of(exercise)
    inputs, output = _arrays(exercise, LADDERS[exercise.ladder].counted)
    try:
        kernel = kernel_from(answer)
        launch = exercise.launch(output.shape, chosen_constants(exercise, kernel.namespace), block)
        emulation = emulate(kernel, budget=INTERACTIVE)[launch.grid, launch.block]
        profile = emulation(*as_held(problem, inputs), output)
    except (KernelRejected, ValueError):
        return {}
    wanted, _ = problem.answer(*inputs)
    return counts_of(profile) if np.allclose(output, wanted, rtol=1e-4, atol=1e-4) else {}


def milliseconds_on_ladder(
    exercise: Exercise, answer: object, block: Sequence[int] | None = None
) -> dict[str, float]:
    """How long an answer takes for a larger problem, by the GPU's name; {} without a GPU."""
    if not exercise.rung or not hasattr(answer, "py_func") or not runtime.on_gpu():
        return {}
    if exercise.boxes:  # the tensor maps of the emulator are none for a GPU
        return {}
    from course_lib.timing import time_kernel

    inputs, output = _arrays(exercise, LADDERS[exercise.ladder].timed)
    held = as_held(problem_of(exercise), inputs)
    try:
        names = kernel_from(answer).namespace
        launch = exercise.launch(output.shape, chosen_constants(exercise, names), block)
        timing = time_kernel(answer, launch.grid, launch.block, *held, output, max_seconds=SECONDS)
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
        ladder=LADDERS[exercise.ladder],
        milliseconds=times[-1][1] if times else None,
        gpu=times[-1][0].removeprefix("NVIDIA ")[:LONGEST_NAME] if times else "",
        passed=known.passed,
        is_new=exercise.id == now,
    )


def _arrays(exercise: Exercise, side: int) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
    """The inputs of the problem of this side, as numbers, and an output that nobody has written."""
    problem = problem_of(exercise)
    shape = problem.exact(side)
    inputs = make_inputs(problem, Case(shape), 0)
    return inputs, np.full(problem.covered(shape), np.nan, np.float32)


def chosen_constants(exercise: Exercise, names: Mapping[str, object]) -> dict[str, object]:
    """The sizes that an answer has chosen itself."""
    wanted = (*exercise.constants, *(("BLOCK",) if exercise.block_axes else ()))
    chosen = {name: names.get(name) for name in wanted}
    return {
        name: value
        for name, value in chosen.items()
        if isinstance(value, int) or (name == "BLOCK" and isinstance(value, tuple))
    }
