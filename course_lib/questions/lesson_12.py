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
        "do all lanes access the same bank?",
        choices=(
            Choice(
                "`32 * row + col`",
                "Rows begin 32 words apart, so they all begin in the same bank.",
                right=True,
            ),
            Choice(
                "`33 * row + col`",
                "Rows begin 33 words apart, so from row to row the column moves to the next bank.",
            ),
            Choice(
                "`32 * row + (col ^ row)`",
                "The number of the row decides in which bank of this row the element is.",
            ),
            Choice(
                "In none of them.",
                "In one of these layouts, every lane has the same bank. Which one?",
            ),
        ),
        reveal="In the first layout. A **layout** is a function that maps coordinates to a place. "
        "Padding and swizzling are two other such functions, and the code that calls them stays "
        "the same.",
        spoilers=("and the code that calls them stays",),
    ),
    Choose(
        id="12-no-gain",
        asks="Lesson 00. Which of these kernels gains nothing from shared memory?",
        hint="For each kernel, ask whether a value is used twice, and whether a warp walks down a "
        "column.",
        choices=(
            Choice(
                "a matrix product",
                "Every value of A is used for a whole row of C. A matrix product is the textbook "
                "case for shared memory.",
            ),
            Choice(
                "a transpose",
                "A transpose uses no value twice, but it gains all the same: with a tile, both its "
                "loads and its stores are coalesced.",
            ),
            Choice(
                "the sum of two matrices",
                "Each value is used once, by the thread that fetched it, and neighbouring threads "
                "already read neighbouring values. A detour through shared memory only adds work.",
                right=True,
            ),
            Choice(
                "a blur that averages each pixel's neighbours",
                "Neighbouring outputs share most of their inputs, so each value in a tile is used "
                "many times.",
            ),
        ),
    ),
    Number(
        id="12-naive",
        asks="Lessons 01 and 02. What is the intensity of the naive float32 matmul, in FLOP per "
        "requested byte?",
        value=lambda: tile_intensity(1),
        unit="FLOP/byte",
        why="One multiply–add does 2 FLOP, and it requests two float32 numbers of 4 bytes each, so "
        "the intensity is 2 / 8 = {answer}.",
        other="How many FLOP does a thread do in a single step along k, and how many bytes does "
        "it request?",
        hint="One multiply–add needs two numbers of 4 bytes.",
        slips=(
            Trap(lambda: 1, "Some texts give this number. Count the bytes of both operands."),
            Trap(
                lambda: 0.5,
                "That would be right for a single operand, or if a multiply–add were 4 FLOP.",
            ),
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
        "sectors. The request moves 1024 bytes, and the warp uses 128 of them.",
        other="A sector is 32 contiguous bytes. How far apart are the elements of two neighbouring "
        "lanes?",
        hint="A row of 1024 floats is 4096 bytes long, and a sector is far less than that.",
        slips=(
            Trap(lambda: 4, "That is right for 32 neighbours. These elements are not neighbours."),
            Trap(lambda: 1, "That would be a broadcast, where all lanes want the same element."),
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
                "At K = 4096, a strip of 32 rows is 512 KiB. (Steps have another use later: while "
                "one tile is multiplied, the next one can be on its way.)",
                right=True,
            ),
            Choice(
                "Because steps lower the number of FLOP.",
                "The FLOP stay the same. Tiling changes how numbers move, not what is computed.",
            ),
            Choice(
                "Because a longer step would lower the intensity.",
                "The length of a step, BK, does not appear in the intensity at all. It only "
                "decides how much is staged at once.",
            ),
            Choice(
                "Because the totals would overflow their registers.",
                "Each thread keeps one total in one register, from the first step to the last.",
            ),
        ),
    ),
    WhichLine(
        id="12-guard",
        asks="Lesson 05. This kernel is right for sizes that are multiples of 16, but for 20 × 20 "
        "it reads outside an array. Which line reads outside the array?",
        code=EDGES,
        line="sB[ty, tx] =",
        proof=line_with_the_wrong_guard,
        hint="There are three guards. Does each of them test the indices that its own line uses?",
        why="The line loads from row `start + ty` of B, but the guard tests `start + tx`. Each "
        "guard has to test the indices that its own line uses.",
        innocent="This line is right. Compare each guard with the indices that it guards.",
    ),
    Choose(
        id="12-one-and-a-half",
        asks="Lesson 05b. Tiling divided the requested bytes by 32. On an A6000, it divided the "
        "time only by 1.5 (S. Boehm's kernels, CUDA C++). Why did the time fall so little?",
        hint="Before tiling, how many of the requested bytes came from DRAM?",
        choices=(
            Choice(
                "Bank conflicts cancelled the rest of the gain.",
                "The plain tiled kernel has no bank conflicts: its lanes read neighbours, or all "
                "of them read one word.",
            ),
            Choice(
                "DRAM traffic fell 32 times, too, and now the multipliers are busy.",
                "DRAM traffic could not fall that much: under 2 % of the requests had ever reached "
                "DRAM. And the kernel runs at 7.7 % of peak.",
            ),
            Choice(
                "The caches had already reused the data before, and two loads per multiply–add "
                "from L1 became nearly as many from shared memory.",
                "L1 and shared memory are the same SRAM, with one data path. Only fewer loads per "
                "multiply–add help, which means register tiling.",
                right=True,
            ),
            Choice(
                "Its occupancy of 66.7 % holds it back.",
                "The next two rungs have occupancies of 66.7 and 33.3 %, and they are 2.8 and 5.4 "
                "times as fast.",
            ),
        ),
    ),
    Number(
        id="12-requested",
        asks="Lesson 05. Let M = N = K = 4096, and let tiles be 32 × 32. How many times is each "
        "element of A requested from global memory, by all blocks together?",
        value=lambda: requested_bytes((4096,) * 3, (32, 32)) / 4 / 2 / 4096**2,
        unit="times",
        why="Each block in one row of blocks requests the element once, which makes 4096 / 32 = "
        "{answer} times. Once in all would not be enough, because the tiles of a block are gone "
        "when the block ends.",
        other="Which blocks need this element, and how often does each of them request it?",
        hint="Only blocks that compute tiles in the same rows of C need the element.",
        slips=(
            Trap(lambda: 1, "Each block requests the element once. How many blocks need it?"),
            Trap(
                lambda: 32,
                "That is how many times one block uses the element after a single request.",
            ),
            Trap(
                lambda: 4096,
                "That would be right without tiles, with one request for each output of its row.",
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
        why="A warp takes 37 × 32 = 1184 registers, rounded up to 1280. So 12 warps fit into each "
        "sub-partition, 48 in all, and a block has 32. Only one block fits, which is {answer} %. "
        "With 32 registers per thread, two blocks would fit.",
        other="The limit of warps allows two blocks. How many blocks do the registers allow, with "
        "1280 for each warp?",
        hint="The 65,536 registers are in four files of 16,384. How many warps with 1280 registers "
        "fit into each file?",
        slips=(
            Trap(lambda: 200 / 3, "That is this launch on an A6000, which holds 48 warps."),
            Trap(
                lambda: _h100_share(32),
                "That is right for 32 registers per thread. With 37, fewer blocks fit.",
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
        hint="Lane 4 reads 96 words further on than lane 0. Which bank is that?",
        slips=(
            Trap(
                lambda: 24,
                "The stride is not the degree of the conflict. Which factor does it share with 32?",
            ),
            Trap(lambda: 1, "That holds for odd strides."),
            Trap(lambda: 32, "That would need a stride that is a multiple of 32."),
        ),
    ),
    FillIn(
        id="12-padding",
        asks="Lesson 07. A transpose uses `tile = cuda.shared.array((32, 32), float32)`. A warp "
        "walks down a column of it, and all its accesses go to one bank. Which shape of the array "
        "avoids that? Write the tuple.",
        accepts=("(32, 33)", "32, 33", "(32,33)"),
        why="Rows of 33 words put the elements of a column into 32 different banks. In a plain "
        "matmul, no warp walks down a column, so padding by one column only does harm.",
        other="The bank of `tile[y, x]` is (width · y + x) mod 32. For which width does the bank "
        "change from row to row?",
        misread=(
            Misread(
                ("(33, 32)", "33, 32"),
                "One more row changes nothing: the rows still begin 32 words apart.",
            ),
            Misread(
                ("(33, 33)", "33, 33"),
                "Only the second 33 helps. The first 33 adds a row that is never used.",
            ),
        ),
        hint="Add one to the width or to the height, and work out the bank of `tile[1, 0]`.",
    ),
    Choose(
        id="12-h100-bound",
        asks="All lessons. At T = 32, is the plain tiled float32 kernel compute-bound on an H100?",
        hint="Compare 8 FLOP per requested byte with the float32 ridge of an H100.",
        choices=(
            Choice(
                "Yes: 8 FLOP per byte is beyond its ridge.",
                f"The FP32 ridge of an H100 is {device('H100').ridge_fp32:.0f}. Other GPUs have "
                f"lower ridges, "
                "but none in our table is below 8.",
            ),
            Choice(
                "No: its 8 FLOP per requested byte are left of the ridge at 20, and shared memory "
                "limits the kernel before DRAM does.",
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
                "Yes: shared memory is ten times as fast as DRAM.",
                "Shared memory is that fast, but the kernel requests more than ten times as much "
                "from it: 1.25 to 2 loads for every multiply–add.",
            ),
        ),
    ),
    Number(
        id="12-eight-by-eight",
        asks="Lesson 08. A thread that owns 8 × 8 outputs loads 8 values of A and 8 of B in each "
        "step along k. How many loads does each multiply–add take?",
        value=lambda: loads_per_multiply_add(8, 8),
        unit="loads",
        why="16 loads serve 64 multiply–adds, so each takes {answer}. With one output per thread, "
        "it was 2.",
        other="There are 8 + 8 loads, and each of the 8 values of A is multiplied by each of the "
        "8 values of B.",
        hint="Draw an 8 × 8 square with its 8 values on the left and its 8 values on top.",
        slips=(
            Trap(
                lambda: 1 / 8,
                "Both sides of the square are loaded, 8 + 8 values, for 64 multiply–adds.",
            ),
            Trap(
                lambda: loads_per_multiply_add(8, 1),
                "That is a column of 8 outputs: 9 loads for 8 multiply–adds.",
            ),
            Trap(
                lambda: 4, "That is the other way round, the number of multiply–adds for each load."
            ),
        ),
    ),
    Choose(
        id="12-fewer-warps",
        asks="Lesson 08. On an H200 `register_2d` keeps a quarter of the warps of `tiled` on an "
        "SM, and is four times as fast (both in Numba). How can that be?",
        hint="While a warp waits for one of its results, what else can it do?",
        choices=(
            Choice(
                "Fewer warps mean fewer bank conflicts.",
                "Conflicts happen within one access of one warp. It does not matter how many other "
                "warps there are.",
            ),
            Choice(
                "Each thread has 64 sums that do not wait for one another, and needs few loads.",
                "Other warps are one way to hide a wait, and independent work within the same "
                "thread is another.",
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
        asks="Lesson 09. The 4-byte loads of a kernel are replaced by 16-byte loads. Neighbouring "
        "lanes read neighbouring data, as before. What falls to a quarter?",
        hint="A sector has 32 bytes, whatever instruction requests it.",
        choices=(
            Choice("The bytes.", "The kernel needs the same numbers as before."),
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
        hint="Which thread can tell that its copy has arrived, and how do the other threads learn "
        "of it?",
        choices=(
            Choice(
                "A barrier.",
                "A barrier waits for threads, and thread 0 has done its part: it has started the "
                "copy.",
            ),
            Choice(
                "`cp_async_wait` in thread 1, then nothing.",
                "This call waits only for copies that thread 1 started itself.",
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
        why="32 lanes share 256 numbers, so each lane has 8 of them. Two fit into a register, so a "
        "lane holds {answer} registers.",
        other="How many numbers does A have, how many of them belong to one lane, and how many "
        "bits does each have?",
        hint="A register has 32 bits.",
        slips=(
            Trap(lambda: 8, "A lane holds that many numbers. Two of them share a register."),
            Trap(lambda: 2, "That is the number for B, which is half as large."),
        ),
    ),
    Choose(
        id="12-producers",
        asks="Lesson 10b. On Hopper, one warp only fetches tiles: it asks the copy engine (TMA) to "
        "fill one stage after another. The other warps only multiply. What must the fetching warp "
        "wait for before it fills a stage again?",
        hint="In lesson 05, two barriers prevented two races. Which of these two races can happen "
        "here?",
        choices=(
            Choice(
                "For the bytes that it asked for",
                "The other warps wait for these bytes. The fetching warp only asks for them.",
            ),
            Choice(
                "For all warps that multiply, until they have read what is in the stage",
                "An mbarrier counts these warps. It does the job of the second barrier of lesson "
                "05, for one stage.",
                right=True,
            ),
            Choice(
                "For nothing, since the engine fetches in order",
                "The engine does fetch in order, but it would overwrite numbers that are still "
                "being read.",
            ),
        ),
    ),
    Choose(
        id="12-error",
        asks="Lesson 10. Both float16 and bfloat16 have 16 bits, and the sums are float32 in both "
        "cases. Which of the two formats gives the larger error, and why?",
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
                "float16 does overflow, and then the result is infinite. For smaller numbers, it "
                "is the more accurate of the two.",
            ),
            Choice("Neither: the sums decide.", "The inputs were rounded before the first sum."),
        ),
    ),
    Number(
        id="12-rescale",
        asks="Lesson 11. So far the largest score is 2, and the next tile contains a 4. By what "
        "factor does the kernel multiply its sum of the weights so far?",
        value=lambda: exp(2 - 4),
        unit="",
        within=0.03,
        why="The factor is exp(2 − 4) = {answer}, because all older weights were too large by the "
        "same factor.",
        other="A weight is exp(score − largest). What happens to this weight if the largest score "
        "grows by 2?",
        hint="The factor is less than 1 and has the form exp(x). What is x?",
        slips=(
            Trap(lambda: exp(2), "It is the other way round: the older weights shrink."),
            Trap(
                lambda: 0.5,
                "The factor is not the quotient of the scores: exp(a) / exp(b) is exp(a − b).",
            ),
        ),
    ),
    Number(
        id="12-unfused",
        asks="Lesson 11. There are 8192 tokens, and d is 64. Three kernels write the scores and "
        "the weights to global memory and read them again. A single kernel keeps them on the "
        "chip. How many times as many bytes as the single kernel do the three kernels move?",
        value=lambda: 1 + 8192 / 64,
        unit="times",
        within=0.02,
        why="The three kernels move four matrices of N × N and four of N × d, and the single "
        "kernel moves only the latter. The ratio is 1 + N/d = {answer}.",
        other="How many matrices of N × N are moved, and how many of N × d?",
        hint="How many times as large as Q is the matrix of scores?",
        slips=(Trap(lambda: 64, "That is d. How large is N compared with d?"),),
    ),
    Number(
        id="12-merge",
        asks="Lesson 11b. Two blocks share the keys of a query. The log-sum-exp of the first "
        "block is 3, and that of the second block is 1. In the merged result, what is the weight "
        "of the first block's output?",
        value=lambda: 100 * exp(3) / (exp(3) + exp(1)),
        unit="%",
        within=0.02,
        why="The weights of the blocks are exp(3) and exp(1), so the first block has a share of "
        "{answer} %. The result is softmax(L) @ O.",
        other="L is the logarithm of a sum. Of which sum, and how large is this sum in each block?",
        hint="Which operation turns 3 and 1 into shares that add up to 1?",
        slips=(
            Trap(
                lambda: 75,
                "That uses L itself as the weight. L is the logarithm of a sum of weights.",
            ),
            Trap(
                lambda: 50,
                "Both parts are complete, but their keys do not match the query equally well.",
            ),
        ),
    ),
    Choose(
        id="12-production",
        asks="Your service needs `relu(A @ B + bias)` in BF16 on an H100, as fast as possible. "
        "What do you try first?",
        hint="Whose kernel is already at the top of the ladder, and what else can that kernel do "
        "at the end?",
        choices=(
            Choice(
                "The kernel of lesson 05, since you wrote it and understand it.",
                "Without tensor cores, that kernel reaches only a few percent of what the chip can "
                "do.",
            ),
            Choice(
                "A library product with an epilogue that adds the bias and applies ReLU.",
                "Libraries offer such epilogues. You keep the library's fast product, and C is "
                "written only once. Write your own kernel only if no library can fuse what you "
                "need.",
                right=True,
            ),
            Choice(
                "The library for the product, then two small kernels for bias and relu.",
                "The result is right, and this is not much slower. But each small kernel reads and "
                "writes all of C again.",
            ),
            Choice(
                "Your own kernel with wgmma and TMA.",
                "That takes weeks. First try somebody else's years of work.",
            ),
        ),
    ),
)
