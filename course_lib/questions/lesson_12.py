"""The self-test of lesson 12: one question, at least, about every lesson before it.

An explanation with a wrong sentence is a listing, too: each of its sentences stands beside what
proves or disproves it.
"""

from __future__ import annotations

from math import exp, gcd

from course_lib.devices import device, occupancy
from course_lib.questions.kinds import Choice, Choose, FillIn, Misread, Number, Trap, WhichLine
from course_lib.questions.runs import sectors
from course_lib.questions.whiteboard import (
    EDGES,
    WHITEBOARD,
    line_with_the_wrong_guard,
    loads_per_multiply_add,
)
from course_lib.roofline import requested_bytes, tile_intensity

GPU, SIZE = "H200", 4096


def _h100_share(registers: int) -> float:
    return 100 * occupancy("H100", 1024, registers, 8192).share


QUESTIONS = (
    *WHITEBOARD,
    Choose(
        id="12-layout",
        asks="A warp walks down one column of a tile of 32 × 32 words. In which of these layouts "
        "do all lanes hit the same bank?",
        choices=(
            Choice("`32 * row + col`", "Rows begin 32 words apart, which is 0 banks.", right=True),
            Choice(
                "`33 * row + col`", "Rows begin 33 words apart, so each row uses the next bank."
            ),
            Choice(
                "`32 * row + (col ^ row)`",
                "The number of the row decides where in that row an element is.",
            ),
            Choice("In none of them.", "In one of them, every lane has the same bank. Which one?"),
        ),
        reveal="In the first one. A **layout** is a function that maps coordinates to a place. "
        "Padding and swizzling are two other such functions, and the code that calls them stays "
        "as it is.",
        spoilers=("and the code that calls them stays",),
    ),
    Choose(
        id="12-no-gain",
        asks="Lesson 00. Which of these kernels gains nothing from shared memory?",
        hint="In which kernel is a value used twice, or does a warp walk down a column?",
        choices=(
            Choice(
                "a matrix product",
                "Every value of A is used for a whole row of C. This is the model case.",
            ),
            Choice(
                "a transpose",
                "It uses no value twice, but it gains all the same: through a tile, both its "
                "loads and its stores become coalesced.",
            ),
            Choice(
                "the sum of two matrices",
                "Each value is used once, by the thread that fetched it, and neighbours already "
                "read side by side. A detour through shared memory only adds work.",
                right=True,
            ),
            Choice(
                "a blur that averages each pixel's neighbours",
                "Neighbouring outputs share most of their inputs, so a tile is used many times.",
            ),
        ),
    ),
    Number(
        id="12-naive",
        asks="Lessons 01 and 02. What is the intensity of the naive float32 matmul, in FLOP per "
        "requested byte?",
        value=lambda: tile_intensity(1),
        unit="FLOP/byte",
        why="One multiply–add is 2 FLOP, and it requests two float32 numbers of 4 bytes: 2 / 8 = "
        "{answer}.",
        other="Take a single step of k. How many FLOP does it do, and how many bytes does it "
        "request?",
        hint="One multiply–add needs two numbers of 4 bytes.",
        slips=(
            Trap(lambda: 1, "You will read that in places. Count the bytes of both operands."),
            Trap(lambda: 0.5, "That would be one operand, or a multiply–add counted as 4 FLOP."),
            Trap(lambda: 0.125, "A multiply–add is two FLOP, not one."),
        ),
    ),
    Number(
        id="12-sectors",
        asks="Lesson 03. The 32 lanes of a warp read `A[row, 7]` of a row-major float32 matrix "
        "with 1024 columns; each lane has a different row. How many sectors does this request "
        "touch?",
        value=lambda: sectors([4 * (1024 * lane + 7) for lane in range(32)]),
        unit="sectors",
        why="Rows begin 4096 bytes apart, so every lane needs a sector of its own: {answer} "
        "sectors. They move 1024 bytes, of which 128 are used.",
        other="A sector is 32 contiguous bytes. How far apart are the elements of two lanes?",
        hint="A row of 1024 floats is 4096 bytes long, and a sector is far less than that.",
        slips=(
            Trap(lambda: 4, "That is for 32 neighbours. These are not neighbours."),
            Trap(lambda: 1, "That is a broadcast, when all lanes want the same element."),
        ),
    ),
    Choose(
        id="12-steps",
        asks="Lesson 04. Why does a block walk along K in steps?",
        hint="How many bytes does a strip of 32 rows take at K = 4096? What is kept from one step "
        "to the next?",
        choices=(
            Choice(
                "Because whole strips of A and B do not fit into shared memory.",
                "At K = 4096, a strip of 32 rows is 512 KiB. (Steps have a second use later: the "
                "next tile can be on its way while this one is multiplied.)",
                right=True,
            ),
            Choice(
                "Because it lowers the number of FLOP.",
                "The FLOP stay the same. Tiling changes how numbers move, not what is computed.",
            ),
            Choice(
                "Because a longer step would lower the intensity.",
                "The step BK does not appear in the intensity at all. It only sets how much is "
                "staged at once.",
            ),
            Choice(
                "Because the totals would overflow their registers.",
                "Each thread holds one total in one register from the first step to the last.",
            ),
        ),
    ),
    WhichLine(
        id="12-guard",
        asks="Lesson 05. This kernel is right for sizes that are multiples of 16, and reads "
        "outside an array at 20 × 20. Which line does it?",
        code=EDGES,
        line="sB[ty, tx] =",
        proof=line_with_the_wrong_guard,
        hint="For each of the three guards: does it test the indices that its line uses?",
        why="The line loads from row `start + ty` of B, but the guard tests `start + tx`. Each "
        "guard has to test the indices that its own line uses.",
        innocent="This line is right. Compare each guard with the indices that it guards.",
    ),
    Choose(
        id="12-one-and-a-half",
        asks="Lesson 05b. Tiling divided the requested bytes by 32. On an A6000 the time fell by "
        "1.5 (S. Boehm's kernels, CUDA C++). Why so little?",
        hint="How many of the requested bytes had come from DRAM before?",
        choices=(
            Choice(
                "Bank conflicts cancelled the rest of the gain.",
                "The plain tiled kernel has none: its lanes read neighbours, or all of them read "
                "one word.",
            ),
            Choice(
                "DRAM traffic fell 32 times, too, and now the multipliers are busy.",
                "It could not: under 2 % of the requests had ever reached DRAM. And the kernel "
                "runs at 7.7 % of peak.",
            ),
            Choice(
                "Before, the caches already reused the data, and two loads per multiply–add from "
                "L1 became nearly as many from shared memory.",
                "It is the same SRAM, with one data path. What helps is fewer loads per "
                "multiply–add: register tiling.",
                right=True,
            ),
            Choice(
                "66.7 % occupancy holds it back.",
                "The next two rungs have 66.7 and 33.3 %, and they are 2.8 and 5.4 times as fast.",
            ),
        ),
    ),
    Number(
        id="12-requested",
        asks="Lesson 05. M = N = K = 4096 and tiles of 32 × 32. How often is each element of A "
        "requested from global memory, by all blocks together?",
        value=lambda: requested_bytes((4096,) * 3, (32, 32)) / 4 / 2 / 4096**2,
        unit="times",
        why="Each block of its row of blocks requests it once: 4096 / 32 = {answer} times. It is "
        "not one time, because the tiles of a block are gone when the block ends.",
        other="Which blocks need this element, and how often does each of them request it?",
        hint="The element is needed by the blocks of one row of tiles of C.",
        slips=(
            Trap(lambda: 1, "Each block requests it once. How many blocks need it?"),
            Trap(lambda: 32, "That is how often one block uses it after one request."),
            Trap(
                lambda: 4096, "That would be without tiles: one request for each output of its row."
            ),
        ),
    ),
    Number(
        id="12-h100",
        asks="Lesson 06. An H100 holds 64 warps per SM. Blocks have 1024 threads with 37 registers "
        "each, and 8 KiB of shared memory. What is the theoretical occupancy?",
        value=lambda: _h100_share(37),
        unit="%",
        within=0.01,
        why="37 × 32 = 1184, rounded up to 1280; 12 warps in each sub-partition, 48 in all, and a "
        "block has 32. So only one block fits: {answer} %. With 32 registers per thread, two "
        "would fit.",
        other="The limit of warps allows two blocks. How many blocks do the registers allow, with "
        "1280 for each warp?",
        hint="65,536 registers are four files of 16,384. How many warps of 1280 fit into each?",
        slips=(
            Trap(lambda: 200 / 3, "That is this launch on an A6000, which holds 48 warps."),
            Trap(
                lambda: _h100_share(32),
                "With 32 registers, yes. With 37, fewer blocks fit.",
            ),
        ),
    ),
    Number(
        id="12-stride",
        asks="Lesson 07. The lanes of a warp read shared memory with a stride of 24 floats. How "
        "many wavefronts does the access take?",
        value=lambda: gcd(24, 32),
        unit="wavefronts",
        why="The degree of a conflict is gcd(stride, 32): gcd(24, 32) = {answer}.",
        other="Which banks do lanes 0, 1, 2, … use? After how many lanes does a bank repeat?",
        hint="Lane 4 is 96 words further than lane 0. Which bank is that?",
        slips=(
            Trap(lambda: 24, "The stride is not the degree. Which factor does it share with 32?"),
            Trap(lambda: 1, "That holds for odd strides."),
            Trap(lambda: 32, "That takes a stride which is a multiple of 32."),
        ),
    ),
    FillIn(
        id="12-padding",
        asks="Lesson 07. `tile = cuda.shared.array((32, 32), float32)` in a transpose: a warp "
        "walks down a column, and all its accesses go to one bank. Which shape avoids that? Write "
        "the tuple.",
        accepts=("(32, 33)", "32, 33", "(32,33)"),
        why="Rows of 33 words put the elements of a column into 32 different banks. In a plain "
        "matmul, no warp walks down a column, so the same +1 only does harm.",
        other="The bank of `tile[y, x]` is (width · y + x) mod 32. With which width does the bank "
        "change with y?",
        misread=(
            Misread(
                ("(33, 32)", "33, 32"),
                "One row more changes nothing: the rows still begin 32 words apart.",
            ),
            Misread(
                ("(33, 33)", "33, 33"),
                "The second 33 does the work. The first only adds a row that is never used.",
            ),
        ),
        hint="Add one to the width or to the height, and work out the bank of `tile[1, 0]`.",
    ),
    Choose(
        id="12-h100-bound",
        asks="All lessons. At T = 32, is the plain tiled float32 kernel compute-bound on an H100?",
        hint="Compare 8 FLOP per requested byte with the ridge of float32.",
        choices=(
            Choice(
                "Yes: 8 FLOP per byte is beyond its ridge.",
                f"Its FP32 ridge is {device('H100').ridge_fp32:.0f}. Lower ones exist, but none "
                "in our table lies below 8.",
            ),
            Choice(
                "No: its 8 FLOP per requested byte are left of the ridge at 20, and shared memory "
                "is the limit before DRAM is.",
                "T = 80 would reach the ridge, but that takes several outputs per thread. Until "
                "then, each multiply–add needs too many loads from shared memory.",
                right=True,
            ),
            Choice(
                "No: the ridge of an H100 is 295.",
                "That is the ridge of its BF16 tensor cores. A float32 kernel does not use them; "
                "its own ridge is 20. Always say which ridge you mean.",
            ),
            Choice(
                "Yes, since shared memory is ten times as fast as DRAM.",
                "It is, but the kernel requests more than ten times as much from it: 1.25 to 2 "
                "loads for every multiply–add.",
            ),
        ),
    ),
    Number(
        id="12-eight-by-eight",
        asks="Lesson 08. A thread that owns 8 × 8 outputs loads 8 values of A and 8 of B in a "
        "step of k. How many loads is that for each multiply–add?",
        value=lambda: loads_per_multiply_add(8, 8),
        unit="loads",
        why="16 loads for 64 multiply–adds: {answer}. With one output it was 2.",
        other="There are 8 + 8 loads, and each of the 8 values is multiplied by each of the other "
        "8.",
        hint="Draw an 8 × 8 square with its 8 values on the left and its 8 values on top.",
        slips=(
            Trap(lambda: 1 / 8, "Two sides are loaded, 8 + 8, for 64 multiply–adds."),
            Trap(
                lambda: loads_per_multiply_add(8, 1),
                "That is a column of 8 outputs: 9 loads for 8 multiply–adds.",
            ),
            Trap(
                lambda: 4, "This is the other way round: the number of multiply–adds for each load."
            ),
        ),
    ),
    Choose(
        id="12-fewer-warps",
        asks="Lesson 08. On an H200 `register_2d` keeps a quarter of the warps of `tiled` on an "
        "SM, and is four times as fast (both in Numba). How can that be?",
        hint="What does a warp have to do while a result of its own is on its way?",
        choices=(
            Choice(
                "Fewer warps mean fewer bank conflicts.",
                "Conflicts happen within one access of one warp. How many others there are does "
                "not matter.",
            ),
            Choice(
                "Each thread has 64 sums that do not wait for one another, and needs few loads.",
                "Other warps are one way to hide a wait, and independent work in the same thread "
                "is another.",
                right=True,
            ),
            Choice(
                "Its blocks are smaller, so more of them fit.",
                "Because of its registers, fewer blocks fit. Count them.",
            ),
        ),
    ),
    Choose(
        id="12-wide",
        asks="Lesson 09. The 4-byte loads of a kernel are replaced by 16-byte loads. Before and "
        "after, neighbouring lanes read neighbouring data. What falls to a quarter?",
        hint="A sector has 32 bytes, however it is requested.",
        choices=(
            Choice("The bytes.", "The same numbers are needed."),
            Choice("The sectors.", "The same bytes lie in the same sectors."),
            Choice(
                "The instructions.",
                "One request replaces four, and only one address has to be computed. That is "
                "worth a lot if issue slots are scarce.",
                right=True,
            ),
            Choice(
                "The wavefronts through shared memory.",
                "A wavefront moves 128 bytes, so 16 bytes per lane take four.",
            ),
        ),
    ),
    Choose(
        id="12-in-the-background",
        asks="Lesson 09b. Thread 0 has started a copy with `cp_async16`, and thread 1 will read "
        "the result. What has to come in between?",
        hint="Who knows whether a copy has arrived, and who tells the others?",
        choices=(
            Choice(
                "A barrier.",
                "A barrier waits for threads, and thread 0 has done its part: it has started the "
                "copy.",
            ),
            Choice(
                "`cp_async_wait` in thread 1, then nothing.",
                "That waits for the copies that thread 1 started itself.",
            ),
            Choice(
                "`cp_async_wait` in thread 0, then a barrier.",
                "Wait, then barrier, then read.",
                right=True,
            ),
        ),
    ),
    Number(
        id="12-fragment",
        asks="Lesson 10. An `mma` m16n8k16 multiplies 16 × 16 elements of A, 16 bits each. How "
        "many registers of A does a lane hold?",
        value=lambda: 16 * 16 * 2 / 4 / 32,
        unit="registers",
        why="256 numbers for 32 lanes are 8 per lane, and two fit into a register: {answer}.",
        other="How many numbers does A have, how many of them belong to a lane, and how long is "
        "each?",
        hint="A register has 32 bits.",
        slips=(
            Trap(lambda: 8, "That is how many numbers. Two of them share a register."),
            Trap(lambda: 2, "That is B, which is half as large."),
        ),
    ),
    Choose(
        id="12-producers",
        asks="Lesson 10b. On Hopper, one warp only fetches: it asks the copy engine (TMA) for "
        "tiles, one stage after another. The other warps only multiply. What must the fetching "
        "warp wait for before it fills a stage again?",
        hint="Lesson 05 had two barriers for two races. Which one is this?",
        choices=(
            Choice(
                "Until the bytes that it asked for have arrived.",
                "The others wait for that. The fetching warp only asks.",
            ),
            Choice(
                "Until all warps that multiply have read what is there.",
                "An mbarrier counts them. It is the second barrier of lesson 05, for one stage.",
                right=True,
            ),
            Choice(
                "For nothing: the engine fetches in order.",
                "It does, but it would overwrite numbers that are still being read.",
            ),
        ),
    ),
    Choose(
        id="12-error",
        asks="Lesson 10. float16 and bfloat16 both have 16 bits, and sums are float32 in both. "
        "Which product has the larger error, and why?",
        hint="How many bits does each format use for the fraction?",
        choices=(
            Choice(
                "bfloat16: it keeps 7 bits of the fraction, and float16 keeps 10.",
                "With three bits fewer, the error is eight times as large. This is the price of "
                "float32's range.",
                right=True,
            ),
            Choice(
                "float16: it overflows beyond 65,504.",
                "It does, and then there is no number at all. Below that it is more accurate.",
            ),
            Choice("Neither: the sums decide.", "The inputs were rounded before the first sum."),
        ),
    ),
    Number(
        id="12-rescale",
        asks="Lesson 11. So far the largest score is 2, and the next tile contains a 4. By which "
        "factor does the kernel multiply the sum of the weights so far?",
        value=lambda: exp(2 - 4),
        unit="",
        within=0.03,
        why="By exp(2 − 4) = {answer}: all older weights were too large by the same factor.",
        other="A weight is exp(score − largest). What becomes of it if the largest grows by 2?",
        hint="It is less than 1. Which number's exp is it?",
        slips=(
            Trap(lambda: exp(2), "The other way round: older weights shrink."),
            Trap(lambda: 0.5, "Not the quotient of the scores: exp(a) / exp(b) is exp(a − b)."),
        ),
    ),
    Number(
        id="12-unfused",
        asks="Lesson 11. There are 8192 tokens, and d is 64. Three kernels write and read the "
        "scores and the weights, and a single kernel keeps them on the chip. How many times as "
        "many bytes as the single kernel do the three move?",
        value=lambda: 1 + 8192 / 64,
        unit="times",
        within=0.02,
        why="The three kernels move four matrices of N × N and four of N × d, and the single one "
        "moves only the latter: 1 + N/d = {answer}.",
        other="Count the matrices of N × N and those of N × d that are moved.",
        hint="How many times as large as Q is the matrix of scores?",
        slips=(Trap(lambda: 64, "That is d. And N over d?"),),
    ),
    Number(
        id="12-merge",
        asks="Lesson 11b. Two blocks share the keys of a query. The log-sum-exp of the first "
        "block is 3, and that of the second block is 1. Which share of the whole result does the "
        "output of the first block have?",
        value=lambda: 100 * exp(3) / (exp(3) + exp(1)),
        unit="%",
        within=0.02,
        why="The weights are exp(3) and exp(1), so the first one has {answer} %: softmax(L) @ O.",
        other="L is a logarithm. Of which sum, and how much is that in each block?",
        hint="Which operation turns 3 and 1 into shares that add up to 1?",
        slips=(
            Trap(lambda: 75, "That weighs with L itself. L is the logarithm of a sum of weights."),
            Trap(lambda: 50, "Both parts are complete, but their keys do not match equally well."),
        ),
    ),
    Choose(
        id="12-production",
        asks="Your service needs `relu(A @ B + bias)` in BF16 on an H100, as fast as possible. "
        "What do you try first?",
        hint="Whose kernel is already at the top of the ladder, and what may it do at the end?",
        choices=(
            Choice(
                "The kernel of lesson 05, since it is ours and understood.",
                "Without tensor cores it starts at a few percent of what the chip can do.",
            ),
            Choice(
                "A library product with an epilogue that adds the bias and applies ReLU.",
                "Libraries offer such epilogues. The product stays theirs, and C is written once. "
                "Write your own only where no library can fuse what you need.",
                right=True,
            ),
            Choice(
                "The library for the product, then two small kernels for bias and relu.",
                "Right, and not much slower. But each small kernel reads and writes all of C "
                "again.",
            ),
            Choice(
                "A kernel of our own with wgmma and TMA.",
                "It can be done, but takes weeks. First try somebody else's years of work.",
            ),
        ),
    ),
)
