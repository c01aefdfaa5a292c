"""The self-test of lesson 12: one question, at least, about every lesson before it."""

from math import gcd

from course_lib.devices import device, occupancy
from course_lib.questions.kinds import Choice, Choose, FillIn, Misread, Number, Slip, WhichLine
from course_lib.questions.runs import line_of, ones, run, sectors
from course_lib.roofline import requested_bytes, tile_intensity

_EDGES = """\
@cuda.jit
def matmul_tiled(A, B, C):
    sA = cuda.shared.array((16, 16), float32)
    sB = cuda.shared.array((16, 16), float32)
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    M, N, K = C.shape[0], C.shape[1], A.shape[1]
    total, start = float32(0), 0
    while start < K:
        sA[ty, tx] = A[row, start + tx] if row < M and start + tx < K else float32(0)
        sB[ty, tx] = B[start + ty, col] if start + tx < K and col < N else float32(0)
        cuda.syncthreads()
        for k in range(16):
            total += sA[ty, k] * sB[k, tx]
        cuda.syncthreads()
        start += 16
    if row < M and col < N:
        C[row, col] = total
"""


def _line_with_the_wrong_guard() -> int:
    profile = run(_EDGES, (2, 2), (16, 16), ones(20, 20), ones(20, 20), ones(20, 20))
    return line_of(profile, "out-of-bounds-read")


def _loads_per_multiply_add(rows: int, columns: int) -> float:
    return (rows + columns) / (rows * columns)


def _h100_share(registers: int) -> float:
    return 100 * occupancy("H100", 1024, registers, 8192).share


