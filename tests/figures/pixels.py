"""Keeps what every figure looks like and says, and compares it after a change.

    python tests/figures/pixels.py keep FOLDER [NAME ...]
    python tests/figures/pixels.py compare BEFORE AFTER

Of each figure of the gallery, of each task's own run and of the figures to play with: the picture
as PNG, and in all.json its hash, its words, and a hash of its HTML. With names, only figures with
one of them in theirs are drawn. A difference of a pixel may be one of rounding: look at both
pictures.
"""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE), str(HERE.parent)]

import conftest  # noqa: E402
import test_explore as roofs  # noqa: E402
import test_tiles_in_time as softmax  # noqa: E402
import test_watch as watched  # noqa: E402
from kernels_to_watch import PLAIN, TILED, flat, kernel  # noqa: E402
from test_gallery import GALLERY, from_runs, own_answer  # noqa: E402

from course_lib import figures  # noqa: E402
from course_lib.curriculum import TASKS  # noqa: E402

Draw = Callable[[], Any]


def main(arguments: Sequence[str]) -> int:
    """0 if all was kept, or nothing differs."""
    if len(arguments) == 3 and arguments[0] == "compare":
        return compare(*map(Path, arguments[1:]))
    if len(arguments) > 1 and arguments[0] == "keep":
        keep(Path(arguments[1]), arguments[2:])
        return 0
    print(__doc__)
    return 2


def keep(folder: Path, wanted: Sequence[str]) -> None:
    """Draw the figures into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn = {**GALLERY, **dict(_runs()), **dict(_own_runs()), **dict(_to_play_with())}
    kept: dict[str, dict[str, str]] = {}
    for name, draw in drawn.items():
        if not wanted or any(each in name for each in wanted):
            kept[name] = _facts(folder / f"{name}.png", draw())
    text = json.dumps(kept, indent=1, ensure_ascii=False)
    (folder / "all.json").write_text(text, encoding="utf-8")


def _facts(path: Path, figure: Any) -> dict[str, str]:
    still = getattr(figure, "still", figure)
    facts = {"pixels": _hash(still.save(path).read_bytes()), "words": still.alt}
    if hasattr(figure, "html"):
        facts["html"] = _hash(figure.html().encode())
    return facts


def _hash(data: bytes) -> str:
    return sha256(data).hexdigest()[:16]


def compare(before: Path, after: Path) -> int:
    """Name what differs; 1 if anything does."""
    old, new = (json.loads((each / "all.json").read_text("utf-8")) for each in (before, after))
    differing = 0
    for name in sorted({*old, *new}):
        a, b = old.get(name, {}), new.get(name, {})
        what = [key for key in {**a, **b} if a.get(key) != b.get(key)]
        if what:
            differing += 1
            print(f"{name}: {', '.join(what)}")
    print(f"{differing} of {len({*old, *new})} figures differ.")
    return int(differing > 0)


def _runs() -> Iterator[tuple[str, Draw]]:
    """Stills of launches."""
    race = conftest.launch(conftest.matmul_without_first_barrier, 32, 32, 32, (16, 16))
    rows = conftest.launch(conftest.matmul_rows, 32, 32, 8, (32, 32))
    ragged = conftest.launch(conftest.matmul_rows, 3, 5, 7, (4, 4))
    for name, picture in from_runs(race, rows, rows, ragged).items():
        yield f"{name}-run", lambda picture=picture: picture
    for name, launch in (("race", race), ("rows", rows), ("ragged", ragged)):
        yield f"explore_sectors-{name}", lambda launch=launch: figures.explore_sectors(launch)
    yield "explore_banks-race", lambda: figures.explore_banks(race)


def _own_runs() -> Iterator[tuple[str, Draw]]:
    """The run of each task's own answer."""
    for name, task in TASKS.items():
        if not task.is_large or task.values is not None:
            yield f"own_run-{name}", lambda t=task: figures.own_run(t.id, own_answer(t))


def _to_play_with() -> Iterator[tuple[str, Draw]]:
    for name in figures.__all__:
        if name.startswith("explore_"):
            yield name, getattr(figures, name)
    yield "explore_roofline-points", lambda: figures.explore_roofline("A6000", roofs.POINTS)
    yield "explore_occupancy-own", lambda: figures.explore_occupancy("3090", 200, 43, 5000)
    yield (
        "watch_online_softmax",
        lambda: figures.watch_online_softmax(softmax.SCORES, *softmax.kept_and_mixed()),
    )
    broken = kernel(TILED, ("cuda.syncthreads()  # first", "pass"))
    toy = (watched.TOY_A, watched.TOY_B)
    for way, own in (("ours", None), ("theirs", kernel()), ("flat", flat()), ("broken", broken)):
        yield f"step_through_k-{way}", lambda own=own: figures.step_through_k(own)
        yield f"watch_race-{way}", lambda own=own: figures.watch_race(own)
    yield "step_through_k-toy", lambda: figures.step_through_k(tile=(4, 4, 2), matrices=toy)
    rows = kernel(PLAIN, watched.IN_ONE_ROW)
    yield "who_owns_what", figures.who_owns_what
    yield "who_owns_what-tiled", lambda: figures.who_owns_what((16, 16), tile=8, kernel=kernel())
    yield "who_owns_what-rows", lambda: figures.who_owns_what((6, 20), 64, kernel=rows, grid=2)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
