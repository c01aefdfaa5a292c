"""The roofline as a plain function: what arithmetic and DRAM allow."""

from course_lib.registry.exercise import Task, Values, WrongIdea
from course_lib.registry.kinds import FUNCTION

TASK = Task(
    id="roof",
    title="The roof over a kernel",
    lesson="05b",
    position=3,
    kind=FUNCTION,
    parameters=("flop_per_byte", "gb_per_s", "peak"),
    reference=lambda flop_per_byte, gb_per_s, peak: float(min(peak, flop_per_byte * gb_per_s)),
    arguments=(
        (2, 100, 1000),
        (50, 100, 1000),
        (10, 100, 1000),
        (0.25, 4800, 66_900),
        (8, 4800, 66_900),
        (32, 4800, 66_900),
        (0.5, 320, 8100),
        (64, 320, 8100),
        (12, 768, 38_700),
    ),
    values=Values(
        gives="GFLOP/s at most",
        along="FLOP per byte",
        at=tuple(2.0**power for power in range(-2, 9)),
        rows={
            "4,800 GB/s, 66,900 GFLOP/s": lambda intensity: (intensity, 4800, 66_900),
            "300 GB/s, 8,000 GFLOP/s": lambda intensity: (intensity, 300, 8000),
        },
        shows="On the slope, DRAM sets the limit. On the flat part, the arithmetic units set it.",
        look="curves",
    ),
    wrong_ideas=(
        WrongIdea(
            lambda flop_per_byte, gb_per_s, peak: flop_per_byte * gb_per_s,
            "for a kernel that does many FLOP per byte, your function returns more than the peak",
            "If 100 GB arrive in a second and a kernel does 50 FLOP with each byte, that makes "
            "5000 GFLOP per second. Can the arithmetic units do 5000 GFLOP/s?",
        ),
        WrongIdea(
            lambda flop_per_byte, gb_per_s, peak: max(peak, flop_per_byte * gb_per_s),
            "you return the higher of the two limits",
            "A kernel can be no faster than the lower of its two limits. Which limit does your "
            "function return?",
        ),
        WrongIdea(
            lambda flop_per_byte, gb_per_s, peak: peak,
            "you always return the peak, however little DRAM delivers",
            "If 100 GB arrive in a second and a kernel does 2 FLOP with each byte, how many GFLOP "
            "can it do in that second?",
        ),
        WrongIdea(
            lambda flop_per_byte, gb_per_s, peak: min(peak, gb_per_s / flop_per_byte),
            "you divide by the FLOP per byte, but more FLOP per byte mean more FLOP per second",
            "If 100 GB arrive and a kernel does 2 FLOP with each byte, how many GFLOP is that?",
        ),
        WrongIdea(
            lambda flop_per_byte, gb_per_s, peak: gb_per_s / flop_per_byte,
            "you divide by the FLOP per byte, but more FLOP per byte mean more FLOP per second",
            "If 100 GB arrive and a kernel does 2 FLOP with each byte, how many GFLOP is that?",
        ),
        WrongIdea(
            lambda flop_per_byte, gb_per_s, peak: peak / gb_per_s,
            "you computed the FLOP per byte at which the two limits meet, whatever the kernel does",
            "Where does your function use the kernel's own FLOP per byte?",
        ),
        WrongIdea(
            lambda flop_per_byte, gb_per_s, peak: min(flop_per_byte, gb_per_s, peak),
            "you return the smallest of three numbers that have different units",
            "How do you get GFLOP/s from the first two numbers?",
        ),
        WrongIdea(
            lambda flop_per_byte, gb_per_s, peak: min(1, flop_per_byte * gb_per_s / peak),
            "you returned a share of the peak, but the task asks for GFLOP/s",
            "Which two limits, both in GFLOP/s, should your function compare?",
        ),
        WrongIdea(
            lambda flop_per_byte, gb_per_s, peak: min(peak, gb_per_s),
            "you compare GFLOP/s with GB/s",
            "How do you convert the GB that arrive per second into GFLOP per second?",
        ),
        WrongIdea(
            lambda flop_per_byte, gb_per_s, peak: 1 / (1 / peak + 1 / (flop_per_byte * gb_per_s)),
            "in your formula, the arithmetic begins only when all bytes have arrived, but loads "
            "and arithmetic run at the same time",
            "If the loads and the arithmetic run at the same time, which of them decides how long "
            "a kernel takes?",
        ),
        WrongIdea(
            lambda flop_per_byte, gb_per_s, peak: min(peak, 4 * flop_per_byte * gb_per_s),
            "you multiply by 4, but both numbers are already in bytes",
            "What are the units of the first two numbers?",
        ),
    ),
    hints=(
        "If 100 GB arrive in a second and the kernel does 2 FLOP with each byte, how many GFLOP "
        "is that?",
        "The arithmetic units have a limit of their own: `peak`.",
    ),
    given='''\
def roof(flop_per_byte, gb_per_s, peak):
    """Return the most GFLOP/s that a kernel can reach. It does `flop_per_byte` FLOP with each byte
    from DRAM. DRAM delivers `gb_per_s` GB/s, and the arithmetic units do at most `peak` GFLOP/s."""
    ...
''',
    answer='''\
def roof(flop_per_byte, gb_per_s, peak):
    """Return the most GFLOP/s that a kernel can reach. It does `flop_per_byte` FLOP with each byte
    from DRAM. DRAM delivers `gb_per_s` GB/s, and the arithmetic units do at most `peak` GFLOP/s."""
    return min(peak, flop_per_byte * gb_per_s)
''',
    another='''\
def roof(flop_per_byte, gb_per_s, peak):
    """Return the most GFLOP/s that a kernel can reach. It does `flop_per_byte` FLOP with each byte
    from DRAM. DRAM delivers `gb_per_s` GB/s, and the arithmetic units do at most `peak` GFLOP/s."""
    ridge = peak / gb_per_s
    if flop_per_byte < ridge:
        return flop_per_byte * gb_per_s
    return peak
''',
    compared="Left of the ridge, DRAM sets the limit, and right of it, the arithmetic units do.",
    par=1,
    meaning="Your function is the **roofline**. The two limits meet at the **ridge**, `peak / "
    "gb_per_s` FLOP per byte.",
)
