"""Let a reader take a barrier out, choose an order of the warps, and watch the wrong read."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.curriculum import TASKS
from course_lib.devices import WARP_SIZE
from course_lib.emulator import Kernel
from course_lib.figures.interactive import Control, Examples, Interactive, Layer
from course_lib.figures.watch.hazard import Kind, Showing, find_wrong_reads, main_race, showing
from course_lib.figures.watch.kernels import (
    MOST_BARRIERS,
    SIMPLE_TILED,
    NothingToDraw,
    barrier_lines,
    filmed,
    in_tiles_of,
    one_thread_per_output,
    our_kernel,
    read_kernel,
    small_matrices,
    tile_of,
    without_barriers,
)
from course_lib.figures.watch.race_scene import RaceStory
from course_lib.registry import entry_checks as entries
from course_lib.registry.exercise import Launch

MOST_WARPS = 4
MOST_BEATS = 24
SEEDS = (8, 2)  # of these, the first begins with warp 1, the second changes the order soon

_SCHEDULES = (
    ("all warps in step", "lockstep", 0),
    ("one warp after the other", "warps", 0),
    *((f"shuffled, seed {seed}", "shuffled", seed) for seed in SEEDS),
)
_NUMBERS = ("first", "second", "third")


@dataclass(frozen=True, eq=False)
class Setup:
    """What is filmed: one block of a kernel."""

    kernel: Kernel  # with all its barriers
    tile: int  # side of the square that the output is drawn as
    launch: Launch  # grid and block
    arguments: tuple[Any, ...]  # as they are before the launch
    place: int  # which of them is the output
    expected: np.ndarray  # what it should hold in the end
    reading: Kind = "multiply"  # what the kernel does with what it reads from shared memory

    @property
    def output(self) -> str:
        """The kernel's name for what it writes."""
        return self.kernel.parameters[self.place]

    def run(self, kernel: Kernel, schedule: str, seed: int) -> Showing:
        """A showing of the kernel, or of the kernel without a barrier."""
        copies = tuple(
            argument.copy() if isinstance(argument, np.ndarray) else argument
            for argument in self.arguments
        )
        film = filmed(kernel, self.launch, copies, schedule, seed)
        run = showing(film, self.output, copies[self.place], self.expected, self.reading)
        run.wrong = run.wrong.reshape(self.tile, -1)
        return run


def watch_race(kernel: object = None, *, tile: int = 8, task: str = "") -> Interactive:
    """Take a barrier out of a kernel, and watch its warps in time.

    The lanes show runs of the emulator: which warp did what when, and which reads got a value that
    did not belong there. One block works on two tiles along K, or on what a task asks for.

    Args:
        kernel: a `@cuda.jit` kernel whose arguments begin (A, B, C), with tiles in shared memory;
            without one, the tiled kernel of lesson 05.
        tile: T; a kernel whose tile size has a name is run with it. With 8, a block has two warps.
        task: the id of a task that the kernel answers; all its sizes are numbers, and its one block
            writes a square number of elements. Nothing else is needed then.

    Raises:
        NothingToDraw: in a sentence, if the kernel does not fit the figure.
    """
    setup = _setup_of_task(kernel, task) if task else _setup(kernel, tile)
    in_order = setup.run(setup.kernel, "lockstep", 0)
    _check(setup, in_order)
    variants = _variants(setup.kernel)
    shown = _runs(setup, [changed for _, _, changed in variants], in_order)
    races = [main_race(shown[v, 0].findings, setup.launch.block) for v in range(len(variants))]
    removed = [lines for _, lines, _ in variants]
    story = RaceStory(
        setup.kernel, setup.output, setup.launch.block, setup.tile, shown, removed, races
    )
    first = next((number for number, race in enumerate(races) if race), 0)  # that can be shown
    controls = [
        Control("barriers", "barriers", [name for name, _, _ in variants], first, "choice"),
        Control("order", "order of the warps", [name for name, _, _ in _SCHEDULES], 1, "choice"),
        Control("at", "moment", story.moments(), kind="steps"),
    ]
    return Interactive(
        f"Watch the race: {setup.kernel.name}, one block of {story.warps} warps",
        story.scene(),
        controls,
        [
            Layer(["barriers", "order"], story.patch_run),
            Layer(["barriers", "order", "at"], story.patch_moment),
            Layer(["barriers"], story.patch_code),
        ],
        [Layer(["barriers", "order", "at"], story.words)],
        _ALT + f"of {setup.output} that are wrong in the end.",
        _examples(setup, variants, story),
    )


_ALT = (
    "A lane of time for each warp with what it does: load, use, store. Barriers are lines "
    "across all lanes. A wrong read is marked with a cross, and an arrow leads to the write "
    "that came too late or too early. Below are the kernel's lines and the elements "
)


