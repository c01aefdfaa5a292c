"""How much of the peak the passes through L1 and shared memory leave: a plain function."""

from course_lib.exercise import Task, Values, WrongIdea
from course_lib.kinds import FUNCTION

AT_ONCE = "At 2 passes each, how many multiply-adds can be fed in one clock? How many could start?"

TASK = Task(
    id="share_of_peak",
    title="What the passes leave of the peak",
    lesson="05b",
    position=2,
    kind=FUNCTION,
    parameters=("passes", "starts"),
    reference=lambda passes, starts: min(1.0, 1 / (passes * starts)),
    arguments=(
        (2, 4),
        (0.125, 4),
        (2, 2),
        (1, 4),
        (0.5, 4),
        (0.25, 4),
        (1.5, 4),
        (0.25, 2),
        (1, 1),
        (3, 2),
    ),
    values=Values(
        gives="share of the peak",
        along="passes for each multiply-add of a warp",
        at=(0.125, 0.25, 0.5, 1, 2, 4),
        rows={
            f"starts {starts} a clock": lambda passes, starts=starts: (passes, starts)
            for starts in (1, 2, 4)
        },
        shows="The more an SM could start, the fewer passes it can spare.",
        unit="share",
    ),
    wrong_ideas=(
        WrongIdea(
            lambda passes, starts: 1 / (passes * starts),
            "with few passes more than the whole peak comes out",
            "At 0.125 passes each, 8 could be fed in a clock. How many can the SM start?",
        ),
        WrongIdea(
            lambda passes, starts: passes * starts,
            "this is how many passes the peak would need in a clock",
            "One pass is to be had in a clock. Which share is that of what the peak would need?",
        ),
        WrongIdea(
            lambda passes, starts: min(1, passes * starts),
            "this is how many passes the peak would need in a clock",
            "One pass is to be had in a clock. Which share is that of what the peak would need?",
        ),
        WrongIdea(
            lambda passes, starts: 1 / passes,
            "this is how many multiply-adds are fed in a clock, not a share of those that could be",
            AT_ONCE,
        ),
        WrongIdea(
            lambda passes, starts: min(1, 1 / passes),
            "this would be right if the SM started one multiply-add a clock",
            AT_ONCE,
        ),
        WrongIdea(
            lambda passes, starts: min(starts, 1 / passes),
            "this is a number of multiply-adds in a clock, not a share of the peak",
            "What is the peak, in multiply-adds a clock?",
        ),
        WrongIdea(
            lambda passes, starts: passes / starts,
            "more passes make it slower, and here they raise the share",
            AT_ONCE,
        ),
        WrongIdea(
            lambda passes, starts: min(1, passes / starts),
            "more passes make it slower, and here they raise the share",
            AT_ONCE,
        ),
        WrongIdea(
            lambda passes, starts: starts / passes,
            "an SM that could start more is held back more, and here its share grows",
            AT_ONCE,
        ),
        WrongIdea(
            lambda passes, starts: min(1, starts / passes),
            "an SM that could start more is held back more, and here its share grows",
            AT_ONCE,
        ),
        WrongIdea(
            lambda passes, starts: max(1, 1 / (passes * starts)),
            "this is the larger of the two limits",
            "Of two limits, which one is met first?",
        ),
        WrongIdea(
            lambda passes, starts: min(100, 100 / (passes * starts)),
            "these are per cent; a share is at most 1",
            "Which number stands for all of the peak?",
        ),
        WrongIdea(
            lambda passes, starts: 1 / (passes + starts),
            "passes and starts are added",
            "The peak starts 4 in a clock, and each takes 2 passes. How many passes is that?",
        ),
    ),
    hints=(
        "At its peak the SM starts 4 a clock, and each takes 2 passes. How many passes are that?",
        "It gets one pass a clock, not 8. So it runs at an eighth of its peak.",
        "No share is larger than 1.",
    ),
    given='''\
def share_of_peak(passes, starts):
    """The largest share of its peak that an SM can reach, at most 1. It could start `starts`
    multiply-adds of a warp in a clock; each needs `passes` passes, and a clock has one pass."""
    ...
''',
    answer='''\
def share_of_peak(passes, starts):
    """The largest share of its peak that an SM can reach, at most 1. It could start `starts`
    multiply-adds of a warp in a clock; each needs `passes` passes, and a clock has one pass."""
    return min(1, 1 / (passes * starts))
''',
    another='''\
def share_of_peak(passes, starts):
    """The largest share of its peak that an SM can reach: it could start so many multiply-adds
    of a warp a clock, each takes so many passes, and one pass a clock is all there is."""
    arithmetic = 1 / starts
    return arithmetic / max(arithmetic, passes)
''',
    compared="Whatever takes longest decides.",
    par=1,
    meaning="A **ceiling**: what one resource allows if all others are free. Every resource has "
    "its own, and the lowest counts.",
)
