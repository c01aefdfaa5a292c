"""What wgmma is told of a tile: 64 bits, as a plain function."""

from course_lib.registry.exercise import Task, Values, WrongIdea
from course_lib.registry.kinds import FUNCTION


def _descriptor(address: int, across: int, down: int) -> int:
    return address // 16 | across // 16 << 16 | down // 16 << 32 | 1 << 62


TASK = Task(
    id="descriptor",
    title="Describe a tile",
    lesson="10b",
    position=2,
    kind=FUNCTION,
    parameters=("address", "across", "down"),
    reference=_descriptor,
    arguments=(
        (0, 0, 1024),
        (1024, 0, 1024),
        (16_384, 8192, 1024),
        (65_536, 8192, 1024),
        (49_152, 4096, 2048),
        (1024, 16, 512),
        (114_688, 8192, 1024),
        (32, 0, 256),
        (212_992, 8192, 1024),
        (2048, 128, 1024),
        (147_456, 16, 16),
        (1040, 8192, 1024),
    ),
    values=Values(
        gives="numbers of 64 bits",
        along="address in bytes",
        at=(0, 16),
        rows={"A": lambda address: (address, 16, 1024), "B": lambda address: (address, 8192, 1024)},
        shows="If the address grows by 16 bytes, the result grows by 1. The descriptors of A and B "
        "differ only in `across`.",
    ),
    wrong_ideas=(
        WrongIdea(
            lambda address, across, down: address | across << 16 | down << 32 | 1 << 62,
            "you write the numbers in bytes, but the hardware counts in units of 16 bytes",
            "How many units of 16 bytes are there in 1,024 bytes?",
        ),
        WrongIdea(
            lambda address, across, down: address // 16 | across // 16 << 16 | down // 16 << 32,
            "you did not set the swizzle bit, so the hardware would assume that the 16-byte pieces "
            "of a row are stored in order",
            "One bit of the descriptor tells the hardware that the tile is swizzled by an XOR. "
            "Which bit has to be set?",
        ),
        WrongIdea(
            lambda address, across, down: (
                address // 16 | down // 16 << 16 | across // 16 << 32 | 1 << 62
            ),
            "you swapped `across` and `down`",
            "Which of the two distances begins at bit 16, `across` or `down`?",
        ),
        WrongIdea(
            lambda address, across, down: (
                address // 16 | across // 16 << 16 | down // 16 << 32 | 62
            ),
            "you used 62 as a number, but 62 is the position of a bit",
            "How do you write a number in which only bit 62 is set?",
        ),
        WrongIdea(
            lambda address, across, down: address // 16 | across << 16 | down << 32 | 1 << 62,
            "you divide only the address by 16, but all three numbers count in units of 16 bytes",
            "How many units of 16 bytes lie between one group of eight rows and the next?",
        ),
        WrongIdea(
            lambda address, across, down: 0,
            "`&` keeps only the bits that are set in all four parts, and no bit is set in all four",
            "Which operator keeps a bit that is set in either of two numbers?",
        ),
        WrongIdea(
            lambda address, across, down: (
                address // 16 | across // 16 >> 16 | down // 16 >> 32 | 1 << 62
            ),
            "`>>` shifts a number down towards bit 0, so its low bits are lost",
            "To begin at bit 16, `across` has to move up by 16 bits. Which operator shifts a "
            "number up?",
        ),
    ),
    hints=(
        "`number << 16` shifts a number up by 16 bits, and `a | b` combines two numbers that have "
        "no bit in common.",
        "First divide all three numbers by 16.",
        "There are four parts: the address starts at bit 0, `across` at bit 16, `down` at bit "
        "32, and bit 62 is a one.",
    ),
    given='''\
def descriptor(address, across, down):
    """Pack an address and two distances in bytes into 64 bits. Each is divided by 16. They begin
    at bits 0, 16 and 32. Bit 62 is set: it says that an XOR has moved the pieces."""
    ...
''',
    answer='''\
def descriptor(address, across, down):
    """Pack an address and two distances in bytes into 64 bits. Each is divided by 16. They begin
    at bits 0, 16 and 32. Bit 62 is set: it says that an XOR has moved the pieces."""
    return address // 16 | across // 16 << 16 | down // 16 << 32 | 1 << 62
''',
    another='''\
def descriptor(address, across, down):
    """Pack an address and two distances in bytes into 64 bits. Each is divided by 16. They begin
    at bits 0, 16 and 32. Bit 62 is set: it says that an XOR has moved the pieces."""
    return address // 16 + across * 2**12 + down * 2**28 + 2**62
''',
    compared="Dividing by 16 and shifting up by 16 bits is the same as multiplying by 4096.",
    par=1,
    meaning="This one 64-bit number is all that the tensor cores need to find the tile.",
)
