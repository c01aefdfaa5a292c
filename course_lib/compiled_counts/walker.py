"""Walks machine code for many warps at once, the lanes that are furthest behind first.

Lanes that stand at the same instruction carry it out together. Of several places the lowest one
goes on, so that lanes meet again behind a branch; where the code says that they wait for each
other (BSYNC, BAR), they wait.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from course_lib.compiled_counts import crossing, floats, tensor_cores, whole_numbers
from course_lib.compiled_counts.memory import Memories
from course_lib.compiled_counts.operands import (
    WARP,
    Label,
    LaneRegisters,
    NotFollowed,
    Operand,
    Predicate,
    Special,
    operands_of,
)
from course_lib.compiled_counts.tally import Tally
from course_lib.compiled_counts.whole_numbers import Modifiers, Operation
from course_lib.machine_code import Instruction
from course_lib.machine_code.sass import Disassembly

OPERATIONS: dict[str, Operation] = {
    **whole_numbers.OPERATIONS,
    **floats.OPERATIONS,
    **crossing.OPERATIONS,
    **tensor_cores.OPERATIONS,
}
STEP = 1 << 14  # lanes that could be walked in the time that any instruction takes
# What Nsight Compute's counters of float32 and float64 operations count, for each lane.
_FLOPS = {"FADD": 1, "FMUL": 1, "FFMA": 2, "FFMA2": 4, "DADD": 1, "DMUL": 1, "DFMA": 2}


@dataclass(frozen=True)
class Prepared:
    """An instruction, ready to be carried out."""

    instruction: Instruction
    name: str
    how: Modifiers
    guard: Predicate | None
    operands: tuple[Operand, ...]
    flops: int


def prepare(instruction: Instruction) -> Prepared:
    """Read an instruction.

    Raises:
        NotFollowed: for an operand that is not known here.
    """
    name, *modifiers = instruction.opcode.split(".")
    if name not in OPERATIONS and name.startswith("U") and name[1:] in OPERATIONS:
        name = name[1:]
    if name == "F2F" and len(modifiers) >= 2:
        types = [modifier for modifier in modifiers if modifier in ("F64", "F32", "F16")]
        modifiers.append(f"to{types[0][1:]}" if types else "")
    guard = None
    if instruction.guard:
        parsed = operands_of(Instruction(0, "", "", instruction.guard[1:]))[0]
        assert isinstance(parsed, Predicate)
        guard = parsed
    return Prepared(
        instruction,
        name,
        frozenset(modifiers),
        guard,
        operands_of(instruction),
        _FLOPS.get(name, 0),
    )


@dataclass(frozen=True, eq=False)
class Place:
    """Where the lanes stand in the launch, and what special registers hold for each of them.

    Attributes:
        special: by name, such as "SR_TID.X"; uint32, one for each lane.
        block: the number of each lane's block among those that are walked together.
        exists: False for the lanes that a block's last warp lacks.
    """

    special: Mapping[str, np.ndarray]
    block: np.ndarray
    exists: np.ndarray


class CodeWalker:
    """Walks a kernel for some lanes, from its first instruction to the end of the last lane.

    Args:
        code: the kernel.
        lanes: their registers.
        memories: what they load and store.
        tally: the counters.
        steps: how many instructions times lanes may be walked; counted down.
    """

    def __init__(
        self,
        code: Disassembly,
        prepared: Sequence[Prepared | None],
        lanes: LaneRegisters,
        place: Place,
        memories: Memories,
        tally: Tally,
    ) -> None:
        self.code, self.prepared, self.lanes = code, prepared, lanes
        self.place, self.memories, self.tally = place, memories, tally
        self.walked = 0
        self.alive = place.exists.copy()
        self._at = {instruction.address: at for at, instruction in enumerate(code.instructions)}
        self._standing: dict[int, np.ndarray] = {0: self.alive.copy()}
        # Of each barrier register: where its lanes meet, 0 for a lane that takes no part.
        self._meeting: dict[str, np.ndarray] = {}
        self._waiting: dict[str, np.ndarray] = {}  # and which of them have come
        self._at_barrier = np.full(lanes.count, -1, np.int64)
        self._controls: dict[str, Callable[[Prepared, int, np.ndarray], None]] = {
            "BRA": self._branch, "JMP": self._branch, "EXIT": self._exit, "KILL": self._exit,
            "BSSY": self._open, "BSYNC": self._meet, "BREAK": self._leave, "BMOV": self._keep,
            "CALL": self._branch, "RET": self._return, "BAR": self._barrier, "S2R": self._special,
            "S2UR": self._special, "LDC": self._constant, "ULDC": self._constant,
            "LDCU": self._constant,
        }  # fmt: skip

    def run(self, most: int) -> None:
        """Walk to the end.

        Raises:
            NotFollowed: at an instruction that is not known here, at an access outside of the
                launch's memory, or after `most` instructions times lanes.
        """
        while self._standing or self._release():
            at = min(self._standing)
            mask = self._standing.pop(at)
            self._walk(at, mask, most)
        if self.alive.any():
            raise NotFollowed("lanes that wait for each other without end")

    def _walk(self, at: int, mask: np.ndarray, most: int) -> None:
        """Go on with these lanes until another group is further behind."""
        while True:
            if at >= len(self.prepared):
                raise NotFollowed("code behind the kernel's end")
            prepared = self.prepared[at]
            if prepared is None:
                lost = self.code.instructions[at]
                raise NotFollowed(f"{lost}, line {lost.line},")
            self.walked += len(mask) + STEP
            if self.walked > most:
                raise NotFollowed("a launch as long as this one")
            mask = self._step(prepared, at, mask)
            if not mask.any():
                return
            at += 1
            if self._standing and at >= min(self._standing):
                self._stand(at, mask)
                return

    def _stand(self, at: int, mask: np.ndarray) -> None:
        """Let lanes go on from an instruction, with those that stand there already."""
        if mask.any():
            there = self._standing.get(at)
            self._standing[at] = mask if there is None else there | mask

    def _step(self, prepared: Prepared, at: int, mask: np.ndarray) -> np.ndarray:
        """Carry out one instruction; the lanes that go on behind it."""
        lanes, line = self.lanes, prepared.instruction.line
        acting = mask
        if prepared.guard is not None:
            lanes.active = mask
            acting = mask & lanes.predicate(prepared.guard)
        lanes.active = acting
        self.tally.instruction(line, mask, acting, prepared.flops)
        control = self._controls.get(prepared.name)
        try:
            if control is not None:
                self._left = mask
                control(prepared, at, acting)
                return self._left
            if prepared.guard is not None and not acting.any():
                return mask
            does = self.memories.does.get(prepared.name)
            if does is not None:
                does(lanes, prepared.name, prepared.how, prepared.operands, line)
            else:
                OPERATIONS[prepared.name](lanes, prepared.how, prepared.operands)
        except NotFollowed as reason:
            raise NotFollowed(f"{reason}, at {prepared.instruction}, line {line},") from None
        return mask

    # -- branches -----------------------------------------------------------------------------

    def _goal(self, prepared: Prepared) -> int:
        label = next((operand for operand in prepared.operands if isinstance(operand, Label)), None)
        if label is None or label.name not in self.code.labels:
            raise NotFollowed("a jump to where nobody can say")
        return self.code.labels[label.name]

    def _branch(self, prepared: Prepared, at: int, acting: np.ndarray) -> None:
        taken = acting
        if "DIV" in prepared.how:
            return  # taken where lanes of a warp are elsewhere; the way on does the same
        for operand in prepared.operands:
            if isinstance(operand, Predicate):
                taken = taken & self.lanes.predicate(operand)
        if taken.any():
            self._stand(self._goal(prepared), taken)
            self._left = self._left & ~taken

    def _return(self, prepared: Prepared, at: int, acting: np.ndarray) -> None:
        register = prepared.operands[0]
        targets = np.broadcast_to(self.lanes.integer(register), (self.lanes.count,))
        for target in np.unique(targets[acting]):
            if int(target) not in self._at:
                raise NotFollowed("a return to where nobody can say")
            self._stand(self._at[int(target)], acting & (targets == target))
        self._left = self._left & ~acting

    def _exit(self, prepared: Prepared, at: int, acting: np.ndarray) -> None:
        for operand in prepared.operands:
            if isinstance(operand, Predicate):
                acting = acting & self.lanes.predicate(operand)
        self.alive &= ~acting
        self._left = self._left & ~acting

    # -- meeting again ------------------------------------------------------------------------

    def _open(self, prepared: Prepared, at: int, acting: np.ndarray) -> None:
        """BSSY: these lanes will meet at a label."""
        name = _name(prepared.operands[0])
        meeting = self._meeting.setdefault(name, np.full(self.lanes.count, 0, np.int64))
        meeting[acting] = self._goal(prepared)

    def _meet(self, prepared: Prepared, at: int, acting: np.ndarray) -> None:
        """BSYNC: wait for the others of the warp."""
        name = _name(prepared.operands[0])
        waiting = self._waiting.setdefault(name, np.zeros(self.lanes.count, bool))
        waiting |= acting
        self._left = self._left & ~acting
        self._let_go(name)

    def _let_go(self, name: str) -> bool:
        """Let the lanes go on that wait at a barrier register, where all of a warp have come."""
        waiting, meeting = self._waiting[name], self._meeting[name]
        freed = np.zeros_like(waiting)
        for goal in np.unique(meeting[waiting]):
            member = (meeting == goal) & self.alive
            absent = (member & ~waiting).reshape(-1, WARP).any(axis=1)
            free = waiting & member & ~np.repeat(absent, WARP)
            if free.any():
                self._stand(int(goal), free)
                freed |= free
        meeting[freed] = 0
        waiting &= ~freed
        return bool(freed.any())

    def _leave(self, prepared: Prepared, at: int, acting: np.ndarray) -> None:
        """BREAK: these lanes will not come to the meeting."""
        name = next(_name(operand) for operand in prepared.operands if isinstance(operand, Special))
        for operand in prepared.operands:
            if isinstance(operand, Predicate):
                acting = acting & self.lanes.predicate(operand)
        if name in self._meeting:
            self._meeting[name][acting] = 0

    def _keep(self, prepared: Prepared, at: int, acting: np.ndarray) -> None:
        """BMOV: put a barrier register away, or take it back."""
        to, source = prepared.operands[:2]
        if isinstance(to, Special):
            meeting = self._meeting.setdefault(to.name, np.zeros(self.lanes.count, np.int64))
            value = np.broadcast_to(self.lanes.integer(source), meeting.shape)
            meeting[acting] = value[acting]
        elif isinstance(source, Special):
            meeting = self._meeting.setdefault(source.name, np.zeros(self.lanes.count, np.int64))
            self.lanes.put(to, meeting.astype(np.uint32))
            if "CLEAR" in prepared.how:
                meeting[acting] = 0

    # -- the block's barrier ------------------------------------------------------------------

    def _barrier(self, prepared: Prepared, at: int, acting: np.ndarray) -> None:
        """BAR.SYNC: wait for all of the block that have not ended."""
        if "SYNC" not in prepared.how or len(prepared.operands) > 1:
            raise NotFollowed("a barrier of another kind than syncthreads")
        self._at_barrier[acting] = at + 1
        self._left = self._left & ~acting

    def _pass_barrier(self) -> bool:
        waiting = self._at_barrier >= 0
        absent = np.zeros(int(self.place.block.max()) + 1, bool)
        absent[self.place.block[self.alive & ~waiting]] = True
        free = waiting & self.alive & ~absent[self.place.block]
        for goal in np.unique(self._at_barrier[free]):
            self._stand(int(goal), free & (self._at_barrier == goal))
        self._at_barrier[free] = -1
        return bool(free.any())

    def _release(self) -> bool:
        """Nobody can move: let those go on for whom nobody is missing any more."""
        freed = [self._let_go(name) for name in self._waiting]
        return any(freed) or self._pass_barrier()

    # -- registers that hold where a lane is --------------------------------------------------

    def _special(self, prepared: Prepared, at: int, acting: np.ndarray) -> None:
        to, source = prepared.operands[:2]
        name = _name(source)
        if name not in self.place.special:
            raise NotFollowed(f"reading {name}")
        self.lanes.put(to, self.place.special[name])

    def _constant(self, prepared: Prepared, at: int, acting: np.ndarray) -> None:
        """LDC, ULDC: parameters and other constants, by words or by bytes at an index."""
        to, source = prepared.operands[:2]
        lanes, how = self.lanes, prepared.how
        if isinstance(source, Label | Special | Predicate):
            raise NotFollowed("a constant without an address")
        index = getattr(source, "index", None)
        width = next((size for name, size in _WIDTHS if name in how), 4)
        if index is None and width >= 4:
            for above in range(width // 4):
                lanes.put(to, lanes.word(source, above), above)
            return
        content, places = lanes.indexed_constant(source)  # type: ignore[arg-type]
        places = np.broadcast_to(places, (lanes.count,))
        if ((places < 0) | (places > len(content) - width))[acting].any():
            raise NotFollowed("a constant outside of its bank")
        places = np.where(acting, places, 0)
        kind = np.dtype(f"{'i' if how & {'S8', 'S16'} else 'u'}{min(width, 4)}")
        for above in range(max(width // 4, 1)):
            raw = np.stack([content[places + 4 * above + byte] for byte in range(kind.itemsize)], 1)
            value = np.ascontiguousarray(raw).view(kind).reshape(-1)
            lanes.put(to, value.astype(np.int64), above)


_WIDTHS = (("64", 8), ("128", 16), ("U8", 1), ("S8", 1), ("U16", 2), ("S16", 2))


def _name(operand: Operand) -> str:
    if isinstance(operand, Special):
        return operand.name
    raise NotFollowed(f"{operand} as a special register")


def prepare_all(code: Disassembly) -> list[Prepared | None]:
    """Every instruction read once; None for one that cannot be, which matters if it is reached."""
    known = set(OPERATIONS) | _HANDLED
    found: list[Prepared | None] = []
    for instruction in code.instructions:
        try:
            prepared = prepare(instruction)
        except NotFollowed:
            prepared = None
        found.append(prepared if prepared and prepared.name in known else None)
    return found


_HANDLED = {
    "BRA", "JMP", "EXIT", "KILL", "BSSY", "BSYNC", "BREAK", "BMOV", "CALL", "RET", "BAR", "S2R",
    "S2UR", "LDC", "ULDC", "LDCU", "LDG", "LDS", "LDL", "STG", "STS", "STL", "ATOMS", "ATOMG",
    "RED", "REDG", "REDS", "LDSM", "LDGSTS", "LD", "ST", "ATOM",
}  # fmt: skip
