"""Load instructions from shared memory for each multiply-add of a hot loop: a plain function."""

from course_lib.registry.exercise import Task, Values, WrongIdea
from course_lib.registry.kinds import FUNCTION


def _count(opcodes, name):
    return sum(opcode.partition(".")[0] == name for opcode in opcodes)


def _per_ffma(opcodes, *names):
    return sum(_count(opcodes, name) for name in names) / _count(opcodes, "FFMA")


# Made up to tell answers apart, in the disassembler's words; no compiler wrote them.
WIDE = ("LDS.128", "LDS.128", *("FFMA",) * 16, "IADD3", "ISETP.GE.AND", "BRA")
NARROW = ("LDS", "LDS.64", "FFMA", "FFMA", "FFMA.FTZ", "BRA")
WITH_TILES = ("LDG.E", "STS", "BAR.SYNC", "LDS", "LDS", "FFMA", "DFMA", "BRA")
NONE = ("LDG.E", "LDG.E.128", "FFMA", "FFMA", "BRA")
LATE = ("IMAD", "FFMA", "FFMA", "LDS.U", "LDS.128", "LDS", "FFMA", "FFMA", "STS.128")

TASK = Task(
    id="lds_per_ffma",
    title="Count loads in machine code",
    lesson="08",
    position=6,
    kind=FUNCTION,
    parameters=("opcodes",),
    reference=lambda opcodes: _per_ffma(opcodes, "LDS"),
    arguments=((WIDE,), (NARROW,), (WITH_TILES,), (NONE,), (LATE,)),
    values=Values(
        gives="loads for each multiply-add",
        along="FFMA in the loop",
        at=(1, 2, 4, 8, 16),
        rows={
            "one LDS": lambda count: (("LDS", *("FFMA",) * count),),
            "four LDS": lambda count: ((*("LDS",) * 4, *("FFMA",) * count),),
            "one LDS.128": lambda count: (("LDS.128", *("FFMA",) * count),),
            "one LDG": lambda count: (("LDG", *("FFMA",) * count),),
        },
        shows="A wide load loads four numbers with one instruction.",
    ),
    wrong_ideas=(
        WrongIdea(
            lambda opcodes: opcodes.count("LDS") / _count(opcodes, "FFMA"),
            "you count only the loads that fetch a single word",
            "The opcodes of wider loads are longer, as in `LDS.128`. With which letters do all of "
            "them begin?",
            place=("'LDS'",),
        ),
        WrongIdea(
            lambda opcodes: _per_ffma(opcodes, "LDS", "LDG"),
            "you also count loads from global memory",
            "Which letter in the opcode of a load tells you which memory the load reads from?",
        ),
        WrongIdea(
            lambda opcodes: _count(opcodes, "LDS") / len(opcodes),
            "you divide the loads by the number of all instructions",
            "Which of the instructions are multiply-adds?",
        ),
        WrongIdea(
            lambda opcodes: (
                _count(opcodes, "LDS") / (_count(opcodes, "FFMA") + _count(opcodes, "DFMA"))
            ),
            "you also count multiply-adds in float64",
            "With which letters does the opcode of a float32 multiply-add begin?",
        ),
        WrongIdea(
            lambda opcodes: _count(opcodes, "FFMA") / max(1, _count(opcodes, "LDS")),
            "you computed multiply-adds per load, but the task asks for loads per multiply-add",
            "For loads per multiply-add, which of the two counts do you divide by the other?",
        ),
    ),
    hints=(
        "Go through the opcodes once, and count the loads and the multiply-adds separately. With "
        "which letters does the opcode of each kind of instruction begin?",
        '`each.startswith("LDS")` is true for `LDS`, for `LDS.64` and for `LDS.128`.',
    ),
    given='''\
def lds_per_ffma(opcodes):
    """Return the loads from shared memory, of any width, per float32 multiply-add."""
    ...
''',
    answer='''\
def lds_per_ffma(opcodes):
    """Return the loads from shared memory, of any width, per float32 multiply-add."""
    loads = multiply_adds = 0
    for each in opcodes:
        if each.startswith("LDS"):
            loads += 1
        if "FFMA" in each:
            multiply_adds += 1
    return loads / multiply_adds
''',
    another='''\
def lds_per_ffma(opcodes):
    """Return the loads from shared memory, of any width, per float32 multiply-add."""
    loads = [each for each in opcodes if each[:3] == "LDS"]
    multiply_adds = [each for each in opcodes if each[:4] == "FFMA"]
    return len(loads) / len(multiply_adds)
''',
    compared="This version makes two lists and divides their lengths.",
    par=7,
    meaning="The source code says what you asked for, and the machine code says what you got. In a "
    "hot loop, look first at the number of loads per multiply-add.",
)
