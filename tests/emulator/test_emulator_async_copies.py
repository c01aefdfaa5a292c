"""Asynchronous copies: when their values land, and who may read them."""

import numpy as np
import pytest
from emulator_helpers import as_program, codes, launch, line_of, run
from every_case import every_case
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.wording.sentences import Line, facts_of

IMPORT = "from course_lib.intrinsics import *"
SCHEDULES = ("lockstep", "warps", "shuffled")

# Two groups of copies; each step may be left out or replaced.
STEPS = """
    s = cuda.shared.array((2, 256), float32, alignment=16)
    i = cuda.threadIdx.x
    cp_async16(s, 4 * i, A, 4 * i)  # first
    {commit}
    cp_async16(s, 256 + 4 * i, A, 256 + 4 * i)  # second
    cp_async_commit()
    {wait}
    {meet}
    out[0, i] = s[0, 255 - i]  # read
    cp_async_wait(0)
    cuda.syncthreads()
    out[1, i] = s[1, 255 - i]
"""
RIGHT = {"commit": "cp_async_commit()", "wait": "cp_async_wait(1)", "meet": "cuda.syncthreads()"}


def two_groups(schedule: str, **changed: str) -> tuple[str, object, np.ndarray]:
    program = as_program(STEPS.format(**{**RIGHT, **changed}), "A, out", IMPORT)
    A, out = np.arange(512, dtype=np.float32), np.zeros((2, 64), np.float32)
    return program, launch(program, 1, 64, A, out, schedule=schedule), out


def expected() -> np.ndarray:
    return (np.arange(512, dtype=np.float32).reshape(2, 256)[:, ::-1])[:, :64]


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_copies_land_when_they_are_waited_for(schedule: str) -> None:
    program, profile, out = two_groups(schedule)
    assert not profile.findings
    assert np.array_equal(out, expected())
    # Counted as a global load and a shared store, once.
    first = profile.lines[line_of(program, "# first")]
    assert (first.global_load_requests, first.global_load_sectors) == (2, 32)
    assert (first.shared_store_wavefronts, first.shared_store_bytes) == (8, 1024)
    assert first.shared_load_requests == 0


@every_case("schedule", SCHEDULES)
@every_case(("changed", "said"), [
    ({"wait": "pass"}, {"lacks": "has not been waited for"}),
    ({"wait": "cp_async_wait(2)"}, {"groups": 2}),
    ({"commit": "pass"}, {"groups": 1}),  # then both copies are in one group, the newest
])  # fmt: skip
def test_reading_what_was_not_waited_for(schedule: str, changed: dict, said: dict) -> None:
    program, profile, out = two_groups(schedule, **changed)
    assert codes(profile) == ["race-read-after-write"]
    (found,) = profile.errors
    read, copied = line_of(program, "# read"), line_of(program, "# first")
    lines = (read, copied)
    if changed != {"wait": "pass"}:  # there the wait leaves it under way, and waits for no other
        lines = (line_of(program, changed.get("wait", RIGHT["wait"])), read)
    assert (found.line, found.other_line) == lines
    facts = facts_of(found.message)
    assert (facts["line"], facts["copy_line"]) == (Line(read), Line(copied))
    assert facts | said == facts
    assert np.isnan(out[0]).all()  # the wrong value shows, too
    assert np.array_equal(out[1], expected()[1])


@every_case("schedule", SCHEDULES)
@every_case(
    "changed", [{"meet": "pass"}, {"wait": "cuda.syncthreads()", "meet": "cp_async_wait(1)"}]
)
def test_a_wait_without_a_barrier_behind_it(schedule: str, changed: dict[str, str]) -> None:
    program, profile, _ = two_groups(schedule, **changed)
    (found,) = [each for each in profile.errors if len(each.threads) > 1]
    waits = line_of(program, "cp_async_wait(1)")
    assert (found.line, found.other_line) == (waits, line_of(program, "# read"))
    assert facts_of(found.message)["waited_at"] == Line(waits)


def test_a_store_behind_a_wait_alone_is_no_matter_of_a_warp() -> None:
    stores = "cp_async_wait(0)\n    s[0, 255 - i] = float32(1)"
    _, profile, _ = two_groups("lockstep", wait=stores, meet="pass")
    messages = [each.message for each in profile.errors]
    assert any("one of them with a copy" in each for each in messages)
    assert not any("syncwarp" in each for each in messages)


def test_a_copy_outside_a_closed_group_is_waited_for_in_vain() -> None:
    _, profile, _ = two_groups("lockstep", commit="cp_async_wait(0)", wait="pass")
    assert "not in a closed group" in str(facts_of(profile.errors[0].message)["lacks"])


# A double buffer as in the rungs; `barrier` may be left out.
PIPELINE = """
    s = cuda.shared.array((2, 256), float32, alignment=16)
    i = cuda.threadIdx.x
    acc = float32(0)
    cp_async16(s, 4 * i, A, 4 * i)
    cp_async_commit()
    for t in range(4):
        cp_async_wait(0)
        {barrier}
        if t < 3:
            cp_async16(s, 256 * ((t + 1) % 2) + 4 * i, A, 256 * (t + 1) + 4 * i)  # fill
            cp_async_commit()
        for k in range(4):
            acc += s[t % 2, 255 - 4 * i - k]  # use
    out[i] = acc
"""


