"""Examines `pick_a_tile`: do these five numbers make a tile that fits, and that reuses enough?

One GPU is asked about, an H100: its FP32 ridge of 20 FLOP per DRAM byte is out of reach for one
output per thread (32 x 32 threads reach 8), and within reach for a few, so registers decide.

Nobody can know a kernel's registers before it is compiled. They are estimated here: one for each
sum, one for each operand of a step, and OVERHEAD for indices, addresses and the loop. A kernel of
this kind, compiled with Numba for sm_90 (numba-cuda 0.30), had 32, 48, 72, 80 and 128 registers
for 2x2, 4x4, 8x4, 6x6 and 8x8 outputs per thread; the estimate says 40, 56, 76, 80 and 112.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from course_lib.curriculum import Exercise
from course_lib.devices import device, occupancy
from course_lib.diagnosis.report import Report, make_report
from course_lib.emulator import Program
from course_lib.findings import Finding, finding
from course_lib.occupancy import Occupancy, SmLimits
from course_lib.sentences import say
from course_lib.words import joined

GPU = "H100"
INTENSITY = round(device(GPU).ridge_fp32)  # FLOP per requested byte
LEAST_BLOCKS = 2  # so that one block computes while the other waits at its barrier
OVERHEAD = 32  # registers beside sums and operands
BYTES = 4  # of a float32
LARGEST = 1 << 20  # a longer side is a slip of the keyboard


@dataclass(frozen=True)
class Numbers:
    """The constants of an answer, with their lines where there is a text."""

    values: Mapping[str, object]
    lines: Mapping[str, int] = field(default_factory=dict)

    def line(self, *names: str) -> int | None:
        """The last line that sets one of these."""
        return max((self.lines[each] for each in names if each in self.lines), default=None)


@dataclass(frozen=True)
class TileConfiguration:
    """A tile of C for a block and a thread, and what follows from its sizes."""

    BM: int
    BN: int
    BK: int
    TM: int
    TN: int

    @property
    def threads(self) -> int:
        return (self.BM // self.TM) * (self.BN // self.TN)

    @property
    def shared_bytes(self) -> int:
        return BYTES * self.BK * (self.BM + self.BN)

    @property
    def registers(self) -> int:
        """An estimate; the compiler alone knows."""
        return self.TM * self.TN + self.TM + self.TN + OVERHEAD

    @property
    def intensity(self) -> float:
        """FLOP per byte that the block requests: 2 BM BN BK over 4 BK (BM + BN)."""
        return self.BM * self.BN / (2 * (self.BM + self.BN))


def from_object(answer: object) -> Numbers:
    """The numbers of a check cell: a dict of constants."""
    return Numbers(dict(answer) if isinstance(answer, Mapping) else {})


def from_program(program: Program) -> Numbers:
    """The constants of an answer's text."""
    lines: dict[str, int] = {}
    for statement in ast.parse(program.source).body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                lines[node.id] = node.lineno
    return Numbers(program.constants, lines)


def examine(exercise: Exercise, numbers: Numbers) -> Report:
    """The verdict on a tile."""
    found = list(_no_numbers(exercise, numbers))
    if found:
        return make_report(exercise, found)
    tile = TileConfiguration(**{name: int(numbers.values[name]) for name in exercise.parameters})  # type: ignore[call-overload]
    found = list(_does_not_fit(tile, numbers))
    if found:  # what follows would be worked out from a tile that there cannot be
        return make_report(exercise, found)
    launch = occupancy(GPU, tile.threads, tile.registers, tile.shared_bytes)
    found = list(_cannot_run(tile, launch, numbers))
    if not found:
        found = [*_leaves_room(tile, launch, numbers), *_reuses(tile, numbers)]
    return make_report(exercise, found, _holds(tile, launch, found), numbers_right=True)


