"""The twins of `wgmma`: products that warpgroups start, on tiles in shared memory.

Each warp of a group computes 16 of the 64 rows. The layouts are those of
`course_lib.intrinsics.wgmma`: rows of 128 bytes with the 128-byte swizzle, and words that hold an
address in units of 16 bytes. Sums are rounded to float32 after each 16 steps of k; a tensor core
adds with more or fewer bits, in an order of its own.
"""

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from course_lib.emulator.functions.address_functions import (
    ATOM,
    ROW,
    swizzled,
    tile_at,
    values_of_lanes,
)
from course_lib.emulator.functions.hopper_functions import is_over
from course_lib.emulator.functions.wide_functions import HOME, an_array, taking
from course_lib.emulator.language import types as T
from course_lib.emulator.language.intrinsics import (
    INTRINSICS,
    Action,
    GroupWait,
    Intrinsic,
    Rule,
    giving,
)
from course_lib.emulator.machine.engine import EngineTask, Waiting
from course_lib.emulator.machine.events import EngineAccess
from course_lib.emulator.machine.machine import Machine
from course_lib.emulator.state.hopper import base_of, bytes_of
from course_lib.emulator.state.lanes import WARP_SIZE, Mask, Value, spread
from course_lib.emulator.state.memory import Allocation, ArrayView

GROUP = 128  # threads of a warpgroup
ROWS, DEPTH, STEP = 64, 64, 16  # of a product: its rows, its k, and the k of one instruction
PANEL, PANEL_COLUMNS = 8192, 64  # bytes of a panel of B, and its columns
# What words count in, and the bits that hold the address; on a GPU one less (state/hopper.py).
UNIT, ADDRESS = 16, 0x7FFF
LOWER_A, LOWER_B = 1 << 16, PANEL // UNIT << 16  # as in course_lib.intrinsics.wgmma


