"""Choose the kernel that a figure films: ours, or the student's own in a size that can be drawn."""

import ast
import copy
from collections import ChainMap, Counter
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from course_lib.emulator import Kernel, KernelRejected, kernel_from, load_program
from course_lib.emulator.film import Film, film
from course_lib.emulator.language.constants import NotConstant, evaluate_constant
from course_lib.registry.exercise import Launch
from course_lib.wording.errors import PlainError
from course_lib.wording.words import counted

LARGEST_TILE = 8
MOST_BARRIERS = 3  # to choose from in a figure

TILED = """\
@cuda.jit
def matmul_tiled(A, B, C):
    sA = cuda.shared.array((BM, BK), float32)
    sB = cuda.shared.array((BK, BN), float32)
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y

    total = float32(0)
    start = 0
    while start < A.shape[1]:
        if tx < BK:
            inside = row < A.shape[0] and start + tx < A.shape[1]
            sA[ty, tx] = A[row, start + tx] if inside else float32(0)
        if ty < BK:
            inside = start + ty < B.shape[0] and col < B.shape[1]
            sB[ty, tx] = B[start + ty, col] if inside else float32(0)
        cuda.syncthreads()
        for k in range(BK):
            total += sA[ty, k] * sB[k, tx]
        cuda.syncthreads()
        start += BK
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = total
"""

SIMPLE_TILED = """\
@cuda.jit
def matmul_tiled(A, B, C):
    sA = cuda.shared.array((TILE, TILE), float32)
    sB = cuda.shared.array((TILE, TILE), float32)
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y

    total = float32(0)
    start = 0
    while start < A.shape[1]:
        sA[ty, tx] = A[row, start + tx]
        sB[ty, tx] = B[start + ty, col]
        cuda.syncthreads()
        for k in range(TILE):
            total += sA[ty, k] * sB[k, tx]
        cuda.syncthreads()
        start += TILE
    C[row, col] = total
"""

PLAIN = """\
@cuda.jit
def matmul(A, B, C):
    col, row = cuda.grid(2)
    if row < C.shape[0] and col < C.shape[1]:
        total = float32(0)
        k = 0
        while k < A.shape[1]:
            total += A[row, k] * B[k, col]
            k += 1
        C[row, col] = total
"""


class NothingToDraw(PlainError, ValueError):
    """The figure cannot be drawn for this kernel or these sizes; the sentence says why."""


def our_kernel(text: str, constants: Mapping[str, int] | None = None) -> Kernel:
    """A kernel of the course, from its text and the numbers that it is made with.

    Line numbers are those of the text.
    """
    kernel = next(iter(load_program(text).functions.values()))
    imported = load_program("from numba import cuda, float32").names
    names = ChainMap(dict(constants or {}), imported)
    return replace(kernel, namespace=names)


def read_kernel(kernel: object, arguments: int = 3) -> Kernel:
    """The student's kernel as a syntax tree; a figure has so many arguments for it, A, B and C.

    Raises NothingToDraw if it has no source, is still empty, or takes other arguments.
    """
    try:
        read = kernel_from(kernel)
    except KernelRejected as rejected:
        raise NothingToDraw(_sentence(rejected)) from None
    if len(read.parameters) != arguments:
        own = ": A, B and C" if arguments == 3 else ""
        raise NothingToDraw(
            f"{read.name} takes {counted(len(read.parameters), 'argument')}, but this figure has "
            f"{arguments} for it{own}."
        )
    if read.is_empty:
        raise NothingToDraw(f"{read.name} is still empty. When it is written, this shows its run.")
    return read


def _is_whole(number: object) -> bool:
    if not isinstance(number, int | np.integer) or isinstance(number, bool):
        return False
    return int(number) >= 1


def is_shape(shape: object, lengths: Collection[int], longest: int) -> bool:
    """Whether this is a tuple of so many whole numbers, none of them longer than allowed."""
    return (
        isinstance(shape, tuple | list)
        and len(shape) in lengths
        and all(_is_whole(size) and size <= longest for size in shape)
    )


def one_thread_per_output(kernel: Kernel, high: int, wide: int) -> tuple[int, ...]:
    """The block over a tile of C; in one row if the kernel knows of no second index."""
    source = ast.unparse(kernel.tree)
    flat = "threadIdx.y" not in source and "grid(2)" not in source
    return (high * wide,) if flat else (wide, high)


