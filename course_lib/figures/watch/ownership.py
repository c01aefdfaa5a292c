"""Let a reader click a tile of C and a thread of its block, and see who owns what."""

import numpy as np

from course_lib.emulator import Kernel
from course_lib.figures.interactive import Control, Interactive
from course_lib.figures.watch.kernels import (
    PLAIN,
    NothingToDraw,
    filmed,
    in_tiles_of,
    is_shape,
    launch_over,
    our_kernel,
    read_kernel,
    small_matrices,
)
from course_lib.figures.watch.ownership_scene import OwnerStory, ownership
from course_lib.registry.exercise import Launch

LONGEST_SIDE = 64
MOST_THREADS = 1600
MOST_BLOCKS = 48

Shape = tuple[int, int] | tuple[int, int, int]


def who_owns_what(
    shape: Shape = (20, 20),
    block: int | tuple[int, ...] = (8, 8),
    tile: int | None = None,
    kernel: object = None,
    *,
    grid: int | tuple[int, ...] | None = None,
) -> Interactive:
    """Click a block's tile of C and one of its threads: which element is whose?

    Args:
        shape: (M, N), or (M, N, K): C is M × N.
        block: threads of a block as (x, y).
        tile: T, for a tiled kernel whose tile size has a name: it is run with T, and with blocks
            of T × T.
        kernel: a `@cuda.jit` kernel whose arguments begin (A, B, C); the picture shows what each
            of its threads really wrote. Without one, a thread per output, x the column.
        grid: blocks as (x, y); as many as cover C, if x is the column, unless given.

    Raises:
        NothingToDraw: in a sentence, if the kernel or the sizes do not fit the figure.
    """
    rows, columns, depth = _checked_shape(shape, 2 * tile if isinstance(tile, int) else 6)
    read = our_kernel(PLAIN) if kernel is None else read_kernel(kernel)
    if tile is not None:
        if not is_shape((tile,), (1,), 32):
            raise NothingToDraw(f"A tile of {tile!r} makes no block: T is a whole number up to 32.")
        read = read if kernel is None else in_tiles_of(read, tile)
        block = (tile, tile)
    threads = _pair(block, "block")
    chosen = launch_over(rows, columns, threads)
    if grid is not None:
        chosen = Launch(_pair(grid, "grid"), threads)
    _check_launch(chosen)
    return _figure(read, chosen, (rows, columns, depth))


def _figure(kernel: Kernel, launch: Launch, shape: tuple[int, int, int]) -> Interactive:
    a, b, c = small_matrices(*shape, tile=3)
    run = filmed(kernel, launch, (a, b, c))
    owned = ownership(run, kernel.parameters[:3], c, a @ b)
    errors = [str(error) for error in run.profile.errors]
    story = OwnerStory(owned, kernel, shape[2], errors, staged=bool(run.profile.shared_arrays))
    threads, wide = owned.threads, owned.block[0]
    return Interactive(
        f"Who owns what: {kernel.name} over a C of {shape[0]} × {shape[1]}",
        story.scene(),
        [
            Control("block", "block (x, y)", [f"({x}, {y})" for x, y in owned.blocks], story.first),
            Control(
                "thread",
                "thread",
                [f"ty {number // wide}, tx {number % wide}" for number in range(threads)],
                min(story.start_thread, threads - 1),
            ),
        ],
        story.layers(),
        story.words(),
        alt=f"C with {shape[0]} × {shape[1]} elements, cut into what each of "
        f"{len(owned.blocks)} blocks has written; beside it the {threads} threads of the chosen "
        "block with their warps. The chosen thread's element is lit, and its row of A and column "
        f"of B. {' · '.join(story.facts)}.",
        clicks=story.clicks(),
    )


# -- what to run ---------------------------------------------------------------------------------


def _checked_shape(shape: Shape, depth: int) -> tuple[int, int, int]:
    if not is_shape(shape, (2, 3), LONGEST_SIDE):
        raise NothingToDraw(
            f"shape is (M, N) or (M, N, K) with sides of 1 to {LONGEST_SIDE}, not {shape!r}."
        )
    return (*shape, depth)[:3]


def _pair(sizes: int | tuple[int, ...], what: str) -> tuple[int, int]:
    parts = (sizes,) if isinstance(sizes, int | np.integer) else sizes
    if is_shape(parts, (3,), 2**31) and parts[2] == 1:
        parts = parts[:2]
    if not is_shape(parts, (1, 2), 2**31):
        raise NothingToDraw(f"The {what} is one or two whole numbers, (x, y), not {sizes!r}.")
    return (*(int(part) for part in parts), 1)[:2]  # type: ignore[return-value]


def _check_launch(launch: Launch) -> None:
    blocks, threads = int(np.prod(launch.grid)), int(np.prod(launch.block))
    if threads > 1024:
        raise NothingToDraw(
            f"A block of {launch.block[0]} × {launch.block[1]} has {threads} threads; the most "
            "that a GPU allows is 1024."
        )
    if blocks > MOST_BLOCKS or blocks * threads > MOST_THREADS:
        raise NothingToDraw(
            f"{blocks} blocks of {threads} threads are too many to click through: at most "
            f"{MOST_BLOCKS} blocks and {MOST_THREADS} threads in all. Take a smaller C, or larger "
            "blocks."
        )
