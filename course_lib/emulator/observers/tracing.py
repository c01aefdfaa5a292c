"""Records of a launch: every access in order, printed lines, and reads of cells nobody wrote.

What a line does to a cell that it reads and writes back comes first: by it a race says what is
lost, and which atomic operation would lose nothing.
"""

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from course_lib.emulator.language.kernel import holds
from course_lib.emulator.machine.events import Observer
from course_lib.emulator.observers.findings import FaultObserver
from course_lib.emulator.profile.profile import TracedAccess
from course_lib.emulator.state.lanes import LaneSpace, Mask, Value, spread
from course_lib.emulator.state.memory import Access, Allocation, Memory

# What stands for an operator among the functions of `cuda.atomic`.
ATOMIC_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.BitAnd: "and_",
    ast.BitOr: "or_",
    ast.BitXor: "xor",
}
SWAP = "swap"
DRAW = "draw"  # a random number, by which a generator's state goes on


@lru_cache(maxsize=64)  # a kernel is launched again and again, and its text stays
def change_in(line: int, trees: tuple[ast.AST, ...]) -> str:
    """What an assignment on a line does to a cell that it also reads.

    That is the name of an atomic operation, SWAP, or "" where there is no name for it.
    """
    changes = {_change(assignment) for tree in trees for assignment in assignments_at(tree, line)}
    return changes.pop() if len(changes) == 1 else ""


@lru_cache(maxsize=64)
def is_swap(lines: tuple[int, int], trees: tuple[ast.AST, ...]) -> bool:
    """Whether two lines belong to one exchange of two elements: `t = a; a = b; b = t`."""
    return any(set(lines) <= swap for tree in trees for swap in _swaps(tree))


def _swaps(tree: ast.AST) -> Iterator[set[int]]:
    """The lines of each exchange by way of a third variable."""
    bodies = [getattr(node, of, None) for node in ast.walk(tree) for of in ("body", "orelse")]
    for body in bodies:
        if not isinstance(body, list):  # a lambda and a conditional expression have one value there
            continue
        for three in zip(body, body[1:], body[2:], strict=False):
            match three:
                case (
                    ast.Assign(targets=[kept], value=first),
                    ast.Assign(targets=[to], value=second),
                    ast.Assign(targets=[at], value=back),
                ):
                    texts = _texts([kept, to, at]), _texts([back, first, second])
                    if texts[0] == texts[1]:
                        yield {statement.lineno for statement in three}


def assignments_at(tree: ast.AST, line: int) -> Iterator[ast.Assign | ast.AugAssign]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AugAssign) and holds(node, line):
            yield node


def _change(statement: ast.Assign | ast.AugAssign) -> str:
    if isinstance(statement, ast.AugAssign):
        return ATOMIC_OPERATORS.get(type(statement.op), "")
    match statement:
        case ast.Assign(targets=[ast.Tuple() as to], value=ast.Tuple() as taken):
            crossed = zip(_texts(to.elts), _texts(taken.elts), strict=False)
            moved = [target for target, value in crossed if target != value]
            return SWAP if moved and set(moved) <= set(_texts(taken.elts)) else ""
        case ast.Assign(targets=[target], value=ast.BinOp(left=left, op=operator, right=right)):
            turned = [right] if isinstance(operator, ast.Add) else []
            same = _is_among(target, [left, *turned])
            return ATOMIC_OPERATORS.get(type(operator), "") if same else ""
        case ast.Assign(targets=[target], value=ast.Call(func=function, args=arguments)):
            name = ast.unparse(function)
            return name if name in ("min", "max") and _is_among(target, arguments) else ""
    return ""


def _is_among(target: ast.expr, given: Iterable[ast.expr]) -> bool:
    return ast.unparse(target) in _texts(given)


def _texts(nodes: Iterable[ast.expr]) -> list[str]:
    return [ast.unparse(node) for node in nodes]


# --- The trace of a launch, and what it prints ----------------------------------------------------


class Tracer(Observer):
    """Keeps accesses in their order; with `space` "global", those to global memory only."""

    def __init__(self, space: str | None = None) -> None:
        self.space = space
        self.accesses: list[TracedAccess] = []

    def access(self, access: Access) -> None:
        if self.space in (None, access.allocation.space):
            self.accesses.append(_traced(access, len(self.accesses)))


