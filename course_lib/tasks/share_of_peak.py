"""How much of the peak the wavefronts through L1 and shared memory leave: a plain function."""

from course_lib.registry.exercise import Task, Values, WrongIdea
from course_lib.registry.kinds import FUNCTION

AT_ONCE = (
    "The SM gets one wavefront per clock. If each multiply-add takes 2 wavefronts, how many "
    "multiply-adds per clock get their numbers, and how many could the SM start per clock?"
)

TASK = Task(
    id="share_of_peak",
    title="What the wavefronts leave of the peak",
    lesson="05b",
    position=2,
    kind=FUNCTION,
    parameters=("wavefronts", "starts"),
    reference=lambda wavefronts, starts: min(1.0, 1 / (wavefronts * starts)),
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
        along="wavefronts for each multiply-add of a warp",
        at=(0.125, 0.25, 0.5, 1, 2, 4),
        rows={
            f"starts {starts} per clock": lambda wavefronts, starts=starts: (wavefronts, starts)
            for starts in (1, 2, 4)
        },
        shows="The more multiply-adds an SM can start in one clock, the fewer wavefronts each "
        "multiply-add may take without slowing the SM down.",
        unit="share",
    ),
    wrong_ideas=(
        WrongIdea(
            lambda wavefronts, starts: 1 / (wavefronts * starts),
            "with few wavefronts, your function returns more than 100 % of the peak",
            "If each multiply-add takes 0.125 wavefronts, 8 multiply-adds get their numbers in one "
            "clock. How many multiply-adds can the SM start in that clock?",
        ),
        WrongIdea(
            lambda wavefronts, starts: wavefronts * starts,
            "you computed how many wavefronts per clock the SM would need at its peak",
            "The SM gets only one wavefront per clock. Divide this one wavefront by the number of "
            "wavefronts that the SM would need at its peak.",
        ),
        WrongIdea(
            lambda wavefronts, starts: min(1, wavefronts * starts),
            "you computed how many wavefronts per clock the SM would need at its peak",
            "The SM gets only one wavefront per clock. Divide this one wavefront by the number of "
            "wavefronts that the SM would need at its peak.",
        ),
        WrongIdea(
            lambda wavefronts, starts: 1 / wavefronts,
            "you computed how many multiply-adds get their numbers in one clock, but the task "
            "asks for a share of the peak",
            AT_ONCE,
        ),
        WrongIdea(
            lambda wavefronts, starts: min(1, 1 / wavefronts),
            "your formula would be right if the SM started one multiply-add per clock",
            AT_ONCE,
        ),
        WrongIdea(
            lambda wavefronts, starts: min(starts, 1 / wavefronts),
            "you returned a number of multiply-adds per clock, not a share of the peak",
            "At its peak, how many multiply-adds does the SM start per clock?",
        ),
        WrongIdea(
            lambda wavefronts, starts: wavefronts / starts,
            "in your formula, more wavefronts raise the share of the peak, but in fact they make "
            "the kernel slower",
            AT_ONCE,
        ),
        WrongIdea(
            lambda wavefronts, starts: min(1, wavefronts / starts),
            "in your formula, more wavefronts raise the share of the peak, but in fact they make "
            "the kernel slower",
            AT_ONCE,
        ),
        WrongIdea(
            lambda wavefronts, starts: starts / wavefronts,
            "in your formula, an SM that can start more multiply-adds reaches a larger share of "
            "its peak, but in fact the wavefronts hold such an SM back more",
            AT_ONCE,
        ),
        WrongIdea(
            lambda wavefronts, starts: min(1, starts / wavefronts),
            "in your formula, an SM that can start more multiply-adds reaches a larger share of "
            "its peak, but in fact the wavefronts hold such an SM back more",
            AT_ONCE,
        ),
        WrongIdea(
            lambda wavefronts, starts: max(1, 1 / (wavefronts * starts)),
            "you return the larger of the two limits",
            "A kernel can be no faster than the lower of its two limits. Which limit does your "
            "function return?",
        ),
        WrongIdea(
            lambda wavefronts, starts: min(100, 100 / (wavefronts * starts)),
            "you returned a percentage, but a share is at most 1",
            "What should the result be if the SM reaches its whole peak?",
        ),
        WrongIdea(
            lambda wavefronts, starts: 1 / (wavefronts + starts),
            "you add the wavefronts to the number of multiply-adds that the SM can start",
            "At its peak, the SM starts 4 multiply-adds per clock, and each takes 2 wavefronts. "
            "How many wavefronts per clock does it need?",
        ),
    ),
    hints=(
        "Suppose that at its peak, the SM starts 4 multiply-adds per clock, and each takes 2 "
        "wavefronts. How many wavefronts per clock would the SM need?",
        "If the SM needs 8 wavefronts per clock but gets only one, it runs at an eighth of its "
        "peak.",
        "The result can never be larger than 1, because no SM exceeds its peak.",
    ),
    given='''\
def share_of_peak(wavefronts, starts):
    """Return the largest share of its peak that an SM can reach, which is at most 1. The SM could
    start `starts` multiply-adds of a warp per clock. Each of them needs `wavefronts` wavefronts,
    and the SM gets one wavefront per clock."""
    ...
''',
    answer='''\
def share_of_peak(wavefronts, starts):
    """Return the largest share of its peak that an SM can reach, which is at most 1. The SM could
    start `starts` multiply-adds of a warp per clock. Each of them needs `wavefronts` wavefronts,
    and the SM gets one wavefront per clock."""
    return min(1, 1 / (wavefronts * starts))
''',
    another='''\
def share_of_peak(wavefronts, starts):
    """Return the largest share of its peak that an SM can reach, which is at most 1. The SM could
    start `starts` multiply-adds of a warp per clock. Each of them needs `wavefronts` wavefronts,
    and the SM gets one wavefront per clock."""
    arithmetic = 1 / starts
    return arithmetic / max(arithmetic, wavefronts)
''',
    compared="This version compares two times for each multiply-add, and the longer one decides.",
    par=1,
    meaning="Your result is a **ceiling**: the speed that one resource allows if no other "
    "resource sets a limit. Every resource has a ceiling of its own, and the lowest one counts.",
)
