"""On random access patterns a race is found exactly when a pairwise search finds one."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pytest
from emulator_helpers import codes, run
from how_many import some_or_many
from hypothesis import given, settings
from hypothesis import strategies as st

THREADS = 48  # a warp and a half
LOAD, STORE, ATOMIC = 0, 1, 2
NOTHING, SYNCWARP, SYNCTHREADS = 0, 1, 2

BODY = """
    s = cuda.shared.array(48, int64)
    i = cuda.threadIdx.x
    s[i] = 0
    cuda.syncthreads()
    x = 0
    for step in range(kinds.size):
        where = index[step, i]
        if active[step, i]:
            if kinds[step] == 0:
                x += s[where]
            elif kinds[step] == 1:
                s[where] = i
            else:
                cuda.atomic.add(s, where, 1)
        if after[step] == 1:
            cuda.syncwarp()
        elif after[step] == 2:
            cuda.syncthreads()
    out[cuda.grid(1)] = x
"""


@dataclass(frozen=True)
class Pattern:
    """For every step: what all threads do, what follows it, where each goes, who takes part."""

    kinds: np.ndarray
    after: np.ndarray
    index: np.ndarray
    active: np.ndarray


@st.composite
def patterns(draw) -> Pattern:
    steps = draw(st.integers(1, 5))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    # Mostly every thread keeps to its own cell, so that both outcomes are frequent.
    index = np.tile(np.arange(THREADS), (steps, 1))
    for step in range(steps):
        match draw(st.sampled_from(["own", "shift", "one off", "permuted in warp", "random"])):
            case "shift":
                index[step] = np.roll(index[step], draw(st.integers(1, 40)))
            case "one off":
                index[step, random.integers(THREADS)] = random.integers(THREADS)
            case "permuted in warp":
                index[step, :32] = random.permutation(32)
                index[step, 32:] = 32 + random.permutation(16)
            case "random":
                index[step] = random.integers(0, THREADS, THREADS)
    kinds = np.array([draw(st.sampled_from([LOAD, LOAD, STORE, STORE, ATOMIC])) for _ in index])
    after = np.array([draw(st.sampled_from([NOTHING, SYNCWARP, SYNCTHREADS])) for _ in index])
    share = draw(st.sampled_from([0.05, 0.5, 1.0]))
    return Pattern(kinds, after, index, random.random(index.shape) < share)


def races_by_search(pattern: Pattern) -> set[str]:
    """The codes of all races, found by comparing every two accesses."""
    found = set()
    accesses = [
        (step, thread)
        for step in range(len(pattern.kinds))
        for thread in range(THREADS)
        if pattern.active[step, thread]
    ]
    for (one, thread), (two, other) in combinations(accesses, 2):
        kinds = pattern.kinds[one], pattern.kinds[two]
        if thread == other or pattern.index[one, thread] != pattern.index[two, other]:
            continue
        if kinds in ((LOAD, LOAD), (ATOMIC, ATOMIC)):
            continue
        between = pattern.after[one:two]
        same_warp = thread // 32 == other // 32
        if SYNCTHREADS in between or (same_warp and SYNCWARP in between):
            continue
        if kinds[0] == LOAD:
            found.add("race-write-after-read")
        else:
            found.add(f"race-{'read' if kinds[1] == LOAD else 'write'}-after-write")
    return found


def check(pattern: Pattern, schedule: str) -> None:
    out = np.zeros(2 * THREADS, np.int64)
    arguments = (pattern.kinds, pattern.after, pattern.index, pattern.active, out)
    profile = run(
        BODY, 2, THREADS, *arguments,
        parameters="kinds, after, index, active, out", schedule=schedule,
    )  # fmt: skip
    expected = races_by_search(pattern)
    found = set(codes(profile))
    assert bool(found) == bool(expected), (found, expected, pattern)
    assert found <= expected, (found, expected, pattern)


@given(patterns())
def test_random_pattern(pattern: Pattern) -> None:
    check(pattern, "lockstep")


@pytest.mark.parametrize("count", some_or_many(100, 1000))
def test_many_random_patterns(count: int) -> None:
    @settings(max_examples=count)
    @given(patterns(), st.sampled_from(["lockstep", "warps", "shuffled"]))
    def each(pattern: Pattern, schedule: str) -> None:
        check(pattern, schedule)

    each()
