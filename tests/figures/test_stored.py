"""The pictures outside notebooks are there, and as large as they are drawn today."""

from pathlib import Path

import pytest

from course_lib.figures.stored import STORED, markdown, write_stored

ROOT = Path(__file__).parents[2]


def test_pictures_are_written_where_they_belong(tmp_path):
    paths = write_stored(tmp_path)
    assert [path.relative_to(tmp_path).as_posix() for path in paths] == list(STORED)
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in paths)


@pytest.mark.workshop
@pytest.mark.parametrize("name", STORED)
def test_the_stored_picture_is_not_of_yesterday(name):
    # Bytes differ between versions of matplotlib; width and height do not.
    size_of = slice(16, 24)
    assert (ROOT / name).read_bytes()[size_of] == STORED[name]().png()[size_of]


def test_markdown_carries_the_words():
    line = markdown("docs/images/ladder.png")
    assert line.startswith("![The ladder of kernels from slow to fast")
    assert line.endswith("](docs/images/ladder.png)")
