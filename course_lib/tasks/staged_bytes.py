"""How many bytes a product asks for whose blocks stage each tile once: a plain function."""

from course_lib.registry.exercise import Task, Values, WrongIdea
from course_lib.registry.kinds import FUNCTION

_PER_BLOCK = "How many blocks need the same rows of A, and how many need the same columns of B?"

TASK = Task(
    id="staged_bytes",
    title="Once for each block",
    lesson="04",
    position=4,
    kind=FUNCTION,
    parameters=("M", "N", "K", "BM", "BN", "BK"),
    reference=lambda M, N, K, BM, BN, BK: 4 * (M * K * (N // BN) + K * N * (M // BM)),
    arguments=(
        (4, 4, 4, 4, 4, 2),
        (8, 8, 8, 4, 4, 2),
        (8, 12, 4, 4, 4, 4),
        (64, 96, 32, 16, 16, 8),
        (64, 96, 32, 32, 16, 8),
        (128, 64, 48, 64, 32, 16),
        (96, 64, 32, 16, 32, 4),
    ),
    values=Values(
        gives="bytes asked for",
        along="T = BM = BN = BK, with M = N = K = 1024",
        at=(1, 2, 4, 8, 16, 32),
        rows={"bytes": lambda edge: (1024, 1024, 1024, edge, edge, edge)},
        shows="If the edge of a tile is twice as long, the blocks request half as many bytes.",
        look="bars",
        unit="bytes",
    ),
    wrong_ideas=(
        WrongIdea(
            lambda M, N, K, BM, BN, BK: 8 * M * N * K,
            "you computed the bytes that the kernel without tiles requests",
            "How many numbers does one block load in one step if it loads each number once?",
        ),
        WrongIdea(
            lambda M, N, K, BM, BN, BK: 4 * (M * K * (N // BN) + K * N * (M // BM) + M * N),
            "you also count C, which is stored once and never loaded",
            "Which matrices does a block load from?",
        ),
        WrongIdea(
            lambda M, N, K, BM, BN, BK: 4 * (M * K + K * N),
            "you computed how many bytes A and B take up, but several blocks load each of their "
            "numbers",
            _PER_BLOCK,
        ),
        WrongIdea(
            lambda M, N, K, BM, BN, BK: 4 * (BM * BK + BK * BN),
            "you computed the bytes that one block loads in one step",
            "How many steps does a block take, and how many blocks are there?",
        ),
        WrongIdea(
            lambda M, N, K, BM, BN, BK: 4 * (BM * K + K * BN),
            "you computed the bytes that a single block loads",
            "How many blocks does it take to cover C?",
        ),
        WrongIdea(
            lambda M, N, K, BM, BN, BK: 4 * (BM * BK + BK * BN) * (M // BM) * (N // BN),
            "you computed the bytes that all blocks load in a single step",
            "How many steps does a block take along K?",
        ),
        WrongIdea(
            lambda M, N, K, BM, BN, BK: 4 * (M * K * (M // BM) + K * N * (N // BN)),
            "you swapped the number of blocks that load each element of A and the number of "
            "blocks that load each element of B",
            _PER_BLOCK,
            place=("M",),
        ),
        WrongIdea(
            lambda M, N, K, BM, BN, BK: M * K * (N // BN) + K * N * (M // BM),
            "you counted numbers instead of bytes",
            "How many bytes does a float32 take up?",
        ),
        WrongIdea(
            lambda M, N, K, BM, BN, BK: 4 * (M * K + K * N) * (M // BM) * (N // BN),
            "you assume that every block loads all of A and all of B",
            "Which rows of A does a block need?",
        ),
        WrongIdea(
            lambda M, N, K, BM, BN, BK: 4 * M * K * (N // BN),
            "you count only A",
            "How many bytes of B do the blocks load?",
        ),
        WrongIdea(
            lambda M, N, K, BM, BN, BK: 8 * M * N * K // (BM * BN),
            "you divide by the number of elements in a whole tile of C",
            _PER_BLOCK,
        ),
        WrongIdea(
            lambda M, N, K, BM, BN, BK: 4 * (M // BM) * (N // BN) * K * (BM * BK + BK * BN),
            "you count K steps, as if k grew by only 1 in each step",
            "By how much does k grow from one step to the next?",
        ),
        WrongIdea(
            lambda M, N, K, BM, BN, BK: 4 * (M // BM) * (N // BN) * (K // BK) * BM * BK * BK * BN,
            "you multiply the sizes of the two tiles",
            "How many numbers are in a tile of A and a tile of B together?",
        ),
    ),
    hints=(
        "How many numbers does one block load in one step along K?",
        "How many steps does a block take, and how many blocks cover C?",
    ),
    given='''\
def staged_bytes(M, N, K, BM, BN, BK):
    """Return how many bytes of A and B all blocks load, as an int, if each block loads its tiles
    once. A is M × K and B is K × N, both in float32. A tile of A is BM × BK, a tile of B is BK ×
    BN, and all sizes divide evenly."""
    ...
''',
    answer='''\
def staged_bytes(M, N, K, BM, BN, BK):
    """Return how many bytes of A and B all blocks load, as an int, if each block loads its tiles
    once. A is M × K and B is K × N, both in float32. A tile of A is BM × BK, a tile of B is BK ×
    BN, and all sizes divide evenly."""
    blocks = (M // BM) * (N // BN)
    return 4 * blocks * (K // BK) * (BM * BK + BK * BN)
''',
    another='''\
def staged_bytes(M, N, K, BM, BN, BK):
    """Return how many bytes of A and B all blocks load, as an int, if each block loads its tiles
    once. A is M × K and B is K × N, both in float32. A tile of A is BM × BK, a tile of B is BK ×
    BN, and all sizes divide evenly."""
    return 4 * (M * K * (N // BN) + K * N * (M // BM))
''',
    compared="This version counts how often each element is loaded.",
    par=2,
    meaning="Each element of A is loaded N / BN times, and each element of B is loaded M / BM "
    "times. **BK cancels.**",
)
