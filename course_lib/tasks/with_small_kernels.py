"""What a product takes if small kernels follow it over its result: a plain function."""

from course_lib.registry.exercise import Task, Values, WrongIdea
from course_lib.registry.kinds import FUNCTION

TASK = Task(
    id="with_small_kernels",
    title="A product, and small kernels after it",
    lesson="12",
    position=2,
    kind=FUNCTION,
    parameters=("product_ms", "mb", "gb_per_s", "kernels"),
    reference=lambda product_ms, mb, gb_per_s, kernels: product_ms + kernels * 2 * mb / gb_per_s,
    arguments=(
        (1, 100, 2000, 1),
        (1, 100, 2000, 2),
        (5, 100, 2000, 0),
        (0.2, 32, 4000, 2),
        (0.2, 64, 4000, 3),
        (10, 400, 800, 1),
        (2, 50, 1000, 4),
        (3, 16, 320, 2),
        (0.5, 8, 320, 1),
    ),
    values=Values(
        gives="ms",
        along="small kernels after the product",
        at=(0, 1, 2, 3, 4),
        rows={"0.2 ms, 32 MB at 4000 GB/s": lambda kernels: (0.2, 32, 4000, kernels)},
        shows="Each small kernel costs the same, however little it computes.",
        look="bars",
    ),
    wrong_ideas=(
        WrongIdea(
            lambda product_ms, mb, gb_per_s, kernels: product_ms + kernels * mb / gb_per_s,
            "in your formula, each small kernel moves the result only once",
            "After a small kernel has read every number of the result, what does it do with them?",
        ),
        WrongIdea(
            lambda product_ms, mb, gb_per_s, kernels: product_ms + 2 * mb / gb_per_s,
            "you count a single small kernel, however many there are",
            "Where does your formula use the number of kernels?",
        ),
        WrongIdea(
            lambda product_ms, mb, gb_per_s, kernels: kernels * 2 * mb / gb_per_s,
            "you left out the time of the product",
            "Which kernel runs before the small kernels?",
        ),
        WrongIdea(
            lambda product_ms, mb, gb_per_s, kernels: (product_ms + 2 * mb / gb_per_s) * kernels,
            "you count the product once for each small kernel",
            "How many times is the product computed?",
        ),
        WrongIdea(
            lambda product_ms, mb, gb_per_s, kernels: (
                product_ms + kernels * 2 * mb / gb_per_s / 1000
            ),
            "you divide by 1000, but MB divided by GB/s already gives milliseconds",
            "How many milliseconds do 100 MB take at 1000 GB/s?",
        ),
        WrongIdea(
            lambda product_ms, mb, gb_per_s, kernels: product_ms + kernels * 2 * gb_per_s / mb,
            "you divide the bandwidth by the bytes, so a larger result would take less time",
            "Does a larger result take more time, or less?",
        ),
        WrongIdea(
            lambda product_ms, mb, gb_per_s, kernels: product_ms + (kernels + 1) * mb / gb_per_s,
            "for each small kernel, you count only the read or only the write",
            "Each small kernel reads the result and writes it back. Which of the two does your "
            "formula leave out?",
        ),
    ),
    hints=(
        "A small kernel reads every number of the result once, and writes it once.",
        "If you divide MB by GB/s, you get milliseconds.",
    ),
    given='''\
def with_small_kernels(product_ms, mb, gb_per_s, kernels):
    """Return how many milliseconds a product and the small kernels after it take. The product takes
    `product_ms`. Each of `kernels` small kernels reads the result of `mb` MB from DRAM and writes
    it back, at `gb_per_s` GB/s."""
    ...
''',
    answer='''\
def with_small_kernels(product_ms, mb, gb_per_s, kernels):
    """Return how many milliseconds a product and the small kernels after it take. The product takes
    `product_ms`. Each of `kernels` small kernels reads the result of `mb` MB from DRAM and writes
    it back, at `gb_per_s` GB/s."""
    return product_ms + kernels * 2 * mb / gb_per_s
''',
    another='''\
def with_small_kernels(product_ms, mb, gb_per_s, kernels):
    """Return how many milliseconds a product and the small kernels after it take. The product takes
    `product_ms`. Each of `kernels` small kernels reads the result of `mb` MB from DRAM and writes
    it back, at `gb_per_s` GB/s."""
    there_and_back = (mb + mb) / gb_per_s
    total = product_ms
    for _ in range(kernels):
        total += there_and_back
    return total
''',
    compared="This version adds up the time kernel by kernel.",
    par=1,
    meaning="If you **fuse** the small kernels with the product, each number is finished before it "
    "is stored, which saves all the extra trips to DRAM.",
)