@dataclass(frozen=True)
class Tile:
    """An operand in shared memory: rows of 128 bytes, in panels of 64 columns side by side."""

    word: int  # which of a product's words names it
    # rows, columns: as it lies there
    rows: int
    columns: int
    panel: int = PANEL  # bytes from one panel to the next
    transposed: bool = False  # whether its transpose is multiplied
    shift: int = 0  # where it begins, in bytes from what the word names

    @property
    def panels(self) -> int:
        """How many of them there are; the last may be read in part."""
        return -(-self.columns // PANEL_COLUMNS)

    @property
    def bytes(self) -> int:
        """From what the word names to its end."""
        return self.shift + (self.panels - 1) * self.panel + self.rows * ROW

    def numbers(self, contents: np.ndarray, begin: int, rows: Any = slice(None)) -> np.ndarray:
        """The matrix that is multiplied, or rows of it, as float32, out of shared memory."""
        halves = contents[begin : begin + self.bytes].view(np.uint16)[_places(self)[rows]]
        matrix: np.ndarray = (halves.astype(np.uint32) << np.uint32(16)).view(np.float32)
        return matrix

    def starts(self, begin: int, rows: slice = slice(None)) -> np.ndarray:
        """Where its rows of 128 bytes begin, or some of them."""
        panels = np.arange(self.panels)[:, None] * self.panel
        starts: np.ndarray = begin + self.shift + panels + np.arange(self.rows)[rows] * ROW
        return starts.reshape(-1)


@cache
def _places(tile: Tile) -> np.ndarray:
    """Which numbers of 16 bits the elements of its matrix are, from what its word names."""
    row, column = np.ogrid[: tile.rows, : tile.columns]
    panel, within = np.divmod(column, PANEL_COLUMNS)
    places: np.ndarray = swizzled(tile.shift + panel * tile.panel + row * ROW + within * 2) // 2
    return np.ascontiguousarray(places.T) if tile.transposed else places


@dataclass(frozen=True)
class ProductForm:
    """Which operands a product has."""

    # the left and the right one of each product of 64 rows; the results of one follow those of the
    # one before. None: what threads hold in registers
    parts: tuple[tuple[Tile | None, Tile], ...]
    replaces: bool = False  # whether what the sums held is forgotten, whatever the call says

    @property
    def depth(self) -> int:
        """k."""
        right = self.parts[0][1]
        return right.columns if right.transposed else right.rows

    @property
    def columns(self) -> int:
        """Of one part's results."""
        right = self.parts[0][1]
        return right.rows if right.transposed else right.columns

    @property
    def sums(self) -> int:
        """Of one thread."""
        return len(self.parts) * self.columns // 2


def matrix_product(columns: int, turned: bool = False, panels: int = 1) -> ProductForm:
    """A (64 x 64) B (64 x columns); turned, the transpose of A (columns x 64) B (64 x 64).

    Turned, several panels of B follow each other, each with results of its own.
    """
    if not turned:
        return ProductForm(((Tile(0, ROWS, DEPTH), Tile(1, DEPTH, columns)),))
    rows = Tile(0, columns, DEPTH, transposed=True)
    shifts = range(0, panels * PANEL, PANEL)
    return ProductForm(
        tuple((Tile(1, DEPTH, ROWS, transposed=True, shift=shift), rows) for shift in shifts)
    )


def dealt_out(product: np.ndarray) -> np.ndarray:
    """A product of 16 rows for each warp as the sums of their threads: (columns / 2, threads)."""
    rows, columns = product.shape
    # Warp, half, row, block of columns, pair, number.
    apart = product.reshape(rows // 16, 2, 8, columns // 8, 4, 2)
    return apart.transpose(3, 1, 5, 0, 2, 4).reshape(columns // 2, 2 * rows)


def gathered(words: np.ndarray) -> np.ndarray:
    """The other way round: rows of bfloat16, of which each thread holds pairs in words."""
    pairs = np.stack([words << np.uint32(16), words & np.uint32(0xFFFF0000)], axis=1)
    count, threads = len(words), words.shape[1]
    apart = pairs.view(np.float32).reshape(count // 2, 2, 2, threads // WARP_SIZE, 8, 4)
    return apart.transpose(3, 1, 4, 0, 5, 2).reshape(threads // 2, 4 * count)


class _Product:
    """A product that is under way, as far as some warps of a group have started it."""

    def __init__(
        self,
        machine: Machine,
        form: ProductForm,
        arrays: Sequence[ArrayView],
        lanes: np.ndarray,
        words: Sequence[int],
        adds: bool,
    ) -> None:
        self._form, self._lanes, self._adds = form, lanes, adds and not form.replaces
        self._sums, *self._weights = (array.allocation for array in arrays)
        self._memory, self._observers, self._line = machine.memory, machine.observers, machine.line
        self._space, self._given = machine.space, machine.given
        self._operands = _found(machine, form, words)
        block, threads = np.divmod(lanes, machine.space.block_size)
        self._block, self._warps = int(block[0]), threads[::WARP_SIZE] % GROUP // WARP_SIZE
        self.agents = []
        for warp in lanes.reshape(-1, WARP_SIZE).tolist():
            self.agents.append(machine.engine.agent(warp))
            held = [array.allocation for array in arrays]
            machine.observers.computes(self.agents[-1], held, warp, machine.line)

    def carry_out(self) -> None:
        """Multiply, and put the sums where they belong."""
        for warp, agent in enumerate(self.agents):
            self._tell_reads(agent, warp)
        if self._adds:
            self._tell_unwritten()
        table = self._registers(self._sums)
        own = (self._warps[:, None] * STEP + np.arange(STEP)).reshape(-1)  # rows
        count = self._form.columns // 2
        for part, (left, right) in enumerate(self._form.parts):
            places = slice(part * count, (part + 1) * count)
            total = table[places, self._lanes] if self._adds else np.zeros((count, 1), np.float32)
            a = self._held() if left is None else self._fetched(left, own)
            b = self._fetched(right)
            for k in range(0, self._form.depth, STEP):
                total = total + dealt_out(np.matmul(a[:, k : k + STEP], b[k : k + STEP]))
            table[places, self._lanes] = total
        if self._sums.written_in is not None:
            written = self._sums.written_in.reshape(self._sums.cells, -1)
            written[: self._form.sums, self._lanes] = 0

    def _tell_unwritten(self) -> None:
        """Tell if the product adds to sums that hold nothing yet."""
        if self._sums.written_in is None:
            return
        written = self._sums.written_in.reshape(self._sums.cells, -1)
        bad = np.zeros((self._sums.cells, self._space.size), bool)
        bad[: self._form.sums, self._lanes] = written[: self._form.sums, self._lanes] < 0
        if not bad.any():
            return
        mask = Mask.of(self._space, bad.any(axis=0).reshape(self._space.shape))
        self._observers.uninitialised(self._sums, np.int64(0), mask, self._line)
        dtype, name = self._sums.dtype, self._sums.name
        value = self._given.instead_of(name, self._line, dtype, self._space)
        if value is not None:
            lanes = spread(value, self._space.shape).reshape(1, -1)
            table = self._registers(self._sums)
            table[bad] = np.broadcast_to(lanes, table.shape)[bad]

    def _tell_reads(self, agent: int, warp: int) -> None:
        """What one warp's share of the product reads: its own 16 rows of the left operand."""
        first = int(self._warps[warp]) * STEP
        lane = int(self._lanes[warp * WARP_SIZE])
        for left, right in self._form.parts:
            own = slice(None) if left is None or left.transposed else slice(first, first + STEP)
            for tile, rows in ((right, slice(None)), (left, own)):
                if tile is not None:
                    array, start = self._operands[tile.word]
                    read = array, tile.starts(start, rows), self._block, ROW, self._line
                    self._observers.by_agent(EngineAccess(agent, lane, "load", *read))

    def _fetched(self, tile: Tile, rows: Any = slice(None)) -> np.ndarray:
        """An operand, or rows of it, out of shared memory."""
        array, start = self._operands[tile.word]
        return tile.numbers(bytes_of(self._memory, array, self._block), start, rows)

    def _held(self) -> np.ndarray:
        """The left operand, out of registers."""
        table = self._registers(self._weights[0])
        return gathered(table[: self._form.depth // 4, self._lanes])

    @staticmethod
    def _registers(allocation: Allocation) -> np.ndarray:
        table: np.ndarray = allocation.storage.reshape(allocation.cells, -1)
        return table


def _found(
    machine: Machine, form: ProductForm, words: Sequence[int]
) -> list[tuple[Allocation, int]]:
    """In which array the tiles lie that words name, and where they begin there."""
    tiles = [tile for part in form.parts for tile in part if tile is not None]
    found = []
    for number, word in enumerate(words):
        size = max(tile.bytes for tile in tiles if tile.word == number)
        found.append(tile_at(machine, (word & ADDRESS) * UNIT, size, ATOM, "load"))
    return found


def begin(
    machine: Machine,
    form: ProductForm,
    arrays: Sequence[ArrayView],
    words: Sequence[Value],
    add: Value,
) -> None:
    """Let each active warpgroup's product be under way.

    `arrays` are the sums, and the words of the left operand if it comes from registers.
    """
    by_group: dict[int, tuple[list[int], list[int]]] = {}
    for lane, *given in values_of_lanes(machine, *words, add):
        by_group.setdefault(_group(machine, lane)[0], ([], given))[0].append(lane)
    for lanes, given in by_group.values():
        if len(lanes) % WARP_SIZE:
            machine.observers.broken_warp("wgmma", machine.active, machine.line)
            continue
        *named, adds = given
        product = _Product(machine, form, arrays, np.array(lanes), named, adds != 0)
        task = EngineTask(product.agents[0], lanes[0], product.carry_out)
        flops = 2 * STEP * 2 * form.sums * form.depth * len(product.agents)
        machine.observers.flops(machine.line, machine.active, flops, False, True)
        group, warps = _group(machine, lanes[0]), lanes[::WARP_SIZE]
        machine.engine.start_product(group, warps, task, product.agents, machine.line)
        machine.observers.by_tensor_cores(machine.line, flops)


def _group(machine: Machine, lane: int) -> list[int]:
    """The first lanes of the warps of a lane's warpgroup."""
    size = machine.space.block_size
    block, thread = divmod(lane, size)
    first = thread // GROUP * GROUP
    return [block * size + offset for offset in range(first, min(first + GROUP, size), WARP_SIZE)]


def waits_for_all_but(machine: Machine, left: int) -> list[Waiting]:
    """What the active warps wait for, if that is their group's products but for the newest."""
    warps: dict[int, list[int]] = {}
    size = machine.space.block_size
    for (lane,) in values_of_lanes(machine):
        warps.setdefault(lane - lane % size % WARP_SIZE, []).append(lane)
    waits = []
    for first, lanes in warps.items():
        key = machine.engine.products_of(_group(machine, first), first, left)
        if key is not None:
            waits.append(Waiting(key, lanes, lambda begun: begun.phase > 0))
    return waits


def _end_wait(machine: Machine, node: ast.Call, values: list[Any]) -> None:
    for wait in values[0]:
        group = _group(machine, wait.lanes[0])
        machine.engine.products_are_done(wait.key, group, wait.lanes)


def waiting(typing: Rule, arrive: Action) -> GroupWait:
    """A function that waits for products; `arrive` says for which."""
    return GroupWait(typing, _end_wait, arrive, is_over)


def _start(form: ProductForm) -> Action:
    """Start a product, and wait for the one before."""

    def arrive(machine: Machine, node: ast.Call, values: list[Any]) -> list[Waiting]:
        sums, *words, add = values
        begin(machine, form, [sums], words, add)
        return waits_for_all_but(machine, 1)

    return arrive


def _wait(machine: Machine, node: ast.Call, values: list[Any]) -> list[Waiting]:
    return waits_for_all_but(machine, 0)


def _sums_typing(*names: str) -> Rule:
    sums = an_array(4, name="an array of sums", of=T.FLOAT32)
    return taking(T.NOTHING, sums, *((name, None) for name in names))


def _by_index(machine: Machine, node: ast.Call, values: list[Any]) -> list[Waiting]:
    """The form whose tiles are named by indices of an array."""
    sums, shared, *indices = values
    allocation: Allocation = shared.allocation
    words = [
        (index.astype(np.int64) * allocation.dtype.itemsize + base_of(machine.memory, allocation))
        // UNIT
        for index in indices
    ]
    begin(machine, matrix_product(256), [sums], words, np.int64(1))
    return waits_for_all_but(machine, 1)


def word_of(lower: int) -> Intrinsic:
    """Makes a word of an address; its upper half is `lower`'s."""

    def run(machine: Machine, node: ast.Call, values: list[Any]) -> Value:
        address = machine.convert(values[0], T.UINT32)
        return (address >> np.uint32(4)) & np.uint32(ADDRESS) | np.uint32(lower)

    return Intrinsic(giving(T.UINT32, 1), run)


INTRINSICS[f"{HOME}.wgmma_wait"] = waiting(_sums_typing(), _wait)
INTRINSICS[f"{HOME}.wgmma_a"] = word_of(LOWER_A)
INTRINSICS[f"{HOME}.wgmma_b"] = word_of(LOWER_B)
_WORDS = ("a word for A", "a word for B", "whether to add")
for _columns in range(8, 257, 8):
    for _turned in (False, True):
        for _panels in (1, 2):
            _name = f"{_columns}{'_turned' if _turned else ''}_{_panels}"
            INTRINSICS[f"{HOME}.start_product_{_name}"] = waiting(
                _sums_typing(*_WORDS), _start(matrix_product(_columns, _turned, _panels))
            )
            INTRINSICS[f"{HOME}.wait_for_product_{_name}"] = waiting(_sums_typing(), _wait)
INTRINSICS[f"{HOME}.wgmma_m64n256k64_bf16"] = waiting(
    _sums_typing("a shared array", "an index", "an index"), _by_index
)
