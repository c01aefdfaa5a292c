"""How many bytes the loads of the naive matmul ask for: a plain function."""

from course_lib.registry.exercise import Task, Values, WrongIdea
from course_lib.registry.kinds import FUNCTION

TASK = Task(
    id="requested_bytes",
    title="Count the bytes that the loads request",
    lesson="02",
    position=4,
    kind=FUNCTION,
    parameters=("M", "N", "K"),
    reference=lambda M, N, K: 8 * M * N * K,
    arguments=((1, 1, 1), (2, 3, 5), (64, 96, 32), (50, 30, 20), (1, 7, 4), (4096, 4096, 4096)),
    values=Values(
        gives="bytes asked for",
        along="M = N = K",
        at=(256, 512, 1024, 2048, 4096),
        rows={"bytes": lambda size: (size, size, size)},
        shows="If M, N and K are twice as large, the loads request eight times as many bytes.",
        look="bars",
        unit="bytes",
    ),
    wrong_ideas=(
        WrongIdea(
            lambda M, N, K: 4 * (M * K + K * N),
            "you computed how many bytes A and B take up, but the kernel loads each of their "
            "numbers many times",
            "How many numbers does one thread load, and how many threads are there?",
        ),
        WrongIdea(
            lambda M, N, K: 4 * (M * K + K * N + M * N),
            "you computed how many bytes A, B and C take up, but the kernel loads each number of A "
            "and B many times",
            "How many numbers does one thread load, and how many threads are there?",
        ),
        WrongIdea(
            lambda M, N, K: 2 * M * N * K,
            "you counted numbers instead of bytes",
            "How many bytes does a float32 take up?",
        ),
        WrongIdea(
            lambda M, N, K: 4 * M * N * K,
            "you counted only half of the bytes",
            "How many loads does the line inside your loop contain?",
        ),
        WrongIdea(
            lambda M, N, K: M * N * K,
            "you counted the multiply-adds, but the task asks for bytes",
            "How many numbers does a thread load for one multiply-add, and how many bytes does "
            "each number take up?",
        ),
        WrongIdea(
            lambda M, N, K: 8 * M * N * K + 4 * M * N,
            "you also counted the stores",
            "How many bytes do the loads alone request?",
        ),
        WrongIdea(
            lambda M, N, K: 16 * M * N * K,
            "you count 8 bytes for each number, but a float32 takes up 4",
            "How many bytes does a float32 take up?",
        ),
        WrongIdea(
            lambda M, N, K: 8 * K,
            "you computed the bytes that a single thread requests",
            "How many threads load numbers?",
        ),
    ),
    hints=(
        "How many iterations does the loop of one thread have, and what does the thread load in "
        "each iteration?",
        "Each of the M·N threads loads the same number of elements.",
        "A float32 has 4 bytes.",
    ),
    given='''\
def requested_bytes(M, N, K):
    """Return how many bytes all loads of your kernel request, if A is M × K and B is K × N, both in
    float32."""
    ...
''',
    answer='''\
def requested_bytes(M, N, K):
    """Return how many bytes all loads of your kernel request, if A is M × K and B is K × N, both in
    float32."""
    return M * N * K * 2 * 4
''',
    another='''\
def requested_bytes(M, N, K):
    """Return how many bytes all loads of your kernel request, if A is M × K and B is K × N, both in
    float32."""
    return 4 * (M * K * N + K * N * M)
''',
    compared="This version starts from the data. Each element of A is requested N times, and each "
    "element of B is requested M times.",
    par=1,
    meaning="The kernel requests 8 bytes for every multiply-add, which is 2 FLOP: **0.25 FLOP per "
    "byte loaded**, whatever the sizes. This counts only the loads; each thread also stores once.",
)
