"""What one request costs: sectors of global memory, wavefronts and conflicts of shared memory.

Pure functions from addresses to Nsight Compute's counts. Global memory moves in sectors of 32
bytes; a request (one warp's memory instruction) costs the number of different sectors that its
active lanes touch. Shared memory has 32 banks, each 4 bytes wide; a pass (wavefront) delivers one
word from every bank, so a request costs as many passes as the largest number of different words
asked of one bank. Accesses of 8 or 16 bytes a lane are served in 2 or 4 phases, by half or quarter
of a warp, or in half as many where lanes share. (FACTS §3; CUDA Programming Guide, "Compute
Capabilities"; Nsight Compute Profiling Guide, "Quantities".)
"""

from dataclasses import dataclass

import numpy as np

SECTOR_BYTES = 32
BANKS = 32
BANK_BYTES = 4


@dataclass(frozen=True)
class GlobalCost:
    """Counts of one access to global memory, summed over its warps.

    `least` are the sectors that would hold the bytes of all lanes, side by side.
    """

    requests: int
    sectors: int
    least: int = 0


@dataclass(frozen=True)
class SharedCost:
    """Counts of one access to shared memory, summed over its warps.

    `bank_conflicts` are the wavefronts beyond those that the width of the access needs.
    """

    requests: int
    wavefronts: int
    bank_conflicts: int


def distinct_per_row(numbers: np.ndarray, active: np.ndarray) -> np.ndarray:
    """How many different numbers (≥ 0) stand at the active places of each row."""
    ordered = np.sort(np.where(active, numbers, -1), axis=1)
    fresh = np.empty(ordered.shape, bool)
    fresh[:, 0] = True
    np.not_equal(ordered[:, 1:], ordered[:, :-1], out=fresh[:, 1:])
    result: np.ndarray = np.count_nonzero(fresh & (ordered >= 0), axis=1)
    return result


def global_cost(addresses: np.ndarray, active: np.ndarray, width: int) -> GlobalCost:
    """The cost of one access to global memory; arguments as for `global_counts`."""
    return GlobalCost(*global_counts(addresses, active, width).sum(axis=0).tolist())


def global_counts(addresses: np.ndarray, active: np.ndarray, width: int) -> np.ndarray:
    """Of each warp, the fields of `GlobalCost`, for so many bytes (1, 2, 4, 8 or 16) per lane.

    `addresses` are bytes, shape (warps, 32); so is `active`, which says what lanes take part.
    """
    sectors = sectors_per_row(addresses, active, width)
    least = -(-(np.count_nonzero(active, axis=1) * width) // SECTOR_BYTES)
    return np.stack([active.any(axis=1), sectors, least], axis=1)


def sectors_per_row(addresses: np.ndarray, active: np.ndarray, width: int) -> np.ndarray:
    """How many sectors each warp touches; arguments as for `global_counts`."""
    first = addresses // SECTOR_BYTES
    last = (addresses + (width - 1)) // SECTOR_BYTES
    if np.array_equal(first, last):
        return distinct_per_row(first, active)
    both = np.concatenate([first, last], axis=1)
    return distinct_per_row(both, np.concatenate([active, active], axis=1))


def wavefronts_per_row(words: np.ndarray, active: np.ndarray) -> np.ndarray:
    """For each row, the largest number of different words asked of one bank."""
    rows = len(words)
    ordered = np.sort(np.where(active, words, -1), axis=1)
    fresh = ordered >= 0
    fresh[:, 1:] &= ordered[:, 1:] != ordered[:, :-1]
    bank_of_row = np.arange(rows)[:, None] * BANKS + ordered % BANKS
    asked = np.bincount(bank_of_row[fresh], minlength=rows * BANKS)
    result: np.ndarray = asked.reshape(rows, BANKS).max(axis=1, initial=0)
    return result


def shared_cost(addresses: np.ndarray, active: np.ndarray, width: int) -> SharedCost:
    """The cost of one access to shared memory; arguments as for `global_counts`."""
    return SharedCost(*shared_counts(addresses, active, width).sum(axis=0).tolist())


def shared_counts(addresses: np.ndarray, active: np.ndarray, width: int) -> np.ndarray:
    """Of each warp, the fields of `SharedCost`; arguments as for `global_counts`."""
    wavefronts, needed = passes_per_row(addresses, active, width)
    return np.stack([active.any(axis=1), wavefronts, wavefronts - needed], axis=1)


def passes_per_row(
    addresses: np.ndarray, active: np.ndarray, width: int
) -> tuple[np.ndarray, np.ndarray]:
    """Each warp's wavefronts, and those that it needs at least; arguments as for `global_counts`.

    Lanes of 8 or 16 bytes are served in 2 or 4 phases, or in half as many where lanes share
    addresses in pairs (see `paired`).
    """
    phases = max(1, width // BANK_BYTES)
    if phases == 1:
        return _served(addresses, active, 1, 1)
    alike = paired(addresses, active)
    wavefronts, needed = np.zeros((2, len(addresses)), np.int64)
    for rows, split in ((alike, phases // 2), (~alike, phases)):
        wavefronts[rows], needed[rows] = _served(addresses[rows], active[rows], split, phases)
    return wavefronts, needed


def _served(
    addresses: np.ndarray, active: np.ndarray, phases: int, words: int
) -> tuple[np.ndarray, np.ndarray]:
    """Wavefronts of each warp, served in so many phases, and those that it needs at least."""
    lanes_of_phase = addresses.shape[1] // phases
    first = (addresses // BANK_BYTES).reshape(-1, lanes_of_phase)
    taking_part = active.reshape(-1, lanes_of_phase)
    asked = (first[:, :, None] + np.arange(words)).reshape(len(first), lanes_of_phase * words)
    by_word = np.repeat(taking_part, words, axis=1)
    wavefronts = wavefronts_per_row(asked, by_word).reshape(-1, phases).sum(axis=1)
    return wavefronts, taking_part.any(axis=1).reshape(-1, phases).sum(axis=1)


def paired(addresses: np.ndarray, active: np.ndarray) -> np.ndarray:
    """The warps in which every lane reads the address of its neighbour, or of the lane but one.

    Measured on an H200: such warps are served in half the phases. With inactive lanes it was not
    measured; they are taken not to matter.
    """
    lanes = np.arange(addresses.shape[1])
    found = np.zeros(len(addresses), bool)
    for distance in (1, 2):
        partner = lanes ^ distance
        same = addresses == addresses[:, partner]
        found |= (same | ~active | ~active[:, partner]).all(axis=1)
    return found
