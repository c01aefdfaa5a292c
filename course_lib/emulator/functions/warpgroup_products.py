"""The twins of `wgmma`: products that warpgroups start, on tiles in shared memory.

Each warp of a group computes 16 of the 64 rows. The layouts are those of
`course_lib.intrinsics.wgmma`: rows of 128 bytes with the 128-byte swizzle, and words that hold an
address in units of 16 bytes. Sums are rounded to float32 after each 16 steps of k; a tensor core
adds with more or fewer bits, in an order of its own.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.emulator.functions.hopper_functions import (
    ROW,
    array_at_or_refuse,
    swizzled,
    values_of_lanes,
)
from course_lib.emulator.functions.wide_functions import HOME, need_arguments, need_array
from course_lib.emulator.language import types as T
from course_lib.emulator.language.intrinsics import (
    INTRINSICS,
    Arguments,
    Beside,
    Intrinsic,
    Keywords,
    Typed,
    giving,
    need,
)
from course_lib.emulator.machine.engine import EngineTask
from course_lib.emulator.machine.events import EngineAccess
from course_lib.emulator.machine.machine import Machine
from course_lib.emulator.state.addresses import base_of, bytes_of
from course_lib.emulator.state.lanes import WARP_SIZE, Value
from course_lib.emulator.state.memory import Allocation, ArrayView
from course_lib.wording.sentences import say

NOTHING = T.Static(None)
GROUP = 128  # threads of a warpgroup
ROWS, DEPTH, STEP = 64, 64, 16  # of a product: its rows, its k, and the k of one instruction
PANEL, PANEL_COLUMNS = 8192, 64  # bytes of a panel of B, and its columns
UNIT, ADDRESS = 16, 0x3FFF  # what words count in, and the bits that hold the address
LOWER_A, LOWER_B = 1 << 16, PANEL // UNIT << 16  # as in course_lib.intrinsics.wgmma


@dataclass(frozen=True)
class ProductForm:
    """Of what kind a product is.

    Attributes:
        columns: of the tile of B; turned, rows of the tile of A.
        turned: whether results are the transpose: rows of sums are columns of C.
        panels: how many panels of B follow each other, each with results of its own; if turned.
    """

    columns: int
    turned: bool = False
    panels: int = 1

    @property
    def sums(self) -> int:
        """Of one thread."""
        return self.panels * self.columns // 2


def _number_at(contents: np.ndarray, begin: Any, row: np.ndarray, column: np.ndarray) -> Any:
    """Elements of a swizzled tile of bfloat16, as float32; `column` of at most 64."""
    at = swizzled(begin + row * ROW + column * 2)
    low, high = contents[at].astype(np.uint32), contents[at + 1].astype(np.uint32)
    return (low << np.uint32(16) | high << np.uint32(24)).view(np.float32)


def _operands(
    form: ProductForm, contents: np.ndarray, a: int, b: int, panel: int
) -> tuple[Any, Any]:
    """The 64 x 64 and the 64 x columns matrix that are multiplied."""
    k, n = np.arange(DEPTH), np.arange(form.columns)
    if not form.turned:
        left = _number_at(contents, a, np.arange(ROWS)[:, None], k)
        begin = b + n // PANEL_COLUMNS * PANEL
        return left, _number_at(contents, begin, k[:, None], n % PANEL_COLUMNS)
    left = _number_at(contents, b + panel * PANEL, k[:, None], np.arange(ROWS)).T
    return left, _number_at(contents, a, n[:, None], k).T


def _rows_read(form: ProductForm, a: int, b: int, warp: int) -> np.ndarray:
    """Where the rows of 128 bytes begin that one of four warps reads."""
    if form.turned:
        whole = b + np.arange(form.panels * ROWS) * ROW
        return np.concatenate([whole, a + np.arange(form.columns) * ROW])
    panels = -(-form.columns // PANEL_COLUMNS)
    own = a + (16 * warp + np.arange(16)) * ROW
    starts = b + np.arange(panels)[:, None] * PANEL + np.arange(DEPTH) * ROW
    return np.concatenate([own, starts.reshape(-1)])


def _dealt_out(product: np.ndarray) -> np.ndarray:
    """A product of 64 rows as the sums of 128 threads: shape (columns / 2, 128)."""
    apart = product.reshape(4, 2, 8, -1, 4, 2)  # warp, half, row, block of columns, pair, number
    return apart.transpose(3, 1, 5, 0, 2, 4).reshape(-1, GROUP)


class _Product:
    """A product of one warpgroup that is under way."""

    def __init__(
        self,
        machine: Machine,
        form: ProductForm,
        sums: ArrayView,
        lanes: np.ndarray,
        words: Sequence[int],
    ) -> None:
        a, b, add = words
        self._form, self._sums, self._lanes, self._adds = form, sums, lanes, add != 0
        self._memory, self._observers, self._line = machine.memory, machine.observers, machine.line
        address_a, address_b = ((word & ADDRESS) * UNIT for word in (a, b))
        self._array = array_at_or_refuse(machine, address_a).allocation
        begin = base_of(machine.memory, self._array)
        self._a, self._b = address_a - begin, address_b - begin
        block, self._threads = np.divmod(lanes, machine.space.block_size)
        self._block = int(block[0])
        self.agents = []
        for warp in lanes.reshape(-1, WARP_SIZE).tolist():
            self.agents.append(machine.engine.agent(warp))
            machine.observers.computes(self.agents[-1], sums.allocation, warp, machine.line)

    def carry_out(self) -> None:
        """Multiply, and put the sums where they belong."""
        form, allocation = self._form, self._sums.allocation
        contents = bytes_of(self._memory, self._array, self._block)
        for warp, agent in enumerate(self.agents):
            rows = _rows_read(
                form, self._a, self._b, int(self._threads[warp * WARP_SIZE]) % GROUP // WARP_SIZE
            )
            lane = int(self._lanes[warp * WARP_SIZE])
            self._observers.by_agent(
                EngineAccess(agent, lane, "load", self._array, rows, self._block, ROW, self._line)
            )
        threads = self._threads % GROUP
        table = allocation.storage.reshape(allocation.cells, -1)
        for panel in range(form.panels):
            left, right = _operands(form, contents, self._a, self._b, panel)
            count = form.columns // 2
            places = slice(panel * count, (panel + 1) * count)
            total = table[places, self._lanes] if self._adds else np.zeros((count, 1), np.float32)
            for k in range(0, DEPTH, STEP):
                product = np.matmul(left[:, k : k + STEP], right[k : k + STEP])
                total = total + _dealt_out(product)[:, threads]
            table[places, self._lanes] = total
        if allocation.written_in is not None:
            allocation.written_in.reshape(allocation.cells, -1)[: form.sums, self._lanes] = 0


def _start(form: ProductForm) -> Callable[[Machine, ast.Call, list[Any]], None]:
    def run(machine: Machine, node: ast.Call, values: list[Any]) -> None:
        sums, *words = values
        begin(machine, form, sums, words)

    return run


def begin(machine: Machine, form: ProductForm, sums: ArrayView, words: Sequence[Value]) -> None:
    """Let each active warpgroup's product be under way, and the one before be done."""
    by_group: dict[int, tuple[list[int], list[int]]] = {}
    for lane, *given in values_of_lanes(machine, *words):
        by_group.setdefault(_group(machine, lane), ([], given))[0].append(lane)
    for lanes, given in by_group.values():
        if len(lanes) % WARP_SIZE:
            machine.observers.broken_warp("wgmma", machine.active, machine.line)
            continue
        product = _Product(machine, form, sums, np.array(lanes), given)
        task = EngineTask(product.agents[0], lanes[0], product.carry_out)
        flops = 2 * 16 * form.columns * form.panels * DEPTH * len(product.agents)
        machine.observers.flops(machine.line, machine.active, flops, False, True)
        machine.observers.by_tensor_cores(machine.line, flops)
        machine.engine.start_product(lanes, task, product.agents)
        machine.engine.wait_for_products(lanes, 1)


