"""The course's one address: read, set, recognised in every spelling of GitHub's."""

import pytest

from course_lib.building.project import repository_of


@pytest.mark.parametrize("address", [
    "https://github.com/some-one/a.course", "https://github.com/some-one/a.course.git",
    "https://github.com/some-one/a.course/", "git@github.com:some-one/a.course.git",
    "ssh://git@github.com/some-one/a.course.git\n",
])  # fmt: skip
def test_githubs_spellings_mean_one_repository(address):
    assert repository_of(address) == "some-one/a.course"


@pytest.mark.parametrize("address", [
    "", "https://gitlab.com/a/b", "/home/a/b", "https://github.com/a", "github.com/a/b/c",
])  # fmt: skip
def test_other_addresses_are_none(address):
    assert repository_of(address) is None
