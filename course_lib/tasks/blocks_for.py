"""How many blocks cover an array: ceiling division, as a plain function."""

from course_lib.registry.exercise import Task, Values, WrongIdea
from course_lib.registry.kinds import FUNCTION

TASK = Task(
    id="blocks_for",
    title="How many blocks?",
    lesson="00",
    position=5,
    kind=FUNCTION,
    parameters=("elements", "threads"),
    reference=lambda elements, threads: -(-elements // threads),
    arguments=((10, 4), (8, 4), (1, 4), (3, 4), (1000, 256), (1024, 256), (7, 1), (257, 256)),
    values=Values(
        gives="blocks",
        along="elements, in blocks of 4 threads",
        at=tuple(range(1, 21)),
        rows={"blocks": lambda elements: (elements, 4)},
        shows="As soon as a single element is left over, one more block is needed.",
        look="bars",
    ),
    wrong_ideas=(
        WrongIdea(
            lambda elements, threads: elements // threads,
            "you round down, so the last elements get no thread",
            "With ten elements and four threads per block, which block works on the last two "
            "elements?",
        ),
        WrongIdea(
            lambda elements, threads: elements // threads + 1,
            "you return one block too many when the elements fill the blocks exactly",
            "With eight elements and four threads per block, what is left for a third block to do?",
        ),
        WrongIdea(
            lambda elements, threads: round(elements / threads),
            "you round to the nearest whole number, which is sometimes too small",
            "Ten elements fill 2.5 blocks of four threads. If you round 2.5 to 2, which elements "
            "have no block?",
        ),
        WrongIdea(
            lambda elements, threads: elements / threads,
            "you returned a fraction, but a launch needs a whole number of blocks",
            "A block must be launched even if only some of its threads have an element. Should you "
            "round up or down?",
        ),
        WrongIdea(
            lambda elements, threads: elements % threads,
            "you returned how many elements are left over, not how many blocks are needed",
            "How many more blocks do the leftover elements need?",
        ),
    ),
    hints=(
        "Ten elements need three blocks of four threads, and so do eleven or twelve elements.",
        "`//` rounds down. What can you add to `elements` first, so that the result is rounded up?",
    ),
    given='''\
def blocks_for(elements, threads):
    """Return the smallest number of blocks of `threads` threads that covers all elements."""
    ...
''',
    answer='''\
def blocks_for(elements, threads):
    """Return the smallest number of blocks of `threads` threads that covers all elements."""
    return (elements + threads - 1) // threads
''',
    another='''\
def blocks_for(elements, threads):
    """Return the smallest number of blocks of `threads` threads that covers all elements."""
    return -(-elements // threads)
''',
    compared="In Python, `//` rounds negative numbers down as well: -10 // 4 is -3.",
    meaning="Rounding up like this is called ceiling division. The host launches enough threads "
    "for all elements, and the guard sends the surplus threads away.",
)
