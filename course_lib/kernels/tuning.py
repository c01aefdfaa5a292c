"""A rung with the tile that suits the size: the one that was the fastest on this GPU.

    tuned("cp_async").launch(A, B, C)

A tile of 128 x 256 fetches few bytes for an output, but a result of 1024 x 1024 has only 32 of
them, and an H200 has 132 SMs: a hundred have nothing to do. Which tile is best, and in which order
blocks take them, `course.py bench --tune` tries out; course_lib/measurements/tuning holds what it
found, one file per device.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from course_lib.host import runtime
from course_lib.kernels.rung import RungKernel
from course_lib.kernels.variants import TEMPLATES, variant
from course_lib.measurements import tuning


def tuned(name: str, device: str | None = None) -> Tuned:
    """The rung of this name, one of `variants.TEMPLATES`, with a tile for every size.

    Args:
        name: of the rung.
        device: the GPU as its driver names it; None for the one at hand.

    Raises:
        KeyError: for a rung that has one tile only.
    """
    usual: RungKernel = TEMPLATES[name].RUNG
    if device is None and runtime.on_gpu():
        device = runtime.device_name()
    return Tuned(usual, tuning.of_device(device) if device else None)


@dataclass(frozen=True)
class Tuned:
    """A rung that chooses its tile at the launch.

    Attributes:
        usual: the rung as its file has it: what is launched where nothing was tried out.
        found: what was tried out on this device; None if nothing was.
    """

    usual: RungKernel
    found: tuning.Tuning | None

    def for_size(self, M: int, N: int, K: int) -> RungKernel:
        """The fastest variant that can compute an M x N result."""
        best = self.found.for_product(self.usual.name, M, N) if self.found else ()
        for timing in best:
            made = made_once(self.usual.name, tuple(sorted(timing.constants.items())))
            if not made.room or (made.tile[0] <= M and made.tile[1] <= N):
                return made
        return self.usual

    def launch(self, A: Any, B: Any, C: Any, stream: Any = 0) -> None:
        """Compute C = A @ B.

        Raises:
            InputsRefused: if this rung can't.
            PlainError: if the emulator found errors, so that C is not to be trusted.
        """
        shapes = [tuple(getattr(matrix, "shape", ())) for matrix in (A, C)]
        matrices = all(len(shape) == 2 and 0 not in shape for shape in shapes)
        # What is no matrix, the usual rung refuses, and says why.
        rung = self.usual
        if matrices:
            (_, K), (M, N) = shapes
            rung = self.for_size(M, N, K)
        rung.launch(A, B, C, stream)


@cache
def made_once(name: str, constants: tuple[tuple[str, int], ...]) -> RungKernel:
    """A variant, which is compiled only once; the rung itself where nothing differs."""
    if not constants:
        usual: RungKernel = TEMPLATES[name].RUNG
        return usual
    return variant(name, **dict(constants))