def _no_numbers(exercise: Exercise, numbers: Numbers) -> Iterator[Finding]:
    missing = [name for name in exercise.parameters if name not in numbers.values]
    if missing:
        unclear = [name for name in missing if name in numbers.lines]
        message = say("There is no {missing}.", missing=" and no ".join(missing))
        if unclear:
            message = say("{names} cannot be read off here as a number.", names=joined(unclear))
        hint: str = say(
            "The exercise asks for five numbers: {parameters}.",
            parameters=", ".join(exercise.parameters),
        )
        yield finding("missing-answer", message, numbers.line(*unclear), hint)
        return
    for name in exercise.parameters:
        value = numbers.values[name]
        if not isinstance(value, int | np.integer) or isinstance(value, bool):
            message = say(
                "{name} is {value}; the size of a tile is a whole number.",
                name=name,
                value=repr(value),
            )
            hint = "A division with // stays whole."
            yield finding("compile-error", message, numbers.line(name), hint)
        elif not 1 <= value <= LARGEST:
            message = say(
                "{name} is {value}; the size of a tile is 1 or more (and at most {most}).",
                name=name,
                value=value,
                most=LARGEST,
            )
            yield finding("invalid-launch", message, numbers.line(name))


def _does_not_fit(tile: TileConfiguration, numbers: Numbers) -> Iterator[Finding]:
    """The tile of a thread has to divide that of the block."""
    for block, thread, what in (("BM", "TM", "rows"), ("BN", "TN", "columns")):
        size, part = getattr(tile, block), getattr(tile, thread)
        if size % part:
            message = say(
                "{block} = {size} {what} are shared out in groups of {thread} = {part}: that "
                "makes {whole} threads, and {rest} {what} belong to none.",
                block=block,
                size=size,
                what=what,
                thread=thread,
                part=part,
                whole=size // part,
                rest=size % part,
            )
            hint = say("{thread} has to divide {block}.", thread=thread, block=block)
            yield finding("incomplete-output", message, numbers.line(block, thread), hint)


def _cannot_run(tile: TileConfiguration, launch: Occupancy, numbers: Numbers) -> Iterator[Finding]:
    """What a GPU refuses, and loads that do not come out even."""
    sm = launch.sm
    rows, columns = tile.BM // tile.TM, tile.BN // tile.TN
    if tile.threads > sm.threads_per_block:
        message = say(
            "{BM}/{TM} × {BN}/{TN} = {rows} × {columns} = {threads} threads, and a block has at "
            "most {most}.",
            BM=tile.BM,
            TM=tile.TM,
            BN=tile.BN,
            TN=tile.TN,
            rows=rows,
            columns=columns,
            threads=tile.threads,
            most=sm.threads_per_block,
        )
        hint = "What has to grow so that fewer threads compute the same tile?"
        yield finding("invalid-launch", message, numbers.line("TM", "TN"), hint)
    yield from _too_many_registers(tile, launch, numbers)
    if tile.shared_bytes > sm.shared_per_block_bytes:
        message = say(
            "4 · {BK} · ({BM} + {BN}) = {shared_bytes} bytes of shared memory, and a block on the "
            "{device} has at most {most}.",
            BK=tile.BK,
            BM=tile.BM,
            BN=tile.BN,
            shared_bytes=tile.shared_bytes,
            device=GPU,
            most=sm.shared_per_block_bytes,
        )
        hint = "Which size costs shared memory and changes nothing about the intensity?"
        yield finding("invalid-launch", message, numbers.line("BK"), hint)
    if tile.threads <= sm.threads_per_block:
        yield from _uneven_loads(tile, numbers)


def _too_many_registers(
    tile: TileConfiguration, launch: Occupancy, numbers: Numbers
) -> Iterator[Finding]:
    sm: SmLimits = launch.sm
    estimate = (
        f"{tile.TM} · {tile.TN} sums + {tile.TM} + {tile.TN} operands + {OVERHEAD} others = "
        f"{tile.registers} registers"
    )
    if tile.registers > sm.registers_per_thread:
        message = say(
            "{estimate}, and a thread has at most {most}.",
            estimate=estimate,
            most=sm.registers_per_thread,
        )
    elif launch.register_limit == 0 and tile.threads <= sm.threads_per_block:
        message = say(
            "{estimate} for each of {threads} threads. {why_not}",
            estimate=estimate,
            threads=tile.threads,
            why_not=launch.why_not,
        )
    else:
        return
    hint = "Every output of a thread is a sum, and every sum lives in a register."
    yield finding("invalid-launch", message, numbers.line("TM", "TN"), hint)


