"""FLOP per byte of a kernel, from what one thread does: a plain function."""

from course_lib.registry.exercise import Task, Values, WrongIdea
from course_lib.registry.kinds import FUNCTION

TASK = Task(
    id="flop_per_byte",
    title="FLOP per byte",
    lesson="01",
    position=1,
    kind=FUNCTION,
    parameters=("flops", "loads", "stores"),
    reference=lambda flops, loads, stores: flops / (4 * (loads + stores)),
    arguments=((1, 2, 1), (2, 3, 1), (1, 1, 1), (16, 1, 1), (7, 5, 2), (3, 1, 4)),
    values=Values(
        gives="FLOP per byte",
        along="FLOP of a thread that stores one number",
        at=(1, 2, 4, 8, 16, 32),
        rows={
            "1 load": lambda flops: (flops, 1, 1),
            "3 loads": lambda flops: (flops, 3, 1),
            "7 loads": lambda flops: (flops, 7, 1),
        },
        shows="The FLOP per byte of a thread double if the thread does twice as many FLOP, or if "
        "it moves half as many bytes.",
    ),
    wrong_ideas=(
        WrongIdea(
            lambda flops, loads, stores: flops / (loads + stores),
            "you computed FLOP per number, but the task asks for FLOP per byte",
            "How many bytes does a float32 take up?",
        ),
        WrongIdea(
            lambda flops, loads, stores: 4 * (loads + stores) / flops,
            "you computed bytes per FLOP, but the task asks for FLOP per byte",
            "For FLOP per byte, do you divide the FLOP by the bytes, or the bytes by the FLOP?",
        ),
        WrongIdea(
            lambda flops, loads, stores: (loads + stores) / flops,
            "you computed numbers per FLOP, but the task asks for FLOP per byte",
            "For FLOP per byte, do you divide the FLOP by the bytes, or the bytes by the FLOP? And "
            "how many bytes does a number take up?",
        ),
        WrongIdea(
            lambda flops, loads, stores: flops / (4 * loads),
            "you left out the bytes of the stores",
            "How many bytes does a store move?",
        ),
        WrongIdea(
            lambda flops, loads, stores: flops / 4 * (loads + stores),
            "in your formula, Python divides by 4 first and only then multiplies",
            "Where does your formula need parentheses?",
        ),
        WrongIdea(
            lambda flops, loads, stores: flops / 4 * loads + stores,
            "in your formula, Python divides by 4 first and only then multiplies",
            "Where does your formula need parentheses?",
        ),
        WrongIdea(
            lambda flops, loads, stores: flops / (4 * loads + stores),
            "you converted only the loads to bytes, not the stores",
            "How many bytes does a store move?",
        ),
        WrongIdea(
            lambda flops, loads, stores: flops / (8 * (loads + stores)),
            "you count 8 bytes for each number, but a float32 takes up 4",
            "How many bytes does a float32 take up?",
        ),
        WrongIdea(
            lambda flops, loads, stores: flops // (4 * (loads + stores)),
            "you used `//`, which drops the fraction",
            "What is 3 / 2, and what is 3 // 2?",
        ),
    ),
    hints=(
        "Count the bytes first. Each load and each store moves a float32, which takes up 4 bytes.",
        "*Per* means *divided by*.",
    ),
    given='''\
def flop_per_byte(flops, loads, stores):
    """Return a thread's FLOP per byte moved. Each load and each store moves one float32."""
    ...
''',
    answer='''\
def flop_per_byte(flops, loads, stores):
    """Return a thread's FLOP per byte moved. Each load and each store moves one float32."""
    return flops / (4 * (loads + stores))
''',
    par=1,
    meaning="FLOP per byte is called the **arithmetic intensity** of a kernel. Multiplied by the "
    "bytes that memory delivers per second, it gives the most FLOP per second that the kernel can "
    "reach.",
)
