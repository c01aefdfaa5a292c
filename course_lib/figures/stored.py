"""Write the pictures that stand outside notebooks, in the README and the docs.

`python -m course_lib.figures.stored` does it by hand. The bytes depend on matplotlib's version,
so they are made on request, like a notebook's outputs, and never compared.
"""

from collections.abc import Callable
from pathlib import Path

from course_lib import measurements
from course_lib.figures.ladders import ladder
from course_lib.figures.picture import Picture


def measured_ladder() -> Picture:
    """The float32 rungs as `course.py bench` measured them on the H200."""
    return ladder(speeds=measurements.load("H200").speeds(4096, ("float32",)))


STORED: dict[str, Callable[[], Picture]] = {
    "docs/images/ladder.png": ladder,
    "docs/images/ladder_h200.png": measured_ladder,
}


def write_stored(root: Path) -> list[Path]:
    """Draw every stored picture into the repository at `root`."""
    written = []
    for name, draw in STORED.items():
        target = root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        written.append(draw().save(target))
    return written


def markdown(name: str) -> str:
    """The line that shows a stored picture in a Markdown file, with its words as alt text."""
    return f"![{STORED[name]().alt}]({name})"


if __name__ == "__main__":
    for path in write_stored(Path(__file__).parents[2]):
        print(path)