def _uneven_loads(tile: TileConfiguration, numbers: Numbers) -> Iterator[Finding]:
    for name, side in (("A", "BM"), ("B", "BN")):
        elements = getattr(tile, side) * tile.BK
        left = elements % tile.threads
        if left:
            each, idle = elements // tile.threads, tile.threads - elements
            shares = say("{each} for each, and {left} are left over", each=each, left=left)
            if not each:
                shares = say("{idle} of the threads get none", idle=idle)
            message = say(
                "The tile of {name} has {side} · BK = {elements} elements for {threads} threads: "
                "{shares}.",
                name=name,
                side=side,
                elements=elements,
                threads=tile.threads,
                shares=shares,
            )
            hint = say("{side} · BK should be a multiple of the threads.", side=side)
            yield finding("wrong-loop-bound", message, numbers.line(side, "BK"), hint)


def _leaves_room(tile: TileConfiguration, launch: Occupancy, numbers: Numbers) -> Iterator[Finding]:
    idle = -tile.threads % launch.sm.warp_size
    if idle:
        message = say(
            "{threads} threads are {warps} warps, the last with {idle} lanes that have nothing to "
            "do.",
            threads=tile.threads,
            warps=launch.warps_per_block,
            idle=idle,
        )
        hint = "How many threads make whole warps?"
        yield finding(
            "not-used", message, numbers.line("BM", "BN", "TM", "TN"), hint, severity="error"
        )
    if launch.blocks < LEAST_BLOCKS:
        limiter = launch.limiters[0]
        message = say(
            "An SM of the {device} has room for {blocks} block of {threads} threads with "
            "{registers} registers and {shared_bytes} bytes; the exercise asks for {wanted}. "
            "By {limiter}: {arithmetic}.",
            device=GPU,
            blocks=launch.blocks,
            threads=tile.threads,
            registers=tile.registers,
            shared_bytes=tile.shared_bytes,
            wanted=LEAST_BLOCKS,
            limiter=limiter,
            arithmetic=launch.arithmetic[limiter],
        )
        hint = "Which of the four limits binds, and which size moves it?"
        sizes = ("BK",) if limiter == "shared memory" else ("TM", "TN", "BM", "BN")
        yield finding("not-used", message, numbers.line(*sizes), hint, severity="error")


def _reuses(tile: TileConfiguration, numbers: Numbers) -> Iterator[Finding]:
    if tile.intensity < INTENSITY:
        message = say(
            "{BM} · {BN} / (2 · ({BM} + {BN})) = {intensity} FLOP per requested byte; the "
            "exercise asks for {wanted}, the {device}'s FP32 ridge.",
            BM=tile.BM,
            BN=tile.BN,
            intensity=f"{tile.intensity:.1f}",
            wanted=INTENSITY,
            device=GPU,
        )
        hint = "Which two sizes stand in the formula? What must happen to the threads then?"
        yield finding(
            "excess-global-traffic", message, numbers.line("BM", "BN"), hint, severity="error"
        )


def _holds(tile: TileConfiguration, launch: Occupancy, found: list[Finding]) -> list[str]:
    """What can be said for the tile."""
    wrong = {each.code for each in found}
    held = []
    if not wrong & {"invalid-launch", "wrong-loop-bound"}:
        held.append(f"{tile.threads} threads, each with {tile.TM} × {tile.TN} outputs")
        if launch.blocks >= LEAST_BLOCKS:
            held.append(f"{launch.blocks} blocks and {launch.warps} warps on an SM")
    if tile.intensity >= INTENSITY:
        held.append(f"{tile.intensity:.1f} FLOP per requested byte")
    return held