def _runs(
    setup: Setup, kernels: Sequence[Kernel], in_order: Showing
) -> dict[tuple[int, int], Showing]:
    """A run of each kernel in each order, with the reads that go wrong in it."""
    shown = {
        (v, s): setup.run(kernel, schedule, seed)
        for v, kernel in enumerate(kernels)
        for s, (_, schedule, seed) in enumerate(_SCHEDULES)
    }
    for run in shown.values():
        find_wrong_reads(run, in_order)
    return shown


def _setup(kernel: object, tile: int) -> Setup:
    if not isinstance(tile, int | np.integer) or not 6 <= tile <= 11:
        raise NothingToDraw(
            f"tile = {tile!r}: this figure takes T from 6 to 11, so that a block has two to four "
            "warps. A race between warps needs at least two of them."
        )
    if kernel is None:
        read = our_kernel(SIMPLE_TILED, {"TILE": int(tile)})
    else:
        read = read_kernel(kernel)
        tile_of(read)  # refuses kernels without shared arrays
        read = in_tiles_of(read, int(tile))
    chosen = Launch((1, 1), one_thread_per_output(read, int(tile), int(tile)))
    a, b, c = small_matrices(int(tile), int(tile), 2 * int(tile), int(tile))
    return Setup(read, int(tile), chosen, (a, b, c), 2, a @ b)


def _setup_of_task(kernel: object, name: str) -> Setup:
    task = TASKS[name]
    read = read_kernel(kernel, len(task.parameters))
    shapes = [tuple(map(int, entries.axes(shape))) for shape in task.shapes]
    numbers = [np.arange(np.prod(shape), dtype=np.float32) % 10 for shape in shapes[:-1]]
    inputs = [number.reshape(shape) for number, shape in zip(numbers, shapes, strict=False)]
    assert task.reference is not None
    expected = task.reference(*inputs)
    output = np.full(shapes[-1], task.before, np.float32)
    side = math.isqrt(expected.size)
    launched = task.launch(shapes[-1])
    chosen = Launch(launched.grid, launched.block)
    return Setup(read, side, chosen, (*inputs, output), len(inputs), expected, "use")


def _check(setup: Setup, in_order: Showing) -> None:
    name = setup.kernel.name
    threads = int(np.prod(setup.launch.block))
    warps = -(-threads // WARP_SIZE)
    if int(np.prod(setup.launch.grid)) != 1 or not 2 <= warps <= MOST_WARPS:
        raise NothingToDraw(
            f"This figure shows one block of two to {MOST_WARPS} warps; a launch of "
            f"{setup.launch.grid} blocks of {threads} threads is not that."
        )
    if not any(beat.kind == setup.reading for beat in in_order.beats):
        raise NothingToDraw(f"In this run {name} reads nothing from shared memory.")
    wrong = int(in_order.wrong.sum())
    if wrong:
        raise NothingToDraw(
            f"Even with all warps in step, {wrong} of {in_order.wrong.size} elements are not what "
            f"they should be, so {name} has another mistake than a race. Let the check find "
            "it first; then come back."
        )
    if len(barrier_lines(setup.kernel)) > MOST_BARRIERS:
        raise NothingToDraw(f"{name} has more than {MOST_BARRIERS} barriers, too many to choose.")
    if len(in_order.beats) * warps > MOST_BEATS:
        raise NothingToDraw(f"The run of {name} has too many phases to draw as lanes of time.")


Variants = list[tuple[str, tuple[int, ...], Kernel]]


def _variants(kernel: Kernel) -> Variants:
    """The kernel as it is, without each of its barriers, and without any: name, lines, kernel."""
    lines = barrier_lines(kernel)
    whole = "as it is" if len(lines) != 2 else "both in place"
    found: list[tuple[str, tuple[int, ...]]] = [(whole, ())]
    found += [
        (f"without the {_NUMBERS[number]} (line {line})", (line,))
        for number, line in enumerate(lines)
    ]
    if len(lines) > 1:
        found.append(("without any", tuple(lines)))
    return [(name, removed, without_barriers(kernel, removed)) for name, removed in found]


def _examples(setup: Setup, variants: Variants, story: RaceStory) -> Examples:
    """The ends of the runs without one barrier each that race; if none does, of the last run."""
    ends = {
        f"barriers: {name}: {setup.output} in the end {_result(story.shown[v, 1])}": {
            "barriers": v,
            "at": len(story.shown[v, 1].beats),
        }
        for v, (name, removed, _) in enumerate(variants)
        if story.races[v] and (len(removed) == 1 or v == 0)
    }
    if ends:
        return Examples(ends, part=lambda _: (0, 0, 720, story.below - 16))
    last = len(variants) - 1
    return Examples({"": {"barriers": last, "at": len(story.shown[last, 1].beats)}})


def _result(run: Showing) -> str:
    wrong = int(run.wrong.sum())
    return f"{wrong} of {run.wrong.size} wrong, {run.nan} NaN" if wrong else "right, by luck"
