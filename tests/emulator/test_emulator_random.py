"""Random kernels are right, clean, and race exactly as references say; barriers in expressions."""

import threading
from collections import defaultdict
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pytest
from emulator_helpers import as_program, codes, run, run_clean, some_or_many
from hypothesis import given, settings
from hypothesis import strategies as st
from random_blocks import BLOCKS, THREADS, BlockKernel, block_kernels, expected, inputs, outputs
from random_kernels import CHANGING, RandomKernel, random_kernels
from simulator_programs import WAITING, cases

from course_lib.emulator import emulate, load_program

LANES = 70  # two blocks and a bit, of 33 threads each: no multiple of a warp


def check(kernel: RandomKernel, seed: int, schedule: str = "lockstep") -> None:
    random = np.random.default_rng(seed)
    inputs = {
        "p": random.integers(-20, 20, LANES).astype(np.int32),
        "q": random.integers(0, 2**32, LANES, dtype=np.uint32),
        "a": (random.integers(-40, 40, LANES) / 8).astype(np.float32),
    }
    outputs = {name: np.zeros(LANES, getattr(np, kind)) for name, kind in CHANGING.items()}
    run_clean(
        kernel.body, 3, 33, *inputs.values(), *outputs.values(),
        parameters=kernel.parameters, schedule=schedule,
    )  # fmt: skip
    expected = {name: np.zeros_like(array) for name, array in outputs.items()}
    with np.errstate(all="ignore"):
        for tid in range(LANES):
            env = {name: array[tid] for name, array in inputs.items()}
            env |= {"tid": tid, "p": int(env["p"]), "q": int(env["q"])}
            kernel.run(env)
            for name, array in expected.items():
                array[tid] = env[name]
    for name, array in outputs.items():
        np.testing.assert_array_equal(
            array, expected[name], err_msg=f"{name} of\n{as_program(kernel.body)}"
        )


@pytest.mark.parametrize("count", some_or_many(60, 600))
def test_many_random_kernels(count: int) -> None:
    @settings(max_examples=count)
    @given(random_kernels(depth=3), st.integers(0, 2**32 - 1))
    def each(kernel: RandomKernel, seed: int) -> None:
        check(kernel, seed)

    each()


@pytest.mark.slow
@settings(max_examples=30)
@given(random_kernels(), st.sampled_from(["warps", "shuffled"]))
def test_the_schedule_does_not_matter(kernel: RandomKernel, schedule: str) -> None:
    check(kernel, 1, schedule)


SCHEDULES = st.sampled_from(["lockstep", "warps", "shuffled"])


def check_blocks(kernel: BlockKernel, seed: int, schedule: str) -> None:
    arrays, results = inputs(seed), outputs()
    run_clean(
        kernel.body, BLOCKS, THREADS, *arrays.values(), *results.values(),
        parameters=kernel.parameters, schedule=schedule, seed=seed,
    )  # fmt: skip
    for name, array in expected(kernel, arrays).items():
        np.testing.assert_array_equal(
            results[name], array, err_msg=f"{name}, {schedule}\n{as_program(kernel.body)}"
        )


@pytest.mark.parametrize("count", some_or_many(100, 1000, few=25))
def test_many_random_blocks(count: int) -> None:
    @settings(max_examples=count)
    @given(block_kernels(), st.integers(0, 1000), SCHEDULES)
    def each(kernel: BlockKernel, seed: int, schedule: str) -> None:
        check_blocks(kernel, seed, schedule)

    each()


BARRIER = "cuda.syncthreads()"


@st.composite
def kernels_lacking_barriers(draw) -> BlockKernel:
    """A kernel in which each barrier stands with even chances only."""
    kernel = draw(block_kernels())
    first, *rest = kernel.body.split(BARRIER)
    body = first + "".join((BARRIER if draw(st.booleans()) else "pass") + part for part in rest)
    return BlockKernel(body, kernel.run, kernel.parameters)


def races_by_search(trace) -> dict[str, set[tuple[int, int]]]:
    """The arrays on which threads of a block race, with the lines: every two accesses compared."""
    touched = defaultdict(set)
    for access in trace:
        for cell, thread in zip(access.indices.tolist(), access.threads.tolist(), strict=True):
            block = tuple(thread[:3])
            place = (access.array, tuple(cell), block, access.interval)
            touched[place].add((access.kind, access.line, tuple(thread[3:])))
    races = defaultdict(set)
    for (array, *_), accesses in touched.items():
        for kind, line, thread in accesses:
            for other_kind, other_line, other in accesses:
                harmless = kind == other_kind and kind in ("load", "atomic")
                if thread != other and not harmless:
                    races[array].add((min(line, other_line), max(line, other_line)))
    return races


