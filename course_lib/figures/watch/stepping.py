"""Let a reader step through K with one block: load, barrier, multiply, barrier, store."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from course_lib.emulator import Kernel
from course_lib.figures.interactive import Control, Examples, Interactive, Layer
from course_lib.figures.watch.kernels import (
    LARGEST_TILE,
    TILED,
    NothingToDraw,
    filmed,
    in_tiles_of,
    is_shape,
    one_thread_per_output,
    our_kernel,
    read_kernel,
    shared_shapes,
    small_matrices,
    tile_of,
)
from course_lib.figures.watch.stepping_scene import StepStory
from course_lib.figures.watch.walk import Cell, Walk, walk
from course_lib.registry.exercise import Launch
from course_lib.wording.words import joined

LONGEST_SIDE = 16
MOST_STAGES = 90
_ACROSS = 34  # cells that the columns of A, B and C may have together


@dataclass(frozen=True, eq=False)
class Walkthrough:
    """What is filmed: a kernel, its launch, its matrices."""

    kernel: Kernel
    launch: Launch
    tile: tuple[int, int, int]
    matrices: tuple[np.ndarray, np.ndarray, np.ndarray]
    block: tuple[int, int]
    is_ours: bool


def step_through_k(
    kernel: object = None,
    shape: tuple[int, int, int] | None = None,
    tile: int | tuple[int, int, int] | None = None,
    *,
    block: tuple[int, int] = (0, 0),
    matrices: tuple[np.ndarray, np.ndarray] | None = None,
) -> Interactive:
    """Step through K with one block of a tiled product, as a run of the kernel has shown it.

    Args:
        kernel: a `@cuda.jit` kernel whose arguments begin (A, B, C) and that stages tiles in
            shared memory; without one, a tiled kernel of the course.
        shape: (M, N, K); small, so that every number can be checked by hand.
        tile: T, or (BM, BN, BK). A kernel whose tile size has a name is run with a smaller one.
        block: the block (x, y) that is followed.
        matrices: A and B, instead of `shape` and the figure's own numbers.

    Raises:
        NothingToDraw: in a sentence, if the kernel or the sizes do not fit the figure.
    """
    plan = _plan(kernel, shape, tile, block, matrices)
    a, b, c = plan.matrices
    run = filmed(plan.kernel, plan.launch, plan.matrices)
    shapes = {use.name: use.shape for use in run.profile.shared_arrays}
    way = walk(run, plan.kernel, plan.block, shapes)
    _check(way, plan)
    with np.errstate(all="ignore"):
        wrong = ~np.isclose(c, a @ b)
    story = StepStory(plan.matrices, way, wrong, plan.is_ours)
    x, y = plan.block
    return Interactive(
        f"Stepping through K: block ({x}, {y}) of {plan.kernel.name}",
        story.scene(),
        [Control("at", "phase", story.labels(), kind="steps")],
        [Layer(["at"], story.patch)],
        Layer(["at"], story.words),
        alt=f"The matrices A, B and C, the tiles in shared memory and the running totals of block "
        f"({x}, {y}) of {plan.kernel.name}, phase by phase: load, barrier, multiply, barrier, and "
        "in the end the store.",
        shows=Examples({"": {"at": len(way.stages) - 1}}, note=story.first_sums()),
    )


# -- what to run ---------------------------------------------------------------------------------


def _plan(
    kernel: object,
    shape: tuple[int, int, int] | None,
    tile: int | tuple[int, int, int] | None,
    block: tuple[int, int],
    matrices: tuple[np.ndarray, np.ndarray] | None,
) -> Walkthrough:
    read, sizes = _ours(tile) if kernel is None else _theirs(kernel, tile)
    a, b, c = _matrices(shape, sizes, matrices)
    high, wide, _ = sizes
    across, down = -(-c.shape[1] // wide), -(-c.shape[0] // high)
    chosen = Launch((across, down), one_thread_per_output(read, high, wide))
    x_blocks, y_blocks = (*chosen.grid, 1)[:2]
    known = [(x, y) for x in range(x_blocks) for y in range(y_blocks)]
    if not isinstance(block, tuple | list) or tuple(block) not in known:
        raise NothingToDraw(
            f"There is no block {block!r}: the grid (x, y) has {x_blocks} × {y_blocks} blocks."
        )
    x, y = block
    return Walkthrough(read, chosen, sizes, (a, b, c), (x, y), kernel is None)


def _ours(tile: int | tuple[int, int, int] | None) -> tuple[Kernel, tuple[int, int, int]]:
    sizes = _sizes(2 if tile is None else tile)
    high, wide, deep = sizes
    if deep > min(high, wide):
        raise NothingToDraw(
            f"BK = {deep} is more than BM = {high} or BN = {wide}: then a tile has more cells than "
            "the block has threads, and each thread would have to load several."
        )
    return our_kernel(TILED, {"BM": high, "BN": wide, "BK": deep}), sizes


def _theirs(
    kernel: object, tile: int | tuple[int, int, int] | None
) -> tuple[Kernel, tuple[int, int, int]]:
    read = read_kernel(kernel)
    own = tile_of(read)  # refuses kernels without shared arrays
    if isinstance(tile, int | np.integer):
        (edge, _, _) = _sizes(int(tile))
        return in_tiles_of(read, edge), (edge, edge, edge)
    shapes = [shape for shape in shared_shapes(read) if len(shape) == 2]
    if tile is not None:
        return read, _matching(read, shapes, _sizes(tile))
    if own > LARGEST_TILE:
        return in_tiles_of(read, 2), (2, 2, 2)
    if len(shapes) == 2:
        (high, deep), (_, wide) = shapes
        return read, _sizes((high, wide, deep)) if deep != own + 1 else (own, own, own)
    return read, (own, own, own)


def _matching(
    kernel: Kernel, shapes: Sequence[Cell], sizes: tuple[int, int, int]
) -> tuple[int, int, int]:
    """The sizes, if the kernel's shared arrays hold such tiles; they may be padded by a column."""
    high, wide, deep = sizes
    wanted = [(high, deep), (deep, wide)]
    bare = [[cell, (cell[0], cell[1] - 1)] for cell in shapes]
    if len(bare) == 2 and not all(want in have for want, have in zip(wanted, bare, strict=True)):
        told = joined(f"{rows} × {columns}" for rows, columns in shapes)
        raise NothingToDraw(
            f"The shared arrays of {kernel.name} are {told}, which are no tiles of BM, BN, BK = "
            f"{high}, {wide}, {deep}."
        )
    return sizes