def test_a_buffer_that_is_filled_while_others_read_it() -> None:
    program = as_program(PIPELINE.format(barrier="pass"), "A, out", IMPORT)
    A, out = np.random.default_rng(0).random(1024, np.float32), np.zeros(64, np.float32)
    profile = launch(program, 1, 64, A, out, schedule="warps")
    lines = {(each.code, each.other_line, each.line) for each in profile.errors}
    fill, use = line_of(program, "# fill"), line_of(program, "# use")
    assert ("race-write-after-read", use, fill) in lines
    assert ("race-read-after-write", use, line_of(program, "cp_async_wait(0)")) in lines
    assert not np.allclose(out, A.reshape(4, 64, 4).sum(axis=(0, 2))[::-1], rtol=1e-5)


@settings(max_examples=30, deadline=None)
@given(
    st.sampled_from(["float16", "float32", "uint16", "float64", "uint8"]), st.integers(1, 3),
    st.integers(0, 2**16), st.sampled_from(SCHEDULES),
)  # fmt: skip
def test_any_subset_of_threads_and_validity(dtype, blocks, seed, schedule):
    """Values arrive where they belong, zeros where nothing is valid, and nothing elsewhere."""
    random = np.random.default_rng(seed)
    size = 16 // np.dtype(dtype).itemsize
    order, on, valid = random.permutation(64), random.random(64) < 0.7, random.random(64) < 0.7
    A = random.integers(1, 99, 64 * size).astype(dtype)
    out = np.zeros((blocks, 64 * size), dtype)
    body = f"""
        s = cuda.shared.array({64 * size}, np.{dtype}, alignment=16)
        i, b = cuda.threadIdx.x, cuda.blockIdx.x
        for j in range({size}):
            s[{size} * i + j] = 7
        cuda.syncthreads()
        if on[i]:
            source = {size} * i if valid[i] else -1000
            cp_async16_zfill(s, {size} * order[i], A, source, valid[i])
        cp_async_commit()
        cp_async_wait(0)
        cuda.syncthreads()
        for j in range({size}):
            out[b, {size} * i + j] = s[{size} * i + j]
    """
    program = as_program(body, "order, on, valid, A, out", IMPORT)
    profile = launch(program, blocks, 64, order, on, valid, A, out, schedule=schedule)
    assert not profile.errors
    cells = np.full((64, size), 7, dtype)
    cells[order[on]] = np.where(valid[on, None], A.reshape(64, size)[on], 0)
    assert np.array_equal(out, np.tile(cells.reshape(-1), (blocks, 1)))


def test_copies_of_one_element_transpose_on_the_way() -> None:
    body = """
        s = cuda.shared.array((8, 9), float32, alignment=16)
        i = cuda.threadIdx.x
        cp_async4_zfill(s, i % 8 * 9 + i // 8, A, i, i < 60)  # fetch
        cp_async_commit()
        early = load4(s, 0)[0]  # early
        cp_async_wait(0)
        cuda.syncthreads()
        out[i] = s[i // 8, i % 8]
    """
    A, out = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    program = as_program(body, "A, out", IMPORT)
    profile = launch(program, 1, 64, A, out)
    kept = np.where(A < 60, A, 0).reshape(8, 8)
    assert np.array_equal(out.reshape(8, 8), kept.T)
    (early,) = profile.errors
    lines = line_of(program, "# early"), line_of(program, "# fetch")
    assert (early.code, early.line, early.other_line) == ("race-read-after-write", *lines)
    fetch = profile.lines[lines[1]]
    assert (fetch.global_load_sectors, fetch.global_load_bytes) == (8, 240)
    assert fetch.shared_store_bytes == 256
    beyond = as_program(body.replace("i < 60", "i < 99"), "A, out", IMPORT)
    errors = launch(beyond, 1, 64, A[:63].copy(), out).errors
    facts = [facts_of(each.message) for each in errors if each.code == "out-of-bounds-read"]
    assert [(each["name"], each["index"].number, each["last"]) for each in facts] == [("A", 63, 62)]


# Several tiles on their way: of `stages` buffers one is read while the others are filled.
STAGES = """
    s = cuda.shared.array(({stages}, 128), float32, alignment=16)
    i = cuda.threadIdx.x
    for t in range({stages} - 1):
        cp_async16(s, 128 * t + 4 * i, A, 128 * t + 4 * i)
        cp_async_commit()
    acc = float32(0)
    for t in range(6):
        cp_async_wait({pending})
        cuda.syncthreads()
        coming = t + {stages} - 1
        if coming < 6:
            cp_async16(s, 128 * (coming % {stages}) + 4 * i, A, 128 * coming + 4 * i)
        cp_async_commit()
        for k in range(4):
            acc += s[t % {stages}, 127 - 4 * i - k]
    out[i] = acc
"""


@every_case("stages", [2, 3, 4])
@every_case("pending", [0, 1, 2, 3])
def test_how_many_groups_may_be_pending(stages: int, pending: int) -> None:
    body = STAGES.format(stages=stages, pending=pending)
    A, out = np.random.default_rng(1).random(768, np.float32), np.zeros(32, np.float32)
    profile = run(body, 1, 32, A, out, parameters="A, out", before=IMPORT)
    right = pending <= stages - 2
    assert bool(profile.errors) != right
    assert np.allclose(out, A.reshape(6, 32, 4).sum(axis=(0, 2))[::-1], rtol=1e-5) == right


def test_each_thread_has_its_own_groups() -> None:
    body = """
        s = cuda.shared.array(128, float32, alignment=16)
        i = cuda.threadIdx.x
        cp_async16(s, 4 * i, A, 4 * i)
        if i < 20:
            cp_async_commit()
        cp_async_wait(0)
        out[i] = s[4 * i]
    """
    A, out = np.ones(128, np.float32), np.zeros(32, np.float32)
    profile = run(body, 1, 32, A, out, parameters="A, out", before=IMPORT)
    assert profile.errors[0].threads == ((20, 0, 0),)
    assert np.array_equal(np.isnan(out), np.arange(32) >= 20)
