"""A launch followed as machine code: compiled, laid out in memory, walked, counted, compared."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.compiled_counts.memory import Memories, Storage
from course_lib.compiled_counts.operands import WARP, LaneRegisters, NotFollowed
from course_lib.compiled_counts.tally import Tally
from course_lib.compiled_counts.walker import CodeWalker, Place, prepare_all
from course_lib.emulator import AsCompiled, Budget, KeptLaunch, Profile, copies_of, emulate
from course_lib.machine_code.compiler import (
    Compiled,
    capability,
    compile_kernel,
    find_tool,
)
from course_lib.machine_code.front_ends import NUMBA, CompilerMissing, NumbaFrontEnd
from course_lib.machine_code.report import resources
from course_lib.machine_code.sass import Disassembly, parse
from course_lib.wording.errors import PlainError

LANES_AT_ONCE = 1 << 16
MOST_STEPS = 20_000_000_000  # instructions times lanes: about a minute
GLOBAL_BASE = 1 << 32
ALIGNMENT = 512  # of what cudaMalloc gives
SHARED_RESERVED = 1024  # what a block's shared memory begins with, from compute capability 8 on
STACK_TOP = 1 << 20

Triple = tuple[int, int, int]


def parameters_at(cc: tuple[int, int]) -> int:
    """Where in constant bank 0 a kernel's parameters begin, in bytes."""
    return 0x380 if cc >= (10, 0) else 0x210 if cc >= (9, 0) else 0x160


def sizes_at(cc: tuple[int, int]) -> tuple[int, int, int]:
    """Where in constant bank 0 the block's size, the grid's size and the stack's top lie."""
    return (0x360, 0x370, 0x37C) if cc >= (10, 0) else (0x0, 0xC, 0x28)


@dataclass(frozen=True, eq=False)
class LaidOut:
    """The launch's memory and constant bank, with where each array lies."""

    content: np.ndarray
    constants: dict[int, bytes]
    arrays: dict[int, tuple[int, np.ndarray]]

    def array(self, position: int) -> np.ndarray:
        """The present contents of the array that was the argument at `position`."""
        offset, example = self.arrays[position]
        raw = self.content[offset : offset + example.nbytes]
        order: Any = "F" if example.flags.f_contiguous and not example.flags.c_contiguous else "C"
        return raw.view(example.dtype).reshape(example.shape, order=order)