def launch_over(rows: int, columns: int, block: tuple[int, ...]) -> Launch:
    """As many blocks (x, y) as it takes to cover a matrix, if x is the column."""
    high = block[1] if len(block) > 1 else 1
    return Launch((-(-columns // block[0]), -(-rows // high)), block)


def filmed(
    kernel: Kernel,
    launch: Launch,
    arguments: tuple[Any, ...],
    schedule: str = "lockstep",
    seed: int = 0,
) -> Film:
    """The film of a launch.

    Raises NothingToDraw if the kernel cannot run like this, or does not end.
    """
    try:
        run = film(kernel, launch.grid, launch.block, arguments, schedule=schedule, seed=seed)
    except KernelRejected as rejected:
        raise NothingToDraw(_sentence(rejected)) from None
    if not run.profile.finished:
        raise NothingToDraw(
            f"{kernel.name} does not end within the steps of a film. Does its loop's condition "
            "ever become false?"
        )
    return run


def _sentence(rejected: KernelRejected) -> str:
    first = rejected.findings[0]
    text = f"{first} {first.hint}".strip()
    return text[:1].upper() + text[1:]


def small_matrices(rows: int, columns: int, depth: int, tile: int) -> tuple[np.ndarray, ...]:
    """A, B and an empty C with numbers that a person can multiply, different from tile to tile."""
    cycle = 4 if tile % 4 else 5 if tile % 5 else 7
    i, k = np.indices((rows, depth))
    a = (i + k) % cycle + 1
    k, j = np.indices((depth, columns))
    b = (2 * k + j + k // max(tile, 1)) % 3 + 1
    return (
        *(matrix.astype(np.float32) for matrix in (a, b)),
        np.zeros((rows, columns), np.float32),
    )


# -- shared arrays and their sizes ---------------------------------------------------------------


def shared_shapes(kernel: Kernel) -> list[tuple[int, ...]]:
    """The shapes of the kernel's shared arrays, in the order of the source; () if not constant."""
    shapes = []
    for node in _shared_shape_nodes(kernel):
        try:
            shape = evaluate_constant(node, kernel.namespace)
        except (NotConstant, KeyError):
            shape = ()
        shape = shape if isinstance(shape, tuple) else (shape,)
        whole = all(isinstance(length, int | np.integer) for length in shape)
        shapes.append(tuple(int(length) for length in shape) if whole else ())
    return shapes


def _shared_shape_nodes(kernel: Kernel) -> list[ast.expr]:
    nodes = []
    for node in ast.walk(kernel.tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("shared.array"):
            given = [keyword.value for keyword in node.keywords if keyword.arg == "shape"]
            nodes += node.args[:1] or given
    return sorted(nodes, key=lambda node: (node.lineno, node.col_offset))


def in_tiles_of(kernel: Kernel, tile: int) -> Kernel:
    """The same kernel with another tile size, where the size is a name such as TILE.

    Raises NothingToDraw if the size is written out as a number.
    """
    named = _named_sizes(kernel)
    size = tile_of(kernel)
    names = {name: tile for name, value in named.items() if value == size}
    if size == tile:
        return kernel
    literal = any(
        isinstance(node, ast.Constant) and node.value == size for node in ast.walk(kernel.tree)
    )
    if not names or literal:
        raise NothingToDraw(
            f"The tiles of {kernel.name} have {size} × {size} cells, too many to draw, and their "
            f"size is written as a number. Give it a name, such as TILE = {size}, and use the name "
            "everywhere: then the figure takes a smaller one."
        )
    return replace(kernel, namespace=ChainMap(names, kernel.namespace))  # type: ignore[arg-type]


def tile_of(kernel: Kernel) -> int:
    """The edge of the kernel's tiles: the length that its shared arrays have most often.

    Raises NothingToDraw if it has no shared arrays, or their sizes cannot be read.
    """
    shapes = shared_shapes(kernel)
    if not shapes:
        raise NothingToDraw(
            f"{kernel.name} has no shared array, so there are no tiles to follow. This figure is "
            "for kernels that stage tiles with cuda.shared.array and meet at barriers."
        )
    lengths = Counter(length for shape in shapes for length in shape)
    if not lengths:
        raise NothingToDraw(f"The sizes of the shared arrays of {kernel.name} cannot be read.")
    return lengths.most_common(1)[0][0]


def _named_sizes(kernel: Kernel) -> dict[str, int]:
    """The names with whole numbers that the kernel takes from outside."""
    found = {}
    for node in ast.walk(kernel.tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            value = kernel.namespace.get(node.id)
            if isinstance(value, int | np.integer) and not isinstance(value, bool):
                found[node.id] = int(value)
    return found


# -- barriers ------------------------------------------------------------------------------------


def barrier_lines(kernel: Kernel) -> list[int]:
    """The lines with a `cuda.syncthreads()` of their own."""
    return sorted(
        node.lineno for node in ast.walk(kernel.tree) if isinstance(node, ast.Expr) and _syncs(node)
    )


def _syncs(node: ast.Expr) -> bool:
    return isinstance(node.value, ast.Call) and ast.unparse(node.value.func).endswith("syncthreads")


def without_barriers(kernel: Kernel, lines: Collection[int]) -> Kernel:
    """The kernel with the barriers of these lines taken out; line numbers stay."""
    tree = _Removal(frozenset(lines)).visit(copy.deepcopy(kernel.tree))
    return replace(kernel, tree=tree)


class _Removal(ast.NodeTransformer):
    def __init__(self, lines: frozenset[int]) -> None:
        self.lines = lines

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        if node.lineno in self.lines and _syncs(node):
            return ast.copy_location(ast.Pass(), node)
        return node
