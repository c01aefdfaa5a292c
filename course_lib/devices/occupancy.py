"""Work out how many blocks of a launch one SM can hold at a time, and what sets the limit.

An SM takes a block whole or not at all, and keeps it until its last thread is done. So four
budgets are divided by what one block needs, each division rounding down, and the smallest answer
counts. Units of allocation make a block's needs larger than they look: a warp gets registers in
steps of 256, and a block gets shared memory in steps of 128 or 256 bytes, with a reserve of the
driver's on top of its own.

The register file is four files, one per sub-partition of the SM. A warp's registers all lie in
one of them, so a warp that no longer fits into any of the four waits, though the sum of what is
left over would be enough.

The result is the *theoretical* occupancy, for the largest shared memory that the SM can be set
to. A small grid, an uneven tail or a smaller carve-out of the driver's leave fewer warps than it
says.

`shared_bytes` is everything that a block declares, static and dynamic together. More than 48 KiB
is only to be had as dynamic shared memory, with an opt-in attribute; here the opt-in is assumed,
and only the opt-in maximum is a reason to refuse a launch.

Sources: CUDA Programming Guide, "Technical Specifications per Compute Capability"; the rules of
allocation from cuda_occupancy.h of CUDA 12.9. One thing is stricter here: that header lets 256
registers per thread pass, where no thread can name more than 255.
"""

from __future__ import annotations

from dataclasses import dataclass

from course_lib.wording.words import counted, joined


@dataclass(frozen=True)
class SmLimits:
    """What one SM has, and what one block and one thread of it may ask for."""

    name: str
    warps_per_sm: int
    blocks_per_sm: int
    shared_per_sm_bytes: int
    shared_per_block_bytes: int  # with the opt-in; 48 KiB without
    shared_reserved_bytes: int  # taken by the driver from every resident block
    shared_unit_bytes: int  # a block's shared memory is rounded up to this
    registers_per_sm: int = 65_536
    register_unit: int = 256  # a warp's registers are rounded up to this
    partitions: int = 4  # each with its own part of the registers
    warp_size: int = 32
    threads_per_block: int = 1024
    registers_per_thread: int = 255

    @property
    def threads_per_sm(self) -> int:
        return self.warps_per_sm * self.warp_size


@dataclass(frozen=True)
class Occupancy:
    """The four limits of a launch, the numbers on the way to them, and what follows.

    A limit is a number of blocks; 0 says that not even one block can have what it needs.
    """

    sm: SmLimits
    threads: int
    registers: int
    shared_bytes: int
    # on the way
    warps_per_block: int
    registers_per_warp: int  # rounded up
    warps_per_partition: int  # as far as registers reach
    shared_per_block: int  # with the reserve, rounded up
    # blocks that each budget has room for
    warp_limit: int
    register_limit: int
    shared_limit: int
    block_limit: int

    @property
    def limits(self) -> dict[str, int]:
        return {
            "warps": self.warp_limit,
            "registers": self.register_limit,
            "shared memory": self.shared_limit,
            "blocks": self.block_limit,
        }

    @property
    def blocks(self) -> int:
        """Blocks that one SM holds at a time."""
        return min(self.limits.values())

    @property
    def limiters(self) -> tuple[str, ...]:
        """The limits that bind: several where they agree."""
        return tuple(name for name, limit in self.limits.items() if limit == self.blocks)

    @property
    def launches(self) -> bool:
        return self.blocks > 0

    @property
    def why_not(self) -> str:
        """The first reason for which the launch fails, as a sentence; empty where it does not."""
        sm = self.sm
        if self.threads > sm.threads_per_block:
            return f"A block has at most {sm.threads_per_block} threads, not {self.threads}."
        if self.registers > sm.registers_per_thread:
            most = sm.registers_per_thread
            return f"A thread has at most {most} registers, not {self.registers}."
        if self.shared_bytes > sm.shared_per_block_bytes:
            return (
                f"A block on {sm.name} can have {sm.shared_per_block_bytes} bytes of shared "
                f"memory, not {self.shared_bytes}."
            )
        if self.register_limit == 0:
            warps = _round_up(self.warps_per_block, sm.partitions)
            counted = f" (counted as {warps})" if warps != self.warps_per_block else ""
            return (
                f"A block of {self.warps_per_block} warps{counted} with {self.registers_per_warp} "
                f"registers each needs {warps * self.registers_per_warp} registers, and the SM "
                f"has {sm.registers_per_sm}."
            )
        return ""

    @property
    def warps(self) -> int:
        """Warps that one SM holds at a time."""
        return self.blocks * self.warps_per_block

    @property
    def max_warps(self) -> int:
        return self.sm.warps_per_sm

    @property
    def share(self) -> float:
        """Occupancy: resident warps over the most that the SM could hold."""
        return self.warps / self.max_warps

    @property
    def registers_used(self) -> int:
        """Registers of the SM that resident blocks hold, rounding included."""
        return self.warps * self.registers_per_warp

    @property
    def arithmetic(self) -> dict[str, str]:
        """Each limit as a line of arithmetic that can be followed with a pencil."""
        return {
            "warps": self._warps_in_words(),
            "registers": self._registers_in_words(),
            "shared memory": self._shared_in_words(),
            "blocks": f"{self.sm.name} holds at most {counted(self.block_limit, 'block')} per SM",
        }

    def _warps_in_words(self) -> str:
        size, most = self.sm.warp_size, self.max_warps
        need = f"⌈{self.threads} / {size}⌉ = {counted(self.warps_per_block, 'warp')} per block"
        if self.warp_limit == 0:
            return f"{need}; a block has at most {self.sm.threads_per_block} threads"
        return f"{need}; ⌊{most} / {self.warps_per_block}⌋ = {counted(self.warp_limit, 'block')}"

    def _registers_in_words(self) -> str:
        sm, rounded, per_partition = self.sm, self.registers_per_warp, self.warps_per_partition
        exact = self.registers * sm.warp_size
        up = f" → {rounded}" if rounded != exact else ""
        need = f"{self.registers} × {sm.warp_size} = {exact}{up} registers per warp"
        if self.register_limit == 0:
            return f"{need}; no block can have them"
        return (
            f"{need}; ⌊{sm.registers_per_sm // sm.partitions} / {rounded}⌋ = {per_partition} warps "
            f"per sub-partition, {sm.partitions} × {per_partition} = "
            f"{sm.partitions * per_partition} per SM; ⌊{sm.partitions * per_partition} / "
            f"{self.warps_per_block}⌋ = {counted(self.register_limit, 'block')}"
        )

    def _shared_in_words(self) -> str:
        sm, rounded = self.sm, self.shared_per_block
        exact = self.shared_bytes + sm.shared_reserved_bytes
        up = f" → {rounded}" if rounded != exact else ""
        need = (
            f"{self.shared_bytes} + {sm.shared_reserved_bytes} reserved = {exact}{up} B per block"
        )
        if self.shared_limit == 0:
            return f"{need}; a block has at most {sm.shared_per_block_bytes} B of its own"
        if not rounded:
            return f"{need}; no limit from shared memory"
        fit = counted(self.shared_limit, "block")
        return f"{need}; ⌊{sm.shared_per_sm_bytes} / {rounded}⌋ = {fit}"

    def __str__(self) -> str:
        if not self.launches:
            return f"{self.sm.name}: the launch fails. {self.why_not}"
        return (
            f"{self.sm.name}: {counted(self.blocks, 'block')} per SM, {self.warps} of "
            f"{self.max_warps} warps, {self.share:.1%}; limited by {joined(self.limiters)}"
        )