def lay_out(
    arguments: Sequence[Any],
    cc: tuple[int, int],
    grid: Triple,
    block: Triple,
    banks: dict[int, bytes],
    tables: tuple[bytes, dict[int, int]] = (b"", {}),
    front: NumbaFrontEnd = NUMBA,
) -> LaidOut:
    """Put the arguments into one memory, and the parameters as Numba passes them.

    `tables` are the compiler's own, and where constant bank 4 is to hold their addresses. `front`
    is the compiler from Python, each of which describes an array in its own words.

    Raises:
        NotFollowed: for an argument that is neither a number nor a contiguous array.
    """
    pieces: list[np.ndarray] = []
    arrays: dict[int, tuple[int, np.ndarray]] = {}
    seen: dict[int, int] = {}
    packed = bytearray()
    end = 0
    for position, value in enumerate(_flat(arguments)):
        if isinstance(value, np.ndarray) and value.ndim:
            if not (value.flags.c_contiguous or value.flags.f_contiguous):
                raise NotFollowed("an array that does not lie in one piece")
            if id(value) not in seen:
                room = -(-max(value.nbytes, 1) // ALIGNMENT) * ALIGNMENT
                piece = np.zeros(room, np.uint8)
                piece[: value.nbytes] = np.frombuffer(value.tobytes(order="A"), np.uint8)
                seen[id(value)] = end
                pieces.append(piece)
                end += room
            arrays[position] = seen[id(value)], value
            _pad(packed, 8)
            described = front.described(value, GLOBAL_BASE + seen[id(value)])
            packed += np.array(described, np.int64).tobytes()
        else:
            number = np.asarray(value)
            if number.dtype.kind not in "biufc":
                raise NotFollowed(f"an argument of type {type(value).__name__}")
            if isinstance(value, int) and not isinstance(value, bool):
                number = number.astype(np.int64)
            _pad(packed, number.dtype.itemsize if number.dtype.kind != "c" else 8)
            packed += number.tobytes()
    held, places = tables
    pieces.append(np.zeros(-(-len(held) // 16) * 16 + 16, np.uint8))
    pieces[-1][: len(held)] = np.frombuffer(held, np.uint8)
    addresses = np.zeros(max(places, default=0) // 8 + 1, np.int64)
    for place, start in places.items():
        addresses[place // 8] = GLOBAL_BASE + end + start
    content = np.concatenate(pieces)
    bank = bytearray(parameters_at(cc)) + packed + bytes(64)
    for at, words in zip(sizes_at(cc), (block, grid, (STACK_TOP,)), strict=True):
        bank[at : at + 4 * len(words)] = np.array(words, np.uint32).tobytes()
    return LaidOut(content, {**banks, 4: addresses.tobytes(), 0: bytes(bank)}, arrays)


def _flat(arguments: Sequence[Any]) -> list[Any]:
    """Tuples taken apart, as Numba passes them."""
    found: list[Any] = []
    for argument in arguments:
        found += _flat(argument) if isinstance(argument, tuple) else [argument]
    return found


def _pad(packed: bytearray, size: int) -> None:
    packed += bytes(-len(packed) % size)


def walk(
    code: Disassembly,
    laid_out: LaidOut,
    grid: Triple,
    block: Triple,
    shared_bytes: int,
    stack_bytes: int,
) -> Tally:
    """Walk all blocks of a launch, some of them side by side; what they cost.

    Raises:
        NotFollowed: naming what in the machine code is not followed here.
    """
    tally, left = Tally(), MOST_STEPS
    prepared = prepare_all(code)
    threads = int(np.prod(block))
    per_block = -(-threads // WARP) * WARP
    together = max(1, LANES_AT_ONCE // per_block)
    blocks = int(np.prod(grid))
    registers = _registers(code)
    for first in range(0, blocks, together):
        chosen = np.arange(first, min(first + together, blocks))
        place = _place(chosen, grid, block, per_block)
        lanes = LaneRegisters(len(chosen) * per_block, registers, laid_out.constants)
        storages = _storages(laid_out, len(chosen), per_block, shared_bytes, stack_bytes)
        machine = CodeWalker(code, prepared, lanes, place, Memories(storages, tally), tally)
        with np.errstate(all="ignore"):
            machine.run(left)
        left -= machine.walked
    return tally


def _registers(code: Disassembly) -> int:
    """One more than the highest register's number, and what a wide access may reach beyond."""
    import re

    numbers = [
        int(number)
        for instruction in code.instructions
        for number in re.findall(r"\bR(\d+)", instruction.operands)
    ]
    return max(numbers, default=0) + 5


def _place(chosen: np.ndarray, grid: Triple, block: Triple, per_block: int) -> Place:
    thread = np.tile(np.arange(per_block), len(chosen))
    of_block = np.repeat(chosen, per_block)
    lane = (thread % WARP).astype(np.uint32)
    below = (np.uint64(1) << lane.astype(np.uint64)) - np.uint64(1)
    full = np.uint64(0xFFFFFFFF)
    special = {
        "SR_TID.X": thread % block[0],
        "SR_TID.Y": thread // block[0] % block[1],
        "SR_TID.Z": thread // (block[0] * block[1]),
        "SR_CTAID.X": of_block % grid[0],
        "SR_CTAID.Y": of_block // grid[0] % grid[1],
        "SR_CTAID.Z": of_block // (grid[0] * grid[1]),
        "SR_LANEID": lane,
        "SR_CgaCtaId": np.zeros(1),
        "SRZ": np.zeros(1),
        "SR_EQMASK": np.uint64(1) << lane.astype(np.uint64),
        "SR_LTMASK": below,
        "SR_LEMASK": (below << np.uint64(1)) | np.uint64(1),
        "SR_GEMASK": full & ~below,
        "SR_GTMASK": full & ~((below << np.uint64(1)) | np.uint64(1)),
        **{f"SR_NTID.{axis}": np.full(1, size) for axis, size in zip("XYZ", block, strict=True)},
        **{f"SR_NCTAID.{axis}": np.full(1, size) for axis, size in zip("XYZ", grid, strict=True)},
    }
    words = {name: value.astype(np.uint32) for name, value in special.items()}
    exists = thread < int(np.prod(block))
    return Place(words, np.repeat(np.arange(len(chosen)), per_block), exists)


def _storages(
    laid_out: LaidOut, blocks: int, per_block: int, shared_bytes: int, stack_bytes: int
) -> list[Storage]:
    lanes = blocks * per_block
    shared = SHARED_RESERVED + -(-shared_bytes // 16) * 16
    stack = -(-max(stack_bytes, 16) // 16) * 16
    of_block = np.repeat(np.arange(blocks, dtype=np.int64) * shared, per_block)
    of_lane = np.arange(lanes, dtype=np.int64) * stack - (STACK_TOP - stack)
    content = laid_out.content
    return [
        Storage("global", content, np.full(lanes, -GLOBAL_BASE), GLOBAL_BASE, len(content)),
        Storage("shared", np.zeros(blocks * shared, np.uint8), of_block, 0, shared),
        Storage("local", np.zeros(lanes * stack, np.uint8), of_lane, STACK_TOP - stack, stack),
    ]


# --- From a launch that was emulated to its counts as compiled ------------------------------------


# Both sides round their sums in an order of their own, and atomics in any.
RELATIVE, ABSOLUTE = 1e-3, 1e-4


class NotCounted(PlainError):
    """A launch's machine code could not be counted; the message says why, in one sentence."""


def count(kept: KeptLaunch, profile: Profile, cc: str, made: Compiled | None = None) -> AsCompiled:
    """Compile a launch's kernel for a compute capability such as "9.0", follow it, and count.

    Args:
        kept: the launch with its arguments as they were before.
        profile: what the emulator counted of it.
        made: its kernel compiled for `cc`, where somebody has done so.

    Raises:
        CompilerMissing: naming the packages to install.
        CompileFailed: with the compiler's reason.
        NotCounted: for a launch whose arrays were not kept or that has errors, for machine code
            that is not followed here, and where it leaves other results than the source.
    """
    wanted = capability(cc)
    if kept.arguments is None:
        raise NotCounted(
            f"The arrays of this launch, {kept.bytes >> 20} MiB, were too large to keep, so it "
            "can't be counted as compiled: launch the kernel on smaller ones."
        )
    if not profile.finished or profile.errors:
        raise NotCounted(
            f"{profile.kernel_name} has errors, so its machine code is not counted: "
            "profile.findings has them."
        )
    if made is None:
        made = next(iter(compile_kernel(kept.kernel, kept.arguments, wanted).values()))
    if made.sass is None:
        refused = NotCounted if find_tool("nvdisasm") else CompilerMissing
        raise refused(re.sub("^(The instruction mix|There is no instruction mix)", "Counting "
                             "machine code", made.note))  # fmt: skip
    name = f"{profile.kernel_name}, compiled for {cc},"
    try:
        found, arrays = _follow(kept, made, wanted)
    except NotFollowed as reason:
        raise NotCounted(f"{name} can't be counted: {reason} is not followed here.") from None
    if (odd := _other_result(kept, profile, arrays)) is not None:
        raise NotCounted(
            f"{name} can't be counted: followed here, it leaves other numbers in argument "
            f"{odd + 1} than the source does, so its counts would not be certain."
        )
    found.profile, found.cc, found.versions = profile, cc, made.versions
    return found


def _follow(
    kept: KeptLaunch, made: Compiled, cc: tuple[int, int]
) -> tuple[AsCompiled, dict[int, np.ndarray]]:
    """The counts, and what each array holds afterwards, by its place among the arguments."""
    assert made.sass is not None and kept.arguments is not None
    code = parse(made.sass, made.entry)
    needs = resources(made.log, made.entry)
    laid_out = lay_out(
        kept.arguments, cc, kept.grid, kept.block, made.constants, made.tables, made.front
    )
    shared = needs["static_shared_bytes"] + kept.dynamic_shared_bytes
    tally = walk(code, laid_out, kept.grid, kept.block, shared, needs["stack_bytes"])
    found = AsCompiled(lines=dict(sorted(tally.lines.items())))
    for line in tally.lines.values():
        found.add(line)
    return found, {position: laid_out.array(position) for position in laid_out.arrays}


def _other_result(kept: KeptLaunch, profile: Profile, arrays: dict[int, np.ndarray]) -> int | None:
    """The first array in which the machine code leaves other numbers than the source."""
    assert kept.arguments is not None
    copies = copies_of(kept.arguments)
    options: dict[str, Any] = {"counters": False, "races": False}
    options["max_dynamic_shared"] = max(kept.dynamic_shared_bytes, 48 * 1024)
    budget = Budget(steps=2 * profile.steps + 10_000)
    launch = emulate(kept.kernel, budget=budget, **options)[
        kept.grid, kept.block, 0, kept.dynamic_shared_bytes
    ]
    launch(*copies)
    for position, value in enumerate(_flattened(copies)):
        if position in arrays and not _alike(arrays[position], value):
            return position
    return None


def _alike(found: np.ndarray, expected: np.ndarray) -> bool:
    if expected.dtype.kind not in "fc":
        return bool(np.array_equal(found, expected))
    with np.errstate(all="ignore"):
        size = np.nanmax(np.abs(expected), initial=0.0)
    bound = ABSOLUTE * (size if np.isfinite(size) else 1.0)
    return bool(np.allclose(found, expected, RELATIVE, bound, equal_nan=True))


def _flattened(arguments: Sequence[Any]) -> list[Any]:
    found: list[Any] = []
    for argument in arguments:
        found += _flattened(argument) if isinstance(argument, tuple) else [argument]
    return found
