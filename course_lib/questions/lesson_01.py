"""Quick checks of lesson 01: who shares which place, what is on the road, which roof."""

from __future__ import annotations

from course_lib.devices import device
from course_lib.questions.kinds import Choice, Choose, Number, Slip
from course_lib.questions.runs import ones, run
from course_lib.roofline import roof

PICK = """\
@cuda.jit
def pick(x, y):
    i = cuda.grid(1)
    y[i] = x[STRIDE * i]
"""


def bytes_through_l1(stride: int) -> int:
    """What 1024 threads draw through L1 when they read numbers this far apart."""
    text = PICK.replace("STRIDE", str(stride))
    return 32 * run(text, 8, 128, ones(stride * 1024), ones(1024)).global_load_sectors


QUESTIONS = (
    Choose(
        id="01-who-shares",
        asks="Which of these sentences about the four places is true?",
        choices=(
            Choice(
                "A kernel that never mentions a cache still profits from L2.",
                "Every load on its way from DRAM leaves its sectors in L2, and the next crew that "
                "asks for them is served there.",
                right=True,
            ),
            Choice(
                "A kernel must copy numbers into the L1 cache before it can use it.",
                "A cache fills itself: what was loaded stays there for a while. Copying by hand "
                "is for the other part of the bench, shared memory.",
            ),
            Choice(
                "Blocks on two SMs can hand each other numbers in shared memory.",
                "Shared memory belongs to one block on one SM. (Clusters on the newest GPUs are an "
                "exception, which this course leaves out.)",
            ),
            Choice(
                "A thread can read the registers of any other thread of its block.",
                "Each thread has its own hands. A number that others need goes to the bench, or, "
                "within a group of 32 threads, through a special exchange.",
            ),
        ),
    ),
    Number(
        id="01-on-the-road",
        asks="A GPU runs at 1 GHz. Its memory delivers 500 GB/s, each byte 600 cycles after it was "
        "asked for. How many kB must be on the road to use all the bandwidth?",
        value=lambda: 500e9 / 1e9 * 600 / 1000,
        unit="kB",
        why="500 GB/s are 500 bytes in each cycle. For 600 cycles they are under way: 300 000 "
        "bytes, {answer} kB.",
        slips=(
            Slip(lambda: 500 * 600, "That is the number of bytes. The question is about kB."),
            Slip(
                lambda: 500 / 600,
                "This divides. The longer a byte travels, the more of them must be under way.",
            ),
            Slip(lambda: 500, "These are the bytes of one cycle. How long is each under way?"),
        ),
        other="Latency times bandwidth: how many bytes arrive in a cycle, and for how many cycles "
        "is each of them under way?",
        hint="At 1 GHz a second has 1 000 000 000 cycles, and 500 GB are 500 000 000 000 bytes.",
    ),
    Number(
        id="01-roof",
        asks="A kernel does 0.25 FLOP per DRAM byte. A T4 has 8100 GFLOP/s and 320 GB/s. How many "
        "GFLOP/s can it reach at most?",
        value=lambda: roof(0.25, "T4"),
        unit="GFLOP/s",
        why="0.25 lies left of the ridge, so the road decides: 0.25 · 320 = {answer} GFLOP/s.",
        slips=(
            Slip(
                lambda: device("T4").fp32_gflops,
                "That is the peak. It binds only right of the ridge, at 25 FLOP per byte or more.",
            ),
            Slip(
                lambda: 320 / 0.25,
                "This divides. Each byte brings a quarter of a FLOP with it.",
            ),
            Slip(
                lambda: 0.25 * 8100,
                "This is a quarter of the peak. Intensity multiplies the bandwidth, not the peak.",
            ),
        ),
        other="The roof is the smaller of two numbers: the peak, and intensity times bandwidth.",
        hint="So many GB arrive in a second, and each byte pays for a quarter of a FLOP.",
    ),
    Choose(
        id="01-ridge",
        asks="Somebody says: at 100 FLOP per DRAM byte a kernel is memory-bound on an H100, "
        "because the ridge of an H100 is 295. What do you answer?",
        choices=(
            Choice(
                "True, 100 is less than 295.",
                "295 is the ridge of BF16 on the tensor cores. Does this kernel use them?",
            ),
            Choice(
                "Wrong, the ridge of an H100 is 20.",
                "20 is the ridge of float32 without tensor cores. Nobody said that the kernel is "
                "of that kind.",
            ),
            Choice(
                "That depends on the number of threads.",
                "Threads decide whether the roof is reached. The ridge comes from two numbers of "
                "the data sheet.",
            ),
            Choice(
                "First tell me the data type.",
                "Each peak has its own ridge: 100 is compute-bound for float32, whose ridge is 20, "
                "and memory-bound for TF32 (148) and BF16 (295).",
                right=True,
            ),
        ),
    ),
    Number(
        id="01-boxes",
        asks="1024 threads request 4096 bytes: each reads the float32 `x[4 * i]`. How many bytes "
        "pass through L1?",
        value=lambda: bytes_through_l1(4),
        unit="bytes",
        why="A box of 32 bytes holds eight floats, two of which are wanted. So four times the "
        "request is on the road: {answer} bytes.",
        slips=(
            Slip(
                lambda: 4 * 1024,
                "That is what is requested. Memory arrives in boxes of 32 bytes, wanted or not.",
            ),
            Slip(
                lambda: bytes_through_l1(8),
                "That is a box for each thread, as with `x[8 * i]`. Here two threads find their "
                "numbers in the same box.",
            ),
            Slip(
                lambda: bytes_through_l1(4) // 32,
                "That is the number of boxes. How many bytes does each hold?",
            ),
        ),
        other="How many numbers lie in a box of 32 bytes, and how many of them does somebody want?",
        hint="Threads 0 and 1 read `x[0]` and `x[4]`. Which box holds them?",
    ),
    Choose(
        id="01-which-bytes",
        asks="How fast could `smooth` be for a huge `x`, if nothing but DRAM were in its way? "
        "Which bytes belong into the formula?",
        choices=(
            Choice(
                "Those that the threads request.",
                "They count most numbers three times. The second and the third time a cache can "
                "answer, so they need not come from DRAM.",
            ),
            Choice(
                "The least possible: each number once.",
                "Nobody can do with less. 4 bytes in and 4 bytes out for 2 FLOP are 0.25 FLOP "
                "per byte, twice what the requested bytes say.",
                right=True,
            ),
            Choice(
                "Those that pass through L1.",
                "They tell how busy the door of L1 is. What L1 or L2 still hold is not fetched "
                "from DRAM again.",
            ),
        ),
    ),
    Choose(
        id="01-suspects",
        asks="A kernel sits far below its roof, left of the ridge. Which of these cannot be the "
        "reason?",
        choices=(
            Choice(
                "More bytes travel than were counted, in boxes half used.",
                "It can: then the true intensity is lower, and so is the roof.",
            ),
            Choice(
                "Too few bytes are on the road at once.",
                "It can: then latency binds, and the bandwidth is not used.",
            ),
            Choice(
                "The peak of the arithmetic units is too low.",
                "Left of the ridge the road is full long before the arithmetic units are.",
                right=True,
            ),
        ),
    ),
)