QUESTIONS = (
    Choose(
        id="12-no-gain",
        asks="Lesson 00. Which of these kernels gains nothing from shared memory?",
        hint="For each: does anyone use a value twice, and does any warp walk down a column?",
        choices=(
            Choice(
                "a matrix product",
                "Every value of A serves a whole row of C. It is the model case.",
            ),
            Choice(
                "a transpose",
                "Nobody uses a value twice, and still it gains: through a tile, both the reading "
                "and the writing side become coalesced.",
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
        asks="Lessons 01 and 02. The intensity of the naive float32 matmul, in FLOP per requested "
        "byte?",
        value=lambda: tile_intensity(1),
        unit="FLOP/byte",
        why="One multiply–add, 2 FLOP, asks for two float32 of 4 bytes: 2 / 8 = {answer}.",
        other="Take a single step of k: how many FLOP, and how many bytes does it ask for?",
        hint="One multiply–add needs two numbers of 4 bytes.",
        slips=(
            Slip(lambda: 1, "You will read that in places. Count the bytes of both operands."),
            Slip(lambda: 0.5, "That would be one operand, or a multiply–add counted as 4 FLOP."),
            Slip(lambda: 0.125, "A multiply–add is two FLOP, not one."),
        ),
    ),
    Number(
        id="12-sectors",
        asks="Lesson 03. The 32 lanes of a warp read `A[row, 7]` of a row-major float32 matrix "
        "with 1024 columns; each lane has another row. How many sectors does this request touch?",
        value=lambda: sectors([4 * (1024 * lane + 7) for lane in range(32)]),
        unit="sectors",
        why="Rows lie 4096 bytes apart, so every lane needs a box of its own: {answer} sectors, "
        "1024 bytes moved for 128 that are used.",
        other="A sector is 32 bytes of memory in a row. How far apart are two lanes' elements?",
        hint="A row of 1024 floats is 4096 bytes long, and a sector is far less than that.",
        slips=(
            Slip(lambda: 4, "So many for 32 neighbours. These are not neighbours."),
            Slip(lambda: 1, "That is a broadcast, when all lanes want the same element."),
        ),
    ),
    Choose(
        id="12-steps",
        asks="Lesson 04. Why does a block walk along K in steps?",
        hint="How many bytes is a strip of 32 rows at K = 4096? What survives a step?",
        choices=(
            Choice(
                "Because whole strips of A and B do not fit into shared memory.",
                "At K = 4096, a strip of 32 rows is 512 KiB. (Steps have a second use later: the "
                "next tile can be on its way while this one is multiplied.)",
                right=True,
            ),
            Choice(
                "Because it lowers the number of FLOP.",
                "The FLOP stay the same. Tiling moves numbers differently; it computes nothing "
                "differently.",
            ),
            Choice(
                "Because a longer step would lower the intensity.",
                "The step BK does not appear in the intensity at all. It sets how much is staged "
                "at once.",
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
        code=_EDGES,
        line="sB[ty, tx] =",
        proof=_line_with_the_wrong_guard,
        hint="For each of the three guards: does it test the indices that its line uses?",
        why="The load is from row `start + ty` of B, and the guard looks at `start + tx`. Each "
        "guard tests what its own line touches.",
        innocent="This line does what it should. Compare, line by line, the guard with the "
        "indices behind it.",
    ),
    Choose(
        id="12-one-and-a-half",
        asks="Lesson 05. Tiling divided the requested bytes by 32. On an A6000 the time fell by "
        "1.5. Why so little?",
        hint="How many of the requested bytes had come from DRAM before?",
        choices=(
            Choice(
                "Bank conflicts ate the rest.",
                "The plain tiled kernel has none: neighbours, or one word for all.",
            ),
            Choice(
                "DRAM traffic fell 32 times, too, and now the multipliers are busy.",
                "It could not: under 2 % of the requests had ever reached DRAM. And the kernel "
                "runs at 7.7 % of peak.",
            ),
            Choice(
                "The caches had done the reuse before; two loads per multiply–add from L1 became "
                "nearly as many from shared memory.",
                "Same SRAM, same door. What helps is fewer loads per multiply–add, and that is "
                "register tiling.",
                right=True,
            ),
            Choice(
                "66.7 % occupancy holds it back.",
                "The next rungs run at 66.7 and 33.3 %, and 2.8 and 5.4 times as fast.",
            ),
        ),
    ),
    Number(
        id="12-requested",
        asks="Lesson 05. M = N = K = 4096 and tiles of 32 × 32. How often is each element of A "
        "requested from global memory, by all blocks together?",
        value=lambda: requested_bytes((4096,) * 3, (32, 32)) / 4 / 2 / 4096**2,
        unit="times",
        why="Once by each block of its row of blocks: 4096 / 32 = {answer} times. Not once! A "
        "block's tiles are gone when it ends.",
        other="Which blocks need this element, and how often does each of them ask?",
        hint="The element is needed by the blocks of one row of tiles of C.",
        slips=(
            Slip(lambda: 1, "Once per block. How many blocks need it?"),
            Slip(lambda: 32, "So often it is used within one block, for one request."),
            Slip(lambda: 4096, "That was without tiles: once for each output of its row."),
        ),
    ),
    Number(
        id="12-h100",
        asks="Lesson 06. An H100 holds 64 warps per SM. A launch has 1024 threads, 37 registers "
        "each, and 8 KiB of shared memory. Its theoretical occupancy?",
        value=lambda: _h100_share(37),
        unit="%",
        within=0.01,
        why="37 × 32 = 1184, rounded up to 1280; 12 warps in each sub-partition, 48 in all, and a "
        "block has 32. One block: {answer} %. With 32 registers it would be two.",
        other="Two blocks by warps. How many by registers, with 1280 for each warp?",
        hint="65,536 registers are four files of 16,384. How many warps of 1280 fit into each?",
        slips=(
            Slip(lambda: 200 / 3, "That is this launch on an A6000, which holds 48 warps."),
            Slip(lambda: _h100_share(32), "That is 32 registers. 37 are over the cliff."),
        ),
    ),
    Number(
        id="12-stride",
        asks="Lesson 07. The lanes of a warp read shared memory with a stride of 24 floats. How "
        "many passes does the access take?",
        value=lambda: gcd(24, 32),
        unit="passes",
        why="The degree of a conflict is gcd(stride, 32): gcd(24, 32) = {answer}.",
        other="Which banks do lanes 0, 1, 2, … want? After how many lanes does a bank come again?",
        hint="Lane 4 is 96 words further than lane 0. Which bank is that?",
        slips=(
            Slip(lambda: 24, "The stride is not the degree. Which part of it do 32 banks share?"),
            Slip(lambda: 1, "That holds for odd strides."),
            Slip(lambda: 32, "That takes a stride which is a multiple of 32."),
        ),
    ),
    FillIn(
        id="12-padding",
        asks="Lesson 07. `tile = cuda.shared.array((32, 32), float32)` in a transpose: the warp "
        "walks down a column and queues at one bank. Which shape cures it? Write the tuple.",
        accepts=("(32, 33)", "32, 33", "(32,33)"),
        why="Rows of 33 words put the elements of a column into 32 different banks. In a plain "
        "matmul nobody walks down a column, and the same +1 only does harm.",
        other="The bank of `tile[y, x]` is (width · y + x) mod 32. Which width moves it with y?",
        misread=(
            Misread(
                ("(33, 32)", "33, 32"),
                "One row more changes nothing: the rows still begin 32 words apart.",
            ),
            Misread(
                ("(33, 33)", "33, 33"),
                "The second 33 does the work. The first only costs a row that nobody uses.",
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
                "No: its 8 FLOP per requested byte lie left of the ridge at 20, and shared memory "
                "binds before DRAM does.",
                "T = 80 would reach the ridge, and that takes several outputs per thread. Until "
                "then, each multiply–add reaches to the bench too often.",
                right=True,
            ),
            Choice(
                "No: the ridge of an H100 is 295.",
                "That is the ridge of its BF16 tensor cores. A float32 kernel never meets them; "
                "its own ridge is 20. Always say which.",
            ),
            Choice(
                "Yes, since shared memory is ten times as fast as DRAM.",
                "It is, and the kernel asks it for ten times as much and more: 1.25 to 2 loads "
                "for every multiply–add.",
            ),
        ),
    ),
    Number(
        id="12-eight-by-eight",
        asks="What comes next. A thread that owns 8 × 8 outputs picks up 8 values of A and 8 of B "
        "in a step of k. How many loads is that for each multiply–add?",
        value=lambda: _loads_per_multiply_add(8, 8),
        unit="loads",
        why="16 loads for 64 multiply–adds: {answer}. With one output it was 2.",
        other="Loads: 8 + 8. Multiply–adds: every one of the 8 with every other of the 8.",
        hint="Draw an 8 × 8 square with its 8 values on the left and its 8 values on top.",
        slips=(
            Slip(lambda: 1 / 8, "Two sides are loaded, 8 + 8, for 64 multiply–adds."),
            Slip(
                lambda: _loads_per_multiply_add(8, 1),
                "That is a column of 8 outputs: 9 loads for 8 multiply–adds.",
            ),
            Slip(lambda: 4, "The other way round: that many multiply–adds for each load."),
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
                "A library product whose last step adds the bias and cuts at zero.",
                "Libraries offer such endings. The product stays theirs, and C is written once. "
                "Write your own only where no library can fuse what you need.",
                right=True,
            ),
            Choice(
                "The library for the product, then two small kernels for bias and relu.",
                "Right, and not far off. But each small kernel reads and writes all of C again.",
            ),
            Choice(
                "A kernel of our own with wgmma and TMA.",
                "It can be done, and takes weeks. Try first whether somebody's years are for rent.",
            ),
        ),
    ),
)
