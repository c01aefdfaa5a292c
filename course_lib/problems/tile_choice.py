"""What `pick_a_tile` asks for: do these five numbers make a tile that fits, and that reuses enough?

One GPU is asked about, an H100: its FP32 ridge of 20 FLOP per DRAM byte is out of reach for one
output per thread (32 x 32 threads reach 8), and within reach for a few, so registers decide.

Nobody can know a kernel's registers before it is compiled. They are estimated here: one for each
sum, one for each operand of a step, and OVERHEAD for indices, addresses and the loop. A kernel of
this kind, compiled with Numba for sm_90 (numba-cuda 0.30), had 32, 48, 72, 80 and 128 registers
for 2x2, 4x4, 8x4, 6x6 and 8x8 outputs per thread; the estimate says 40, 56, 76, 80 and 112.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass

import numpy as np

from course_lib.curriculum import Exercise
from course_lib.devices import device, occupancy
from course_lib.devices.occupancy import Occupancy, SmLimits
from course_lib.problems.constants import Numbers
from course_lib.wording.findings import Finding
from course_lib.wording.sentences import say
from course_lib.wording.tables import Wording, Words
from course_lib.wording.words import joined

GPU = "H100"
INTENSITY = round(device(GPU).ridge_fp32)  # FLOP per requested byte
LEAST_BLOCKS = 2  # so that one block computes while the other waits at its barrier
OVERHEAD = 32  # registers beside sums and operands
BYTES = 4  # of a float32
LARGEST = 1 << 20  # a longer side is a slip of the keyboard
REGISTERS = "{TM} · {TN} sums + {TM} + {TN} operands + {overhead} others = {registers} registers"
LEFT_OVER = "{each} for each, with {left} left over"
NONE_FOR_SOME = "{idle} of the threads get none"
tell = Words(
    {
        "sizes missing": Wording(
            "missing-answer",
            "There is no {missing}.",
            "The exercise asks for five numbers: {parameters}.",
        ),
        "sizes unclear": Wording(
            "missing-answer",
            "{names} cannot be read as a number here.",
            "The exercise asks for five numbers: {parameters}.",
        ),
        "no whole number": Wording(
            "compile-error",
            "{name} is {value}, but the size of a tile is a whole number.",
            "Division with // gives a whole number.",
        ),
        "no size": Wording(
            "invalid-launch",
            "{name} is {value}, but the size of a tile is at least 1 (and at most {most}).",
        ),
        "rest of a tile": Wording(
            "incomplete-output",
            "{block} = {size} {what} are divided into groups of {thread} = {part}: that makes "
            "{whole} threads, and {rest} {what} belong to no thread.",
            "{thread} has to divide {block}.",
        ),
        "too many threads": Wording(
            "invalid-launch",
            "{BM}/{TM} × {BN}/{TN} = {rows} × {columns} = {threads} threads, but a block has at "
            "most {most}.",
            "What has to grow so that fewer threads compute the same tile?",
        ),
        "too much shared memory": Wording(
            "invalid-launch",
            "4 · {BK} · ({BM} + {BN}) = {shared_bytes} bytes of shared memory, but a block on the "
            "{device} has at most {most}.",
            "Which size costs shared memory without changing the intensity?",
        ),
        "too many registers": Wording(
            "invalid-launch",
            "{estimate}, but a thread has at most {most}.",
            "Every output of a thread is a sum, and every sum lives in a register.",
        ),
        "too many registers together": Wording(
            "invalid-launch",
            "{estimate} for each of {threads} threads. {why_not}",
            "Every output of a thread is a sum, and every sum lives in a register.",
        ),
        "uneven loads": Wording(
            "wrong-loop-bound",
            "The tile of {name} has {side} · BK = {elements} elements for {threads} threads: "
            "{shares}.",
            "{side} · BK should be a multiple of the number of threads.",
        ),
        "idle lanes": Wording(
            "not-used",
            "{threads} threads are {warps} warps, the last with {idle} lanes that have nothing to "
            "do.",
            "How many threads make whole warps?",
            "error",
        ),
        "few blocks": Wording(
            "not-used",
            "An SM of the {device} has room for {blocks} block of {threads} threads with "
            "{registers} registers and {shared_bytes} bytes, but the exercise asks for {wanted}. "
            "The limit is set by {limiter}: {arithmetic}.",
            "Which of the four limits is reached first, and which size affects it?",
            "error",
        ),
        "little reuse": Wording(
            "excess-global-traffic",
            "{BM} · {BN} / (2 · ({BM} + {BN})) = {intensity} FLOP per requested byte, but the "
            "exercise asks for {wanted}, the {device}'s FP32 ridge.",
            "Which two sizes are in the formula, and how must the threads change with them?",
            "error",
        ),
    }
)


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


def check(exercise: Exercise, numbers: Numbers) -> tuple[list[Finding], list[str] | None]:
    """What is wrong with a tile, and what can be said for it: None if there is no such tile."""
    found = list(_no_numbers(exercise, numbers))
    if found:
        return found, None
    sizes = {name: int(numbers.values[name]) for name in exercise.parameters}  # type: ignore[call-overload]
    tile = TileConfiguration(**sizes)
    found = list(_does_not_fit(tile, numbers))
    if found:  # what follows would be worked out from a tile that there cannot be
        return found, None
    launch = occupancy(GPU, tile.threads, tile.registers, tile.shared_bytes)
    found = list(_cannot_run(tile, launch, numbers))
    if not found:
        found = [*_leaves_room(tile, launch, numbers), *_reuses(tile, numbers)]
    return found, _holds(tile, launch, found)


def _no_numbers(exercise: Exercise, numbers: Numbers) -> Iterator[Finding]:
    missing = [name for name in exercise.parameters if name not in numbers.values]
    if missing:
        unclear = [name for name in missing if name in numbers.lines]
        words = {"names": joined(unclear), "parameters": ", ".join(exercise.parameters)}
        kind, line = "sizes unclear" if unclear else "sizes missing", numbers.line(*unclear)
        yield tell(kind, line, missing=" and no ".join(missing), **words)
        return
    for name in exercise.parameters:
        value = numbers.values[name]
        if not isinstance(value, int | np.integer) or isinstance(value, bool):
            yield tell("no whole number", numbers.line(name), name=name, value=repr(value))
        elif not 1 <= value <= LARGEST:
            yield tell("no size", numbers.line(name), name=name, value=value, most=LARGEST)


def _does_not_fit(tile: TileConfiguration, numbers: Numbers) -> Iterator[Finding]:
    """The tile of a thread has to divide that of the block."""
    for block, thread, what in (("BM", "TM", "rows"), ("BN", "TN", "columns")):
        size, part = getattr(tile, block), getattr(tile, thread)
        if size % part:
            yield tell(
                "rest of a tile",
                numbers.line(block, thread),
                block=block,
                size=size,
                what=what,
                thread=thread,
                part=part,
                whole=size // part,
                rest=size % part,
            )


def _cannot_run(tile: TileConfiguration, launch: Occupancy, numbers: Numbers) -> Iterator[Finding]:
    """What a GPU refuses, and loads that do not come out even."""
    sm = launch.sm
    rows, columns = tile.BM // tile.TM, tile.BN // tile.TN
    if tile.threads > sm.threads_per_block:
        most = sm.threads_per_block
        words = {"rows": rows, "columns": columns, "threads": tile.threads, "most": most}
        yield tell("too many threads", numbers.line("TM", "TN"), **asdict(tile), **words)
    yield from _too_many_registers(tile, launch, numbers)
    if tile.shared_bytes > sm.shared_per_block_bytes:
        words = {"shared_bytes": tile.shared_bytes, "most": sm.shared_per_block_bytes}
        line = numbers.line("BK")
        yield tell("too much shared memory", line, device=GPU, **asdict(tile), **words)
    if tile.threads <= sm.threads_per_block:
        yield from _uneven_loads(tile, numbers)


def _too_many_registers(
    tile: TileConfiguration, launch: Occupancy, numbers: Numbers
) -> Iterator[Finding]:
    sm: SmLimits = launch.sm
    if tile.registers > sm.registers_per_thread:
        kind = "too many registers"
    elif launch.register_limit == 0 and tile.threads <= sm.threads_per_block:
        kind = "too many registers together"
    else:
        return
    yield tell(
        kind,
        numbers.line("TM", "TN"),
        estimate=say(
            REGISTERS, TM=tile.TM, TN=tile.TN, overhead=OVERHEAD, registers=tile.registers
        ),
        most=sm.registers_per_thread,
        threads=tile.threads,
        why_not=launch.why_not,
    )


def _uneven_loads(tile: TileConfiguration, numbers: Numbers) -> Iterator[Finding]:
    for name, side in (("A", "BM"), ("B", "BN")):
        elements = getattr(tile, side) * tile.BK
        left = elements % tile.threads
        if left:
            per_thread, idle = elements // tile.threads, tile.threads - elements
            shares = say(
                LEFT_OVER if per_thread else NONE_FOR_SOME, each=per_thread, left=left, idle=idle
            )
            words = {"elements": elements, "threads": tile.threads, "shares": shares}
            yield tell("uneven loads", numbers.line(side, "BK"), name=name, side=side, **words)


def _leaves_room(tile: TileConfiguration, launch: Occupancy, numbers: Numbers) -> Iterator[Finding]:
    idle = -tile.threads % launch.sm.warp_size
    if idle:
        line, warps = numbers.line("BM", "BN", "TM", "TN"), launch.warps_per_block
        yield tell("idle lanes", line, threads=tile.threads, warps=warps, idle=idle)
    if launch.blocks < LEAST_BLOCKS:
        limiter = launch.limiters[0]
        sizes = ("BK",) if limiter == "shared memory" else ("TM", "TN", "BM", "BN")
        yield tell(
            "few blocks",
            numbers.line(*sizes),
            device=GPU,
            blocks=launch.blocks,
            threads=tile.threads,
            registers=tile.registers,
            shared_bytes=tile.shared_bytes,
            wanted=LEAST_BLOCKS,
            limiter=limiter,
            arithmetic=launch.arithmetic[limiter],
        )


def _reuses(tile: TileConfiguration, numbers: Numbers) -> Iterator[Finding]:
    if tile.intensity < INTENSITY:
        words = {"intensity": f"{tile.intensity:.1f}", "wanted": INTENSITY, "device": GPU}
        yield tell("little reuse", numbers.line("BM", "BN"), **asdict(tile), **words)


def _holds(tile: TileConfiguration, launch: Occupancy, found: list[Finding]) -> list[str]:
    """What can be said for the tile."""
    wrong = {finding.code for finding in found}
    held = []
    if not wrong & {"invalid-launch", "wrong-loop-bound"}:
        held.append(f"{tile.threads} threads, each with {tile.TM} × {tile.TN} outputs")
        if launch.blocks >= LEAST_BLOCKS:
            held.append(f"{launch.blocks} blocks and {launch.warps} warps on an SM")
    if tile.intensity >= INTENSITY:
        held.append(f"{tile.intensity:.1f} FLOP per requested byte")
    return held