def compare_races(kernel: BlockKernel, schedule: str) -> None:
    profile = run(
        kernel.body, 1, THREADS, *inputs(1).values(), *outputs().values(),
        parameters=kernel.parameters, schedule=schedule, seed=1, trace=True,
    )  # fmt: skip
    found = defaultdict(set)
    for each in profile.findings:
        if each.code.startswith("race-"):
            lines = sorted([each.line, each.other_line])
            found[each.cell.split("[")[0]].add(tuple(lines))
    there = races_by_search(profile.trace)
    text = as_program(kernel.body, kernel.parameters)
    assert set(found) == set(there), f"{schedule}: {set(there)} race, named {set(found)}\n{text}"
    for array, lines in found.items():
        assert lines <= there[array], f"{schedule}: {array}: {lines} of {there[array]}\n{text}"


@pytest.mark.parametrize("count", some_or_many(40, 400, few=15))
def test_many_races_are_those_that_a_search_finds(count: int) -> None:
    @settings(max_examples=count)
    @given(kernels_lacking_barriers(), SCHEDULES)
    def each(kernel: BlockKernel, schedule: str) -> None:
        compare_races(kernel, schedule)

    each()


OF_PATTERN = 48  # a warp and a half
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
    index = np.tile(np.arange(OF_PATTERN), (steps, 1))
    for step in range(steps):
        match draw(st.sampled_from(["own", "shift", "one off", "permuted in warp", "random"])):
            case "shift":
                index[step] = np.roll(index[step], draw(st.integers(1, 40)))
            case "one off":
                index[step, random.integers(OF_PATTERN)] = random.integers(OF_PATTERN)
            case "permuted in warp":
                index[step, :32] = random.permutation(32)
                index[step, 32:] = 32 + random.permutation(16)
            case "random":
                index[step] = random.integers(0, OF_PATTERN, OF_PATTERN)
    kinds = np.array([draw(st.sampled_from([LOAD, LOAD, STORE, STORE, ATOMIC])) for _ in index])
    after = np.array([draw(st.sampled_from([NOTHING, SYNCWARP, SYNCTHREADS])) for _ in index])
    share = draw(st.sampled_from([0.05, 0.5, 1.0]))
    return Pattern(kinds, after, index, random.random(index.shape) < share)


def races_of_pattern(pattern: Pattern) -> set[str]:
    """The codes of all races, found by comparing every two accesses."""
    found = set()
    accesses = [
        (step, thread)
        for step in range(len(pattern.kinds))
        for thread in range(OF_PATTERN)
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


def check_pattern(pattern: Pattern, schedule: str) -> None:
    out = np.zeros(2 * OF_PATTERN, np.int64)
    arguments = (pattern.kinds, pattern.after, pattern.index, pattern.active, out)
    profile = run(
        BODY, 2, OF_PATTERN, *arguments,
        parameters="kinds, after, index, active, out", schedule=schedule,
    )  # fmt: skip
    expected = races_of_pattern(pattern)
    found = set(codes(profile))
    assert bool(found) == bool(expected), (found, expected, pattern)
    assert found <= expected, (found, expected, pattern)


@pytest.mark.parametrize("count", some_or_many(100, 1000, few=25))
def test_many_random_patterns(count: int) -> None:
    @settings(max_examples=count)
    @given(patterns(), st.sampled_from(["lockstep", "warps", "shuffled"]))
    def each(pattern: Pattern, schedule: str) -> None:
        check_pattern(pattern, schedule)

    each()


SCHEDULES_WAITING = (
    {"schedule": "warps"},
    *({"schedule": "shuffled", "seed": n} for n in range(3)),
)
PROGRAMS = [pytest.param(case, id=case.name) for case in cases("some") if case.name in WAITING]


@pytest.mark.parametrize("case", PROGRAMS)
def test_every_schedule_gives_what_lockstep_gives(case) -> None:
    results = []
    for options in ({}, *SCHEDULES_WAITING):
        *given, out = (each.copy() for each in case.arguments)
        kernel = load_program(case.text).kernel(case.kernel)
        profile = emulate(kernel, **options)[case.grid, case.block](*given, out)
        assert not profile.findings
        results.append(out)
    assert results[0].any()
    assert all(np.array_equal(results[0], each) for each in results)


def test_what_is_added_to_is_read_before_the_barrier() -> None:
    (case,) = (each for each in cases("some") if each.name == "waits: a barrier within +=")
    emulate(load_program(case.text).kernel(case.kernel))[case.grid, case.block](*case.arguments)
    assert np.array_equal(case.arguments[-1], np.tile(np.arange(64) + 7, 2))


def test_no_schedule_starts_a_thread(monkeypatch) -> None:
    def refuse(self) -> None:
        raise AssertionError("a thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    out = np.zeros(64, np.int64)
    run_clean("out[cuda.grid(1)] = cuda.syncthreads_count(True)", 1, 64, out, schedule="warps")
    assert (out == 64).all()