def resident_blocks(sm: SmLimits, threads: int, registers: int, shared_bytes: int) -> Occupancy:
    """How many blocks of this launch one SM holds.

    Args:
        sm: what the SM has.
        threads: per block.
        registers: per thread, as the compiler reports them.
        shared_bytes: per block, static and dynamic together.

    Raises:
        ValueError: for numbers that no launch can have.
    """
    _refuse_nonsense(threads, registers, shared_bytes)
    warps = _divide_up(threads, sm.warp_size)
    registers_per_warp = _round_up(registers * sm.warp_size, sm.register_unit)
    per_partition = sm.registers_per_sm // sm.partitions // registers_per_warp
    shared = _round_up(shared_bytes + sm.shared_reserved_bytes, sm.shared_unit_bytes)
    return Occupancy(
        sm, threads, registers, shared_bytes,
        warps_per_block=warps,
        registers_per_warp=registers_per_warp,
        warps_per_partition=per_partition,
        shared_per_block=shared,
        warp_limit=0 if threads > sm.threads_per_block else sm.warps_per_sm // warps,
        register_limit=_register_limit(sm, warps, registers, registers_per_warp),
        shared_limit=_shared_limit(sm, shared_bytes, shared),
        block_limit=sm.blocks_per_sm,
    )  # fmt: skip


def _register_limit(sm: SmLimits, warps: int, registers: int, registers_per_warp: int) -> int:
    # Before a launch the GPU asks for a block that fills all sub-partitions evenly.
    asked_for = registers_per_warp * _round_up(warps, sm.partitions)
    if registers > sm.registers_per_thread or asked_for > sm.registers_per_sm:
        return 0
    per_partition = sm.registers_per_sm // sm.partitions // registers_per_warp
    return sm.partitions * per_partition // warps


def _shared_limit(sm: SmLimits, shared_bytes: int, rounded: int) -> int:
    if shared_bytes > sm.shared_per_block_bytes:
        return 0
    # A block that uses none where none is reserved is counted as if it took the smallest amount:
    # far above the cap on blocks, so it never binds.
    return sm.shared_per_sm_bytes // (rounded or sm.shared_unit_bytes)


def _refuse_nonsense(threads: int, registers: int, shared_bytes: int) -> None:
    least = {
        "threads per block": (threads, 1),
        "registers per thread": (registers, 1),
        "shared bytes per block": (shared_bytes, 0),
    }
    for what, (number, lowest) in least.items():
        if not isinstance(number, int) or isinstance(number, bool):
            raise ValueError(f"{what[:1].upper()}{what[1:]} are a whole number, not {number!r}.")
        if number < lowest:
            raise ValueError(f"{what[:1].upper()}{what[1:]} are {lowest} or more, not {number}.")


def _divide_up(number: int, by: int) -> int:
    return -(-number // by)


def _round_up(number: int, unit: int) -> int:
    return _divide_up(number, unit) * unit