def _group(machine: Machine, lane: int) -> int:
    """A lane's warpgroup: equal for those of one, and of no other."""
    block, thread = divmod(lane, machine.space.block_size)
    return block * machine.space.block_size + thread // GROUP


def _wait(machine: Machine, node: ast.Call, values: list[Any]) -> None:
    groups: dict[int, list[int]] = {}
    for (lane,) in values_of_lanes(machine):
        groups.setdefault(_group(machine, lane), []).append(lane)
    for lanes in groups.values():
        machine.engine.wait_for_products(lanes, 0)


def _sums_typing(*names: str) -> Callable[[Arguments, Keywords], Typed]:
    def typing(arguments: Arguments, keywords: Keywords) -> Typed:
        need_arguments(arguments, keywords, ("an array of sums", *names))
        array = need_array(arguments[0], (4,))
        need(array.dtype == T.FLOAT32, say("adds to float32, not {it}", it=array.dtype))
        return Typed(NOTHING)

    return typing


def _by_index(machine: Machine, node: ast.Call, values: list[Any]) -> None:
    """The form whose tiles are named by indices of an array."""
    sums, shared, *indices = values
    allocation: Allocation = shared.allocation
    words = [
        (index.astype(np.int64) * allocation.dtype.itemsize + base_of(machine.memory, allocation))
        // UNIT
        for index in indices
    ]
    begin(machine, ProductForm(256), sums, [*words, np.int64(1)])


def _word(lower: int) -> Intrinsic:
    def run(machine: Machine, node: ast.Call, values: list[Any]) -> Value:
        address = machine.convert(values[0], T.UINT32)
        return (address >> np.uint32(4)) & np.uint32(ADDRESS) | np.uint32(lower)

    return Intrinsic(giving(T.UINT32, 1), run)


INTRINSICS[f"{HOME}.wgmma_wait"] = Intrinsic(_sums_typing(), _wait)
INTRINSICS[f"{HOME}.wgmma_a"] = _word(LOWER_A)
INTRINSICS[f"{HOME}.wgmma_b"] = _word(LOWER_B)
_WORDS = ("a word for A", "a word for B", "whether to add")
for _columns in range(8, 257, 8):
    for _turned in (False, True):
        for _panels in (1, 2):
            _name = f"{_columns}{'_turned' if _turned else ''}_{_panels}"
            INTRINSICS[f"{HOME}.start_product_{_name}"] = Beside(
                _sums_typing(*_WORDS), _start(ProductForm(_columns, _turned, _panels))
            )
            INTRINSICS[f"{HOME}.wait_for_product_{_name}"] = Intrinsic(_sums_typing(), _wait)
INTRINSICS[f"{HOME}.wgmma_m64n256k64_bf16"] = Beside(
    _sums_typing("a shared array", "an index", "an index"), _by_index
)
