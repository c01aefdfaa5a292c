"""Where a piece of 16 bytes lies in a tile, so that neither rows nor columns conflict."""

from course_lib.registry.exercise import Task

GIVEN = '''\
@cuda.jit(device=True)
def piece_at(row, piece):
    """The index at which 16-byte piece 0 to 7 of a row begins. A row has 64 numbers of 16 bits."""
    return row * 64 + piece * 8
'''

TASK = Task(
    id="piece_at",
    title="A place for each piece",
    lesson="10",
    position=4,
    parameters=("A", "B", "C"),
    output="C",
    grid=(1,),
    block=(32,),
    shapes=("16,64", "64,8", "16,8"),
    dtypes={"A": "bfloat16", "B": "bfloat16"},
    reference=lambda A, B: A @ B,
    asks=("float32", "conflict-free"),
    formula="C = A @ B",
    hints=(
        "Suppose that the eight 16-byte pieces of each row are stored in order. In eight rows of "
        "128 bytes, in which banks is piece 0 of each row?",
        "Within a row, the eight 16-byte pieces may be stored in any order. Give each of eight "
        "neighbouring rows a different order.",
        "In lesson 07, `c ^ r` gave each row a different order. A row has eight pieces here, so r "
        "needs only eight values.",
    ),
    given=GIVEN,
    answer=GIVEN.replace("piece * 8", "(piece ^ row % 8) * 8"),
    another=GIVEN.replace("piece * 8", "(piece + row) % 8 * 8"),
    compared="In this version, each row is rotated by one piece more than the row above it. A "
    "rotation avoids conflicts, too, but the hardware of lesson 10b uses XOR.",
    caller='''\
from course_lib.intrinsics import cp_async16, cp_async_commit, cp_async_wait
from course_lib.intrinsics import ldmatrix_x4, mma_m16n8k16_bf16


@cuda.jit(device=True)
def pair(low, high):
    return np.uint32(low | high << 16)


@cuda.jit
def caller(A, B, C):
    """Copies A into a tile, and multiplies it 16 columns at a time."""
    tile = cuda.shared.array((16, 64), np.uint16, alignment=128)
    lane = np.uint32(cuda.threadIdx.x)
    for i in range(lane, 128, 32):
        cp_async16(tile, piece_at(i // 8, i % 8), A, i * 8)
    cp_async_commit()
    cp_async_wait(0)
    cuda.syncthreads()
    g, t = lane // 4, lane % 4
    sums = float32(0), float32(0), float32(0), float32(0)
    for k in range(4):
        a = ldmatrix_x4(tile, piece_at(lane % 16, 2 * k + lane // 16))
        top = 16 * k + 2 * t
        b = pair(B[top, g], B[top + 1, g]), pair(B[top + 8, g], B[top + 9, g])
        sums = mma_m16n8k16_bf16(sums, a, b)
    C[g, 2 * t], C[g, 2 * t + 1] = sums[0], sums[1]
    C[g + 8, 2 * t], C[g + 8, 2 * t + 1] = sums[2], sums[3]
''',
    par=1,
    meaning="Stores along rows and loads down columns move 128 bytes in every wavefront, and no "
    "byte is lost to padding.",
)
