"""A public class name means one thing in course_lib."""

from __future__ import annotations

import ast
from collections import defaultdict

from library_trees import LIBRARY, trees


def test_a_public_class_name_means_one_thing() -> None:
    homes: defaultdict[str, list[str]] = defaultdict(list)
    for path, tree in trees().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(path.relative_to(LIBRARY).as_posix())
    shared = {name: files for name, files in homes.items() if len(files) > 1}
    assert not shared, shared
