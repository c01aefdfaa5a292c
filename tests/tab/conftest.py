"""What a tab unpacks, made once."""

from pathlib import Path

import pytest

from course_lib.tab import bundle


@pytest.fixture(scope="session")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("tab") / bundle.NAME
    bundle.write(target)
    return target
