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
        shows="An SM has room for 32 to 64 warps: which of these waits can be hidden?",
    ),
    wrong_ideas=(
        WrongIdea(
            lambda latency, independent: -(-latency // independent),
            "this is enough for one scheduler",
            "How many schedulers does an SM have?",
        ),
        WrongIdea(
            lambda latency, independent: -(-4 * latency // independent),
            "this rounds once for all four, but each scheduler has its own warps",
            "A scheduler has to fill 29 clocks, and each warp has 8 instructions for it. "
            "How many warps does it need?",
        ),
        WrongIdea(
            lambda latency, independent: 4 * (latency // independent),
            "this rounds down, so the scheduler is idle for a moment",
            "A scheduler has to fill 29 clocks. How many instructions do 14 warps with 2 "
            "each have?",
        ),
        WrongIdea(
            lambda latency, independent: 4 * latency // independent,
            "`4 * latency` is evaluated first, and then the division by `independent` rounds down",
            "A scheduler has to fill 29 clocks, and each warp has 8 instructions for it. "
            "How many warps does it need?",
        ),
        WrongIdea(
            lambda latency, independent: 4 * latency / independent,
            "this is a fraction, but warps are always whole",
            "In which direction do you round?",
        ),
        WrongIdea(
            lambda latency, independent: 4 * (latency // independent + 1),
            "this is one warp too many for each scheduler if the division has no remainder",
            "30 clocks, 1 instruction from each warp: what would a 31st warp be for?",
        ),
        WrongIdea(
            lambda latency, independent: 4 * round(latency / independent),
            "this rounds to the nearest whole number, which is sometimes below",
            "29 clocks, 8 instructions from each warp. In which direction do you round?",
        ),
        WrongIdea(
            lambda latency, independent: 4 * latency * independent,
            "a warp with more to issue fills more of the wait, so fewer warps are needed",
            "30 clocks, and each warp has 2 instructions: how many warps does it take?",
        ),
        WrongIdea(
            lambda latency, independent: 4 * latency,
            "this is right only if each warp has a single instruction",
            "30 clocks, and each warp has 2 instructions: how many warps does it take?",
        ),
        WrongIdea(
            lambda latency, independent: 4 * -(-latency // (independent + 1)),
            "this gives each warp one instruction more than it has",
            "30 clocks, and each warp has 1 instruction: how many warps does it take?",
        ),
    ),
    hints=(
        "A scheduler issues one instruction a clock. How many fit into the wait?",
        "Each warp has `independent` instructions to issue. In which direction do you round? And "
        "remember that an SM has four schedulers.",
    ),
    given='''\
def warps_needed(latency, independent):
    """Warps that give each of the four schedulers of an SM one instruction in every one of
    `latency` clocks, if a warp has `independent` of them to issue before it must wait."""
    ...
''',
    answer='''\
def warps_needed(latency, independent):
    """Warps that give each of the four schedulers of an SM one instruction in every one of
    `latency` clocks, if a warp has `independent` of them to issue before it must wait."""
    return 4 * -(-latency // independent)
''',
    another='''\
def warps_needed(latency, independent):
    """Warps that give each of the four schedulers of an SM one instruction in every one of
    `latency` clocks, if a warp has `independent` of them to issue before it must wait."""
    return (latency + independent - 1) // independent * 4
''',
    compared="This is ceiling division by addition, as in lesson 00. Python evaluates `//` and "
    "`*` from left to right, so the factor 4 comes last.",
    par=1,
    meaning="So there are **two** ways to hide a wait: more warps, or more independent work in "
    "each warp.",
)
