"""Questions of lesson 09: wide copies, a padding, lanes that share, what warp tiles bring."""

from __future__ import annotations

import functools

from course_lib.curriculum import TASKS
from course_lib.devices import CACHE_LINE_BYTES, WARP_SIZE, device
from course_lib.emulator import Profile
from course_lib.measurements import load
from course_lib.measurements.what_binds import SLOTS, seen
from course_lib.questions.kinds import Choice, Choose, Number, Trap
from course_lib.questions.runs import ones, run

NARROW = "@cuda.jit\ndef copy(source, target):\n    i = cuda.grid(1)\n    target[i] = source[i]\n"
NUMBERS, BLOCK = 256, 32
STEPS = 8  # of k, in the tile of warp_piece


@functools.cache
def copies() -> tuple[Profile, Profile]:
    """The copy of one number a thread, and that of four."""
    narrow = run(NARROW, NUMBERS // BLOCK, BLOCK, ones(NUMBERS), ones(NUMBERS))
    wide = TASKS["copy_by_fours"].answer
    return narrow, run(wide, NUMBERS // 4 // BLOCK, BLOCK, ones(NUMBERS), ones(NUMBERS))


def copy_facts() -> dict[str, object]:
    narrow, wide = copies()
    return {
        "requests": narrow.global_load_requests,
        "few": wide.global_load_requests,
        "sectors": narrow.global_load_sectors,
        "as_many": wide.global_load_sectors,
    }


def passes_with_rows_of(words: int) -> float:
    """Wavefronts of a transposed store in stage_a, with rows of so many words."""
    text = TASKS["stage_a"].answer.replace("132", str(words))
    profile = run(text, 1, 256, ones(128, 8), ones(8, 128))
    return profile.shared_store_wavefronts / profile.shared_store_requests


@functools.cache
def passes_of_b(text: str) -> float:
    """Wavefronts of one load of B in warp_piece, in this form."""
    arrays = ones(STEPS, 64), ones(STEPS, 128), ones(64, 128)
    uses = TASKS["lane_place"].answer
    profile = run(f"{uses}\n{text}", 1, 128, *arrays)
    there = max(
        (line for line in profile.lines.values() if line.shared_load_requests),
        key=lambda line: line.shared_load_wavefronts,
    )
    return there.shared_load_wavefronts / there.shared_load_requests


def strip_facts() -> dict[str, object]:
    task = TASKS["warp_piece"]
    return {"cured": f"{passes_of_b(task.answer):g}"}


def busy(rows: int, columns: int) -> float:
    """Percent of the time that shared memory of an A6000 works at full speed, if each value of a
    thread's rows and columns costs its warp one wavefront."""
    gpu = device("A6000")
    wavefronts = (rows + columns) / (rows * columns)
    per_clock = gpu.shared_bytes_per_clock / CACHE_LINE_BYTES
    return 100 * gpu.fp32_lanes / WARP_SIZE * wavefronts / per_clock


def slack_facts() -> dict[str, object]:
    return {"wider": f"{busy(8, 16):g}", "twice": 2 * int(busy(8, 8))}


def times_faster() -> float:
    gflops = load("H200").speeds(4096, ("float32",)).gflops
    return gflops["warp_tiled"] / gflops["register_2d"]


def speed_facts() -> dict[str, object]:
    found = load("H200").speeds(4096, ("float32",))
    gflops = found.gflops
    return {
        "where": found.label,
        "wide": f"{gflops['vectorised'] / gflops['register_2d']:.2f}",
        "warp": f"{gflops['warp_tiled'] / gflops['vectorised']:.2f}",
    }


def waiting_facts() -> dict[str, object]:
    found = seen("warp_tiled")
    return {
        "where": found.label,
        "slots": f"{found.busy[SLOTS]:.0%}",
        "warps": f"{found.waiting_for_global:.2f}",
    }


QUESTIONS = (
    Choose(
        id="09-wide-copy",
        asks="In a plain copy, each thread copies one number. What does a copy with wide loads "
        "and stores save compared with the plain copy?",
        choices=(
            Choice(
                "Three of four requests, and three of four sectors",
                "Both copies read the same numbers. Can these numbers be in fewer sectors?",
            ),
            Choice(
                "Three of four requests, but no sectors",
                "One instruction fetches four times as much, and the number of bytes stays the "
                "same.",
                right=True,
            ),
            Choice(
                "No requests, but three of four sectors",
                "The bytes are the same, so the sectors are the same. The copy saves instructions.",
            ),
        ),
        reveal="The {requests} requests become {few}, but the {sectors} sectors stay {as_many}. "
        "Wide loads move just as many bytes, but they save issue slots: there is one instruction "
        "instead of four, and only one address to compute.",
        facts=copy_facts,
        spoilers=("not one byte less", "they save issue slots"),
    ),
    Number(
        id="09-padding",
        asks="A colleague uses more padding: rows of 136 words, which is also a multiple of four. "
        "With this padding, how many wavefronts does each of a warp's four stores take?",
        value=lambda: passes_with_rows_of(136),
        unit="wavefronts",
        slips=(
            Trap(
                lambda: 1,
                "The two threads that load one row of A store four rows apart. How many "
                "words is that?",
            ),
            Trap(
                lambda: 4,
                "That is the number for a wide *load*. Here each lane stores only 4 bytes.",
            ),
            Trap(lambda: 8, "Lanes in different banks are served together."),
        ),
        reveal="{answer}: four rows of 136 words are a multiple of 32 words, so the two threads "
        "that load one row of A store to the same bank again. Do not guess how much padding you "
        "need: count the wavefronts.",
        spoilers=("store to the same bank again",),
    ),
    Number(
        id="09-strip",
        asks="In lesson 08 and in `vectorised`, a row of 16 threads covers 128 columns, and each "
        "thread owns 8 neighbouring columns. With `load4`, a lane first loads the first four "
        "elements of B and then the other four. How many wavefronts does one of these loads of B "
        "take?",
        value=lambda: passes_of_b(TASKS["warp_piece"].given),
        unit="wavefronts",
        slips=(
            Trap(
                lambda: 4,
                "The load would take four if neighbouring lanes loaded neighbouring groups of "
                "four words. But their groups begin 8 words apart.",
            ),
            Trap(
                lambda: 2, "Which lanes ask for the same elements of B? Are these lanes neighbours?"
            ),
            Trap(
                lambda: 16,
                "Lanes 0 and 16 ask for the same elements of B, and eight lanes are served "
                "together.",
            ),
        ),
        reveal="{answer}. Eight lanes are served together. The words that these lanes ask for are "
        "spread over twice as many words as there are banks, and they are only every second group "
        "of four. So each bank that holds some of them has to deliver two different words. If "
        "neighbouring lanes asked for the same elements in pairs, the load would take {cured} "
        "wavefronts.",
        facts=strip_facts,
        spoilers=("every second group of four",),
    ),
    Number(
        id="09-slack",
        asks="Unless pairs of lanes share their loads, each value that a thread loads costs its "
        "warp one wavefront. In one clock, an SM of an A6000 starts the multiply-adds of four "
        "warps and serves one wavefront. If a thread owns 8 × 8 outputs and the SM runs at full "
        "speed, in what percentage of the clocks does shared memory have to work?",
        value=lambda: busy(8, 8),
        unit="percent",
        slips=(
            Trap(
                lambda: 25,
                "That would be right if the SM started one multiply-add in each "
                "clock. It starts four.",
            ),
            Trap(lambda: 50, "Each thread needs 8 values of A *and* 8 of B."),
            Trap(lambda: 400, "A value in a register serves eight multiply-adds."),
        ),
        reveal="{answer} percent. Shared memory would be busy all the time, so each conflict and "
        "each store of the next tile would cost time. With 8 × 16 outputs, it is busy in {wider} "
        "percent of the clocks. That is why a thread of `warp_tiled` owns so many outputs.",
        facts=slack_facts,
        spoilers=("would be busy all the time",),
    ),
    Number(
        id="09-faster",
        asks="`warp_tiled` has both wide loads and warp tiles. For 4096 × 4096 matrices on an "
        "H200, by what factor is `warp_tiled` faster than `register_2d`?",
        value=times_faster,
        unit="times",
        within=0.08,
        slips=(
            Trap(
                lambda: 2,
                "The kernel needs half the wavefronts, but it waits for other things, too.",
            ),
            Trap(
                lambda: 1,
                "The wavefronts were a limit, so the kernel gets faster with fewer of them.",
            ),
            Trap(
                lambda: 4,
                "The kernel sends a quarter as many requests to global memory, but these were not "
                "the limit.",
            ),
        ),
        reveal="{answer}. Wide loads alone gain a factor of {wide}, and warp tiles gain another "
        "factor of {warp} ({where}).",
        facts=speed_facts,
        spoilers=(
            f"{load('H200').speeds(4096, ('float32',)).gflops['warp_tiled']:,.0f}",
            f"gain a factor of {speed_facts()['wide']}",
        ),
    ),
    Choose(
        id="09-waiting",
        asks="In a third of all clocks, no warp of `warp_tiled` can issue an instruction. What do "
        "the warps of `warp_tiled` mostly wait for?",
        choices=(
            Choice(
                "Shared memory",
                "Shared memory was the limit before. Now shared memory is busy in only half of the "
                "clocks.",
            ),
            Choice(
                "The next tile, from global memory",
                "Between two tiles, all warps wait for the same loads.",
                right=True,
            ),
            Choice(
                "DRAM, which is too slow",
                "How busy is DRAM? A warp can wait for a load even if there is enough bandwidth.",
            ),
            Choice(
                "The multiply-adds of other warps",
                "A thread has many independent sums, and they keep the units busy.",
            ),
        ),
        reveal="Whenever a scheduler issues an instruction, {warps} of its warps are waiting for "
        "global memory, on average. No other reason keeps as many warps waiting ({where}). No "
        "unit is at its limit: everyone loads, everyone waits. In the next lesson, the loads run "
        "while the warps multiply.",
        facts=waiting_facts,
        spoilers=("everyone loads, everyone waits",),
    ),
)
