"""The quick checks of lesson 06: tile size and occupancy."""

from course_lib.devices import occupancy
from course_lib.questions.kinds import Choice, Choose, Number, Slip

_T16 = occupancy("A6000", threads=256, registers=38, shared_bytes=2 * 16 * 16 * 4)

QUESTIONS = (
    Choose(
        id="06-first-wall",
        asks="One output per thread and T = 64, on an H100: a block may have 227 KiB of shared "
        "memory there, and an SM holds 2048 threads. What happens at the launch?",
        hint="Count the threads of one block, and the bytes of its two tiles.",
        choices=(
            Choice(
                "It fails: the two tiles take too much shared memory.",
                "2 · 64² · 4 bytes are 32 KiB. That is less than the 48 KiB that any block gets.",
            ),
            Choice(
                "It fails: the block has too many threads.",
                "64² = 4096 threads, and a block has at most 1024, on every GPU. One output per "
                "thread ends at T = 32.",
                right=True,
            ),
            Choice(
                "It runs, in two turns, since the SM holds 2048 threads at a time.",
                "The 2048 are for all blocks of an SM together. A block is never split: its "
                "threads share barriers, so all of them must be there at once.",
            ),
            Choice(
                "It runs, if the kernel opts in to more shared memory.",
                "The opt-in is for blocks that want more than 48 KiB. This one wants 32, and has "
                "another problem.",
            ),
        ),
    ),
    Number(
        id="06-sixteen",
        asks="T = 16 on the A6000: 256 threads, 38 registers per thread, two tiles of 16 × 16 "
        "floats. How many of these blocks does one SM hold? (48 warps, 65,536 registers, "
        "100 KiB, 16 block slots; 1 KiB per block is reserved.)",
        value=lambda: _T16.blocks,
        unit="blocks",
        why="Eight warps a block: 48 / 8 = {answer}. Registers agree: 38 × 32 = 1216, rounded up "
        "to 1280; 12 warps in each of four sub-partitions; 48 / 8 = {answer}. All 48 warps are "
        "there, 100 %.",
        other="Four divisions, each rounded down, and the smallest answer counts. Begin with the "
        "warps: how many has a block of 256 threads?",
        hint="256 threads are 8 warps. The SM holds 48.",
        slips=(
            Slip(
                lambda: _T16.shared_limit,
                "So many fit by shared memory alone. Three more budgets want to be asked.",
            ),
            Slip(
                lambda: _T16.block_limit,
                "That is the cap on blocks. The warps run out before it is reached.",
            ),
            Slip(
                lambda: _T16.warps,
                "Those are the warps. How many blocks are that?",
            ),
            Slip(
                lambda: 1, "That was T = 32. A block of T = 16 has only a quarter of its threads."
            ),
        ),
    ),
    Choose(
        id="06-sixteen-or-thirty-two",
        asks="Say the compiler gives 32 registers per thread for T = 16 and T = 32 alike. On which "
        "of these GPUs does T = 16 bring more warps onto an SM than T = 32?",
        hint="Does a whole number of 1024-thread blocks fill the SM?",
        choices=(
            Choice(
                "T4 (1024 threads per SM)",
                "One block of 1024 threads fills it: 100 %, as with four blocks of 256.",
            ),
            Choice(
                "A6000 (1536 threads per SM)",
                "1536 is one and a half times 1024, and half a block cannot come: 66.7 %. Six "
                "blocks of 256 threads fill it: 100 %. The same holds for every GPU with 1536.",
                right=True,
            ),
            Choice(
                "A100 (2048 threads per SM)",
                "Two blocks of 1024 threads fill it, and 2 × 1024 × 32 registers are just all.",
            ),
            Choice(
                "H100 (2048 threads per SM)",
                "Two blocks of 1024 threads fill it, as on the A100.",
            ),
        ),
    ),
    Choose(
        id="06-smaller-blocks",
        asks="The tiled kernel stands at 66.7 % on an A6000. A colleague wants smaller blocks, "
        "since “at 100 % it will be 1.5 times as fast”. What do you say?",
        hint="What did the published profile say its warps were waiting for?",
        choices=(
            Choice(
                "Yes: speed follows occupancy.",
                "The next rungs refute it: 66.7 %, then 33.3 %, and 2.8 and 5.4 times the speed "
                "(published, A6000).",
            ),
            Choice(
                "Ask first what the warps wait for. If they queue for shared memory, more warps "
                "only lengthen the queue.",
                "More warps help where an SM has nothing to issue. Here the reach to shared memory "
                "is the limit, and the cure is more multiply–adds for each value picked up.",
                right=True,
            ),
            Choice(
                "No: occupancy never matters.",
                "It does where latency is not covered: one warp with nothing but dependent loads "
                "leaves its scheduler idle. It is a means to an end.",
            ),
            Choice(
                "No: the largest block is always the fastest.",
                "On 1536-thread SMs the largest block leaves a third of the warp slots empty. That "
                "is no gain either; it only does not decide here.",
            ),
        ),
    ),
)