class Output(Observer):
    """Keeps what the kernel prints, up to a number of lines; `unkept` counts those beyond."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.lines: list[str] = []
        self.unkept = 0

    def printed(self, texts: Sequence[str], more: int) -> None:
        room = self.most - len(self.lines)
        self.lines += texts[:room]
        self.unkept += max(len(texts) - room, 0) + more


def _traced(access: Access, step: int) -> TracedAccess:
    """An access with every active lane written out."""
    space, allocation = access.mask.space, access.allocation
    cells, lanes = access.first_cells
    shape = allocation.shape or (1,)
    indices = np.stack(np.unravel_index(cells, shape), axis=1)
    threads = np.stack(np.unravel_index(lanes, space.shape), axis=1)
    threads[:, :3] += np.array(space.first_block)
    addresses = allocation.address + cells * allocation.spacing
    return TracedAccess(
        access.kind,
        allocation.space,
        access.array,
        access.line,
        step,
        access.interval,
        indices,
        threads,
        addresses,
        access.elements,
    )


# --- Reads of cells that nobody wrote, and those of them that spoil a result ----------------------


@dataclass(eq=False)
class _Reads:
    """The lanes that read, on one line, cells of an array that nobody had written.

    Both are flat: `lanes` says which, `cells` of each of them the first such cell. `all` says of
    each cell of the array whether it is one of them.
    """

    allocation: Allocation
    lanes: np.ndarray
    cells: np.ndarray
    all: np.ndarray


class Unwritten(FaultObserver):
    """Reports each line that reads unwritten cells, by a lane that they spoil."""

    spaces = ("global",)

    def begin(self, space: LaneSpace, memory: Memory) -> None:
        super().begin(space, memory)
        self._reads: dict[tuple[int, str], _Reads] = {}
        self._spoiled = np.zeros(0, bool)

    def uninitialised(self, allocation: Allocation, cell: Value, bad: Mask, line: int) -> None:
        key = (line, allocation.name)
        cells = spread(cell, self.space.shape).reshape(-1)
        lanes = bad.full_array.reshape(-1)
        known = self._reads.get(key)
        if known is None:
            cells_of_array = np.zeros(allocation.cells, bool)
            known = _Reads(allocation, lanes.copy(), cells.copy(), cells_of_array)
            self._reads[key] = known
        else:
            new = lanes & ~known.lanes
            known.cells[new] = cells[new]
            known.lanes |= new
        known.all[cells[lanes]] = True

    def access(self, access: Access) -> None:
        """Remember which lanes store not-a-number to global memory."""
        allocation = access.allocation
        if not self._reads or access.kind != "store":
            return
        if allocation.space != "global" or allocation.dtype.kind != "f":
            return
        cells, lanes = access.touched
        if not self._spoiled.size:
            self._spoiled = np.zeros(self.space.size, bool)
        self._spoiled[lanes[np.isnan(allocation.storage[cells])]] = True

    def end(self) -> None:
        for (line, _), read in self._reads.items():
            telling = read.lanes & self._spoiled if self._spoiled.size else read.lanes
            lane = int(np.argmax(telling if telling.any() else read.lanes))
            cell = int(read.cells[lane])
            self._note_read(read.allocation.element_name(cell), read.allocation.space, lane, line)

    def has_read(self, line: int | None, cell: str) -> bool:
        """Did a line read this cell, "tile[1, 0]", before anything was written there?"""
        array = cell.split("[")[0]
        read = self._reads.get((line or 0, array))
        if read is None:
            return False
        return any(read.allocation.element_name(int(n)) == cell for n in np.flatnonzero(read.all))

    def _note_read(self, name: str, space: str, lane: int, line: int) -> None:
        where = {
            "shared": "Shared memory starts with undefined contents.",
            "local": "A local array starts with undefined contents.",
            "global": "Its contents before the launch are undefined.",
        }[space]
        said = "{who} reads {name}, which no thread has written. {where}"
        hint = "Which thread should have written this cell? Does it always do so?"
        self.tell(lane, "uninitialised-read", said, line, hint, name=name, where=where, at=name)