def _sizes(tile: int | tuple[int, int, int]) -> tuple[int, int, int]:
    sizes = (tile,) * 3 if isinstance(tile, int | np.integer) else tile
    if not is_shape(sizes, (3,), LARGEST_TILE):
        raise NothingToDraw(
            f"A tile of {tile!r} cannot be drawn: T, or (BM, BN, BK), with sides of 1 to "
            f"{LARGEST_TILE}."
        )
    return tuple(int(siz) for siz in sizes)  # type: ignore[return-value]


def _matrices(
    shape: tuple[int, int, int] | None,
    tile: tuple[int, int, int],
    given: tuple[np.ndarray, np.ndarray] | None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A, B and an empty C."""
    high, wide, deep = tile
    if given is not None:
        a, b = (np.array(matrix, dtype=np.float32) for matrix in given)
        if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[0]:
            raise NothingToDraw(
                f"A of {a.shape} times B of {b.shape} is no product: A needs as many columns as B "
                "has rows."
            )
        c = np.zeros((a.shape[0], b.shape[1]), np.float32)
    else:
        factor = 2 if max(high, wide) <= 3 else 1
        chosen = shape or (factor * high, factor * wide, 2 * deep)
        _check_shape(chosen)
        a, b, c = small_matrices(*chosen, tile=deep)
    _check_shape((*c.shape, a.shape[1]))
    return a, b, c


def _check_shape(shape: tuple[int, ...]) -> None:
    if not is_shape(shape, (3,), LONGEST_SIDE) or shape[2] + 2 * shape[1] > _ACROSS:
        raise NothingToDraw(
            f"(M, N, K) = {shape!r} cannot be drawn number by number: three whole numbers, none "
            f"above {LONGEST_SIDE}, and K + 2 N at most {_ACROSS}."
        )


def _check(way: Walk, plan: Walkthrough) -> None:
    name = plan.kernel.name
    kinds = {stage.kind for stage in way.stages}
    if "load" not in kinds or "multiply" not in kinds:
        raise NothingToDraw(
            f"In this run block {plan.block} of {name} stages nothing in shared memory, so there "
            "is no way along K to follow."
        )
    if len(way.stages) > MOST_STAGES:
        raise NothingToDraw(
            f"{len(way.stages)} phases are too many to step through; take a smaller K."
        )
    shapes = [array.shape for array in way.stages[0].shared.values()]
    across = sum(shape[-1] + 2 for shape in shapes) + plan.tile[1]
    if across > _ACROSS or any(len(shape) > 2 or max(shape) > LONGEST_SIDE for shape in shapes):
        raise NothingToDraw(f"The shared arrays of {name} are too large to draw: {shapes}.")
