"""How many warps an SM holds if only registers count: what lesson 06 taught, unaided."""

from course_lib.registry.exercise import Task, Values, WrongIdea
from course_lib.registry.kinds import FUNCTION

WARP, MOST_WARPS = 32, 48  # of an A6000
PARTS, REGISTERS, UNIT = 4, 16_384, 256  # sub-partitions, registers of each, and how they are dealt


def _resident(threads: int, registers: int, unit: int = UNIT, parts: int = PARTS) -> int:
    of_a_warp = -(-WARP * registers // unit) * unit
    room = min(MOST_WARPS, parts * (PARTS * REGISTERS // parts // of_a_warp))
    of_a_block = threads // WARP
    return room // of_a_block * of_a_block


TASK = Task(
    id="resident_warps",
    title="How many warps fit?",
    lesson="08",
    position=1,
    kind=FUNCTION,
    parameters=("threads", "registers"),
    reference=_resident,
    arguments=(
        (1024, 38), (256, 96), (256, 128), (512, 43), (64, 255), (256, 16), (512, 80), (1024, 65),
        (128, 100), (96, 33), (256, 250), (128, 32), (32, 120), (32, 144),
    ),
    values=Values(
        gives="warps on an SM",
        along="registers of a thread",
        at=(32, 40, 48, 64, 80, 96, 112, 128, 160, 192, 224, 255),
        rows={
            f"{threads} threads per block": lambda registers, threads=threads: (threads, registers)
            for threads in (64, 256, 512)
        },
        shows="With larger blocks, the number of warps drops in larger steps, because leftover "
        "registers that are too few for a whole block stay unused.",
    ),
    wrong_ideas=(
        WrongIdea(
            lambda threads, registers: min(
                MOST_WARPS, PARTS * (REGISTERS // (-(-WARP * registers // UNIT) * UNIT))
            ),
            "you counted how many single warps would fit, but warps come in whole blocks",
            "How many warps does a block have, and how many such blocks fit?",
        ),
        WrongIdea(
            lambda threads, registers: _resident(threads, registers) * WARP // threads,
            "you returned the number of blocks, but the task asks for warps",
            "How many warps does each block have?",
        ),
        WrongIdea(
            lambda threads, registers: _resident(threads, registers) * WARP,
            "you returned the number of threads, but the task asks for warps",
            "How many threads are in a warp?",
        ),
        WrongIdea(
            lambda threads, registers: (
                PARTS * (REGISTERS // (-(-WARP * registers // UNIT) * UNIT))
                // (threads // WARP) * (threads // WARP)
            ),
            "you counted the warps that the registers allow, but an SM of an A6000 holds at most "
            "48 warps",
            "An SM of an A6000 never holds more than 48 warps, however few registers they take. "
            "Where does your function check this?",
        ),
        WrongIdea(
            lambda threads, registers: _resident(threads, registers, parts=1),
            "you treat the registers as one pool of 65,536, but the SM splits them into four "
            "partitions",
            "How many whole warps fit into the registers of one partition?",
        ),
        WrongIdea(
            lambda threads, registers: _resident(threads, registers, unit=1),
            "you do not round a warp's registers up to a multiple of 256",
            "How many registers does a warp take if each thread has 33?",
        ),
        WrongIdea(
            lambda threads, registers: min(
                MOST_WARPS, PARTS * REGISTERS // (registers * threads) * (threads // WARP)
            ),
            "you take the registers of a whole block from one pool, but each warp takes its "
            "registers from one of four partitions, in units of 256",
            "How many warps fit into one partition?",
        ),
    ),
    hints=(
        "How many registers does one warp take, rounded up to a multiple of 256?",
        "How many warps fit into each of the four partitions? An SM of an A6000 never holds more "
        "than 48 warps in all.",
        "An SM takes a block only as a whole. So first count the blocks that fit, and then return "
        "the number of their warps.",
    ),
    given='''\
def resident_warps(threads, registers):
    """Return how many warps fit on one SM of an A6000. Each block has `threads` threads, and each
    thread has `registers` registers."""
    ...
''',
    answer='''\
def resident_warps(threads, registers):
    """Return how many warps fit on one SM of an A6000. Each block has `threads` threads, and each
    thread has `registers` registers."""
    of_a_warp = (32 * registers + 255) // 256 * 256
    room = min(48, 16_384 // of_a_warp * 4)
    return room // (threads // 32) * (threads // 32)
''',
    another='''\
def resident_warps(threads, registers):
    """Return how many warps fit on one SM of an A6000. Each block has `threads` threads, and each
    thread has `registers` registers."""
    warps = threads // 32
    of_a_warp = (32 * registers + 255) // 256 * 256
    by_warps = 48 // warps
    by_registers = 16_384 // of_a_warp * 4 // warps
    return min(by_warps, by_registers) * warps
''',
    compared="This version works like an occupancy calculator: it computes how many blocks each "
    "limit allows, and takes the smallest number.",
    par=3,
    meaning="You will need this number again for a kernel whose threads have 128 registers each.",
)  # fmt: skip
