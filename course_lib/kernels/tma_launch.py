"""What the host does for rung 12: choose tiles, describe the matrices to TMA, and launch.

On a GPU everything but the launch itself is done once for the same matrices (`TmaRung.prepare`).
Without one the emulator runs the same kernel, planned as for an H200.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np

from course_lib.devices import device
from course_lib.host import runtime
from course_lib.kernels import hopper_launch
from course_lib.kernels.hopper_launch import ReadyLaunch, described
from course_lib.kernels.pieces import pieces_of, shared_tiles, table_of, work_on_gpu
from course_lib.kernels.rung import InputsRefused, RungKernel
from course_lib.kernels.split_tiles import ADDING, COLUMNS, ROWS, workspace
from course_lib.kernels.tile_plan import TilePlan, plan_for
from course_lib.kernels.tma_room import BK, BM, BN, ROW, SHARED, room_for, threads_of

EMULATED_GPU = device("H200")


@dataclass(frozen=True, eq=False)
class TmaRung(RungKernel):
    """Rung 12 for one type of result: launched with tensor maps in place of matrices.

    Attributes:
        make_kernel: makes the kernel for a cluster's size, a tile's columns and rows, and whether
            its blocks lie side by side; `kernel` is the one for the usual tile.
        adding: the kernel that makes whole tiles out of split ones.
        plan: its tiles; None for those that suit the product.
        stays: whether there are as many blocks as SMs, which take tiles in turns, or one a tile.
        by_tma: whether TMA stores the results, so that the kernel gets a map of C and not C.
        overlap: whether a launch may begin while the one before is not over yet.
    """

    make_kernel: Any = None
    adding: Any = None
    plan: TilePlan | None = None
    stays: bool = True
    by_tma: bool = True
    overlap: bool = True

    @property
    def signature(self) -> str:
        """Four tensor maps, of 16 words each; the pieces, and how many a worker has at most."""
        words, matrix = "uint64[::1]", f"{self.result}[:, ::1]"
        third = words if self.by_tma else matrix
        return f"void({words}, {words}, {third}, {words}, uint32[:, :, ::1], uint32)"

    def grid_and_block(self, M: int, N: int, K: int) -> tuple[tuple[int, int], tuple[int, ...]]:
        """A block for each tile; a GPU gets as many as it has SMs, and they take turns."""
        return (-(-M // BM) * -(-N // BN), 1), self.block

    def kernel_of(self, plan: TilePlan) -> Any:
        """The kernel for a plan; made once."""
        return self.make_kernel(plan.cluster, plan.columns, plan.rows, plan.beside)

    def emulate(
        self,
        A: Any,
        B: Any,
        C: Any,
        plan: TilePlan | None = None,
        multiprocessors: int = EMULATED_GPU.sms,
        kernel: Any = None,
        **options: Any,
    ) -> Any:
        """Compute C = A @ B on the emulator, whatever the machine; returns the Profile.

        Where tiles are split it is that of the product alone, with what is found in the kernel that
        adds up the parts. `plan` and `kernel` take the place of those that suit the product;
        `options` are those of `runtime.emulate`.

        Raises:
            LaunchRefused: if the emulator won't run the kernel.
        """
        (M, N), K = C.shape, A.shape[1]
        plan = plan or self.plan or plan_for(M, N, K, multiprocessors)
        room, cluster = room_for(plan.columns, plan.rows), plan.cluster
        workers = self._workers(plan, (M, N), multiprocessors)
        work = pieces_of(plan, (M, N, K), workers, BK * room.steps)
        table, shared, parts = table_of(work), shared_tiles(work), cluster * room.consumers
        height = len(table) * parts * ROWS
        pieces = np.full((height, COLUMNS), np.nan, np.float32) if len(shared) else None
        maps = self._maps(runtime.tensor_map, plan, (A, B, C), pieces)
        launch: Any = partial(runtime.emulate, steps=runtime.PATIENT_STEPS, **options)
        kernel = kernel or self.kernel_of(plan)
        product = launch(kernel, cluster=cluster, max_dynamic_shared=SHARED)
        shape = (cluster * len(table), 1), threads_of(room)
        profile = product[*shape, 0, SHARED](*maps, table, np.uint32(table.shape[1]))
        if pieces is not None:
            added = pieces, C, shared, np.uint32(parts), np.uint32(plan.columns)
            adding = launch(self.adding)[(32, len(shared) * parts), ADDING](*added)
            profile.findings += adding.findings
        return profile

    def launch(self, A: Any, B: Any, C: Any, stream: Any = 0) -> None:
        """Compute C = A @ B; of arrays on the GPU it looks only at those that are new to it.

        Raises:
            InputsRefused: if this rung can't.
            PlainError: if the emulator found errors, so that C is not to be trusted.
        """
        arrays = described(A), described(B), described(C)
        if None in arrays:
            super().launch(A, B, C, stream)
        else:
            self._ready(A, B, C, arrays, stream)()

    def prepare(self, A: Any, B: Any, C: Any, stream: Any = 0) -> Callable[[], None]:
        """Everything but the launch of C = A @ B, for arrays on the GPU; what is returned launches.

        Args:
            A, B, C: as `launch` takes them; what is returned keeps them alive.
            stream: where to launch.

        Raises:
            InputsRefused: if this rung can't.
        """
        arrays = described(A), described(B), described(C)
        launch = self._ready(A, B, C, arrays, stream)

        def start(_: Any = (A, B, C)) -> None:
            launch()

        return start

    def _ready(
        self, A: Any, B: Any, C: Any, arrays: tuple[Any, ...], stream: Any
    ) -> Callable[[], None]:
        handle, gpu = hopper_launch.handle_of(stream), hopper_launch.current_gpu()
        try:
            return _prepared(self, arrays, handle, gpu)
        except InputsRefused:
            self.check_inputs(A, B, C)  # which knows whose arrays they are, and so the mend
            raise

    def _launch_on_gpu(self, A: Any, B: Any, C: Any, stream: Any) -> None:
        """NumPy's arrays are copied to the GPU, and the result back, as Numba does it."""
        from numba import cuda

        a, b, c = (array if described(array) else cuda.to_device(array) for array in (A, B, C))
        self.prepare(a, b, c, stream=stream)()
        if c is not C:
            c.copy_to_host(C)

    def _maps(
        self, tensor_map: Any, plan: TilePlan, arrays: tuple[Any, ...], pieces: Any
    ) -> tuple[Any, ...]:
        """A, B, C and parts of split tiles as TMA wants them; A once more where there are none."""
        A, B, C = arrays
        room = room_for(plan.columns, plan.rows)
        # A box of float32 is two, side by side, where results are turned.
        halves = 2 if room.turned and self.result == "float32" else 1
        box = room.box // ROW // halves, 128 // C.dtype.itemsize
        first = tensor_map(A, (plan.rows // plan.share_a, BK))
        second = tensor_map(B, (BK // plan.share_b, 64))
        result = tensor_map(C, box) if self.by_tma else C
        return first, second, result, first if pieces is None else tensor_map(pieces, (ROWS, 32))

    def _workers(self, plan: TilePlan, shape: tuple[int, int], multiprocessors: int) -> int:
        """How many blocks, or clusters, share the tiles out among them."""
        return multiprocessors // plan.cluster if self.stays else math.prod(plan.tiles(*shape))


@lru_cache(maxsize=256)
def _prepared(rung: TmaRung, arrays: tuple[Any, ...], stream: int, gpu: int) -> Callable[[], None]:
    """The launches of a product; addresses and sizes say which, so nothing keeps the matrices."""
    rung.check_inputs(*arrays)
    A, _, C = arrays
    (M, N), K = C.shape, A.shape[1]
    multiprocessors = hopper_launch.multiprocessors()
    plan = rung.plan or plan_for(M, N, K, multiprocessors)
    cluster, room = plan.cluster, room_for(plan.columns, plan.rows)
    workers = rung._workers(plan, (M, N), multiprocessors)
    work = work_on_gpu(plan, (M, N, K), workers, BK * room.steps)
    parts = cluster * room.consumers
    pieces = None if work.shared is None else workspace(work.workers * parts, stream)
    maps = rung._maps(hopper_launch.tensor_map, plan, arrays, pieces)
    shape = (cluster * work.workers, 1), threads_of(room)
    arguments = (*maps, work.table, np.uint32(work.most))
    kernel, overlap = rung.kernel_of(plan), rung.overlap
    product = ReadyLaunch(kernel, shape, arguments, stream, SHARED, cluster, overlap)
    if pieces is None:
        return product
    shape = (32, len(work.shared) * parts), ADDING
    added = pieces, C, work.shared, np.uint32(parts), np.uint32(plan.columns)
    adding = ReadyLaunch(rung.adding, shape, added, stream, overlap=overlap)

    def both() -> None:
        product()
        adding()

    return both
