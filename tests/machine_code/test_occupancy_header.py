"""Our occupancy agrees with cuda_occupancy.h, the calculator that NVIDIA ships with its runtime."""

import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from course_lib.devices import CAPABILITIES, DEVICES, device
from course_lib.devices.occupancy import Occupancy, SmLimits, resident_blocks

pytestmark = pytest.mark.slow

ROUNDS = 2000  # random calls for each GPU of the data sheet
UNLIMITED = 2**31 - 1  # the header's word for "asks for none of it"
Call = tuple[str, int, int, int]  # GPU, threads, registers, shared bytes
Answer = tuple[int, ...]


def header_folder() -> Path | None:
    """Where a package of NVIDIA's, or a toolkit, has put the header."""
    packages = [Path(each) / "nvidia" for each in sys.path if each]
    found = [header for folder in packages for header in folder.glob("*/include/cuda_occupancy.h")]
    toolkit = Path("/usr/local/cuda/include/cuda_occupancy.h")
    found += [toolkit] if toolkit.is_file() else []
    return found[0].parent if found else None


@pytest.fixture(scope="module")
def by_header(tmp_path_factory) -> Callable[[list[Call]], list[Answer]]:
    """NVIDIA's calculator, compiled."""
    folder = header_folder()
    if folder is None:
        reason = "cuda_occupancy.h is not here: it comes with nvidia-cuda-runtime"
        if Path(sys.prefix).name == ".venv-compiler":
            pytest.fail(reason)
        pytest.skip(reason)
    compiler = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    if compiler is None:
        pytest.skip("there is no C compiler here")
    program = tmp_path_factory.mktemp("occupancy") / "occupancy_by_header"
    source = Path(__file__).with_name("occupancy_by_header.c")
    subprocess.run(
        [compiler, "-w", f"-I{folder}", str(source), "-o", str(program)], check=True, timeout=120
    )
    return lambda calls: ask(program, calls)


def ask(program: Path, calls: list[Call]) -> list[Answer]:
    lines = []
    for gpu, threads, registers, shared_bytes in calls:
        cc, sm = device(gpu).cc, device(gpu).sm
        lines.append(
            f"{cc.replace('.', ' ')} {sm.threads_per_sm} {sm.shared_per_sm_bytes} "
            f"{sm.shared_per_block_bytes} {sm.shared_reserved_bytes} "
            f"{threads} {registers} {shared_bytes}"
        )
    done = subprocess.run(
        [str(program)], input="\n".join(lines), capture_output=True, text=True, check=True
    )
    answers = [tuple(map(int, line.split())) for line in done.stdout.splitlines()]
    assert len(answers) == len(calls)
    return answers


def as_the_header_says_it(ours: Occupancy) -> Answer:
    return (
        ours.blocks, ours.warp_limit, ours.register_limit,
        ours.shared_limit if ours.shared_per_block else UNLIMITED, ours.block_limit,
        ours.registers_per_warp * ours.warps_per_block, ours.shared_per_block,
    )  # fmt: skip


def random_calls(gpu: str, rounds: int, draw: random.Random) -> list[Call]:
    """Half of them anywhere, half near the edges where rounding decides."""
    sm: SmLimits = device(gpu).sm
    calls = []
    for _ in range(rounds):
        threads, registers = draw.randint(1, 1100), draw.choice([*range(1, 256), 257, 300])
        shared_bytes = draw.choice((0, draw.randint(0, sm.shared_per_block_bytes + 2000)))
        if draw.random() < 0.5:
            threads = max(1, 32 * draw.randint(1, 32) + draw.choice((-1, 0, 1)))
            registers = max(1, min(255, 8 * draw.randint(1, 32) + draw.choice((-1, 0, 1))))
            blocks = draw.randint(1, sm.blocks_per_sm)
            edge = sm.shared_per_sm_bytes // blocks - sm.shared_reserved_bytes
            shared_bytes = max(0, edge + draw.choice((-256, -128, -1, 0, 1, 128, 256)))
        calls.append((gpu, threads, registers, shared_bytes))
    return calls


def test_every_capability_is_asked_about():
    assert {row.cc for row in DEVICES.values()} == set(CAPABILITIES)


@pytest.mark.parametrize("gpu", DEVICES)
def test_no_difference_in_thousands_of_random_calls(gpu, by_header):
    calls = random_calls(gpu, ROUNDS, random.Random(gpu))
    different = [
        (call, theirs, ours)
        for call, theirs in zip(calls, by_header(calls), strict=True)
        if theirs != (ours := as_the_header_says_it(resident_blocks(device(gpu).sm, *call[1:])))
    ]
    assert not different, f"{len(different)} of {ROUNDS}, first: {different[0]}"


def test_the_one_place_where_we_are_stricter(by_header):
    """The header lets 256 registers pass; an instruction can name 255."""
    theirs = by_header([("A6000", 32, 256, 0)])[0]
    assert theirs[0] > 0
    assert resident_blocks(device("A6000").sm, 32, 256, 0).blocks == 0
