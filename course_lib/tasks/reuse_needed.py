"""How often a number must be used, so that arithmetic never waits for it: a plain function."""

from course_lib.registry.exercise import Task, Values, WrongIdea
from course_lib.registry.kinds import FUNCTION

TASK = Task(
    id="reuse_needed",
    title="How often each number must serve",
    lesson="12",
    position=1,
    kind=FUNCTION,
    parameters=("tflops", "itemsize", "tb_per_s"),
    reference=lambda tflops, itemsize, tb_per_s: tflops * itemsize / tb_per_s,
    arguments=(
        (20, 4, 8),
        (20, 2, 8),
        (60, 4, 5),
        (66.9, 4, 4.8),
        (66.9, 4, 33.5),
        (989.4, 2, 33.5),
        (989.4, 2, 4.8),
        (8.1, 4, 0.32),
        (65, 2, 0.32),
    ),
    values=Values(
        gives="uses of each number",
        along="TB/s",
        at=(1, 2, 4, 8, 16, 32),
        rows={
            "60 TFLOP/s, 4 bytes": lambda tb_per_s: (60, 4, tb_per_s),
            "60 TFLOP/s, 2 bytes": lambda tb_per_s: (60, 2, tb_per_s),
            "1000 TFLOP/s, 2 bytes": lambda tb_per_s: (1000, 2, tb_per_s),
        },
        shows="A level of memory that is closer to the arithmetic units delivers more numbers per "
        "second, so each number has to serve fewer multiply-adds.",
    ),
    wrong_ideas=(
        WrongIdea(
            lambda tflops, itemsize, tb_per_s: 2 * tflops * itemsize / tb_per_s,
            "you count a multiply-add as one FLOP, but it is two",
            "How many multiply-adds are 20 TFLOP, and how many numbers does each of them need?",
        ),
        WrongIdea(
            lambda tflops, itemsize, tb_per_s: tflops * itemsize / tb_per_s / 2,
            "you count one number for each multiply-add, but a multiply-add needs one number of A "
            "and one of B",
            "How many multiply-adds are 20 TFLOP, and how many numbers does each of them need?",
        ),
        WrongIdea(
            lambda tflops, itemsize, tb_per_s: tflops / tb_per_s,
            "you computed FLOP per byte, but a number has several bytes",
            "How many numbers arrive per second, if each of them takes up `itemsize` bytes?",
        ),
        WrongIdea(
            lambda tflops, itemsize, tb_per_s: tb_per_s / (tflops * itemsize),
            "your fraction is upside down",
            "If more numbers arrive per second, should your function return a larger or a smaller "
            "result?",
        ),
        WrongIdea(
            lambda tflops, itemsize, tb_per_s: tflops / (itemsize * tb_per_s),
            "in your formula, numbers with more bytes have to serve fewer multiply-adds, but fewer "
            "such numbers arrive per second",
            "How many numbers of 2 bytes arrive per second, and how many numbers of 4 bytes?",
        ),
        WrongIdea(
            lambda tflops, itemsize, tb_per_s: tflops * itemsize,
            "you computed how many TB/s the arithmetic units would need if each number served only "
            "one multiply-add",
            "How many TB/s does this level of memory deliver? So how many multiply-adds must each "
            "number serve?",
        ),
    ),
    hints=(
        "A multiply-add is 2 FLOP, and it needs one element of A and one element of B.",
        "Each FLOP needs one number. Without any reuse, how many TB/s would this level of memory "
        "have to deliver?",
        "Divide the TB/s that are needed by the TB/s that are delivered.",
    ),
    given='''\
def reuse_needed(tflops, itemsize, tb_per_s):
    """Return how many multiply-adds each number must serve, so that units with `tflops` TFLOP/s
    never wait. This level of memory delivers `tb_per_s` TB/s, and a number takes up `itemsize`
    bytes."""
    ...
''',
    answer='''\
def reuse_needed(tflops, itemsize, tb_per_s):
    """Return how many multiply-adds each number must serve, so that units with `tflops` TFLOP/s
    never wait. This level of memory delivers `tb_per_s` TB/s, and a number takes up `itemsize`
    bytes."""
    return tflops * itemsize / tb_per_s
''',
    another='''\
def reuse_needed(tflops, itemsize, tb_per_s):
    """Return how many multiply-adds each number must serve, so that units with `tflops` TFLOP/s
    never wait. This level of memory delivers `tb_per_s` TB/s, and a number takes up `itemsize`
    bytes."""
    multiply_adds = tflops / 2
    numbers = tb_per_s / itemsize
    return 2 * multiply_adds / numbers
''',
    compared="This version has a name for the multiply-adds and one for the numbers per second.",
    par=1,
    meaning="In a tile of T × T, each number serves T multiply-adds. So your result is the "
    "smallest T with which this level of memory can keep up.",
)
