"""Launch a tile kernel on the tile machine: every program in turn, and what came of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.emulator.errors import rejection
from course_lib.tiles import cutile, triton_language
from course_lib.tiles.machine import Steps, TileMachine
from course_lib.tiles.memory import NOBODY, TileCounts, TileMemory
from course_lib.tiles.reading import TileFunction, TileProgram, read_kernel, read_text
from course_lib.tiles.values import DTYPES
from course_lib.wording.findings import Finding, by_importance
from course_lib.wording.sentences import say
from course_lib.wording.words import counted

LANGUAGES: Mapping[str, Any] = {"cutile": cutile, "triton": triton_language}
MOST_STEPS = 4_000_000  # statements, and more for large tiles


@dataclass(frozen=True)
class TileProfile:
    """What a launch did.

    Attributes:
        kernel_name, language, grid: of the launch.
        counts: bytes, floating-point operations and tiles.
        findings: what is wrong, the most important first.
    """

    kernel_name: str
    language: str
    grid: tuple[int, int, int]
    counts: TileCounts
    findings: tuple[Finding, ...]

    @property
    def errors(self) -> tuple[Finding, ...]:
        return tuple(found for found in self.findings if found.severity == "error")

    def __str__(self) -> str:
        counts = self.counts
        lines = [
            f"{self.kernel_name}, {LANGUAGES[self.language].TITLE}, "
            f"{counted(math.prod(self.grid), 'program')}",
            f"loaded {counts.global_load_bytes:,} bytes, stored {counts.global_store_bytes:,}, "
            f"{counts.flops:,} FLOP, {counts.peak_tile_bytes:,} bytes in variables at most",
        ]
        for found in self.findings:
            lines.append(f"{found.severity}: {found.code}, line {found.line}: {found.message}")
            if found.hint:
                lines.append(f"    {found.hint}")
        return "\n".join(lines)


@dataclass(frozen=True)
class EmulatedTiles:
    """A kernel that is launched like `emulate_tiles(kernel)[grid](A, B, C, 16)`.

    Attributes:
        program, function: the kernel, and what stands around it.
        budget: what its launches may carry out, together; if None, each MOST_STEPS.
        only: of all programs, the one that is carried out, by its number; if None, each is.
        machine: what carries out a program.
    """

    program: TileProgram
    function: TileFunction
    budget: Steps | None = None
    only: int | None = None
    machine: type[TileMachine] = TileMachine

    def __getitem__(self, grid: Any) -> Callable[..., TileProfile]:
        return lambda *given, **named: self.launch(grid, *given, **named)

    def launch(self, grid: Any, *given: Any, **named: Any) -> TileProfile:
        """Carry out every program of the grid; arrays are changed as a GPU would.

        Raises:
            KernelRejected: if the kernel cannot be run, with the line and the reason.
        """
        sizes = _grid(grid)
        count = math.prod(sizes)

        def name_of(number: int) -> str:
            place = np.unravel_index(number, sizes[::-1])[::-1]
            axes = 3 if sizes[2] > 1 else 2 if sizes[1] > 1 else 1
            inner = ", ".join(str(int(index)) for index in place[:axes])
            return say("program {place}", place=inner if axes == 1 else f"({inner})")

        memory, steps = TileMemory(name_of), self.budget or Steps(MOST_STEPS)
        values: dict[str, Any] | None = None
        for number in range(count) if self.only is None else (self.only,):
            x, y, z = (int(index) for index in np.unravel_index(number, sizes[::-1])[::-1])
            place = self.program, self.function.language, LANGUAGES, memory, (x, y, z)
            machine = self.machine(*place, sizes, number, steps)
            if values is None:
                values = self._arguments(machine, given, named)
            try:
                machine.call(self.function, values)
            except RecursionError:
                raise machine.refuse(say("This is nested too deeply.")) from None
        for array in memory.arrays.values() if self.only is None else ():
            written = array.writer != NOBODY
            if written.any() and not written.all() and not array.is_read:
                memory.unwritten(array, int(array.written_at[np.argmax(written)]))
        return TileProfile(
            self.function.name,
            self.function.language,
            sizes,
            memory.counts,
            tuple(by_importance(memory.findings.values())),
        )

    def _arguments(
        self, machine: TileMachine, given: tuple[Any, ...], named: Mapping[str, Any]
    ) -> dict[str, Any]:
        language = LANGUAGES[self.function.language]
        machine.node = self.function.tree
        values = machine.bound(self.function, given, named)
        for name, value in values.items():
            if isinstance(value, np.ndarray):
                if str(value.dtype) not in DTYPES or not value.flags.c_contiguous:
                    message = say("{name} has to be a C-contiguous array of numbers.", name=name)
                    raise rejection("invalid-launch", message, self.function.tree)
                values[name] = language.argument(machine, machine.memory.argument(name, value))
            elif not isinstance(value, int | float | bool | tuple) and value is not None:
                kind = type(value).__name__
                message = say("{name} is of type {kind}, which no tile kernel takes here.",
                              name=name, kind=kind)  # fmt: skip
                raise rejection("invalid-launch", message, self.function.tree)
        return values


def emulate_tiles(kernel: Any, name: str = "") -> EmulatedTiles:
    """A cuTile or Triton kernel on the tile machine, which reads its text and never runs it.

    Args:
        kernel: the kernel, or a text with one.
        name: which of a text's kernels; the last one if "".

    Raises:
        KernelRejected: if there is no such kernel, or its text can't be read.
    """
    program, own = (read_text(kernel), "") if isinstance(kernel, str) else read_kernel(kernel)
    there = [function.name for function in program.functions.values() if function.is_kernel]
    wanted = name or own or (there[-1] if there else "")
    if wanted not in there:
        message = say("There is no tile kernel {name} here. These are defined: {there}.",
                      name=wanted, there=", ".join(there) or "none")  # fmt: skip
        raise rejection("missing-answer", message, None)
    return EmulatedTiles(program, program.functions[wanted])


def _grid(grid: Any) -> tuple[int, int, int]:
    sizes = tuple(grid) if isinstance(grid, tuple | list) else (grid,)
    good = all(isinstance(size, int) and size > 0 for size in sizes) and 0 < len(sizes) < 4
    if not good:
        message = say(
            "A grid is one to three whole numbers, each at least 1, not {grid}.", grid=grid
        )
        raise rejection("invalid-launch", message, None)
    x, y, z = (*sizes, 1, 1, 1)[:3]
    return x, y, z
