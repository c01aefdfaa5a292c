"""Tables of the docs that show stored measurements are filled in, and nothing else is touched."""

from pathlib import Path

import pytest

from course_lib.building.measured_tables import TABLES, filled
from course_lib.building.notebook import BuildError
from course_lib.measurements import load

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_a_table_that_there_is_not_is_refused() -> None:
    with pytest.raises(BuildError, match="'bnaks'; there are: tensor-cores"):
        filled("<!-- MEASURED bnaks -->\n<!-- END MEASURED -->")


def test_every_table_stands_in_a_page_with_its_label() -> None:
    pages = "\n".join(path.read_text(encoding="utf-8") for path in DOCS.glob("*.md"))
    for name, table in TABLES.items():
        assert f"<!-- MEASURED {name} -->\n{table()}\n<!-- END MEASURED -->" in pages
        assert table().startswith(load("H200").device)
