"""How many warps keep the schedulers of an SM busy: a plain function."""

from course_lib.registry.exercise import Task, Values, WrongIdea
from course_lib.registry.kinds import FUNCTION

TASK = Task(
    id="warps_needed",
    title="Warps that hide a wait",
    lesson="06",
    position=5,
    kind=FUNCTION,
    parameters=("latency", "independent"),
    reference=lambda latency, independent: 4 * -(-latency // independent),
    arguments=((30, 1), (30, 4), (29, 2), (29, 1), (29, 8), (762, 4), (8, 8), (4, 5), (36, 6)),
    values=Values(
        gives="warps",
        along="independent instructions per warp",
        at=tuple(range(1, 9)),
        rows={
            f"{clocks} clocks": lambda independent, clocks=clocks: (clocks, independent)
            for clocks in (4, 30, 400)
        },
        shows="An SM has room for 32 to 64 warps, depending on the GPU. Which of these waits can "
        "so many warps hide?",
    ),
    wrong_ideas=(
        WrongIdea(
            lambda latency, independent: -(-latency // independent),
            "you returned enough warps for only one scheduler",
            "How many schedulers does an SM have?",
        ),
        WrongIdea(
            lambda latency, independent: -(-4 * latency // independent),
            "you round once for all four schedulers, but each scheduler has its own warps",
            "A scheduler has to fill 29 clocks, and each warp has 8 instructions to issue. How "
            "many warps does the scheduler need?",
        ),
        WrongIdea(
            lambda latency, independent: 4 * (latency // independent),
            "you round down, so each scheduler is idle for a moment",
            "A scheduler has to fill 29 clocks. How many instructions do 14 warps have if each "
            "warp has 2?",
        ),
        WrongIdea(
            lambda latency, independent: 4 * latency // independent,
            "Python evaluates `4 * latency` first, and then the division by `independent` rounds "
            "down",
            "A scheduler has to fill 29 clocks, and each warp has 8 instructions to issue. How "
            "many warps does the scheduler need?",
        ),
        WrongIdea(
            lambda latency, independent: 4 * latency / independent,
            "you returned a fraction, but a number of warps is always whole",
            "Should you round up or down?",
        ),
        WrongIdea(
            lambda latency, independent: 4 * (latency // independent + 1),
            "you return one warp too many for each scheduler if the division leaves no remainder",
            "A scheduler has to fill 30 clocks, and each warp has 1 instruction to issue. What "
            "would a 31st warp do?",
        ),
        WrongIdea(
            lambda latency, independent: 4 * round(latency / independent),
            "you round to the nearest whole number, which is sometimes too small",
            "A scheduler has to fill 29 clocks, and each warp has 8 instructions to issue. Should "
            "you round up or down?",
        ),
        WrongIdea(
            lambda latency, independent: 4 * latency * independent,
            "you multiply by `independent`, but a warp with more instructions fills more of the "
            "wait, so fewer warps are needed",
            "A scheduler has to fill 30 clocks, and each warp has 2 instructions to issue. How "
            "many warps does the scheduler need?",
        ),
        WrongIdea(
            lambda latency, independent: 4 * latency,
            "your formula is right only if each warp has a single instruction",
            "A scheduler has to fill 30 clocks, and each warp has 2 instructions to issue. How "
            "many warps does the scheduler need?",
        ),
        WrongIdea(
            lambda latency, independent: 4 * -(-latency // (independent + 1)),
            "in your formula, each warp has one instruction more than it really has",
            "A scheduler has to fill 30 clocks, and each warp has 1 instruction to issue. How "
            "many warps does the scheduler need?",
        ),
    ),
    hints=(
        "A scheduler issues one instruction per clock. How many instructions can the scheduler "
        "issue during the wait?",
        "Each warp has `independent` instructions to issue. Should you round up or down? Remember, "
        "too, that an SM has four schedulers.",
    ),
    given='''\
def warps_needed(latency, independent):
    """Return how many warps an SM needs, so that each of its four schedulers can issue an
    instruction in every one of `latency` clocks. A warp can issue `independent` instructions before
    it has to wait."""
    ...
''',
    answer='''\
def warps_needed(latency, independent):
    """Return how many warps an SM needs, so that each of its four schedulers can issue an
    instruction in every one of `latency` clocks. A warp can issue `independent` instructions before
    it has to wait."""
    return 4 * -(-latency // independent)
''',
    another='''\
def warps_needed(latency, independent):
    """Return how many warps an SM needs, so that each of its four schedulers can issue an
    instruction in every one of `latency` clocks. A warp can issue `independent` instructions before
    it has to wait."""
    return (latency + independent - 1) // independent * 4
''',
    compared="This version rounds up by addition, as in lesson 00. Python evaluates `//` and `*` "
    "from left to right, so the factor 4 comes last.",
    par=1,
    meaning="So there are **two** ways to hide a wait: more warps, or more independent work in "
    "each warp.",
)
