"""Rung 12 without a GPU: its launch on the emulator, planned as for an H200.

It stands apart from the kernel, whose file is what its stored measurements are held to.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import partial
from typing import Any, Self

import numpy as np

from course_lib.devices import device
from course_lib.host import runtime
from course_lib.kernels.pieces import pieces_of, shared_tiles, table_of
from course_lib.kernels.rung_12_tma import BK, ROW, SHARED, TmaRung, kernel_of, room_for, threads_of
from course_lib.kernels.split_tiles import ADDING, COLUMNS, ROWS
from course_lib.kernels.tile_plan import TilePlan, plan_for

GPU = device("H200")


@dataclass(frozen=True)
class EmulatedTmaRung(TmaRung):
    """A rung that is also launched where there is no GPU."""

    @classmethod
    def of(cls, rung: TmaRung) -> Self:
        """The same rung, launched on the emulator, too."""
        return cls(**{part.name: getattr(rung, part.name) for part in fields(TmaRung)})

    def emulate(
        self,
        A: Any,
        B: Any,
        C: Any,
        plan: TilePlan | None = None,
        workers: int = GPU.sms,
        kernel: Any = None,
        **options: Any,
    ) -> Any:
        """Compute C = A @ B on the emulator, whatever the machine; returns the Profile.

        Where tiles are split it is that of the product alone, with what is found in the kernel that
        adds up the parts. `plan`, `workers` and `kernel` take the place of the plan that suits the
        product, a GPU's multiprocessors and the plan's kernel; `options` are those of
        `runtime.emulate`.

        Raises:
            LaunchRefused: if the emulator won't run the kernel.
        """
        (M, N), K = C.shape, A.shape[1]
        plan = plan or plan_for(M, N, K, GPU.sms)
        room, cluster = room_for(plan.columns, plan.rows), plan.cluster
        work = pieces_of(plan, (M, N, K), workers // cluster, BK * room.steps)
        table, shared, parts = table_of(work), shared_tiles(work), cluster * room.consumers
        height = len(table) * parts * ROWS
        pieces = np.full((height, COLUMNS), np.nan, np.float32) if len(shared) else None
        # A box of float32 is two, side by side, where results are turned.
        halves = 2 if room.turned and self.result == "float32" else 1
        box = room.box // ROW // halves, 128 // C.dtype.itemsize
        described = runtime.tensor_map
        result = described(C, box)
        maps = (
            described(A, (plan.rows // plan.share_a, BK)),
            described(B, (BK // plan.share_b, 64)),
            result,
            result if pieces is None else described(pieces, (ROWS, 32)),
        )
        launch: Any = partial(runtime.emulate, steps=runtime.PATIENT_STEPS, **options)
        product = launch(
            kernel or kernel_of(self, plan), cluster=cluster, max_dynamic_shared=SHARED
        )
        shape = (cluster * len(table), 1), threads_of(room)
        profile = product[*shape, 0, SHARED](*maps, table, np.uint32(table.shape[1]))
        if pieces is not None:
            added = pieces, C, shared, np.uint32(parts), np.uint32(plan.columns)
            adding = launch(self.adding)[(32, len(shared) * parts), ADDING](*added)
            profile.findings += adding.findings
        return profile
